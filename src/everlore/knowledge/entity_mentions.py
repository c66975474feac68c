"""Which known entities a text names, and by what other names: for the window's context and for grounding."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from everlore.config import AliasSettings
from everlore.knowledge.entity_references import SPOKEN
from everlore.store import entities
from everlore.store.run import Transaction

_CAPITAL = re.compile(r"[^\W\d_a-zà-ÿ][\w.'’-]*|[\w.+-]+@[\w-]+\.[\w.]+|@\w+")
_WORD = re.compile(r"[^\W_]+(?:['’&.-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_LONGEST = 3
_AT_MOST = 400


@dataclass(frozen=True, slots=True)
class KnownNames:
    """`variants`: for each name that was asked for and is known, all other names of its entities."""

    ids: frozenset[UUID]
    variants: Mapping[str, frozenset[str]]


async def known_ids(tx: Transaction, texts: Iterable[str], linking: AliasSettings) -> list[UUID]:
    """The entities that the texts name, without their names."""
    names = dict.fromkeys(name for text in dict.fromkeys(texts) for name in _names_in(text))
    keys = {linking.key(name) for name in list(names)[:_AT_MOST]}
    return sorted({match.entity_id for match in await entities.by_keys(tx, keys)})


async def known_names(tx: Transaction, texts: Iterable[str], linking: AliasSettings) -> KnownNames:
    """The entities that the texts name: by runs of capitalised words, addresses and handles, and by whole short texts."""
    names = list(dict.fromkeys(name for text in texts for name in _names_in(text)))[:_AT_MOST]
    keys = {name: linking.key(name) for name in names}
    matches = await entities.by_keys(tx, keys.values())
    of_key: dict[str, set[UUID]] = {}
    for match in matches:
        of_key.setdefault(match.given, set()).add(match.entity_id)
    ids = {match.entity_id for match in matches}
    named = {one.entity_id: one for one in await entities.load(tx, sorted(ids))}
    variants = {
        name: frozenset(
            said
            for entity_id in of_key.get(key, ())
            if entity_id in named
            for said in (named[entity_id].name, *(alias.variant for alias in named[entity_id].aliases))
        )
        for name, key in keys.items()
        if key in of_key
    }
    return KnownNames(frozenset(named), variants)


async def called_in(tx: Transaction, text: str, linking: AliasSettings) -> list[str]:
    """Names of known entities as they stand in a text, the longest where they overlap: runs of words with capitals, or such as
    are a name in just these letters. An ordinary word is none, though somebody may be called so."""
    words = list(_WORD.finditer(text))[:_AT_MOST]
    spans = [(first, first + length) for length in range(_LONGEST, 0, -1)
             for first in range(len(words) - length + 1)]  # fmt: skip
    said = {
        (first, last): _POSSESSIVE.sub("", text[words[first].start() : words[last - 1].end()])
        for first, last in spans
    }
    keys = {span: linking.key(run) for span, run in said.items() if run.casefold() not in SPOKEN}
    variants: dict[str, set[str]] = {}
    for match in await entities.by_keys(tx, keys.values()):
        variants.setdefault(match.given, set()).add(match.variant)
    found: dict[int, str] = {}
    taken: set[int] = set()
    for (first, last), key in keys.items():
        run = said[first, last]
        capitals = all(words[place][0][0].isupper() for place in (first, last - 1))
        is_name = key in variants and (capitals or run in variants[key])
        if is_name and not taken & set(range(first, last)):
            taken |= set(range(first, last))
            found[first] = run
    return list(dict.fromkeys(found[first] for first in sorted(found)))


def _names_in(text: str) -> list[str]:
    """Runs of up to three capitalised words, addresses, handles; and the text itself if it is no longer than a name."""
    found = [text.strip()] if 0 < len(text.strip()) <= 60 else []
    run: list[re.Match[str]] = []
    for match in _CAPITAL.finditer(text):
        if run and not re.fullmatch(r"[\s’'s]*", text[run[-1].end() : match.start()]):
            run = []
        run = [*run, match][-_LONGEST:]
        found.extend(text[first.start() : match.end()].strip(".'’-") for first in run)
    return [name for name in found if name]
