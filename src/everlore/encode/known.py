"""Which known entities a text names, and by what other names: for the window's context and for grounding."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from everlore.encode.resolve import Linking
from everlore.store import entities
from everlore.store.database import Connection

_CAPITAL = re.compile(r"[^\W\d_a-zà-ÿ][\w.'’-]*|[\w.+-]+@[\w-]+\.[\w.]+|@\w+")
_LONGEST = 3
_AT_MOST = 400


@dataclass(frozen=True, slots=True)
class KnownNames:
    """`variants`: for each name that was asked for and is known, all other names of its entities."""

    ids: frozenset[UUID]
    variants: Mapping[str, frozenset[str]]


async def known_ids(connection: Connection, texts: Iterable[str], linking: Linking) -> list[UUID]:
    """The entities that the texts name, without their names."""
    names = dict.fromkeys(name for text in dict.fromkeys(texts) for name in _names_in(text))
    keys = {linking.key(name) for name in list(names)[:_AT_MOST]}
    return sorted({match.entity_id for match in await entities.by_keys(connection, keys)})


async def known_names(connection: Connection, texts: Iterable[str], linking: Linking) -> KnownNames:
    """The entities that the texts name: by runs of capitalised words, addresses and handles, and by whole short texts."""
    names = list(dict.fromkeys(name for text in texts for name in _names_in(text)))[:_AT_MOST]
    keys = {name: linking.key(name) for name in names}
    matches = await entities.by_keys(connection, keys.values())
    of_key: dict[str, set[UUID]] = {}
    for match in matches:
        of_key.setdefault(match.given, set()).add(match.entity_id)
    ids = {match.entity_id for match in matches}
    named = {one.entity_id: one for one in await entities.load(connection, sorted(ids))}
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
