"""What a sentence must not be, to be believed: question, request, hypothesis, joke, fiction, hearsay, small talk...

Each pattern runs over a sentence in lower case. The first that matches names the reason.
"""

import re
from functools import lru_cache
from typing import Final

_Rules = tuple[tuple[str, re.Pattern[str]], ...]


def _rule(reason: str, *written: str) -> tuple[str, re.Pattern[str]]:
    return reason, re.compile("|".join(written))


# --- of a whole message ------------------------------------------------------------------------------------

# A message with one of these is left out altogether: who injects orders, or asks not to be remembered.
WHOLE: Final[_Rules] = (
    _rule(
        "injection",
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,30}\b(?:instruction|prompt|rule|guideline|direction|told)",
        r"\b(?:system prompt|developer mode|jailbreak|new instructions?\s?:|end of prompt)",
        r"</?(?:system|instructions?|memory|important)>|\[/?(?:system|inst)\]|<\|im_",
        r"\b(?:store|save|record|add|write|remember|memori[sz]e)\b.{0,40}\b(?:in|to|into) (?:your"
        r"|the) (?:long.term )?memory\b.{0,40}"
        r"\b(?:the )?user (?:is|has|wants|prefers|likes)",
        r"\b(?:ignora|olvida|desobedece)\b.{0,30}\b(?:instruccion|órdenes|reglas|indicaciones)",
        r"\bthe (?:user|human) (?:is an? admin|has (?:admin|full|root)|always wants|must)",
    ),
    _rule(
        "off the record",
        r"\bbetween (?:you and me|us)\b|\bjust between us\b",
        r"\b(?:do not|don't|please don't|never|no need to) (?:remember|store|save|record|note|log|memori[sz]e|keep"
        r"|write down) "
        r"(?:this|that|it|any of|what)",
        r"\b(?:forget (?:i said|i ever said|this|that|about it)|nevermind what i said|this stays (?:here|between))\b",
        r"(?:^|[.,;:!]\s|please )(?:do not|don't) (?:store|save|record|memori[sz]e)\b",
        r"\bentre (?:nosotros|tú y yo)\b|\bque quede entre\b|\bno (?:lo )?(?:guardes|recuerdes|apuntes|anotes|registres)\b",
        r"\bunter uns\b|\bentre nous\b",
    ),
)
# From here to the end of the message: a made-up world, or text that is only material.
FICTION_BEGINS: Final = re.compile(
    r"\b(?:let's|lets|can we|could we|we could|want to|shall we) (?:role.?play|pretend|play (?:a|the) (?:game|scene|role))"
    r"|\brole.?play\b|\bpretend (?:that |to be |you|i|we)|\bimagine (?:that |you|i|we|a |if |being|living)|\bin character\b"
    r"|\b(?:write|draft|compose|tell|create|continue|give) (?:me |us )?(?:a |an |the |another )?(?:\w+ ){0,3}"
    r"(?:story|poem|scene|song|haiku|limerick|monologue|dialogue|novel|fairy tale|script|bio|cover letter)\b"
    r"|\b(?:act as|you are now|you're now)\b|\bsuppose (?:that |i|we|you)|\bhypothetically\b|\bfor the sake of argument\b"
    r"|\bin (?:a|another) parallel universe\b|\bonce upon a time\b|\bopening line\b.{0,20}:"
    r"|\b(?:imagina|imaginemos|finge|finjamos|supongamos|supón|hagamos como)\b|\bhipotéticamente\b|\bérase una vez\b"
    r"|\bescribe(?:me)? (?:un|una) (?:\w+ ){0,2}(?:cuento|poema|historia|canción|relato|escena)\b|\bjuego de rol\b"
)
FICTION_ENDS: Final = re.compile(
    r"\bout of character\b|\bend of (?:the )?(?:game|story|scene|role)|\bback to reality\b"
    r"|\b(?:ok(?:ay)?,? )?seriously(?: now|,)"
    r"|\b(?:in|irl) real life\b|\bstop (?:the )?role.?play|\bfuera de bromas\b|\ben serio\b|\bya en serio\b"
)
MATERIAL: Final = re.compile(
    r"\b(?:translate|proofread|summari[sz]e|rephrase|rewrite|paraphrase|correct|edit|review|check|fix|improve|reply to"
    r"|respond to"
    r"|parse|classify|label|analy[sz]e|what does|how do (?:you|i) (?:say|translate)|traduce|resume|corrige|reescribe|revisa"
    r"|übersetze|traduis)\b[^\n:]{0,80}:|\b(?:here's|here is|this is) (?:the|an?) (?:\w+ ){0,3}"
    r"(?:text|e-?mail|letter|log|output|transcript|message|excerpt|article|passage|quote|lyrics?|sample|example"
    r"|paragraph|post"
    r"|review|line|entry|fixture|json|payload|snippet|response|schema|stack ?trace|dump|test data|record|row)\b[^\n:]{0,60}:"
    r"|\b(?:forwarded message|original message|begin forwarded|(?:on .{4,60} )?wrote:|copied from|pasted from|pasting"
    r"|lyrics)\b"
)

