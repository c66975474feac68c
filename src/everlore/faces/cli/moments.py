"""What the demonstration shows of a memory, in five moments: found by meaning, who is who, what changed, what is open, and what
was never said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from everlore.domain.ids import short_id
from everlore.domain.memories import AsOf, as_seen
from everlore.domain.predicates import in_words
from everlore.faces.cli.output import Output, shortened, table, when
from everlore.faces.cli.recalling import supported
from everlore.faces.cli.shown import day, memory_table, statement, stretch
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.domain.memories import Entity, Fact, Memory
    from everlore.domain.recall import Recall

BY_MEANING = "Why was I so exhausted?"
NEVER_SAID = "What is the name of my dentist?"
_HITS = 3
_CHANGES = 5
_OPEN = 5
_NAMES = 3
_MOST_ENTITIES = 200
_ROOM = 200
_OBJECT = 80


@dataclass(slots=True)
class Moments:
    """`answered_at`: the place of the first hit that answers the question by meaning. `changed`: what held of one thing, in
    order, where something took the place of something else. `open`: tasks, goals and reminders, open on the `last_day`."""

    by_meaning: "Recall | None" = None
    answered_at: int | None = None
    person: "Entity | None" = None
    about: "list[Fact]" = field(default_factory=list["Fact"])
    changed: "list[list[Fact]]" = field(default_factory=list["list[Fact]"])
    last_day: datetime | None = None
    open: "list[Memory]" = field(default_factory=list["Memory"])
    open_in_all: int = 0
    never_said: "Recall | None" = None


async def gather(
    memory: "Workspace", answers: "Mapping[str, Recall]", places: Mapping[str, int | None], last_day: datetime
) -> Moments:
    """`answers`: what was recalled, by question; `places`: where the first hit that answers stands. `last_day`: when the last
    message was said."""
    found = Moments(
        by_meaning=answers.get(BY_MEANING),
        answered_at=places.get(BY_MEANING),
        last_day=last_day,
        never_said=answers.get(NEVER_SAID),
    )
    listed = (await memory.graph.entities(type="person", limit=_MOST_ENTITIES)).items
    known_by = sorted((one.entity for one in listed), key=lambda one: -len(one.aliases))
    if known_by:
        person = known_by[0]
        found.person, found.about = person, list((await memory.graph.entity(str(person.entity_id))).facts)
    found.changed = changes((await memory.facts(history=True, limit=1000)).items)
    # The conversation ended long ago: by today's calendar hardly anything of it is open.
    tasks = await memory.memories(types=["task", "goal", "reminder"], as_of=AsOf(last_day), limit=1000)
    by_importance = sorted(tasks.items, key=lambda one: -one.importance)
    found.open = [as_seen(one, last_day) for one in by_importance[:_OPEN]]
    found.open_in_all = tasks.total
    return found


def changes(facts: "Sequence[Fact]") -> "list[list[Fact]]":
    """What held of a subject and predicate, in order, where some of it ended and some holds; the latest change first."""
    held: dict[tuple[UUID, str], list[Fact]] = {}
    for fact in sorted(facts, key=lambda one: one.valid_from):
        if fact.valid_to is None or fact.valid_to > fact.valid_from:
            held.setdefault((fact.subject_id, fact.predicate), []).append(fact)
    chains = [one for one in held.values() if len({fact.valid_to is None for fact in one}) > 1]
    return sorted(chains, key=lambda one: one[-1].valid_from, reverse=True)


def show(out: Output, found: Moments) -> None:
    _meaning(out, found)
    _person(out, found)
    _changed(out, found.changed)
    _open(out, found)
    _never_said(out, found.never_said)


def _heading(out: Output, number: int, what: str) -> None:
    out.line()
    out.wrapped(what, f"{number}. ", "bold")


def _meaning(out: Output, found: Moments) -> None:
    answer = found.by_meaning
    _heading(out, 1, f'Found by meaning: "{BY_MEANING}"')
    if answer is None or not answer.hits:
        out.wrapped("Nothing was found.")
        return
    hits = table("text", "when", "who", "id", wide="text")
    for hit in answer.hits[:_HITS]:
        said = f"{shortened(hit.text, _ROOM, hit.support.covered)}\n({supported(hit.support)})"
        hits.add_row(
            said, when(hit.citation.at), shortened(hit.citation.author, 16), short_id(hit.citation.message_id)
        )
    out.print(hits)
    match found.answered_at:
        case None:
            out.wrapped("None of the turns that were found answers the question.")
        case 1:
            out.wrapped("The first one answers the question, in other words.")
        case place:
            out.wrapped(f"The first turn that answers the question is number {place} of those found.")


def _person(out: Output, found: Moments) -> None:
    if found.person is None:
        _heading(out, 2, "Nobody is known by name yet.")
        return
    names = [one.variant for one in sorted(found.person.aliases, key=lambda one: -one.weight)]
    others = [one for one in dict.fromkeys(names) if one.casefold() != found.person.name.casefold()]
    _heading(out, 2, f"One person under {counted(1 + len(others), 'names')}: {found.person.name}")
    if others:
        out.wrapped(f"Also {', '.join(others[:_NAMES])}.")
    for fact in found.about[:_HITS]:
        out.wrapped(
            f"{statement(fact)} ({stretch(fact.valid_from, fact.valid_to)}, {counted(len(fact.sources), 'sources')})",
            "- ",
        )


def _changed(out: Output, changed: "Sequence[Sequence[Fact]]") -> None:
    _heading(out, 3, f"What changed, and when: {counted(len(changed), 'things')}")
    for chain in changed[:_CHANGES]:
        out.wrapped(in_order(chain), "- ")


def in_order(chain: "Sequence[Fact]") -> str:
    """`Maya lives in: Stockholm (2024-04-03), Lisbon (since 2024-10-13)`; an end is said where nothing follows it at once."""
    told: list[str] = []
    for fact, follower in zip(chain, [*chain[1:], None], strict=True):
        begins = fact.valid_to is not None and follower is not None and fact.valid_to == follower.valid_from
        held = day(fact.valid_from) if begins else stretch(fact.valid_from, fact.valid_to)
        told.append(f"{shortened(fact.object, _OBJECT)} ({held})")
    return f"{chain[0].subject} {in_words(chain[0].predicate)}: {', '.join(told)}"


def _open(out: Output, found: Moments) -> None:
    _heading(
        out,
        4,
        f"What is open on {day(found.last_day)}, the sample's last day: {counted(found.open_in_all, 'things')}",
    )
    if found.open:
        out.print(memory_table(found.open, _ROOM))


def _never_said(out: Output, answer: "Recall | None") -> None:
    _heading(out, 5, f'Never said: "{NEVER_SAID}"')
    if answer is None:
        return
    if not answer.hits:
        out.wrapped("Nothing that was said answers this, and that is the answer.")
        return
    best = answer.hits[0]
    if best.support.grade == "strong":
        out.wrapped(f'Something comes near, all the same: "{shortened(best.text, 120)}"')
        return
    out.wrapped(
        f'Nothing strong: what comes nearest is only {best.support.grade}: "{shortened(best.text, 120)}"'
    )
