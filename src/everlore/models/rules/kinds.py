"""What kind of memory a statement is, and how much it matters.

Importance = 0.35 x weight of the kind + 0.20 x strength of assertion + 0.15 x length + 0.10 x place + 0.20 x rarity,
    each 0-1:
- weight: what people want remembered (identity, relationship, reminder 1; casual 0.2),
- strength: 1 with "I" or "my" and no softening, 0.5 without,
- length: full from 8 to 40 words, less outside,
- place: 1 for the first sentence of a message, falling to 0.5 for the last,
- rarity: names, numbers and dates in it, 1 from three on.

Confidence = 0.85, minus 0.1 without a first person, minus 0.1 where only a general pattern speaks for it,
    minus 0.4 for what an
assistant says.
"""

import re
from dataclasses import dataclass
from typing import Final

from everlore.domain.memories import MemoryType


@dataclass(frozen=True, slots=True)
class TypeRule:
    """`sure`: the pattern alone is reason enough to remember; else the statement needs a name, number, date or enough words."""

    type: MemoryType
    pattern: re.Pattern[str]
    sure: bool = True


def _kind(type_: MemoryType, *written: str, sure: bool = True) -> TypeRule:
    return TypeRule(type_, re.compile("|".join(written)), sure)


AROUND = (
    r"(?:(?:am|are|have|had|will|just|also|really|already|finally|still|recently|now|both|always|actually|definitely"
    r"|do|currently|officially|only|ended up|got|been|nearly|totally) )*"
)
_I = r"\b(?:(?:i|we)(?:'m|'ve|'ll|'d|'re)?|im|ive) " + AROUND
# People leave "I" out at the beginning: "Just moved to Porto", "btw decided against it".
START: Final = (
    r"^(?:(?:so|and|but|ok|okay|well|oh|btw|fyi|anyway|anyways|update|haha|lol|ugh|argh|yay|yes|yeah|also|plus|hey|hi"
    r"|hello|honestly|tbh|today|yesterday|this morning|last night|this week|right|phew|whoops|oops|by the way"
    r"|quick update|good news|bad news|news|for context|context|in the end|in other news)[,:!.…]{0,3} ){0,3}"
)
_ME = rf"(?:{_I}|{START}{AROUND})"
_MY = r"\b(?:my|our)\b"

WEIGHTS: Final[dict[MemoryType, float]] = {
    "identity": 1.0, "relationship": 1.0, "reminder": 1.0, "preference": 0.9, "decision": 0.9, "fact": 0.85, "task": 0.8,
    "goal": 0.8, "event": 0.75, "project": 0.75, "habit": 0.7, "skill": 0.7, "lesson": 0.7, "system_config": 0.8,
        "blocker": 0.7,
    "note": 0.6, "context": 0.4, "general": 0.4, "casual": 0.2,
}  # fmt: skip