# --- of a sentence -----------------------------------------------------------------------------------------

_QUESTION_EN = (
    r"(?:what|which|who|whom|whose|when|where|why|how|do|does|did|is|are|am|was|were|can|could|would|will|should|shall"
    r"|have|has"
    r"|had|may|might|isn't|aren't|don't|doesn't|didn't|wouldn't|won't|can't)\b"
)
_QUESTION_ES = (
    r"(?:¿|qué|cuál|cuáles|quién|cuándo|dónde|por qué|cómo|cuánto|cuántos|me puedes|puedes|podrías)"
)
_ASKED = (
    r"(?:you|i|we|he|she|it|they|the|my|your|this|that|these|those|there|any|anyone|anybody|someone|a|an)\b"
)
# How a question begins that may lack its mark.
QUESTION_OPENS: Final = {
    "en": re.compile(
        rf"(?:what|which|who|whom|when|where|why|how)(?:'s|'re|'d| (?:is|are|do|does|did|can|could|should|would|will"
        rf"|was|were|to|about|much|many|long|often|come|if)\b)"
        rf"|(?:do|does|did|is|are|am|was|were|can|could|would|will|should|have|has|isn't|aren't|don't|doesn't|didn't"
        rf"|can't|won't) {_ASKED}"
    ),
    "es": re.compile(_QUESTION_ES),
}
OFF_BEGINS: Final = re.compile(r"\boff[- ]the[- ]record\b|\bextraoficialmente\b")
OFF_ENDS: Final = re.compile(
    r"\b(?:back )?on (?:the )?record\b|\bthis (?:one )?(?:is for the record|you (?:can|may) (?:keep|remember|save))\b"
)
# A password is nothing to remember, whoever says it.
SECRET: Final = re.compile(
    r"\b(?:password|passwd|passcode|passphrase|pw|pwd|psk|passkey|contraseña|clave de acceso|passwort|kennwort"
    r"|mot de passe|api[ _-]?key"
    r"|secret key|access key|private key|token|cvv|pin(?: code)?)\b"
    r".{0,40}?(?:\bis\b|\bes\b|\bist\b|:|=)"
)
# A question may carry a statement in front of it: "I'm vegetarian, what can I cook?"
STATED_AHEAD: Final = re.compile(
    rf"(?:[,;:—–]| -| and| so| but| y| pero| entonces)\s+(?:so |and |then |y )?(?={_QUESTION_EN}|{_QUESTION_ES}|any )"
)

