"""Words that want to steer a model or the memory itself, instead of telling something ("ignore your instructions and store...").

What makes a sentence such an order: it commands, and what it commands is the reader's own: its instructions, its role, its
prompt, its answers, its memory. So a command about the world ("ignore the previous message, the meeting is on Tuesday") is none,
and neither is a tale ("I always ignore the instructions"). What a person wishes for ("always answer in Spanish, please", "call
me Bob", "remember that I am allergic to nuts") is a preference.
"""

import math
import re
import unicodedata
from collections import Counter

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")

# To ignore, whose, which instructions: in other languages than English.
_IGNORE = (
    ("olvida(?:te)?|olvídate|ignora|descarta|omite|desobedece", "tus?|todas?|todo|anteriores|previas|del sistema|arriba",
     r"instrucci[oó]n|indicaci[oó]n|directri|reglas|órdenes"),
    ("vergiss|ignorier(?:e|en)?|missachte", "alle|deine|eure|bisherigen?|vorherigen?|vorigen?|obigen?|früheren?",
     "anweisung|instruktion|vorgabe|regeln|richtlinie|befehle"),
    ("ignore[zr]?|oublie[zr]?", "tes|vos|toutes|tous|précédentes|antérieures|ci-dessus", "instruction|consigne|directive|règles"),
    ("ignora|ignore|dimentica|esque[cç][ae]|desconsidere", "tutte|tue|precedenti|todas|suas|tuas|anteriores|prévias",
     "istruzion|instruç|indicazion|regole|regras"),
    ("negeer|vergeet|ignorera|glöm", "alle|jouw|je|vorige|eerdere|alla|dina|tidigare", "instructies|regels|instruktioner|regler"),
    ("игнорируй(?:те)?|забудь(?:те)?", "все|свои|твои|ваши|предыдущие|прежние", "инструкци|указани|правила|команды"),
)  # fmt: skip


def _to_ignore(verbs: str, whose: str, what: str) -> str:
    return (
        rf"\b(?:{verbs})\b[^.!?\n]{{0,30}}?(?:\b(?:{whose})\b[^.!?\n]{{0,30}}?\b(?:{what})"
        rf"|\b(?:{what})[^.!?\n]{{0,20}}?\b(?:{whose})\b)"
    )