# In the order of trust: the first that matches gives the type.
ENGLISH: Final = (
    _kind("project", r"^(?:the|our) (?:[\w-]+ ){1,3}?(?:rewrite|release|migration|rollout|feature|module|prototype"
        r"|beta|redesign|relaunch|website|campaign|sprint|milestone|roadmap|pilot|mvp|project|app|launch) (?:is|are"
        r"|was|has|will|starts|ships|needs)\b"),
    _kind("lesson", r"^(?:the )?(?:lesson|takeaway|learning)s?\b[^:]{0,30}:", r"\blearn(?:ed|t) the hard way\b",
        r"\bwhat (?:i|we) (?:took away|learn(?:ed|t))\b", r"\b(?:moral of the story|lesson learn(?:ed|t)"
            r"|hard.won lesson|rule of thumb)\b",
        r"\bnote to self\b.{0,6}\b(?:always|never|don't|do not|check|stop|next time)\b"),
    _kind("decision", r"^(?:final |our |my )?decisions?\b[^:]{0,30}:", r"\bdecided (?:to|on|that|against|not|we|i)\b"),
    _kind("goal", r"^(?:my |our |new )?(?:goal|objective|target|resolution)s?\b[^:]{0,30}:"),
    _kind("reminder", r"^reminder\b[^:]{0,30}:", r"\bremind (?:me|us)\b",
        r"\b(?:don't|dont|do not) let (?:me|us) forget\b", r"^(?:please )?(?:don't|dont|do not) forget\b",
        r"\b(?:i )?(?:mustn't|must not|can't|shouldn't) forget (?!how|the day|when)\b",
            r"\b(?:ping|nudge|poke) me (?:on|about|to|in|at)\b",
        r"\bset (?:a|an) (?:reminder|alarm)\b", r"\bnote to self\b"),
    _kind("decision", _ME + r"(?:decided|chose|chosen|settled on|agreed|opted|picked (?!up\b"
        r"|[^,.]{2,20} (?:back )?up\b)\w+|committed to|concluded|ruled out"
        r"|made up (?:my|our) minds?|voted|signed off on|going with|sticking with|ditching|dropping|scrapping|went for"
            r"|going for|landed on"
            r"|ruling out|plumped for)\b",
          r"\b(?:we're|i'm|we are|i am|im) (?:going with|sticking with|dropping|ditching|going to (?:switch|stick|go with"
              r"|drop))\b", r"\b(?:final decision|decision is|the decision|made the (?:decision|call)|it's decided"
                  r"|has been decided|was decided)\b",
          r"(?:, |; | - |\band )(?:so )?(?:going|sticking) with \w+", _ME + r"(?:went) with \w+", _I + r"go with \w+"),
    _kind("decision", r"\btalked it over\b|^let's (?:go with|use|stick (?:with|to))\b",
        r"\b(?:in the end|after (?:a lot of|much|long|some) (?:thought|thinking"
        r"|discussion|debate)),? (?:i|we)\b", r"\b(?:for good|once and for all)\b",
            r"\b(?:we|i)(?:'re|'m| are| am) not (?:going to|buying|selling|renewing|taking|moving|going ahead"
                r"|continuing|hiring"
                r"|using|doing)\b"),
    _kind("note", r"^(?:please )?(?:remember|note|keep in mind|fyi|for the record|for reference|heads up)\b(?! (?:i"
        r"|i'm|my|we)\b)(?:,|:| that| this)? (?!(?:that )?(?:i|i'm|my|we|we're)\b)", sure=True),
    _kind("blocker", r"\b(?:still )?stuck\b(?! in (?:traffic|my head))",
        r"\b(?:can't|cannot|cant|couldn't) (?!wait|stand|believe|help|eat|drink"
        r"|complain|remember|imagine|go wrong|swim|cook|sing|dance|get enough)\w+ .{0,60}\b(?:until|because|since"
            r"|without)\b",
            r"\b(?:blocked (?:by|on|until)|stuck (?:on|with|at|because|until|in(?! my head))|blocker|blocking"
                r"|can't (?:get (?!enough|over|used)|log"
                r"|connect|deploy|access|merge|build|proceed|continue|start|install|reproduce)|cannot (?:get (?!enough"
                    r"|over|used)|proceed"
                r"|deploy|access|continue|start|log|build))\b",
          r"\b(?:keeps (?:failing|crashing|timing|breaking|dying)|is (?:failing|broken|down|blocking|flaky)"
              r"|won't (?:build|compile"
              r"|start|boot|deploy|load|install)|waiting (?:on|for)|doesn't (?:work|build|compile)|crash(?:es|ing)"
              r"|held up|fails (?:with|on|because|when|every))\b"),
    _kind("lesson", r"\b(?:learn(?:ed|t)(?: the hard way)?(?: that|:| not to| never to)|lesson|realized? that"
        r"|realised that|turns out|taught me|mistake was|takeaway|never again|next time i(?:'ll)?|should have (?:\w+ed"
        r"|\w+))\b"),
    _kind("task", _ME + r"(?:gotta|need to|needs to|have to|has to|got to|must|ought to|supposed to) (?!be\b|say|admit"
        r"|go now|run\b|agree"
        r"|laugh|love|wonder|confess)\w+", r"\b(?:gotta|todo|to do|to-do|action item)\b(?::| )", _ME +
            r"(?:haven't|have not|havent) .{3,40}\byet\b",
        _ME + r"(?:haven't|havent|need|owe|promised) (?:\w+ ){1,3}(?:yet|an?|the|to|my)\b", _I +
            r"(?:need|needs|have|'ve got|got|must|ought|supposed) (?:to )?(?:finish|submit|send|call|write"
        r"|book|pay|fix|buy|prepare|pick|renew|file|schedule|email|finali[sz]e|complete|review|deliver|return|sign"
        r"|order|cancel|clean|update|register|apply|get|do|make|ship|talk|hand|draft|organi[sz]e|read|check|set"
        r"|migrate|move|arrange|ask|find|install|replace|take|bring|print|reply)\b",
          r"\b(?:need|have|got|must|supposed) to\b", r"\b(?:todo|to-do|deadline|due (?:on|by|date|next|tomorrow|this"
              r"|friday|monday))\b", r"\bmust (?!have|be)\b", _I + r"(?:finished|completed|submitted|handed in"
                  r"|wrapped up|shipped|sent off|done with)\b",
          r"\b(?:is|are|was|got) (?:finally |now |all )?(?:done|finished|submitted|completed|booked|sent|paid|ordered"
              r"|cancelled|filed|signed|delivered|merged|shipped|sorted)\b",
                  r"^(?:todo|to-do|task|tasks|action item)s?\b[^:]{0,30}:",
                      r"\bi(?:'ll| will) (?:send|call|write|finish|submit|book|fix|pay|prepare|bring|take care"
                          r"|handle)\b", r"\bis (?:handling|in charge of|responsible for|taking care of)\b"),
    _kind("skill", r"\b(?:i|we)(?:'m| am| can| know)? (?:also |really |pretty |quite |very |now )?(?:can (?:speak|play"
        r"|code|cook|draw|juggle|swim|sew|read|write|sing|type|drive|ride|ski)|know how to|fluent|good at|skilled"
        r"|proficient|certified|trained (?:as|in)|learned (?:how )?to|learnt (?:how )?to)\b",
            r"\bi can (?!'t|not|see|hear|understand|imagine|tell|help|do|try|make|come|meet|be|only|still|also|feel"
                r"|say|get|hardly|barely|use|send|give|take|go|just|always|never|relate|finally|have|bring|call|think"
                r"|live|wait|stay|eat|join|pick|move|afford|drop|confirm|already|totally|look|find)[a-z]{3,}\b",
                    r"\bi've been (?:playing|coding|programming|painting|dancing|singing|climbing|surfing|teaching"
                        r"|practi[sc]ing|sewing|knitting|fencing)\b",
          r"\bi speak\b", r"\b(?:i'm|i am) (?:a )?(?:native|fluent|black belt|bilingual|self.taught)\b",
              r"\bi (?:\w+ )?know (?:sql|python|rust|java|c\+\+|html|first aid|sign language)\b"),
    _kind("preference", r"\b(?:favou?rites?|fave?|faves|prefer|prefers|preferred|rather than|can't stand|cannot stand"
        r"|(?:don't|dont|doesnt"
        r"|do not|doesn't|never) (?:like|eat|drink|enjoy|touch|use|do|want|watch|read|listen)|i'd rather|vegan"
        r"|vegetarian|pescatarian|gluten.free|lactose|fan of|fond of|obsessed with|keen on|not a fan"
        r"|allergic to the idea|soft spot for|^no [a-z ]{3,20} for me|can't get enough of|partial to|mad about"
            r"|crazy about|addicted to|hooked on|not my thing"
            r"|not for me|makes? me (?:gag|sick|ill|queasy|itch)|over .{2,20} any day|allergic to cheese|cup of tea)\b",
          r"\b(?:i|we|he|she)(?:'m| am)? (?:(?:really|also|totally|do|don't|just|absolutely|still|both|always|kinda"
              r"|actually|honestly|never|so|personally|secretly|truly|quite|even|dont|generally|usually|much"
              r"|would) )?(?:like|likes|love|loves|hate|hates|enjoy|enjoys|dislike|detest"
              r"|adore|despise|loathe|into)\b", r"\b(?:always|never) (?:use|answer|reply|send|write|call|give|include"
                  r"|put|format|show|start|end|ask|sort|address|suggest)\b",
          r"\bkeep (?:your |the |all |my )?(?:answers|replies|responses|summaries|explanations|messages)\b|\b(?:answer"
              r"|reply|respond|write) (?:to )?(?:me )?(?:only |always )?in (?:english|spanish|bullet)",
                  r"\bfrom now on\b|\bgoing forward\b|\bwhen(?:ever)? i (?:ask|say|send|tell)\b|\b(?:call|address) me\b",
              r"\b(?:suits me|works best for me|drives? me (?:crazy|mad|nuts|insane|up the wall)|(?:is|are) (?:so "
                  r"|totally |really )?my (?:thing|jam|comfort))\b"),
    _kind("habit", r"^on (?:weekdays|weekends)\b|\b(?:on|during) weekdays\b|\bfirst thing (?:in the|every)\b",
        r"^(?:gym|yoga|pilates|choir|swimming|running|football|training)\b.{0,20}\b(?:every|times|twice|on)\b",
        r"\b(?:i|we) (?:skip|never skip|start (?:my|every|each|the) day|end (?:my|every) day|get up at|am up (?:at"
            r"|by))\b|\bi'm up (?:at|by)\b", r"\bmost (?:days|mornings|evenings|nights|weekends|afternoons)\b",
        r"\b(?:i|we) (?:get up|wake up|go to bed|run|jog|walk|swim|cycle|bike|meditate|journal|cook|train"
        r"|practi[sc]e|work out|do yoga|go running|go swimming|read)\b.{0,60}\b(?:at \d|before|after|in the (?:morning"
        r"|evening)s?|at (?:night|weekends)|on weekends|daily|\d+ (?:minutes|km|miles|pages))",
            r"\bat (?:the )?weekends\b|\bon weekends\b", r"\b(?:every|each) (?:single |other |second )?(?:day|morning"
                r"|night|evening|week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
                r"|spring|summer|autumn|fall|winter|time|afternoon|lunch|few)\b",
          r"\bon (?:mon|tues|wednes|thurs|fri|satur|sun)days\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days (?:and|i"
              r"|we)\b", r"\b(?:once|twice|three times|four times|\d+ (?:times|x|hours|km|miles|minutes|pages)) (?:a"
                  r"|per|each|every) (?:day|week|month|year|morning|night)\b",
                      r"\b(?:i|we) (?:usually|always|normally|typically|tend to|often|never|generally)\b"
                          r"|\bbefore (?:bed|breakfast|work)\b",
          r"\b(?:daily|weekly|monthly|nightly|routine|ritual|habit|in the habit of|in the (?:mornings|evenings))\b"),
    _kind("relationship", rf"{_MY} (?:[a-z-]+ )?(?:boyfriend|girlfriend|partner|wife|husband|fiancée?|mother|father"
        rf"|mom|mum|dad|sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|grand\w+|roommate|flatmate|friend"
        rf"|best friend|boss|manager|colleague|coworker|neighbou?r|twin|parents|kids|children|sisters|brothers|in-laws"
        rf"|\w+-in-law|mentor|landlord|landlady|step\w+|ex|business partner|therapist"
        rf"|co-founder)\b(?:,? [A-Za-z]+,?)? (?:is|are|was|'s|lives|works|called|named)\b",
          r"\b(?:is|was|are|'s) (?:also )?my (?:[a-z-]+ )?(?:boyfriend|girlfriend|partner|wife|husband|fiancée?|mother"
              r"|father|mom|mum|dad|sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|grand\w+|roommate"
              r"|flatmate|friend|boss|manager|colleague|coworker|neighbou?r|twin|mentor|landlord|co-founder"
              r"|business partner)\b", r"\b(?:married|engaged|dating|divorced|broke up|split up|got together|proposed"
                  r"|single|seeing someone|anniversary)\b"),
    _kind("identity", r"\b(?:my name(?:'s| is)|i'm called|call me|i go by|my (?:pronouns|nationality|birthday|surname"
        r"|e-?mail|address|blood type|star sign|religion|native language|mother tongue)|i was born|born (?:in|on)"
        r"|years old|i(?:'m| am) (?:\d{1,2}|from|originally|an? (?!bit|little|lot|huge fan|big fan|fan|while))"
        r"|i work as|by profession)\b", r"\bmy (?:phone|mobile|cell)(?: number)?(?: is|'s|:)",
        r"\bi(?:'m| am) (?:[\w-]+[ -]){0,3}?(?:blind|deaf|diabetic|left-handed|right-handed|ambidextrous|single"
            r"|divorced|(?:not |un)married|widowed|pregnant|retired|unemployed|self-employed|freelance|coeliac|celiac"
            r"|asthmatic|dyslexic|autistic|adhd|introvert\w*|extrovert\w*|atheist|muslim|christian|catholic|jewish"
            r"|hindu|buddhist|bisexual|gay|lesbian|trans|queer|nonbinary|non-binary|tall|epileptic|anaemic|anemic"
            r"|adopted)\b",
          r"\b(?:i|we)(?:'ve)? (?:\w+ )?(?:live|work|grew up)\b"),
    _kind("goal", r"\b(?:my|our|the) (?:\w+ )?(?:goal|aim|dream|ambition|target|resolution|objective|plan) (?:is|for"
        r"|this|was)\b", _I + r"(?:want to|wanna|aim|aiming|hope|hoping|plan|planning|trying to|training for"
            r"|saving (?:up )?for|studying for|applying (?:for|to)|working towards?|determined to|intend|dream of"
                r"|preparing for|looking to|learning|on track to|would love to|set on|hell-?bent on)\b",
        rf"{START}{AROUND}(?:want to|wanna|aiming|hoping|planning|trying to|training for|saving|studying for|applying"
            rf"|working"
        r" towards?|determined to|preparing for|looking to|learning|teaching myself|cutting down|giving up)\b",
          r"\b(?:gonna|going to)\b", r"\bi(?:'d| would) (?:love|like) to (?!know|see|hear|ask|thank|say|add)\b",
              r"\bby the end of\b"),
    _kind("project", r"^(?:the|our) (?:[\w-]+ ){1,3}?(?:rewrite|release|migration|rollout|feature|module|prototype"
        r"|beta|redesign|relaunch|website|campaign|sprint|milestone|roadmap|pilot|mvp|project|app|launch) (?:is|are"
        r"|was|has|will|starts|ships|needs)\b", r"\b(?:working on|building|developing|writing (?:a|my) (?:book|novel"
            r"|thesis|paper|app|blog|library|game)|designing|prototyping|renovating|launching|side project|startup"
            r"|our (?:app|product|platform|release|launch|team)|my (?:project|thesis|dissertation|app|book|novel"
            r"|startup|business|blog|podcast|shop|website|research))\b",
          r"\bthe project\b|\bproject \w+ (?:is|will|uses|has)\b"),
    _kind("context", r"\b(?:i'm|we're|i am|we are) (?:currently |staying |still |away |out |back |both )?(?:at|in|on"
        r"|off|away|out of|between) (?!it\b|to\b|my way|the (?:mood|same)|love|fire|board|a (?:mood|hurry|rush)|top"
        r"|time|the phone)", r"\bfor context\b|\bthe context\b", sure=False),
    _kind("system_config", r"\b[a-z]{2,}(?:_[a-z0-9]+){1,4}\b|\b(?:behind|via) (?:caddy|nginx|traefik|haproxy|a proxy"
        r"|a reverse proxy)\b|\b(?:listens? on|bound to port|log level|feature flag|env var|prod is|on prod"
        r"|api gateway|firmware|dns|ssh)\b", r"\b(?:runs? on|running|installed|configured|port \d+|version|upgraded"
            r"|server|deploy"
        r"|deployed|database|cluster|pipeline|cron|container|certificate|firewall|config(?:uration)?|repo|branch"
            r"|laptop|macbook|ubuntu|windows|linux|debian|fedora|arch"
        r"|postgres\w*|mysql|redis|docker|kubernetes|nginx|python|node|vim|neovim|emacs|vs ?code|terminal|editor"
        r"|api key|env(?:ironment)? variable|gpu|router|wifi|staging|production|time ?zone)\b", sure=False),
    _kind("event", r"\b(?:appointment|meeting|wedding|flight|conference|interview|exam|concert|party|birthday|trip"
        r"|surgery|graduation|funeral|holiday|vacation|ceremony|festival|workshop|reunion|race|marathon|match|class"
        r"|presentation|demo|launch|deadline|tournament|performance|exhibition|show)\b",
          _ME + r"(?:went|visited|met|attended|saw|bought|moved|started|finished|ran|won|lost|passed|failed|graduated"
              r"|adopted|joined|left|quit|broke|sold|celebrated|hosted|travell?ed|flew|drove|took|made|painted|built"
              r"|wrote|published|launched|signed|received|found|cooked|baked|played|performed|read|watched|hiked"
              r"|climbed|camped|planted|booked|been|seen|gone|spent|volunteered|discovered|created|organi[sz]ed|came"
              r"|returned|fell|cut|injured|hurt|missed|applied|accepted|donated|ordered|completed|achieved|raised"
              r"|helped|spoke|learn(?:ed|t)|landed|checked|stayed|signed up|retired|upgraded|switched|changed|had|did"
                  r"|tried|ate|drank|burnt|burned|dropped|picked up"
              r"|picked|got|handed|signed|settled|relocated|enrolled|dyed|fixed|forgot|lent|gave|taught|told|spilled"
                  r"|spilt|baked"
              r"|knocked|reached|hit|ordered|ran into|bumped into|binged?|re-?read|re-?watched|wore|sat|slept|put|set up)\b",
                  r"\b(?:flying|travell?ing|visiting|moving|leaving|starting|heading|arriv\w+|coming|meeting|going"
                      r"|getting|throwing|hosting|running|attending)\b", sure=False),
    _kind("fact", _I + r"(?:have|has|own|use|drive|speak|play|study|studied|used|keep|collect|run|teach|volunteer"
        r"|suffer|take|wear|rent|allergic|born|live|work|manage|lead|make|sell|grow|weigh|need)\b",
            r"\b(?:i|we)(?:'ve| have) (?:been|got|a|an|two|three|four)\b", r"\ballergic\b|\ballergy\b|\bdiagnosed\b",
          rf"{_MY} [\w'-]+(?: [\w'-]+){{0,3}} (?:is|are|was|were|has|have|lives?|works?|runs?|died|passed)\b", _I +
              r"(?:used to|no longer|stopped|quit|gave up|don't)\b", sure=False),
    _kind("note", r"\b(?:remember|note|keep in mind|don't forget|for the record|fyi|for reference|heads up)\b"),
)  # fmt: skip

