"""Structured questions: "tasks left open in February", "decisions about authentication", "what does she prefer?".

Pure functions on text, English and Spanish. A question is structured when a word for a type of memory stands near its
beginning: it is then answered by type, state, entity, time and topic, and no model is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from everlore.domain.memories import MemoryType
from everlore.domain.recall import Asked, Reading
from everlore.text.dates import TimeRange
from everlore.text.folding import fold
from everlore.text.words import tokens

# A word for a type counts among the first so many words only: further on it is what somebody did or said.
_EARLY = 6
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Folded words (no accents). Plurals always name a type; a singular only after one of `_POINTERS`.
_PLURALS: dict[str, tuple[MemoryType, ...]] = {
    **dict.fromkeys(("tasks", "todos", "chores", "errands", "tareas", "pendientes"), ("task",)),
    **dict.fromkeys(("decisions", "agreements", "decisiones", "acuerdos"), ("decision",)),
    **dict.fromkeys(("preferences", "likes", "dislikes", "preferencias", "gustos"), ("preference",)),
    **dict.fromkeys(("goals", "aims", "ambitions", "objetivos", "metas"), ("goal",)),
    **dict.fromkeys(("events", "appointments", "eventos", "citas"), ("event",)),
    **dict.fromkeys(("reminders", "recordatorios"), ("reminder",)),
    **dict.fromkeys(("blockers", "obstacles", "bloqueos", "impedimentos", "obstaculos"), ("blocker",)),
    **dict.fromkeys(("lessons", "learnings", "takeaways", "lecciones"), ("lesson",)),
    **dict.fromkeys(("habits", "routines", "habitos", "rutinas"), ("habit",)),
    **dict.fromkeys(("skills", "habilidades"), ("skill",)),
    **dict.fromkeys(("notes", "notas"), ("note",)),
    **dict.fromkeys(("projects", "proyectos"), ("project",)),
    **dict.fromkeys(("relationships", "relaciones"), ("relationship",)),
}
_SINGULARS: dict[str, tuple[MemoryType, ...]] = {
    **dict.fromkeys(("task", "todo", "tarea"), ("task",)),
    **dict.fromkeys(("decision",), ("decision",)),
    **dict.fromkeys(("preference", "preferencia"), ("preference",)),
    **dict.fromkeys(("goal", "objetivo", "meta"), ("goal",)),
    **dict.fromkeys(("reminder", "recordatorio"), ("reminder",)),
    **dict.fromkeys(("blocker", "bloqueo"), ("blocker",)),
    **dict.fromkeys(("lesson", "leccion"), ("lesson",)),
    **dict.fromkeys(("habit", "habito"), ("habit",)),
}
_POINTERS = _set(
    """what which any my our open last latest next every que cual alguna algun mi nuestra nuestro ultima
    ultimo proxima"""
)
# Whole ways of asking, each with the type that it asks for and, where it says one, the state.
_WAYS: tuple[tuple[str, MemoryType, Asked | None], ...] = (
    (r"^(?:and |so )?what (?:does|do|did|would) (?:\S+ ){1,6}?prefer\b", "preference", None),
    (
        r"^(?:y )?que (?:\S+ ){0,3}?(?:prefiere|prefieres|prefiero|prefieren|preferia)\b",
        "preference",
        None,
    ),
    (r"^what (?:does|do|did|would) (?:\S+ ){1,4}?(?:like|love|hate|dislike|favou?r)$", "preference", None),
    (
        r"^que (?:cosas )?(?:no )?(?:le|les|me|te|nos) (?:gusta|gustan|gustaba)(?: a \S+){0,1}$",
        "preference",
        None,
    ),
    (r"^what (?:did|have|has) (?:\S+ ){1,3}?decided?\b", "decision", None),
    (r"^what (?:did|have|has) (?:\S+ ){1,3}?(?:agree(?:d)?|settle(?:d)?) (?:on|upon)?\b", "decision", None),
    (r"^(?:en )?que (?:\S+ ){0,2}?(?:quedamos|acordamos|hemos (?:acordado|quedado))\b", "decision", None),
    (r"^que (?:\S+ ){0,2}?(?:decidimos|decidio|decidi|decidieron|hemos decidido)\b", "decision", None),
    (r"^what (?:is|s|was) (?:still )?(?:left )?to do\b", "task", "open"),
    (r"^what (?:do|did) (?:i|we|you) (?:still )?(?:have|need) to do\b", "task", "open"),
    (
        r"^what (?:is|s) (?:still )?(?:left|open|pending|outstanding|unfinished|undone|on my plate)$",
        "task",
        "open",
    ),
    (r"^what (?:should|must) (?:i|we) (?:still )?(?:do|finish|get done)\b", "task", "open"),
    (
        r"^(?:is )?(?:there )?anything (?:still |else )?(?:left |open |pending )?(?:to do|to finish)\b",
        "task",
        "open",
    ),
    (
        r"^what (?:do|does|did) (?:\S+ ){1,4}?(?:want|hope|aim) to (?:achieve|reach|become|accomplish)\b",
        "goal",
        None,
    ),
    (r"^what (?:is|are|was|were) (?:\S+ ){1,4}?(?:working towards?|aiming (?:for|at))\b", "goal", None),
    (
        r"^(?:what|who) (?:is|s|are) (?:\S+ ){0,3}?(?:in (?:my|our|the) way|holding (?:me|us|it) up)\b",
        "blocker",
        None,
    ),
    (r"^que (?:me |nos )?(?:queda|falta|tengo que|tenemos que)(?: por)? hacer\b", "task", "open"),
    (r"^what (?:is|s|was) blocking\b", "blocker", None),
    (r"^what (?:did|have|has) (?:\S+ ){1,3}?learn(?:ed|t)\b", "lesson", None),
)
# What those ways say by themselves: it is no topic ("What does Emma like?" is not about what holds the word "like").
_OF_WAYS = _set(
    """like love hate dislike favor favour gusta gustan gustaba le les me te nos cosas agree agreed settle settled upon
    open pending outstanding unfinished undone plate anything else finish want hope aim achieve reach become accomplish
    working toward towards aiming way holding up quedamos acordamos acordado quedado"""
)
_STATES: tuple[tuple[re.Pattern[str], Asked], ...] = (
    (
        re.compile(
            r"\b(?:not (?:yet )?(?:done|finished)|unfinished|left open|still open|open|pending|outstanding|remaining|undone"
            r"|sin (?:hacer|terminar)|por hacer|pendientes?|abiert[oa]s?)\b"
        ),
        "open",
    ),
    (
        re.compile(
            r"\b(?:done|finished|completed?|closed|resolved|hech[oa]s?|terminad[oa]s?|completad[oa]s?|cerrad[oa]s?|resuelt[oa]s?)\b"
        ),
        "done",
    ),
    (re.compile(r"\b(?:expired|lapsed|overdue|vencid[oa]s?|caducad[oa]s?|expirad[oa]s?)\b"), "expired"),
)
_PRONOUN = re.compile(r"\b(?:she|he|her|his|him|ella|el prefiere|suyas?|suyos?)\b")
# Words of a question that name no topic, beside those that the database leaves out and those read above.
_EMPTY = _set(
    """what which who when where how list show give tell find me us all any every are is was were be been there have
    has had do does did made make make took take set left still yet the a an of in on at to for with about regarding
    concerning from by and or my our your her his their its i we you she he they it prefer prefers preferred decide
    decided learned learnt learn blocking need please can could would should current currently now que cual cuales
    quien cuando donde como lista muestra dame dime todas todos hay tengo tenemos tiene tienes el la los las un una
    unos unas de del en a al para por con sobre acerca respecto y o mi mis nuestro nuestra nuestros nuestras su sus
    tu tus se ha he hemos han queda quedan falta hacer prefiere prefieres prefiero prefieren decidimos decidio ella
    ellos yo nosotros"""
)
# Types that hold for a while, so that a stretch of time means "at some moment of it". The others happen, or are said, in it.
_LASTING = frozenset(
    {
        "preference",
        "habit",
        "identity",
        "relationship",
        "goal",
        "skill",
        "fact",
        "project",
        "system_config",
        "context",
    }
)


@dataclass(frozen=True, slots=True)
class Structured:
    """`names` are runs of the question's words that may be somebody's or something's name, as they are written; `pronoun`:
    it says "she" or "he" instead. `about` are the words of its topic, folded."""

    types: tuple[MemoryType, ...]
    status: Asked | None
    names: tuple[str, ...]
    pronoun: bool
    times: tuple[TimeRange, ...]
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a reading means for memories; see `everlore.store.recall_memories.Wanted`."""

    said_before: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    open_at: datetime | None = None
    in_view_at: datetime | None = None
    done_by: datetime | None = None
    done_since: datetime | None = None
    expired_by: datetime | None = None


