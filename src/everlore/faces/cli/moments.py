"""What the demonstration shows of a memory, in five moments: found by meaning, who is who, what changed, what is open, and what
was never said."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from everlore.domain.ids import short_id
from everlore.domain.predicates import in_words
from everlore.faces.cli.output import Output, shortened, table, when
from everlore.faces.cli.recalling import supported
from everlore.faces.cli.shown import day, memory_table
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.domain.memories import Entity, Fact, Memory
    from everlore.domain.recall import Recall

BY_MEANING = "What was the reason for my exhaustion?"
NEVER_SAID = "What is the name of my dentist?"
_HITS = 3
_CHANGES = 5
_OPEN = 5
_NAMES = 3
_MOST_ENTITIES = 200
_ROOM = 200


@dataclass(slots=True)
class Moments:
    """`changed`: facts that held once, each with the one that took its place. `open`: tasks, goals and reminders in use."""

    by_meaning: "Recall | None" = None
    person: "Entity | None" = None
    about: "list[Fact]" = field(default_factory=list["Fact"])
    changed: "list[tuple[Fact, Fact]]" = field(default_factory=list["tuple[Fact, Fact]"])
    open: "list[Memory]" = field(default_factory=list["Memory"])
    open_in_all: int = 0
    never_said: "Recall | None" = None


async def gather(memory: "Workspace", answers: "dict[str, Recall]") -> Moments:
    """`answers`: what was recalled, by question."""
    found = Moments(by_meaning=answers.get(BY_MEANING), never_said=answers.get(NEVER_SAID))
    listed = (await memory.graph.entities(type="person", limit=_MOST_ENTITIES)).items
    known_by = sorted((one.entity for one in listed), key=lambda one: -len(one.aliases))
    if known_by:
        person = known_by[0]
        found.person, found.about = person, list((await memory.graph.entity(str(person.entity_id))).facts)
    found.changed = _changes((await memory.facts(history=True, limit=1000)).items)
    tasks = await memory.memories(types=["task", "goal", "reminder"], include_expired=True, limit=1000)
    found.open, found.open_in_all = (
        sorted(tasks.items, key=lambda one: -one.importance)[:_OPEN],
        len(tasks.items),
    )
    return found


def _changes(facts: "Sequence[Fact]") -> "list[tuple[Fact, Fact]]":
    """What held once beside what holds of the same subject and predicate since then."""
    holding = {(one.subject, one.predicate): one for one in facts if one.valid_to is None}
    once = [one for one in facts if one.valid_to is not None and one.valid_to > one.valid_from]
    pairs = [(one, now) for one in once if (now := holding.get((one.subject, one.predicate))) is not None]
    return sorted(pairs, key=lambda pair: pair[1].valid_from, reverse=True)


def show(out: Output, found: Moments) -> None:
    _meaning(out, found.by_meaning)
    _person(out, found)
    _changed(out, found.changed)
    _open(out, found)
    _never_said(out, found.never_said)


def _heading(out: Output, number: int, what: str) -> None:
    from rich.text import Text

    out.line()
    out.print(Text(f"{number}. {what}", style="bold"))


def _meaning(out: Output, answer: "Recall | None") -> None:
    _heading(out, 1, f'Found by meaning: "{BY_MEANING}"')
    hits = table("text", "when", "who", "id", wide="text")
    for hit in answer.hits[:_HITS] if answer is not None else ():
        said = f"{shortened(hit.text, _ROOM, hit.support.covered)}\n({supported(hit.support)})"
        hits.add_row(
            said, when(hit.citation.at), shortened(hit.citation.author, 16), short_id(hit.citation.message_id)
        )
    out.print(hits)


def _person(out: Output, found: Moments) -> None:
    if found.person is None:
        _heading(out, 2, "Nobody is known by name yet.")
        return
    names = [one.variant for one in sorted(found.person.aliases, key=lambda one: -one.weight)]
    others = [one for one in dict.fromkeys(names) if one.casefold() != found.person.name.casefold()]
    _heading(out, 2, f"One person under {counted(1 + len(others), 'names')}: {found.person.name}")
    if others:
        out.line(f"Also {', '.join(others[:_NAMES])}.")
    for fact in found.about[:_HITS]:
        out.line(
            f"- {_statement(fact)} (since {day(fact.valid_from)}, {counted(len(fact.sources), 'sources')})"
        )


def _changed(out: Output, changed: "Sequence[tuple[Fact, Fact]]") -> None:
    _heading(out, 3, f"What changed, and when: {counted(len(changed), 'facts')}")
    for before, now in changed[:_CHANGES]:
        out.line(
            f"- {_statement(now)} since {day(now.valid_from)}. Before, from {day(before.valid_from)}: {before.object}."
        )


def _statement(fact: "Fact") -> str:
    return f"{fact.subject} {in_words(fact.predicate)} {fact.object}"


def _open(out: Output, found: Moments) -> None:
    _heading(out, 4, f"What is open: {counted(found.open_in_all, 'tasks and goals')}")
    if found.open:
        out.print(memory_table(found.open, _ROOM))


def _never_said(out: Output, answer: "Recall | None") -> None:
    _heading(out, 5, f'Never said: "{NEVER_SAID}"')
    if answer is None:
        return
    if not answer.hits:
        out.line("Nothing that was said answers this, and that is the answer.")
        return
    best = answer.hits[0]
    if best.support.grade == "strong":
        out.line(f'Something comes near, all the same: "{shortened(best.text, 120)}"')
        return
    out.line(
        f'Nothing strong: what comes nearest is only {best.support.grade}: "{shortened(best.text, 120)}"'
    )
