"""Secrets in a text: passwords, keys, card numbers. What is distilled must not hold them.

Two forms of the same finding: `redact` for what is kept ("the password is [redacted]"), `mask` for what is read, where every
character keeps its place, so that a span in the masked text is one in the original.

It leans towards hiding: a word too many costs a memory a word, a key too few is in every prompt from then on. A value stands
alone: plain words after "password is" stay where they describe it ("is weak", "was reset", "is the name of our dog"). Every
pattern is linear on hostile text.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from everlore.text.words import LITTLE

REDACTED = "[redacted]"
MASK = "█"
# From this share of little words on ("the", "of", "in") a run of words is a sentence.
_SENTENCE_SHARE = 0.3


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# Forms that are secrets wherever they stand.
_FORMS = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
    r"|(?<![\w-])eyJ[\w-]{5,}\.[\w-]{4,}(?:\.[\w-]*)?"
    r"|(?<![\w-])(?:sk|pk|rk)[-_](?:[a-z]{2,12}[-_])?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bnpm_\w{30,}|\bhf_\w{25,}|\bpypi-[\w-]{40,}"
    r"|\b(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\bGOCSPX-[\w-]{20,}"
    r"|\bxox[abeoprs]-[\w-]{10,}|\bxapp-[\w-]{20,}|\bSG\.[\w-]{16,}\.[\w-]{16,}|\b\d{8,10}:[A-Za-z0-9_-]{35}\b"
    r"|\bAGE-SECRET-KEY-1[0-9A-Z]{20,}|\bdop_v1_[0-9a-f]{30,}|\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{20,}",
    re.DOTALL,
)
_BEARER = re.compile(r"\b(?:bearer|basic)\s{1,3}(?P<secret>[A-Za-z0-9+/_.=~-]{12,})", re.IGNORECASE)
_IN_ADDRESS = re.compile(
    r"(?P<before>[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:)(?P<secret>[^\s/@]{1,200})(?=@)", re.IGNORECASE
)
# NAME_OF_A_SECRET=value, "password": "value"; as they stand in files of settings.
_SETTING = re.compile(
    r"(?:[A-Za-z0-9]{1,40}[_-]){0,6}"
    r"(?:password|passwd|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|pwd|credentials?)"
    r"(?:[_-][A-Za-z0-9]{1,40}){0,4}[\"']?\s{0,3}(?:=|:=|:|=>)\s{0,3}(?P<quote>[\"'`]?)(?P<secret>[^\s\"'`,;]{3,500})",
    re.IGNORECASE,
)
_ANY_WORD = r"(?:\w+ )?"
_NAMED = (
    r"pass ?words?|pass ?codes?|pass ?phrases?|passwd|pwd|pin(?: ?(?:code|number|no\.?))?|access codes?|door codes?"
    r"|gate codes?|alarm codes?|security codes?|recovery codes?|backup codes?|cvv2?|cvc|api ?keys?|secret ?keys?|access ?keys?"
    rf"|private keys?|{_ANY_WORD}tokens?|secrets?|credentials?|seed ?phrases?|recovery ?phrases?|mnemonics?|logins?|otp|2fa code"
    r"|combination|contraseñas?|claves?(?: secretas?)?|código secreto|códigos? de (?:la |el |mi )?(?:alarma|puerta|caja|tarjeta"
    r"|entrada)|code (?:de |de la |du |de l['’]|de ma )(?:porte|carte|alarme|coffre|immeuble)|türcode|passwort|passwörter"
    r"|kennwort|geheimzahl|zugangscode|mot de passe"
    r"|code secret|senha|palavra-passe|codice segreto|parola d'ordine|wachtwoord|lösenord|adgangskode|salasana|пароль"
)
# Scripts without blanks: their words begin anywhere.
_NAMED_ANYWHERE = "密码|密碼|口令|パスワード|暗証番号|비밀번호"
_WORD_IS = (
    r"\s{1,3}(?:now\s|still\s|just\s|currently\s)?(?:is|are|was|were|has been|es|era|ist|war|lautet|est|era|é|è|är|er|on)"
    r"(?:\s(?:now|still|just|actually|ahora|jetzt))?(?:\s(?:changed|set|reset|updated) to)?\s{0,2}:?\s{0,3}"
)
_SIGN_IS = r"\s{0,3}(?:[:=]|:=|->|=>|–|—|[は为是])\s{0,3}"
_TOLD = re.compile(
    rf"(?P<what>(?<![\w-])(?:{_NAMED})|{_NAMED_ANYWHERE})(?:(?:\s(?:for|of|to|de|du|para|fürs?|von|vom|zum|del|pour|der|meiner"
    r"|unserer|deiner)\s[^\n,;:.!?=]{1,40}?)?"
    rf"(?P<is>{_WORD_IS}|{_SIGN_IS})|\s{{1,3}}(?:to\s)?)"
    r"(?:[\"'`“‘«](?P<quoted>[^\"'`“”‘’«»\n]{2,200})[\"'`”’»]|[\"'`“‘«]?(?P<secret>[^\s\"`”’»,;]{2,200}))",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"(?<![\w-])(?:seed|recovery|mnemonic|pass)[ -]?(?:phrase|words?)?s?\s{0,2}(?:[:=]|\bis\b|\bare\b)\s{0,2}[\"'“]?"
    r"(?P<secret>[a-z]{2,12}(?:[ ,-]{1,2}[a-z]{2,12}){3,23})",
    re.IGNORECASE,
)
# "Login: maria / Winter2024!", a name and its secret.
_PAIR = re.compile(
    r"(?<!\w)(?:log[ -]?ins?|sign[ -]?in|credentials?|accounts?|zugangsdaten|acceso|identifiants?)\b[^\n:=]{0,40}[:=]\s{0,3}"
    r"[\w.@+-]{2,60}(?:\s{0,2}[/|]\s{0,2}|:)(?P<secret>[^\s,;]{4,100})",
    re.IGNORECASE,
)
# Another one of several: "the codes are 8241-9930 and 5512-0047".
_ALSO = re.compile(r"(?:,|,?\s(?:and|or|und|oder|y|et|ou|e))\s{1,3}(?P<secret>[^\s,;]{3,200})", re.IGNORECASE)
# What may follow a plain word that is the secret; where the sentence goes on otherwise, it describes.
_STANDS_ALONE = re.compile(
    r"[\"'`”’»)]{0,2}(?:\s{0,3}$|[.,;:!?)\n]|\s{1,3}(?:[—–(-]|(?:and|but|so|if|in case|please|ok|okay|now|for|y|pero|und|aber"
    r"|falls|et|mais|e|mas)\b))",
    re.IGNORECASE,
)
# Said of a password, not one: "expired", "olvidada", "abgelaufen".
_PARTICIPLE = re.compile(r"\w{2,}(?:ed|[ai]d[oa]s?|ée?s?)|(?:ab|ver|ge|zurück|um)\w{4,}(?:t|en)")
# After these a plain word tells of the password and is not it.
_TELLING = _words(
    "a an the too very so not no never same different weak strong long short wrong right expired secure insecure incorrect "
    "correct invalid valid needed required safe unsafe new old in on at stored saved reset changed set working broken lost "
    "forgotten known unknown my your his her our their this that what which where it easy hard simple complicated missing "
    "empty there here being going only always usually still now ok okay fine good bad stolen leaked compromised hashed "
    "encrypted managed manager protected protection policy policies reuse rotation generator field prompt login page from "
    "with by for to of and or but because when if was is are be been has have had does do did can will would should must "
    "may might all any every some one written kept shared public private about again please everywhere somewhere nowhere "
    "muy la el una un en del de que no mi tu su ist zu nicht sehr das der die ein eine falsch sicher schwach est le les "
    "trop pas très sur dans sind limit limits budget bucket count counts counter based ring economy usage window holder "
    "santa garden sauce ingredient service agent recipe admirer weapon lair shame confirmed optional ready out off up "
    "perdida olvidada segura débil nueva misma cambiada"
)
_SOFT = re.compile(
    r"token|secret|login|credential|combination|claves?$|código|code secret|codice", re.IGNORECASE
)
_CARD = re.compile(r"(?<![\d.,-])(?<!\d )[2-6]\d{3}(?:[ -]?\d{2,6}){2,5}(?![\d])")
_SSN = re.compile(r"(?<![\d-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d\d\1(?!0000)\d{4}(?![\d-])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b")
_BLOB = re.compile(
    r"(?<![\w/+.-])(?=[A-Za-z0-9_+/-]*\d)(?=[A-Za-z0-9_+/-]*[A-Z])(?=[A-Za-z0-9_+/-]*[a-z])[A-Za-z0-9_+-]{32,}={0,2}"
)
_CLOSING = ".,;:!?)]}>*_»”’\"'"
_MASKED = re.compile(f"{MASK}+")


def redact(text: str) -> str:
    """`text` with every secret, and everything masked, as "[redacted]". Redacting again changes nothing."""
    return _MASKED.sub(REDACTED, mask(text))


@lru_cache(maxsize=256)
def mask(text: str) -> str:
    """`text` of the same length, with the characters of every secret blotted out; line breaks stay."""
    parts: list[str] = []
    at = 0
    for start, end in spans(text):
        parts += (text[at:start], MASK * (end - start))
        at = end
    return "".join((*parts, text[at:]))


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Where secrets stand, in order and apart from each other."""
    if not _may_hold(text):
        return ()
    joined: list[tuple[int, int]] = []
    for start, end in sorted(_found(text)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return tuple(joined)


_ANY_SIGN = re.compile(
    rf"\d{{3}}|[A-Za-z0-9_+-]{{16}}|{_NAMED.replace(_ANY_WORD, '')}|{_NAMED_ANYWHERE}|bearer|basic|BEGIN|eyJ|passw|key|://",
    re.IGNORECASE,
)


def _may_hold(text: str) -> bool:
    """Most messages have no sign of any of it: one search spares twelve."""
    return _ANY_SIGN.search(text) is not None


def _found(text: str) -> Iterator[tuple[int, int]]:
    for match in _FORMS.finditer(text):
        yield match.span()
    for pattern in (_BEARER, _IN_ADDRESS):
        for match in pattern.finditer(text):
            yield match.span("secret")
    for match in _PHRASE.finditer(text):
        if not _describes(match["secret"]):
            yield match.span("secret")
    for pattern in (_SETTING, _PAIR):
        for match in pattern.finditer(text):
            if _is_told(match["secret"], soft=pattern is _PAIR, joined=True):
                yield _trimmed(text, *match.span("secret"))
    yield from _told(text)
    for match in _CARD.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if 13 <= len(digits) <= 19 and _luhn(digits):
            yield match.span()
    for match in _SSN.finditer(text):
        yield match.span()
    for match in _IBAN.finditer(text):
        if _is_iban(match[0].replace(" ", "")):
            yield match.span()
    for match in _BLOB.finditer(text):
        if _entropy(match[0]) >= 4.0:
            yield match.span()


def _told(text: str) -> Iterator[tuple[int, int]]:
    """What stands after "my password is", "PIN:", "clave"..."""
    at = 0
    while match := _TOLD.search(text, at):
        quoted = match["quoted"] is not None
        start, end = match.span("quoted") if quoted else _trimmed(text, *match.span("secret"))
        soft = _SOFT.search(match["what"]) is not None
        joined = match["is"] is not None or quoted
        if _is_told(text[start:end], soft=soft and not quoted, joined=joined) and (
            quoted or not _is_described(text, start, end, match["is"] or "")
        ):
            yield start, end
            at = end
            while (
                match["what"].endswith("s")
                and (also := _ALSO.match(text, at))
                and _is_told(also["secret"], soft=True, joined=True)
            ):
                at = also.end()
                yield _trimmed(text, *also.span("secret"))
        else:
            at = match.end("what")


def _is_described(text: str, start: int, end: int, linked: str) -> bool:
    """Whether a plain word tells of the secret: the sentence goes on with it, or it says what was done."""
    word = text[start:end].strip(_CLOSING)
    if not (word.isalpha() and word.islower()):
        return False
    verbal = bool(linked) and not set(linked) & set(":=->–—")
    return (verbal and _PARTICIPLE.fullmatch(word) is not None) or not _STANDS_ALONE.match(text, end)


def _describes(phrase: str) -> bool:
    """Words of a seed phrase stand side by side; in a sentence little ones hold them together."""
    said = re.findall(r"[a-z]+", phrase)
    return sum(word in LITTLE for word in said) >= _SENTENCE_SHARE * len(said)


def _is_told(word: str, *, soft: bool, joined: bool) -> bool:
    """Whether a word after the name of a secret is the secret. `joined`: by "is", a colon or the like. `soft`: the name has
    other meanings too ("token", "secret"), so the word itself must look like one."""
    if word.startswith((REDACTED[:-1], MASK)) or word.strip(_CLOSING) == "":
        return False
    bare = word.strip(_CLOSING)
    if bare.lower() in _TELLING or "://" in word:
        return False
    digits = sum(one.isdigit() for one in word)
    odd = sum(not one.isalnum() for one in bare.replace("'", "").replace("-", "").replace(".", ""))
    mixed = bare[1:] != bare[1:].lower() and bare != bare.upper()
    if soft:
        if joined and digits >= 2 and len(word) >= 4:
            return True
        return len(word) >= 12 and (mixed or 2 <= digits < len(word))
    if (digits and len(word) >= 3) or odd or mixed:
        return True
    return (
        joined and len(bare) >= 4 and bare.isalpha() and bare.islower() and not bare.endswith(("ing", "ly"))
    )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the marks that end a sentence; one that may belong to the secret ("hunter2!") goes with it."""
    while end - start > 3 and text[end - 1] in ".,;:)]}>»”’\"'":
        end -= 1
    return start, end


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


def _is_iban(code: str) -> bool:
    if not 15 <= len(code) <= 34:
        return False
    moved = code[4:] + code[:4]
    return int("".join(str(int(one, 36)) for one in moved)) % 97 == 1


def _entropy(text: str) -> float:
    """Bits a character."""
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
