"""Pieces as text: Jinja templates that come along, or the user's own of the same names.

A template of a part sees no words of any item: it places marks, and the words, made inert and put into their line by `item.j2`,
take the place of the marks afterwards. So no text is ever read as a template, and a part is known item by item: what is erased
later can be cut out of a head that was stored.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, FileSystemLoader, PackageLoader, StrictUndefined, Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from everlore.context.piece import Piece
from everlore.domain.context import Part
from everlore.domain.errors import ConfigurationError
from everlore.domain.ids import short_id
from everlore.text.prompt_marks import CLOSING, MARK, OPENING, inert

# Private characters around the place of an item. None of them comes from outside: templates see no words.
_PLACE = re.compile("\ue000(\\d+)\ue001")

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a rendered part: an item by its place, or (None) what the template says."""

    place: int | None
    text: str


class Templates:
    """The templates in use. Raises ConfigurationError for a folder or template that cannot be used."""

    def __init__(self, folder: Path | None = None) -> None:
        if folder is not None and not folder.is_dir():
            raise ConfigurationError(f"The setting context.templates_dir names {folder}, which is no folder.")
        own = [] if folder is None else [FileSystemLoader(folder)]
        self._environment = ImmutableSandboxedEnvironment(
            loader=ChoiceLoader([*own, PackageLoader("everlore.context")]),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )

    def item(self, piece: Piece, number: int | None) -> str:
        """The line, or lines, of one item."""
        if piece.template:
            return self._rendered(piece.template, mark=MARK).strip("\n") + "\n"
        line = self._rendered(
            "item.j2",
            number=number,
            kind=piece.kind,
            note=piece.note,
            date=date_of(piece.at),
            author=inert(piece.author or ""),
            trust=piece.trust,
            source=short_id(piece.sources[0]) if piece.sources else "",
            text=piece.text if piece.kind == "text" else inert(piece.text),
        )
        return line.strip("\n") + "\n"

    def part(self, part: Part, pieces: Sequence[Piece], lines: Sequence[str]) -> list[Segment]:
        """The head or the tail with these items; nothing where there is none. `lines`: what `item` made of each."""
        if not pieces:
            return []
        text = self._rendered(f"{part}.j2", opening=OPENING, closing=CLOSING, slots=_placed(pieces))
        found = _PLACE.split(text)
        segments = [
            Segment(int(one), lines[int(one)]) if odd % 2 else Segment(None, one)
            for odd, one in enumerate(found)
        ]
        return [one for one in segments if one.text]

    def _rendered(self, name: str, **values: Any) -> str:
        try:
            return self._template(name).render(values)
        except TemplateError as error:
            raise ConfigurationError(f"The template {name} of context cannot be used: {error}.") from error

    def _template(self, name: str) -> Template:
        return self._environment.get_template(name)


@lru_cache(maxsize=8)
def templates(folder: Path | None) -> Templates:
    """Compiled once; a file that changes is read again."""
    return Templates(folder)


def date_of(at: datetime | None) -> str:
    """`8 May 2023`: the fewest tokens that a date can have and nobody mistakes."""
    return "" if at is None else f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def _placed(pieces: Sequence[Piece]) -> Mapping[str, list[dict[str, str]]]:
    """What a template sees: by slot, where each item goes, and its day: to sort by, and as it is shown."""
    slots = defaultdict[str, list[dict[str, str]]](list)
    for place, piece in enumerate(pieces):
        day = "" if piece.at is None else piece.at.date().isoformat()
        slots[piece.slot].append({"text": f"\ue000{place}\ue001", "day": day, "date": date_of(piece.at)})
    return slots


def text_of(segments: Sequence[Segment]) -> str:
    """A rendered part as one text."""
    return "".join(segment.text for segment in segments)