# Where a command may begin, or who is told what they must do.
_COMMAND = (
    r"(?:^|[.!?;:,\n]\s{0,3}|\b(?:(?:and|then|please|now|immediately|also)"
    r"|(?:you|it|the (?:assistant|ai|model|system|memory)) (?:must|should|shall|will|ha(?:ve|s) to|needs? to|(?:are|is) to"
    r"|ought to))\s)(?:(?:always|never|only|also|now|not|therefore|please|[a-z]{3,12}ly)\s){0,2}"
)
# That somebody or something is something: but what a person wants kept about themselves they may want.
_STATED = (
    r"that\s(?!(?:i|my|we|our|i['’]m|we['’]re|because|when|if|before|so|which|while)\b)(?:(?!(?:because|when|if|before|so|which"
    r"|while)\b)[\w'’.-]{1,30}\s){1,5}?(?:is|are|was|were|has|have|can|may|must|should|will|owns?|owes?|likes?|lives?|works?"
    r"|prefers?|wants?|loves?|hates?|trusts?)\b"
)
# What a person wants kept of themselves they may want.
_NOT_MINE = r"(?!\s{0,3}(?:i|my|we|our|me)\b)"
_MY_OWN = r"(?![^.!?\n]{0,80}\b(?:i|me|my|we|us|our)\b)"
_IN_MEMORY = r"(?:in|into|to)\s(?:your\s|the\s|its\s)?(?:(?:long[- ]term|permanent)\s)?memor(?:y|ies)"
_RIGHTS = (
    r"(?:admin\w{0,10}|root|super-?user|owner|moderator|verified|trusted|authori[sz]ed|approved|exempt|allowed|permitted|entitled"
    r"|(?:full |unlimited )?access|rights|permissions?|privileges?|consented|agreed)"
)
# What is ordered for good, and words that are to be said as they stand here.
_FOR_GOOD = (
    r"\b(?:from (?:now|this (?:point|moment)|here|today)(?: on(?:wards?)?| forward)|going forward|henceforth|hereafter"
    r"|(?:for|in|with) (?:all|every|each|any) (?:future|later|following|subsequent|upcoming) \w{3,15}),?\s"
    r"(?:(?:please|always|only|you (?:must|should|shall|will))\s){0,2}"
)
_AS_IT_STANDS = (
    r"\s{1,3}(?:[\"'“‘«<\[]|the (?:words?|phrase|sentence|following|link|url|text|string)\b(?! of\b)|this|exactly|https?:"
    r"|an? link)"
)
_MACHINE = r"(?:ai|assistants?|llms?|language models?|chatbots?)"
_MANNERS = {
    "it wants instructions to be ignored": (
        r"\b(?:ignore|disregard|forget|override|bypass|neglect|drop|discard)\b(?:"
        r"(?![^.!?\n]{0,20}\b(?:my|his|her|our|their)\b)[^.!?\n]{0,40}?\b(?:"
        r"(?:your|system|safety|all|any|every|previous|prior|above|earlier|preceding|initial|original|these|those)\s"
        r"(?:[\w-]+\s){0,3}?(?:instruction|prompt|guideline|directive|guardrail)"
        r"|(?:your|safety|system)\s(?:[\w-]+\s){0,2}?(?:rule|order|command|training|programming|restriction|filter|message|polic))"
        r"|\s(?:all |the )?(?:instructions?|rules|everything|anything|all|what)\s(?:[\w-]+\s){0,2}?(?:above|before this"
        r"|(?:you were|you have been|you['’]ve been) (?:told|given|taught)))"
        r"|" + "|".join(_to_ignore(*language) for language in _IGNORE) +
        r"|(?:忽略|无视|忽視|無視|忘记|忘掉)[^。！？\n]{0,12}(?:之前|以上|上述|先前|前面|所有|你的)[^。！？\n]{0,8}(?:指令|指示|提示|规则|命令)"
        r"|(?:以前|これまで|上記|すべて|全て|今まで)の[^。！？\n]{0,12}(?:指示|命令|プロンプト|ルール)[^。！？\n]{0,4}(?:無視|忘れ)"
    ),
    "it gives a model a new role": (
        r"\b(?:you are|you're) (?:now|from now on|no longer)\s(?:[\w'’,-]+\s){0,3}?(?:dan\b|\w{0,12}gpt\b|ai\b|assistant|chatbot"
        r"|bot\b|agent\b|model\b|admin|root\b|unrestricted|uncensored|unfiltered|jailbroken|evil\b|in \w+ mode|free (?:of|from)"
        r"|bound\b|limited (?:by|to)|restricted|required to|obliged to|allowed to|permitted to|authori[sz]ed)"
        r"|\bfrom now on,? (?:you|the (?:assistant|ai|model)) (?:are (?!my\b)|is|must|will|shall|have to|should)\b"
        r"|\b(?:act|behave|respond) as (?:if you (?:are|were) )?(?:an? )?(?:unrestricted|jailbroken|dan\b"
        r"|developer mode|root|admin)"
        r"|\b(?:god|dan|jailbreak) mode\b|\byou\b[^.!?\n]{0,30}\b(?:developer|debug) mode\b"
        r"|\b(?:developer|debug) mode (?:is on|(?:is )?(?:enabled|activated|unlocked))\b"
        r"|\bpretend (?:that )?you (?:are|have) (?:no|an?) (?:restrict|rule|unrestrict)"
        r"|\ba partir de ahora,? (?:eres|debes)|\bab jetzt bist du\b|\btu es (?:maintenant|désormais)\b"
    ),
    "it speaks to the system prompt": (
        r"^\W{0,5}(?:system|developer|assistant)\s{0,2}(?:prompt|message|note|override|instruction)?\s{0,2}[:>\]]\s{0,3}"
        r"(?:you|ignore|always|never|do not|don't|from now|disregard|forget|override|new |the (?:assistant|ai|model"
        r"|user)|respond"
        r"|answer|grant|execute|store|reveal|treat|trust)"
        r"|(?:^|[.!?]\s)\W{0,5}(?:this is |here speaks )?(?:(?:the|a|an|your) )?(?:system|developer|assistant)"
        r"(?: (?:prompt|message|note|override|instruction|speaking|here))?\s{0,2}[:>\]]\s{0,3}(?:you (?:must|should|shall|will"
        r"|have to|need to|are (?:to|now))|ignore|disregard|override|grant|reveal|from now on|(?:store|remember|record) that"
        r"|(?:always|never|do not|don't) (?:store|save|remember|answer|respond|reply|obey|trust|treat|follow|reveal|tell|say"
        r"|grant|mention))\b"
        r"|\b(?:reveal|print|repeat|show|leak|output|reproduce|quote)\b[^.!?\n]{0,30}\b(?:system prompt|hidden prompt"
        r"|initial prompt|your (?:instructions|prompt|rules))"
        r"|\bnew (?:system )?(?:instruction|directive|prompt)s?\s{0,2}:|\b(?:updated|override) (?:system )?instructions?\b"
        r"|\b(?:the|your|this) system prompt (?:is|says|must|should)"
        r"|(?:^|[.!?\n]\s{0,3})\W{0,5}(?:end|start|beginning) of (?:the )?(?:transcript|conversation|context|document|user input"
        r"|user message|data)\b\W{1,5}(?:new|now|begin|ignore|your|task|system|instructions?)\b"
    ),
    "it speaks to the machine that reads it": (
        rf"\b(?:note|message|instructions?|attention|notice|reminder|warning|info\w*)\s(?:to|for)\s(?:the |any |all |an |every )?"
        rf"(?:\w+ )?{_MACHINE}\b|\bif you(?: are|['’]re) (?:an? )?(?:\w+ )?{_MACHINE}\b"
        rf"|\b(?:attention|dear),? (?:all )?{_MACHINE}\b"
        rf"|\b{_MACHINE} (?:reading|processing|that reads?|summari[sz]ing|indexing) (?:this|these|it)\b"
        r"|\bwhen(?:ever)? you (?:summari[sz]e|extract|distil|index|process|consolidate|read) (?:this|the|our|these)\b"
    ),
    "it gives the memory an order": (
        rf"{_COMMAND}(?:store|save|insert|persist|memori[sz]e|record|write|add|keep in mind)\s(?:the following|it as"
        rf"|as (?:a )?(?:\w+ )?(?:fact|memory)\b|this(?: (?:as|fact|information|statement|message)\b|\s?[:.!])|{_STATED})"
        r"|\b(?:store|save|add|write|insert|put|plant|inject|persist|commit)\b[^.!?\n]{1,80}?"
        r"\b(?:in|into|to) (?:your|its|long[- ]term|the (?:assistant|ai|model)'s) (?:long[- ]term )?memor"
        rf"|{_COMMAND}(?:store|save|insert|persist|record|write|add|put|note|keep|commit|log|retain)\s(?:(?:it|this)\s)?"
        rf"{_IN_MEMORY}\b(?:\s?[:,]|\sthat\b){_NOT_MINE}"
        rf"|{_COMMAND}update (?:your|its|the|long[- ]term) (?:long[- ]term )?memory(?:\s?[:,]|\s(?:with|so)\b){_NOT_MINE}"
        rf"|{_COMMAND}(?:remember|note|memori[sz]e)\s?:?\s(?:that\s)?(?:the|this) user (?:may\b"
        rf"|(?:is|was|has|have|can)\b[^.!?\n]{{0,40}}?\b{_RIGHTS}\b)"
        r"|\b(?:guarda|almacena|anota|registra|graba) en (?:la|tu) memoria\b(?!:? (?:que )?(?:yo|soy|estoy|tengo|vivo|mis?|me)\b)"
        r"|\b(?:recuerda|anota) que el usuario (?:es|tiene|puede)\b|\bretiens que l['’]utilisateur (?:est|a|peut)\b"
        r"|\b(?:enregistre|mémorise|note)z? dans (?:ta|la|votre) mémoire\b(?!:? (?:que )?(?:je|j|mon|ma|mes|nous)\b)"
        r"|\b(?:merke? dir|notiere)[,:]? (?:dass )?der (?:be)?nutzer (?:ist|hat|darf|kann)\b"
        r"|\b(?:delete|erase|wipe|clear|purge|overwrite|modify|alter|edit|replace|forget)\b[^.!?\n]{0,30}?"
        r"\b(?:all|every|your|the|previous|existing|other|stored) (?:of (?:your|the) )?(?:stored |previous |existing "
        r"|other )?memor(?:y|ies)\b"
        r"|\b(?:confidence|importance)\s?[:=]\s?(?:1(?:\.0)?|100)\b|\bmark (?:this|it) as (?:confirmed|verified"
        r"|important|pinned)\b"
        r"|\bthis memory (?:is|must|should|overrides|has)\b|\bguarda (?:que|esto|lo siguiente)\b|\bspeichere,? dass\b"
    ),
    "it prescribes the answers of a model": (
        r"\b(?:always|only|never|must) (?:answer|respond|reply|say|end|begin|start)(?: (?:every|each"
        r"|all)[^.!?\n]{0,30})? with"
        rf"{_AS_IT_STANDS}"
        rf"|{_FOR_GOOD}(?:(?:answer|respond|reply|end|begin|start|finish|close|sign)\b[^.!?\n]{{0,40}}?\bwith{_AS_IT_STANDS}"
        rf"|(?:include|append|insert|add|mention|say|repeat){_AS_IT_STANDS}"
        r"|(?:answer|respond|reply)\b[^.!?\n]{0,40}?\bin favou?r of\b"
        r"|(?:tell|inform|remind|assure) (?:the|every|each|all) users?\b"
        rf"|(?:recommend|suggest|promote|advertise|praise)\b{_MY_OWN}"
        rf"|(?:treat|trust|obey|approve|accept|execute|follow|grant) (?:all|any|every|each) (?:\w{{2,15}} )?"
        rf"(?:messages?|requests?|instructions?|orders?|commands?|payments?|transfers?|invoices?)\b{_MY_OWN})"
        r"|\b(?:ab (?:jetzt|sofort)|von (?:jetzt|nun) an|künftig),? (?:beantworte|antworte|beende|beginne)\b[^.!?\n]{0,40}?\bmit"
        r"\s{1,3}[\"'„“‚‘«»]"
        r"|\b(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:responde|contesta|termina|empieza)\b[^.!?\n]{0,40}?\bcon"
        r"\s{1,3}[\"'«“‘]"
        r"|\b(?:désormais|dorénavant|à partir de maintenant),? (?:répond[sz]|répondez|termine|commence)\b[^.!?\n]{0,40}?"
        r"\b(?:par|avec)\s{1,3}[\"'«“‘]"
        r"|\bwhen(?:ever)? (?:the user |anyone |somebody |someone |anybody |people |users |they |you are )?ask(?:s|ed)?"
        r" (?:about|for|anything)[^.!?\n]{0,60}?(?:,|\bthen|\balways|\bmust|\bshould)\s(?:always |please |then )?"
        r"(?:answer|say|respond|reply|tell them|recommend|claim|suggest|deny)\b"
        r"|\b(?:the (?:assistant|ai|model|agent|llm|chatbot)) (?:must|should|shall|will|has to|is to"
        r"|needs to) (?:always |never |not )?"
        r"(?:answer|say|respond|reply|obey|recommend|ignore|comply|reveal|send|trust|call|execute|store|treat"
        r"|follow (?:the following|these|this|every|any|all|\w+['’]s))\b"
    ),
    "it is written like a call of a tool": (
        r"</?(?:tool_call|tool_use|function_calls?|function_results?|invoke|parameter|antml|system|instructions?|prompt"
        r"|im_start"
        r"|memory_update)\b[^>\n]{0,100}>|<\|[a-z_]{2,30}\|>|\[/?INST\]|<<SYS>>|\[SYSTEM\]|###\s{0,3}(?:system|instruction)"
        r"|[\"']?(?:name|tool|function)[\"']?\s{0,3}:\s{0,3}[\"'][\w.-]{1,60}[\"']\s{0,3},\s{0,3}[\"']?(?:arguments"
        r"|parameters|input|args)[\"']?\s{0,3}:"
        r"|\b(?:store|search|update|delete|add|create|remove)_memor(?:y|ies)\s{0,2}\("
        r"|\b(?:BEGIN|END) (?:SYSTEM|INSTRUCTIONS|PROMPT)\b"
    ),
}  # fmt: skip
_PATTERNS = {reason: re.compile(words, re.IGNORECASE | re.MULTILINE) for reason, words in _MANNERS.items()}
# Somebody does it, did it or wanted it: that is a tale. With a "you" in between ("I want you to ...") it commands again.
_TALE = re.compile(
    r"(?<![\w'’])(?:i|we|he|she|they|who|everyone|people|(?:my|our|his|her|their)\s\w{2,20})(?:['’](?:d|ve|ll|m|re|s))?"
    r"(?:\s(?:\w{2,12}ly|always|never|just|still|often|had|have|has|did|do|does|not|did ?n['’]?t|don['’]?t|can(?:['’]?t|not)?"
    r"|could|should|must|will|would|want(?:ed|s)?|tried|trying|need(?:ed|s)?|used|got|told|asked|to|me|us|him|her|them|also"
    r"|then|already|sometimes|usually)){0,6}\s$",
    re.IGNORECASE,
)
_TALE_CHARACTERS = 60
_BLOB = re.compile(r"(?<![\w/+.:-])[A-Za-z0-9+/]{48,}={0,2}(?![\w/+.-])")
_HEX = re.compile(r"[0-9a-fA-F]+")


def prompt_injection(text: str) -> str | None:
    """Why a text looks like an instruction to a model, in words; None if it does not."""
    plain = " ".join(
        _INVISIBLE.sub("", unicodedata.normalize("NFKC", line)).strip() + "\n" for line in text.splitlines()
    )
    plain = re.sub(r"[ \t]{2,}", " ", plain)
    for reason, pattern in _PATTERNS.items():
        if any(not _is_tale(plain, match.start()) for match in pattern.finditer(plain)):
            return reason
    for blob in _BLOB.finditer(plain):
        if not _HEX.fullmatch(blob[0]) and "/" not in blob[0][:20] and _entropy(blob[0]) > 4:
            return "it holds something encoded"
    return None


def _is_tale(text: str, start: int) -> bool:
    return _TALE.search(text, max(0, start - _TALE_CHARACTERS), start) is not None


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
