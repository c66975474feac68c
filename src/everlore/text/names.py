"""Names in a sentence: runs of capitalised words that are not just the beginning of a sentence."""

import re
from collections.abc import Container
from dataclasses import dataclass

from everlore.text.lexicon import words

_PART = r"[^\W\d_a-zà-öø-ÿ](?:[\w&]|['’-](?=\w)|\.(?=\w))*"
_INITIAL = r"[^\W\d_a-zà-öø-ÿ]\."
_LINK = r"(?:de la|de los|de las|of the|de|del|da|do|dos|du|van der|van|von|der|den|di|la|le|of|&)"
_TITLE = r"(?:(?:Dra?|Mrs?|Ms|Prof|Sra?|Srta)\. )"
_NAME = re.compile(
    rf"(?<![\w'’@#/.-])(?!I(?:['’]\w+)?(?!\w)){_TITLE}?(?:(?:{_INITIAL}){{2,4}}(?!\w)|{_INITIAL}|{_PART})"
    rf"(?: (?:{_LINK} )?(?:{_INITIAL}|{_PART})){{0,6}}"
)
_POSSESSIVE = re.compile(r"['’]s?$")

# Capitalised by rule or by habit, and no names. Months and weekdays of the languages of `dates` stand here again, as words.
NO_NAMES = words("no_names") | words("feasts") | words("nations")
# Words that begin sentences. One of them alone at the beginning is never a name.
STARTERS = words("starters")
_PLAIN = re.compile(r"[\W\d_]+$")


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written (without 's), its characters, and whether it only stands at the beginning of the sentence."""

    text: str
    begin: int
    stop: int
    opens: bool


def names(sentence: str, known: Container[str] = frozenset()) -> tuple[Name, ...]:
    """Names in order. One word that opens the sentence counts only if `known` holds it in lower case, or if it is followed
    by another part; the caller may accept what `opens` when the words after it speak for a name."""
    found: list[Name] = []
    shouted = sum(map(str.isupper, sentence)) > 0.6 * max(1, sum(map(str.isalpha, sentence)))
    if shouted and len(sentence) > 8:
        return ()
    for match in _NAME.finditer(sentence):
        begin, written = match.start(), match[0]
        opens = _is_opening(sentence, begin)
        written, begin = _without_lead(written, begin, opens, known)
        written = (
            _POSSESSIVE.sub("", written).rstrip(".-") if not re.search(r"\b[^\W\d_]\.$", written) else written
        )
        if not written or written.lower() in NO_NAMES or _PLAIN.fullmatch(written) or written == "I":
            continue
        alone = opens and begin == match.start() and " " not in written
        if alone and written.lower() in STARTERS:
            continue
        found.append(Name(written, begin, begin + len(written), alone and written.lower() not in known))
    return tuple(found)


def _is_opening(sentence: str, begin: int) -> bool:
    """Whether nothing but marks stands in front, or a mark after which a sentence may begin."""
    ahead = sentence[max(0, begin - 3) : begin].rstrip(" \"'“‘(*_¿¡-")
    return (
        begin == 0
        or (not ahead and not sentence[:begin].strip(" \"'“‘(*_¿¡-"))
        or ahead[-1:] in tuple(".!?:…")
    )


def _without_lead(written: str, begin: int, opens: bool, known: Container[str]) -> tuple[str, int]:
    """`written` without leading words that are no names ("Yesterday Emma" is Emma), and trailing ones."""
    parts = written.split(" ")
    while parts and parts[0].lower() not in known:
        plain = _POSSESSIVE.sub("", parts[0].lower())
        if plain not in NO_NAMES and not (plain in STARTERS and (opens or len(parts[0]) == 1)):
            break
        begin += len(parts[0]) + 1
        parts.pop(0)
        while parts and parts[0][:1].islower():
            begin += len(parts[0]) + 1
            parts.pop(0)
        opens = False
    while parts and (parts[-1][:1].islower() or parts[-1].lower() in NO_NAMES):
        parts.pop()
    return " ".join(parts), begin
