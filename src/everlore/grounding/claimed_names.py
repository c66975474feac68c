"""The names of a statement, and whether they were said: as they stand, or as another name of the same entity."""

import re
from collections.abc import Iterator

from everlore.grounding.evidence import Evidence
from everlore.text.descriptions import same_role
from everlore.text.lexicon import numbered
from everlore.text.lexicon import words as lexicon
from everlore.text.names import NO_NAMES, STARTERS
from everlore.text.words import LITTLE, alike, fold, root, words

_CAPITAL = re.compile(r"(?<!\w)[^\W\d_][\w'’&+.-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]\s+|\n\s*|[-*•]\s+)[\"'“‘(\[]*$")
_ROLES = lexicon("person_titles")
_VERBS = lexicon("claim_verbs")
_LIKE_A_WORD = re.compile(r".{3,}(?:ing|ed|ly|tion|sion|ment|ness|able|ful|ism|ship|hood|ity)$")
_KINDS = ("ian", "ean", "ese", "ish", "an", "ic")
_LANDS = {"spanish": "spain", "french": "france", "dutch": "netherlands", "polish": "poland", "turkish": "turkey",
          "danish": "denmark", "greek": "greece", "swiss": "switzerland", "welsh": "wales"}  # fmt: skip


def names_in(text: str, source: Evidence) -> Iterator[str]:
    """Runs of capitalised words, without what is capitalised only because a sentence begins there."""
    run: list[str] = []
    end = 0
    german = re.search(r"\b(?:der|die|das|und|ist|nicht|ich|ein|eine)\b", text) is not None
    for match in _CAPITAL.finditer(text):
        word = match[0].rstrip(".'’-+&") if not re.search(r"[+&]$", match[0]) else match[0]
        if re.search(r"['’]s$", word):
            word = word[:-2]
        taken = _is_name(word, text, match.start(), source, german)
        if run and (
            not taken
            or not text[end : match.start()].isspace()
            or _SENTENCE_START.search(text[: match.start()])
        ):
            yield " ".join(run)
            run = []
        if taken:
            run.append(word)
            end = match.start() + len(word)
    if run:
        yield " ".join(run)


def name_is_said(name: str, source: Evidence) -> bool:
    """Whether all parts of a name, or all of another name of the same entity, were said."""
    parts = words(name)
    if all(_part_is_said(part, source) for part in parts):
        return True
    variants = source.variants(name)
    if any(found and all(map(source.holds, found)) for found in map(words, variants)):
        return True
    if len(parts) > 1:
        return all(
            _part_is_said(part, source) or _variant_is_said(part, source) for part in parts
        ) or _short_for(name, source)
    return _short_for(name, source)


def _is_name(word: str, text: str, start: int, source: Evidence, german: bool) -> bool:
    if not word or not word[0].isupper():
        return re.search(r"[a-z][A-Z]", word) is not None  # iPhone, macOS
    folded = fold(word)
    if folded in _ROLES or folded in NO_NAMES or re.match(r"i['’]", folded):
        return folded in NO_NAMES and folded in _CHECKED_ANYWAY
    if german and re.search(
        r"\b(?:der|die|das|den|dem|des|\w*ein(?:e[rnms]?)?|ihre?n?|seine?n?)\s$", text[:start]
    ):
        return False
    if _SENTENCE_START.search(text[:start]):
        return not (
            folded in STARTERS
            or folded in _VERBS
            or _LIKE_A_WORD.match(folded)
            or alike(root(folded), source.roots)
        )
    return True


# Capitalised by habit only, and yet nothing to invent.
_CHECKED_ANYWAY = lexicon("feasts") | lexicon("nations") | frozenset(numbered("dates.weekdays", 0, "en"))


def _part_is_said(part: str, source: Evidence) -> bool:
    if source.holds(part) or part in source.context:
        return True
    if (part.endswith("s") and source.holds(part[:-1])) or source.holds(part + "s"):
        return True
    if "-" in part or "." in part:
        pieces = [piece for piece in re.split(r"[-.]", part) if piece]
        return bool(pieces) and all(map(source.holds, pieces))
    if source.holds(_LANDS.get(part, part)):
        return True
    if part.endswith(_KINDS) and len(part) >= 6:
        return any(word[:4] == part[:4] for word in source.words if len(word) >= 4)
    # Other scripts inflect names: Анна, Анну.
    return (
        not part.isascii()
        and len(part) >= 4
        and any(
            word[: len(part) - 1] == part[:-1] and abs(len(word) - len(part)) <= 2 for word in source.words
        )
    )


def _variant_is_said(part: str, source: Evidence) -> bool:
    return any(found and all(map(source.holds, found)) for found in map(words, source.variants(part)))


def _short_for(name: str, source: Evidence) -> bool:
    """NYC for New York City, and the other way round."""
    parts = name.split()
    if len(parts) >= 2:
        return source.holds("".join(part[0] for part in parts).lower())
    if not (name.isupper() and 2 <= len(name) <= 6):
        return False
    capitals = "".join(
        word[0] if word[0].isupper() else " " for word in re.findall(r"[^\W\d_]+", source.said)
    )
    return name in capitals


def entity_is_said(name: str, source: Evidence) -> bool:
    """All words of a name, in any case; or another name of the same entity."""
    telling_words = [word for word in words(name) if word not in LITTLE] or words(name)
    if telling_words and all(
        source.holds(word)
        or word in source.context
        or root(word) in source.roots
        or any(same_role(word, said) for said in source.words)
        for word in telling_words
    ):
        return True
    return bool(telling_words) and name_is_said(name, source)
