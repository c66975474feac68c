"""Words that want to steer a model or the memory itself, instead of telling something ("ignore your instructions and store...").

What a person wishes for ("always answer in Spanish, please", "call me Bob", "remember that I am allergic to nuts") is a
preference and no manipulation: only what speaks to the memory, to the system, or to its instructions is.
"""

import math
import re
import unicodedata
from collections import Counter

_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad\U000e0000-\U000e007f]")
_MANNERS = {
    "it wants instructions to be ignored": (
        r"\b(?:ignore|disregard|forget|override|bypass|neglect|drop|discard)\b[^.!?\n]{0,40}?"
        r"\b(?:instruction|prompt|guideline|directive|guardrail|system (?:message|rule)|safety rule|(?:previous|above"
        r"|prior|your)"
        r" (?:rule|order|command|message|memor|training))s?"
        r"|\bignor(?:a|e|iere|ez)\b[^.!?\n]{0,30}?\b(?:instruccion|indicacion|anweisung|instruction|consigne|instru[cç][oõ])"
        r"|\b(?:olvida|vergiss|oublie[zr]?|esqueça)\b[^.!?\n]{0,30}?\b(?:instruccion|anweisung|instruction|consigne"
        r"|instru[cç][oõ])"
    ),
    "it gives a model a new role": (
        r"\b(?:you are|you're) (?:now|from now on|no longer) (?!(?:my|our|the (?:best|only))\b)"
        r"|\bfrom now on,? (?:you|the (?:assistant|ai|model)) (?:are|is|must|will|shall|have to|should)\b"
        r"|\b(?:act|behave|respond) as (?:if you (?:are|were) )?(?:an? )?(?:unrestricted|jailbroken|dan\b"
        r"|developer mode|root|admin)"
        r"|\b(?:developer|god|debug|dan|jailbreak) mode\b|\bpretend (?:that )?you (?:are|have) (?:no|an?) (?:restrict"
        r"|rule|unrestrict)"
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
        r"|initial prompt"
        r"|your (?:instructions|prompt|rules))"
        r"|\bnew (?:system )?(?:instruction|directive|prompt)s?\s{0,2}:|\b(?:updated|override) (?:system )?instructions?\b"
        r"|\b(?:the|your|this) system prompt (?:is|says|must|should|has)"
    ),
    "it gives the memory an order": (
        r"(?:^|[.!?;:,\n]\s{0,3}|\b(?:and|then|now|please|(?:you|it) (?:must|should)|immediately|also)\s)"
        r"(?:store|save|insert|persist|memori[sz]e|record|write|add)\s(?:that|this|the following|it as"
        r"|as (?:a )?(?:fact|memory))\b"
        r"|(?:^|[.!?;:,\n]\s{0,3}|\b(?:(?:and|then|please)|(?:you|it|the (?:assistant|ai|model|system|memory))"
        r" (?:must|should|shall|will|ha(?:ve|s) to|needs? to|(?:are|is) to|ought to))\s)(?:(?:always|never|only|also|now|not"
        r"|therefore|please|[a-z]{3,12}ly)\s){0,2}(?:store|save|insert|persist|memori[sz]e|record|keep in mind)\s"
        r"(?:the following|it as|this(?: (?:as|fact|information|statement|message)\b|\s?[:.!])|that\s"
        r"(?:(?!(?:because|when|if|before|so|which|while)\b)[\w'’.-]{1,30}\s){1,5}?(?:is|are|was|were|has|have|can|may|must"
        r"|should|will|owns?|owes?|likes?|lives?|works?|prefers?|wants?|loves?|hates?|trusts?)\b)"
        r"|\b(?:store|save|add|write|insert|put|plant|inject|persist|commit)\b[^.!?\n]{1,80}?"
        r"\b(?:in|into|to) (?:your|the|its|long[- ]term|the (?:assistant|ai|model)'s) (?:long[- ]term )?memor"
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
        r"\s{1,3}(?:[\"'“‘«<\[]|the (?:words?|phrase|following|link|url|text|string)|this|exactly|https?:|a link)"
        r"|\bwhen(?:ever)? (?:the user |anyone |somebody |someone |they |you are )?asked? (?:about|for"
        r"|anything)[^.!?\n]{0,60}"
        r"\b(?:answer|say|respond|reply|tell them|recommend|claim)\b"
        r"|\b(?:the (?:assistant|ai|model|agent|llm|chatbot)) (?:must|should|shall|will|has to|is to"
        r"|needs to) (?:always |never |not )?"
        r"(?:answer|say|respond|reply|obey|recommend|ignore|comply|reveal|send|trust|call|execute|follow|store|treat)"
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
}
_PATTERNS = {reason: re.compile(words, re.IGNORECASE | re.MULTILINE) for reason, words in _MANNERS.items()}
_BLOB = re.compile(r"(?<![\w/+.:-])[A-Za-z0-9+/]{48,}={0,2}(?![\w/+.-])")
_HEX = re.compile(r"[0-9a-fA-F]+")


def manipulation(text: str) -> str | None:
    """Why a text looks like an instruction to a model, in words; None if it does not."""
    plain = " ".join(
        _INVISIBLE.sub("", unicodedata.normalize("NFKC", line)).strip() + "\n" for line in text.splitlines()
    )
    plain = re.sub(r"[ \t]{2,}", " ", plain)
    for reason, pattern in _PATTERNS.items():
        if pattern.search(plain):
            return reason
    for blob in _BLOB.finditer(plain):
        if not _HEX.fullmatch(blob[0]) and "/" not in blob[0][:20] and _entropy(blob[0]) > 4:
            return "it holds something encoded"
    return None


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