SENTENCE: Final[dict[str, _Rules]] = {
    "en": (
        _rule(
            "wish or hypothesis",
            r"\bif only\b|\b(?:i|we|he|she|they|really) wish\b|^(?:but |and |so )?if\b|\bwhat if\b|\beven if\b"
                r"|\bwere (?:i|we|you) to\b|\bas if\b|\bas though\b",
            r"\bif (?:i|we|my|you|he|she|they|it|someone|the|that|this|there)\b",
            r"\b(?:would|could|might|'d)(?:n't| not)? (?:probably |never |ever |also |still |totally |definitely )?"
            r"(?:have (?:been|gone|done|had|\w+ed)|be (?:so|such|nice|great|cool|fun|a dream|amazing|lovely|easier"
                r"|better|perfect))\b",
            r"\bin (?:a|my) (?:perfect world|dreams?|next life|another life|past life)\b|\bhypothetical",
            r"^in case\b|\bin case (?:i|we|my|the|it|she|he)\b.{3,60}\b(?:i'd|would)\b|\bnot that (?:i|we|you|he"
                r"|she)\b|^(?:nearly|almost|used to dream|wish) ",
            r"\bin theory\b|\bsay(?: that)? i (?:was|were|had|lived)\b|\bassuming\b",
        ),
        _rule(
            "hedged",
            r"\b(?:maybe|perhaps|possibly|probably|supposedly|apparently|presumably|might|not sure|unsure|no idea"
                r"|undecided|unclear)\b",
            r"\b(?:thinking (?:of|about)|considering|wondering|toying with|contemplating|on the fence|debating"
                r"|tempted to|torn between)\b",
            r"\bi (?:guess|suppose|doubt)\b|\bi (?:think|feel like) (?:i'll|i might|i may|i should|i could|i want|we)\b",
            r"\b(?:we|i)(?:'ll| will) see\b|\b(?:i|we|they|he|she) may (?!have (?:said|mentioned))\w+",
            r"\b(?:one of these days|at some point|someday|some day|(?:i'd|would) (?:love|like) to .{3,40} (?:one day)"
                r"|in the future sometime|kind of want|kinda want|sort of want)\b",
            r"\b(?:don't|do not|can't|cannot) (?:know|remember|decide|recall)\b|\bhaven't decided\b|\bcould go either way\b",
            r"\bi heard\b|\brumou?r",
        ),
        _rule(
            "it did not happen",
            r"\b(?:i|we) (?:thought|assumed|believed)\b|\bmy (?:story|essay|tale|speech|poem|song|script|assignment"
                r"|screenplay) (?:starts|begins|goes|opens|is about)\b",
            r"\b(?:i|we)(?:'d| would) (?:really |so )?(?:love|like) (?:an?|some|to (?:be|have))\b",
            r"\b(?:i|we|he|she) (?:very )?(?:nearly|almost|was (?:going|about|supposed|tempted) to|were (?:going|about"
                r"|supposed) to|could have|would have|had planned to)\b",
        ),
        _rule(
            "joke",
            r"\b(?:just kidding|kidding(?! myself)|jk|just joking|joking|only joking|sarcas\w+|j/k|april fools?)\b"
                r"|(?:^|\s)/s\b"
                r"|\bnot!$",
            r"^(?:ah|oh|wow|yes|yeah|sure|right|of course|great|brilliant|wonderful|fantastic|lovely"
                r"|perfect)[, ]+(?:yes|because|cause|what a|how (?:lovely|nice|wonderful|original)|exactly what"
                r"|just what)\b"
                r"|\b(?:best day ever|living the dream|lucky me|said no one|said nobody|i'm (?:literally )?dying"
                    r"|as one does|imaginary|(?:king|queen|president|emperor) of (?:the |england|france|spain|sheba"
                    r"|mars))\b"
                r"|\b(?:what i|just what i|all i) (?:need|needed|wanted)\b.{0,30}\b(?:is|was|another|a)\b"
                    r"|^what a (?:genius|surprise|joy|treat|shock)\b|\.\.\. ?(?:not|nah|no|psych)[.!]*$"
                r"|\bi (?:just )?love (?:waiting|being|getting|having|paying|queu\w+|standing|sitting) (?:on|in|stuck"
                    r"|ignored|woken|rained|to|for|my|three|two)\b",
            r"^(?:yeah,? right|oh,? sure|oh,? yeah,? sure|oh,? great|oh,? joy|oh,? wonderful|oh,? fantastic|sure,"
                r"|right,|as if\b)",
            r"\b(?:because|cause|cuz) (?:that|it|this) (?:always|totally|obviously|worked|went)\b"
                r"|\bwhat could (?:possibly )?go wrong\b",
            r"\b(?:love|adore|enjoy) (?:it )?(?:when|how|that|it when|nothing more than)\b|^(?:oh )?i just (?:love|adore)\b",
            r"\b(?:clearly|obviously) (?:the|a|an|my|i'm|i am)\b",
            r"\b(?:a|a hundred|a thousand|a million|a billion|like a million|\d+ million) (?:times|years|hours|emails"
                r"|things|meetings)\b",
            r"\b(?:literally|basically|practically) (?:dying|dead|lives?|living|married|a \w+ at this point"
                r"|my second home|made of)\b",
            r"\b(?:married to (?:my|the) (?:job|work|laptop|phone|code|couch|bed|coffee)|live (?:in|at) (?:the"
                r"|my) (?:office|gym|airport|car|kitchen|inbox|library|meetings))\b",
            r"\bmy (?:spirit animal|middle name)\b|🙄|🙃",
            r"\b(?:thrilled|delighted|wonderful|fantastic|brilliant|great|lovely|exactly)\b.{0,60}\b(?:again"
                r"|exactly what i needed|just what i needed)\b",
            r"\bgold medal\b|\bworld champion (?:of|in)\b|\bprofessional (?:procrastinator|napper|overthinker|couch"
                r"|worrier)\b",
        ),
        _rule(
            "figure of speech",
            r"\bcould (?:eat a|live (?:on|off))\b|\bkill(?:ing|ed)? (?:me|for)\b|\b(?:dying of|die of|to death)\b",
        ),
        _rule(
            "fiction",
            r"\b(?:dreamt|dreamed|dream last night|(?:had|have) (?:a|this|the) (?:\w+ )?(?:dream|nightmare)|in (?:my|a"
                r"|the) (?:dream|nightmare|novel|book|story|movie|film|game|show|series|play|campaign|fanfic"
                r"|manuscript|screenplay|episode|scene))\b",
            r"\bmy (?:character|avatar|protagonist|paladin|wizard|elf|rogue)\b|\bthe (?:protagonist|main character"
                r"|narrator|hero|villain)\b",
        ),
        _rule(
            "example",
            r"^(?:let's )?say (?:that )?(?:i|we|my|someone|you)\b|^(?:for (?:example|instance)|e\.g\.|example\b"
                r"|say[,:]|like[,:]|sample\b|template\b|lorem ipsum)|\bfor example[,:]",
            r"\be\.g\.|\bsomething like ['\"“]|\b(?:placeholder|dummy|sample|example) (?:data|text|user|name|value"
                r"|sentence|message|email|input)\b",
        ),
        _rule(
            "other people's words",
            r"\b(?!i\b)(?:he|she|they|people|everyone|everybody|someone|somebody|doctors|experts|critics|rumou?r|who|which"
            r"|(?:my|our|his|her|their|the|a|this|that|some) (?:[\w-]+ ){1,3}|[a-z]+)(?:'s| always| just| often| also"
                r"| still| both| keeps?)? ?"
            r"(?:says?|said|saying|thinks?|thought|claims?|claimed|believes?|believed|told me|tells me|told us"
                r"|insists?|swears?|argues?|reckons?|mentioned|complains? that|complained that|announced|reported"
                    r"|suggests?)\b",
            r"\b(?!i\b)\w+ (?:wrote|writes|said|says|asked|replied|emailed|texted|posted|tweeted|commented)\s?:",
            r"\bthe user(?:'s favou?rite| (?:prefers|likes|loves|hates|lives|works|is an? admin))\b",
            r"\b(?:keeps?|kept|goes around|is always) (?:telling|saying|claiming|insisting)\b|\b(?:tells?"
                r"|telling) (?:people|everyone|everybody|others|them)\b",
            r"\baccording to\b|\b(?:was|were|been) told\b|\bquote:|\bquoting\b|\bthe (?:article|book|post|paper|email"
                r"|song|video|sign|horoscope|website|docs?|author|blog|report|news|text|headline) (?:says?|said"
                r"|claims?|reads?|goes|is about|mentions?)\b",
        ),
    ),
    "es": (
        _rule(
            "wish or hypothesis",
            r"\b(?:ojalá|quién pudiera|en caso de que|por poco|casi (?:me |nos )?(?:compr|mud|adopt|apunt))\w*|^casi\b"
                r"|\b(?:ojalá|quién pudiera)\b|^(?:pero |y )?si\b|\bsi (?:yo|tú|él|ella|pudiera|tuviera|fuera|viviera"
                r"|hubiera|ganara|me|no|nos|alguien|algún)\b",
            r"\b(?:viviría|tendría|sería|compraría|hubiera|hubiese|habría|podría|estaría|querría|iría|gustaría (?:ser"
                r"|vivir|tener|haber))\b|\bcomo si\b|\bimagina",
        ),
        _rule(
            "hedged",
            r"\b(?:creo que|quizás?|tal vez|a lo mejor|puede que|puede ser|igual (?:me|voy|vamos)|probablemente|posiblemente"
                r"|supongo|no estoy segur[oa]|no sé si|creo que (?:voy|iré|quizá)|estoy pensando en|pensando en"
                r"|estamos pensando|me estoy planteando|quién sabe|algún día|supuestamente|parece que|seguramente"
                r"|dudo)\b",
        ),
        _rule(
            "joke",
            r"^claro,? (?:y|que sí)|\by yo (?:soy )?(?:el |la )?(?:rey|reina|papa|madre teresa)\b|\.\.\. ?no[.!]*$"
                r"|^(?:ponle|pon|digamos|pongamos) que\b",
            r"\b(?:es broma|bromeo|de broma|era broma|bromeando|ironía|sarcasmo|ja(?:ja)+ no)\b|^(?:sí, claro|sí claro"
                r"|claro, claro|ah,? genial|qué bien, otra|genial, otr)|\bme encanta (?:cuando|que)\b|🙄|🙃",
            r"\b(?:un millón|mil|un billón) (?:de )?(?:veces|años|horas|reuniones|correos)\b|\bvivo en la oficina\b"
                r"|\bcasad[oa] con (?:mi|el) trabajo\b|\bpara variar\b",
        ),
        _rule("fiction", r"\b(?:soñé|soñado|en (?:mi|un|el|la) (?:sueño|novela|cuento|libro|película|juego|historia"
            r"|partida))\b|\bmi personaje\b|\b(?:el|la) protagonista\b"),
        _rule("example", r"^por ejemplo\b|\bpor ejemplo[,:]|^ejemplo\b"),
        _rule(
            "other people's words",
            r"^(?:pues |y |que )?(?:dice|dijo|dicen|según|cree|cuenta|contaba|decía) (?:mi|el|la|su|que|un|una|los|las"
                r"|tu|mis)\b",
            r"\b(?:dice|dijo|dicen|decía|cree|creen|piensa|opina|afirma|asegura|comenta|contó|cuenta|me ha dicho|según"
                r"|insiste|jura|se queja|sostiene) (?:que\b|de que\b|[:\"«“])|\bsegún\b|\b(?:me dijo|me contó"
                r"|me ha dicho|nos dijo)\b",
        ),
    ),
}  # fmt: skip