def read_structured(question: str, times: Sequence[TimeRange]) -> Structured | None:
    """What a structured question asks for; None for any other question."""
    bare = question
    for span in times:
        bare = bare.replace(span.text, " ", 1)
    written = [match.group() for match in _WORD.finditer(bare)]
    words = [fold(word).removesuffix("'s") for word in written]
    plain = " ".join(word.text for word in tokens(bare))
    types, status, named = _type(words, plain)
    if not types:
        return None
    for pattern, state in _STATES:
        if status is None and (found := pattern.search(plain)):
            status = state
            named |= set(found.group().split())
            break
    return Structured(
        types=types,
        status=status,
        names=_runs(written, words, named),
        pronoun=bool(_PRONOUN.search(plain)),
        times=tuple(times),
        about=tuple(dict.fromkeys(w for w in words if w not in _EMPTY and w not in named and len(w) > 1)),
    )


def limits(asked: Structured, moment: datetime, *, past: bool, include_expired: bool) -> Limits:
    """The times that a reading stands for, at the moment whose truth is asked for."""
    span = asked.times[0] if asked.times else None
    start = span.start if span else None
    end = min(span.end, moment) if span and span.end else moment
    if asked.status == "open":
        if span is None:
            return Limits(open_at=moment, in_view_at=None if include_expired else moment)
        return Limits(said_before=end, open_at=end, in_view_at=start or end)
    if asked.status == "done":
        return Limits(done_by=end, done_since=start)
    if asked.status == "expired":
        return Limits(expired_by=end)
    if span is not None:
        if set(asked.types) <= _LASTING:
            return Limits(said_before=end, open_at=start)
        return Limits(since=start, until=span.end)
    if past:
        return Limits(said_before=moment)
    return Limits(open_at=moment, in_view_at=None if include_expired else moment)