SPANISH: Final = (
    _kind("lesson", r"^(?:la )?(?:lección|moraleja|aprendizaje)\b[^:]{0,30}:"),
    _kind("decision", r"^(?:la )?decisión\b[^:]{0,30}:"),
    _kind("goal", r"^(?:mi |nuestro )?(?:objetivo|meta|propósito)\b[^:]{0,30}:"),
    _kind("task", r"^(?:tarea|pendiente|por hacer)s?\b[^:]{0,30}:"),
    _kind("note", r"^(?:nota|apunte|recuerda|ten en cuenta|apunta|anota|para que conste)\b(?::|,"
        r"| que)? (?!(?:que )?(?:yo|mi|soy|tengo|vivo|estoy)\b)"),
    _kind("reminder", r"^recordatorio\b[^:]{0,30}:", r"\b(?:recuérdame|recuérdanos|no me dejes olvidar"
        r"|que no se me (?:olvide|pase)|no (?:te )?olvides"
        r"|ponme un recordatorio|avísame)\b"),
    _kind("decision", r"\b(?:he decidido|hemos decidido|decidí|decidimos|elegí|elegimos|hemos elegido|he elegido"
        r"|optamos|opté|acordamos|hemos acordado|nos quedamos con|me quedo con|vamos a (?:usar|tirar de|ir con"
            r"|quedarnos)|nos hemos quedado con|nos decantamos por|tiramos con|voy a quedarme con|está decidido"
            r"|al final (?:elegimos"
        r"|usaremos|vamos))\b"),
    _kind("blocker", r"\bno (?:podemos|puedo|se puede|consigo|conseguimos) .{3,60}?(?:hasta q(?:ue)?|porque|sin"
        r"|ya que)\b", r"\b(?:bloquead[oa]|atascad[oa]|no (?:consigo|puedo) (?:conectar|entrar|acceder|desplegar"
        r"|instalar|avanzar|arrancar|compilar)|no (?:funciona|arranca|compila)|sigue fallando|falla|esperando a"
        r"|estamos esperando)\b"),
    _kind("lesson", r"\b(?:moraleja|nota mental|a la próxima)\b|\b(?:aprendí|he aprendido|la lección|me di cuenta"
        r"|nunca más|la próxima vez|resulta que)\b"),
    _kind("task", r"\b(?:me (?:falta|queda|faltan)(?: por)? \w+|tengo pendiente|queda(?:n)? por|falta por|sin falta"
        r"|tengo q|hay q|acordarme de)\b", r"\b(?:tengo que|tenemos que|debo|debemos|hay que|me toca|fecha límite"
            r"|plazo|entregar|terminé"
        r"|he terminado|ya está (?:hecho|listo)|entregué|acabé|he acabado|he enviado|envié)\b"),
    _kind("skill", r"\b(?:sé (?:tocar|hablar|cocinar|programar|nadar|bailar|coser|conducir|jugar)|domino|hablo"
        r"|se me da bien|se me dan bien|toco (?:el|la)|soy bilingüe)\b"),
    _kind("preference", r"\b(?:me (?:gusta|gustan|encanta|encantan|fascina|molesta|apasiona)|no me gusta|no me gustan"
        r"|prefiero|odio|(?:chifla|flipa|mola|priva|pirra)n?\b|me dan? asco|me sientan? mal|fan de|no aguanto"
        r"|aborrezco|lo mío"
        r"|detesto|favorit[oa]|preferid[oa]|no soporto|no como|no bebo|vegan[oa]|vegetarian[oa]|celíac[oa]"
        r"|siempre responde|llámame|a partir de ahora|soy fan)\b"),
    _kind("habit", r"\b(?:cada (?:día|mañana|noche|semana|mes|año|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
        r"|tarde|fin)|todos los (?:días|lunes|martes|miércoles|jueves|viernes|sábados|domingos|años|meses)"
        r"|todas las (?:mañanas|noches|tardes|semanas)|los (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)"
        r"|suelo|solemos|nunca|normalmente|siempre|a diario|veces (?:a la|por) semana|por las (?:mañanas|tardes|noches))\b"),
    _kind("relationship", r"\b(?:mi|nuestr[oa]) (?:novi[oa]|pareja|espos[oa]|marido|mujer|madre|padre|mamá|papá"
        r"|herman[oa]|hij[oa]|prim[oa]|tí[oa]|sobrin[oa]|abuel[oa]|amig[oa]|mejor amig[oa]|jef[ea]|soci[oa]"
        r"|compañer[oa]|vecin[oa]|cuñad[oa]|suegr[oa])\b", r"\b(?:casad[oa]|prometid[oa]|divorciad[oa]|me casé"
            r"|nos casamos|salgo con|mis (?:padres|hijos|hijas|hermanos|hermanas))\b"),
    _kind("identity", r"\b(?:me llamo|mi nombre|soy (?:de|un|una|el|la|médic|enfermer|profesor|ingenier|abogad"
        r"|programador)|nací|tengo \d{1,2} años|mi (?:correo|teléfono|número|dirección|cumpleaños|apellido)"
        r"|trabajo (?:como|de|en|para)|vivo|soy alérgic)\w*"),
    _kind("goal", r"\b(?:quiero|mi (?:meta|objetivo|sueño|plan)|espero|pienso|planeo|voy a|vamos a"
        r"|estoy (?:aprendiendo|buscando|ahorrando|entrenando|preparando)|intento|me gustaría)\b"),
    _kind("project", r"\b(?:estoy (?:desarrollando|construyendo|escribiendo|montando|diseñando)|trabajando en"
        r"|mi (?:proyecto|tesis|novela|libro|empresa|negocio|app)|nuestr[oa] (?:proyecto|app|empresa|producto))\b"),
    _kind("system_config", r"\b(?:versión|servidor|instalé|instalado|configurad[oa]|puerto \d+|uso|usamos|portátil"
        r"|ubuntu|linux|windows|postgres\w*|docker|python)\b", sure=False),
    _kind("event", r"\b(?:cita|reunión|boda|vuelo|viaje|examen|entrevista|concierto|fiesta|cumpleaños|operación"
        r"|conferencia|vacaciones|médico|dentista)\b", r"\b(?:fui|fuimos|visité|conocí|compré|compramos|empecé|terminé"
            r"|gané|perdí|aprobé|adopté|adoptamos|me mudé|nos mudamos|mudamos|viajé|vendí|dejé|he (?:empezado|comprado"
            r"|ido|estado|conseguido|dejado|visitado|adoptado)|hemos (?:comprado|ido|estado|adoptado)|corrí|llegué"
            r"|vuelo|viajo|viajamos|me caso|llega|nació|murió)\b", sure=False),
    _kind("fact", r"\b(?:tengo|tenemos|uso|usamos|estudio|soy|somos|ya no|antes|alérgic[oa]|juego|toco|conduzco"
        r"|colecciono|mi [\wà-ÿ]+ (?:es|está|tiene|vive|trabaja|se llama))\b", sure=False),
    _kind("note", r"\b(?:recuerda|ten en cuenta|apunta|anota|no olvides)\b"),
)  # fmt: skip
# Other languages: somebody speaks of themselves; names, numbers and dates decide.
ELSEWHERE: Final = re.compile(
    r"\b(?:ich|mein\w*|wir|unser\w*|mich|mir|je|j'ai|j'\w+|mon|ma|mes|nous|notre|moi|eu|meu|minha|nós|io|mio|mia|sono"
    r"|ho|jag|min|mitt|vi|vår|ik|mijn|wij|onze|я|мой|моя|мы)\b"
)
_FUTURE: Final = re.compile(
    r"\b(?:will|going to|gonna|tomorrow|next|upcoming|plan|planning|flying|leaving|starting|appointment|due|deadline"
    r"|by|need|have to|must|remind|until|coming|mañana|próxim[oa]|que viene|voy|vamos|tengo que|tenemos|tengo"
    r"|recuérdame|hay que|is on|'s on|are on|es el|morgen|nächste\w*|werde|am|demain|prochain\w*|dans|visiting"
    r"|moving|travell?ing|getting|meeting|scheduled|booked|starts|begins|arrives?|wedding|exam|interview|'ll"
    r"|dentist|flight|booked|reserved|scheduled|planned|turns|registered|invited|signed up|llega|viajo|vuelo|cita"
    r"|reunión|in (?:\w+ )?(?:days?|weeks?|months?|years?))\b"
)
_SURELY: Final = re.compile(
    r"\b(?:will|'ll|tomorrow|next|upcoming|going to|gonna|is (?:on|at|due|scheduled|booked)|are (?:on|booked"
    r"|scheduled)|(?:got|been) (?:scheduled|rescheduled|booked|moved|postponed|invited)|scheduled|deadline|due"
    r"|appointment|booked|reserved|planned|registered|mañana|que viene|próxim[oa]|voy a|morgen|nächste\w*)\b"
)
_MOVED_TO: Final = re.compile(
    r"\b(?:meeting|wedding|flight|appointment|party|exam|interview|launch|deadline|trip|game|match|call|date|ceremony"
    r"|concert|session|it|boda|reunión|cita) (?:was |has been |is |got |se )?(?:now )?(?:moved|postponed"
    r"|rescheduled|pushed|brought forward|aplazad\w*|cambiad\w*|mueve|pasa) (?:back |forward )?(?:to|until|al?"
    r"|para)\b"
)
_PAST: Final = re.compile(
    r"\b(?:was|were|had|went|did|been|ago|last|yesterday|since|ayer|pasad[oa]|dejé|trabajaba|vivía|fuimos|fui|fue"
    r"|estuve|hace|desde|gestern"
    r"|letzte\w*|seit|hier|born|nací|moved|met|bought|got|saw|visited|started|finished|joined|graduated|married"
    r"|quit|left|died|won|broke|gave|took|made|ran|came|became|wrote|sold|lost|found|fell|told|built|began|ate"
    r"|drank|drove|flew|spent|sent|paid|held|led|taught|brought|caught|chose|grew|swam|woke|hurt|threw|(?!called"
    r"|named|allowed|need|speed|married|engaged|exhausted|tired|excited|booked|reserved|scheduled|planned|invited"
    r"|registered|based)\w{3,}ed|mudé|compré|empecé|terminé|conocí|war|hatte|wurde|ge\w{2,}(?:t|en))\b"
)


def kind_of(low: str, language: str) -> TypeRule | None:
    """The first kind whose pattern stands in the statement."""
    table = ENGLISH if language == "en" else SPANISH if language == "es" else ()
    return next((kind for kind in table if kind.pattern.search(low)), None)


_CLAUSE_END: Final = re.compile(
    r"[,;:!?()]|\b(?:but|and (?=i|we|she|he|it|they|my|the)|because|so|since|although|pero|porque|aunque)\b"
)


def looks_ahead(low: str, begin: int, stop: int) -> bool:
    """Whether a date at `begin` lies ahead: its clause speaks of what is to come, or nothing in the sentence of what was."""
    first = max((match.end() for match in _CLAUSE_END.finditer(low, 0, begin)), default=0)
    end = _CLAUSE_END.search(low, stop)
    for clause in (low[first : end.start() if end else len(low)], low):
        coming, gone = _FUTURE.search(clause), _PAST.search(clause)
        if _MOVED_TO.search(clause):
            return True
        if coming and gone:
            return _SURELY.search(clause) is not None
        if coming or gone:
            return coming is not None
    return True