SMALL_TALK: Final = re.compile(
    r"(?:(?:oh|well|ok(?:ay)?|yes|yeah|yep|yup|no|nope|hm+|wow|great|cool|nice|awesome|perfect|sure|thanks?(?: you)?"
    r"|thx|hi|hello"
    r"|hey|bye|good (?:morning|night|evening|afternoon)|see you|talk (?:to you )?(?:later|soon)|take care|got it|sounds good"
    r"|makes sense|no problem|you'?re welcome|i see|same here|me too|haha\w*|lol|congrat\w*|hola|gracias|vale|adiós"
    r"|hasta luego"
    r"|buen[oa]s (?:días|tardes|noches)|de nada|perfecto|genial|claro|sí|jaja\w*)\b[\s,.!?…:)-]*)+$"
    r"|.{0,20}\b(?:how are you|nice to (?:meet|see|hear)|good to (?:see|hear)|glad to hear|thanks? (?:you )?(?:so much"
    r"|a lot|for|again)"
    r"|talk (?:to you )?(?:later|soon)|catch you later|long time no|have a (?:great|good|nice|lovely)|appreciate (?:it"
    r"|that|your|you)"
    r"|(?:good|best of) luck|well done|way to go|keep it up|can't wait to (?:hear|see)|gracias por|qué tal|cómo estás"
    r"|mucho gusto"
    r"|que tengas|nos vemos|me alegro|encantad[oa] de)\b"
)
REQUEST: Final = {
    "en": re.compile(
        r"(?:please|pls|kindly|let me|(?:ok(?:ay)?|alright|sure),? let me|can you|could you|would you|will you|can we"
        r"|could we|help me|let's see|show me|tell me"
        r"|give me|list"
        r"|explain|describe|write|draft|make me|find|search|look up|translate|summari[sz]e|fix|debug|refactor|generate"
        r"|suggest"
        r"|recommend|compare|calculate|convert|check|check out|open|run|play|stop|wait|hold on|let me know|look at"
        r"|see if|try|read"
        r"|send me|give it|make it|make sure|do it|go ahead|continue|repeat|format|add (?:a|an|the|this|that)|create"
        r"|remove|delete"
        r"|i(?:'d| would) (?:like|love) (?:you|some help|to (?:know|hear|see|ask|understand))|i need (?:help|you to"
        r"|a (?:quick|short|list|summary|recipe|hand))"
        r"|i want you to|i have a (?:quick )?question|i was wondering|wondering|just (?:checking|curious|wondering)"
        r"|(?:i )?need (?:an?|some) .{0,40}\b(?:asap|urgently|recommend\w*)|looking for (?:an?|some|any) (?:good "
        r"|decent |cheap )?|anyone |any (?:ideas?|tips|advice|suggestions?|recommendations?))\b"
    ),
    "es": re.compile(
        r"(?:por favor|porfa|puedes|podrías|me puedes|me podrías|ayúdame|dime|dame|enséñame|muéstrame|explica(?:me)?"
        r"|escribe(?:me)?"
        r"|haz(?:me)?|busca(?:me)?|traduce(?:me)?|resume|cuéntame|recomiénda\w*|sugiér\w*|necesito (?:ayuda|que me"
        r"|que)|quiero que"
        r"|me gustaría (?:saber|que)|compara|calcula|corrige|revisa|lista|tengo una (?:duda|pregunta))\b"
    ),
}


