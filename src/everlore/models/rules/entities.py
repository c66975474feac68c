"""Makes entities of names: what kind of thing each is, and under which other names it goes."""

import re
from collections.abc import Iterable
from typing import Final

from everlore.domain.memories import EntityType

_ORGANISED: Final = re.compile(
    r"\b(?:inc|ltd|gmbh|llc|corp|co|university|universidad|college|school|hospital|bank|company|institute|ministry"
    r"|foundation|museum|studio|labs?"
    r"|airlines?|group|club|band|choir|league|association|society|agency|bakery|café|cafe|restaurant|clinic|clínica"
    r"|escuela|instituto|banco)\b",
    re.IGNORECASE,
)
_TECHNICAL: Final = re.compile(
    r"(?:postgres\w*|mysql|sqlite|redis|mongodb|docker|kubernetes|k8s|python|java|javascript|typescript|rust|go|golang"
    r"|ruby|php|swift|kotlin"
    r"|react|vue|svelte|angular|next\.js|node(?:\.js)?|django|flask|fastapi|rails|spring|linux|ubuntu|debian|fedora"
    r"|arch|windows|macos"
    r"|git|github|gitlab|vim|neovim|emacs|vs ?code|aws|gcp|azure|terraform|ansible|nginx|kafka|rabbitmq|graphql|rest"
    r"|api|sql|css|html"
    r"|json|yaml|cuda|pytorch|tensorflow|figma|excel|notion|slack|jira)(?: ?v?\d[\w.]*)?",
    re.IGNORECASE,
)
_PLACE_AHEAD: Final = re.compile(
    r"\b(?:in|from|near|around|visit(?:ed|ing)?|en|a|desde|hacia|nach|aus|à) $"
    r"|(?<!married )(?<!engaged )(?<!talk )(?<!talked )(?<!talking )(?<!spoke )(?<!listen )(?<!wrote )\bto $"
)
_BY_PREDICATE: Final[dict[str, EntityType]] = {
    "lives_in": "place", "born_in": "place", "has_visited": "place", "works_at": "organisation", "studies_at": "organisation",
    "member_of": "organisation", "works_on": "project", "uses": "technical_term", "married_to": "person",
        "engaged_to": "person",
    "partner_of": "person",
}  # fmt: skip


def is_technical(name: str) -> bool:
    """Whether `name` is a program or a language, and so no place to move to."""
    return _TECHNICAL.fullmatch(name) is not None


def type_by_predicate(predicate: str) -> EntityType | None:
    """What the object of a fact is, where the predicate alone decides it."""
    return _BY_PREDICATE.get(predicate)


def guess_type(name: str, ahead: str) -> EntityType:
    """What a bare name most likely is, by its words and the words in front of it (lower case)."""
    if _TECHNICAL.fullmatch(name):
        return "technical_term"
    if _ORGANISED.search(name):
        return "organisation"
    if re.search(r"\b(?:project|proyecto) $", ahead):
        return "project"
    if _PLACE_AHEAD.search(ahead):
        return "place"
    if name.isupper() and len(name) > 1:
        return "organisation" if len(name) > 2 else "other"
    return "other"


def surest(types: Iterable[EntityType]) -> EntityType:
    """The most telling of the guesses for one name."""
    order: tuple[EntityType, ...] = (
        "person",
        "organisation",
        "project",
        "technical_term",
        "place",
        "concept",
        "event",
        "other",
    )
    given = set(types)
    for one in order:
        if one in given:
            return one
    return "other"