def reading(asked: Structured, entities: Sequence[str], about: Sequence[str]) -> Reading:
    """How the question was read, for whoever asked."""
    span = asked.times[0] if asked.times else None
    text = " ".join(
        part
        for part in (
            asked.status or "",
            " and ".join(kind.replace("_", " ") for kind in asked.types),
            f"of {', '.join(entities)}" if entities else "",
            f"about {' '.join(about)}" if about else "",
            f"({span.text})" if span else "",
        )
        if part
    )
    return Reading(
        types=asked.types,
        status=asked.status,
        entities=tuple(entities),
        since=span.start if span else None,
        until=span.end if span else None,
        about=tuple(about),
        text=text,
    )


def _type(words: Sequence[str], plain: str) -> tuple[tuple[MemoryType, ...], Asked | None, set[str]]:
    """The types that a question asks for, the state that its way of asking says, and the words that were read for it."""
    for pattern, kind, status in _WAYS:
        if found := re.search(pattern, plain):
            return (kind,), status, set(found.group().split()) & _OF_WAYS
    types: dict[MemoryType, None] = {}
    named: set[str] = set()
    for place, word in enumerate(words[:_EARLY]):
        found = _PLURALS.get(word)
        if found is None and place and words[place - 1] in _POINTERS:
            found = _SINGULARS.get(word)
        if found is not None:
            types |= dict.fromkeys(found)
            named.add(word)
    return tuple(types), "open" if "pendientes" in named else None, named


def _runs(written: Sequence[str], words: Sequence[str], named: set[str]) -> tuple[str, ...]:
    """Runs of one to three words between those that are read already or name nothing."""
    runs: dict[str, None] = {}
    for first in range(len(words)):
        for last in range(first, min(first + 3, len(words))):
            if words[last] in _EMPTY or words[last] in named:
                break
            runs[" ".join(written[first : last + 1]).removesuffix("'s")] = None
    return tuple(runs)