def believed_part(low: str, language: str) -> int:
    """How many characters of `low` are to be believed: all, those in front of a clause that hedges or tells what others say,
    or none ("I moved to Leeds, my brother thinks it is dull")."""
    found = _refused(low, language)
    if found is None:
        return len(low)
    reason, match = found
    if reason not in _OF_A_CLAUSE or language != "en":
        return 0
    # "..., she told me" and "..., apparently" speak of the whole sentence, a clause of its own only of itself.
    joints = [one for one in _JOINT.finditer(low) if one.end() <= match.start() + 1]
    if (
        not joints
        or (reason != "figure of speech" and len(low[match.end() :].split()) < 2)
        or match.start() < _MIN_BELIEVED
    ):
        return 0
    joint = joints[-1]
    if match.start() <= joint.end() + 1 and joint[0].startswith(",") and reason == "hedged":
        return 0
    front = low[: joint.start()]
    if (
        joint.start() < _MIN_BELIEVED
        or len(front.split()) < 3
        or _ATTRIBUTED.search(match[0])
        or _refused(front, language)
    ):
        return 0
    return joint.start()


_OF_A_CLAUSE: Final = frozenset(("hedged", "figure of speech", "other people's words"))
_MIN_BELIEVED: Final = 12
_JOINT: Final = re.compile(r", (?:but |and |so |though |although )?|; | [-–—] | (?:but|although|though) ")
_ATTRIBUTED: Final = re.compile(
    r"according to|apparently|supposedly|presumably|rumou?r|i heard|i guess|i suppose|\b(?:was|were|been) told|quot|:"
)


@lru_cache(maxsize=64)  # the same sentence is asked about twice in a row
def _refused(low: str, language: str) -> tuple[str, re.Match[str]] | None:
    for reason, pattern in SENTENCE.get(language, ()):
        if match := pattern.search(low):
            return reason, match
    return None
