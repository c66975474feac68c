"""Plays the contradiction sequences through a real memory, and asks what it holds now, held once, and was believed once.

The format stands in README.md beside this file. Every sequence has a workspace of its own; a step is recorded in its thread and
distilled before the next one comes, an hour later by the clock.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import UUID

from tests.golden.score import SYMMETRIC, plain

from everlore.api.workspace import Workspace
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.memories import AsOf
from everlore.everlore import Everlore
from everlore.models.fake import ScriptedAnalyst
from everlore.ports.analyst import (
    DraftEntity,
    DraftFact,
    DraftMemory,
    Extraction,
    Quote,
    Window,
    WindowMessage,
)
from everlore.text.descriptions import affiliation, described

Sequence_ = Mapping[str, Any]
_HERE = Path(__file__).parent
SEQUENCES: Sequence[Sequence_] = json.loads((_HERE / "contradictions.json").read_text(encoding="utf-8"))
_IN_ENGLISH: Mapping[str, Sequence_] = {
    one["id"].removesuffix("-en"): one
    for one in json.loads((_HERE / "contradictions_in_english.json").read_text(encoding="utf-8"))
}
# The same stories, the Spanish ones told in English: what the analyst without a model can read.
READ_BY_RULES: Sequence[Sequence_] = [_IN_ENGLISH.get(one["id"], one) for one in SEQUENCES]
# Names are kept in the language of who speaks; the file calls these by an English description.
_AS_SAID = {"Pablo from the choir": "Pablo del coro"}
# All steps are later than what they tell of.
BEGIN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


class MovableClock(Protocol):
    now: datetime

    def __call__(self) -> datetime: ...

    def advance(self, **by: float) -> None: ...


@dataclass(frozen=True)
class Answer:
    """One question with what came back. `right`: exactly the set of answers."""

    sequence: str
    kind: str
    ask: Mapping[str, Any]
    got: tuple[str, ...]
    right: bool

    def __str__(self) -> str:
        asked = " ".join(f"{name}={self.ask[name]}" for name in self.ask if name != "answer")
        return f"{self.sequence} ({self.kind}) {asked}: wanted {self.ask['answer']}, got {list(self.got)}"


async def play(
    lore: Everlore, clock: MovableClock, sequences: Sequence[Sequence_]
) -> dict[str, tuple[Workspace, list[datetime]]]:
    """Play sequences side by side. Returns the workspace of each, and when each of its steps had been taken in."""
    clock.now = BEGIN
    played: dict[str, tuple[Workspace, list[datetime]]] = {
        one["id"]: (await lore.workspace(one["id"]), []) for one in sequences
    }
    for number in range(max(len(one["steps"]) for one in sequences)):
        for one in sequences:
            if number < len(one["steps"]):
                step = one["steps"][number]
                message = {key: step[key] for key in ("role", "author", "text")} | {"at": _moment(step["at"])}
                await played[one["id"]][0].record([message], thread=step["thread"])
        await lore.distil()
        for one in sequences:
            if number < len(one["steps"]):
                played[one["id"]][1].append(clock.now)
        clock.advance(hours=1)
    return played


async def answers(workspace: Workspace, taken_in: Sequence[datetime], sequence: Sequence_) -> list[Answer]:
    """What the memory answers to each question of a sequence."""
    return [
        Answer(sequence["id"], sequence["kind"], ask, *await _answer(workspace, sequence, ask, taken_in))
        for ask in sequence["ask"]
    ]


def report(got: Sequence[Answer]) -> str:
    """Right answers of all, by kind of sequence, and every wrong one in words."""
    asked, right = Counter(one.kind for one in got), Counter(one.kind for one in got if one.right)
    wrong_ids = {one.sequence for one in got if not one.right}
    ids = {one.sequence for one in got}
    lines = [
        f"{sum(right.values())} of {len(got)} answers, {len(ids - wrong_ids)} of {len(ids)} sequences right",
        *(f"  {kind}: {right[kind]} of {asked[kind]}" for kind in asked),
        *(str(one) for one in got if not one.right),
    ]
    return "\n".join(lines)


async def _answer(
    workspace: Workspace, sequence: Sequence_, ask: Mapping[str, Any], taken_in: Sequence[datetime]
) -> tuple[tuple[str, ...], bool]:
    predicate = ask["predicate"]
    try:
        subject = await workspace.graph.find(_as_said(ask["subject"]))
    except NotFound:
        return (), not ask["answer"]
    except InvalidInput:
        return ("somebody: there are several of this name",), False
    either = predicate in SYMMETRIC
    found = await workspace.facts(
        subject=None if either else subject,
        about=subject if either else None,
        predicate=predicate,
        as_of=_as_of(sequence, ask, taken_in),
    )
    others = [
        (fact.object_id, fact.object) if fact.subject_id == subject else (fact.subject_id, fact.subject)
        for fact in found
    ]
    names = [await _names(workspace, entity_id) | {plain(said)} for entity_id, said in others]
    wanted = [plain(one) for one in ask["answer"]]
    right = all(any(one in called for called in names) for one in wanted)
    return tuple(said for _, said in others), right and len(set(others)) == len(wanted)


def _as_of(sequence: Sequence_, ask: Mapping[str, Any], taken_in: Sequence[datetime]) -> AsOf:
    valid_at = _moment(ask["valid_at"]) if "valid_at" in ask else None
    if "known_after_step" not in ask:
        return AsOf(valid_at=valid_at)
    step = int(ask["known_after_step"])
    newest = max(_moment(one["at"]) for one in sequence["steps"][: step + 1])
    return AsOf(valid_at=valid_at or newest, recorded_at=taken_in[step])


async def _names(workspace: Workspace, entity_id: UUID | None) -> set[str]:
    if entity_id is None:
        return set()
    entity = (await workspace.graph.entity(entity_id)).entity
    return {plain(entity.name), *(plain(alias.variant) for alias in entity.aliases)}


def _moment(written: str) -> datetime:
    return datetime.fromisoformat(written)


# --- the perfect analyst -----------------------------------------------------------------------------------


def perfect_analyst(sequences: Sequence[Sequence_]) -> ScriptedAnalyst:
    """Returns for every message of the sequences what its step says."""
    steps = {
        (step["author"], step["at"][:19], step["text"]): (sequence, number)
        for sequence in sequences
        for number, step in enumerate(sequence["steps"])
    }

    def answer(window: Window) -> Extraction:
        drafts = [
            _extraction(*steps[said.speaker, said.at.astimezone(UTC).isoformat()[:19], said.text], said)
            for said in window.messages
        ]
        return Extraction(
            tuple(memory for draft in drafts for memory in draft.memories),
            tuple(fact for draft in drafts for fact in draft.facts),
            tuple(entity for draft in drafts for entity in draft.entities),
        )

    return ScriptedAnalyst(answer)


def _extraction(sequence: Sequence_, number: int, said: WindowMessage) -> Extraction:
    quote = (Quote(said.number, said.text),)
    stated = sequence["steps"][number]["facts"]
    facts = tuple(
        DraftFact(
            subject=_as_said(fact["subject"]),
            predicate=fact["predicate"],
            object=fact["object"],
            sources=quote,
            confidence=0.9,
            valid_from=None
            if fact["valid_from"] is None
            else datetime.fromisoformat(fact["valid_from"]).replace(tzinfo=UTC),
            ended=fact["ended"],
            object_is_entity=fact["predicate"] in SYMMETRIC or fact["predicate"].endswith("_of"),
            relation=fact["relation"],
            memory=0,
        )
        for fact in stated
    )
    people = {_as_said(name) for fact in stated for name in (fact["subject"], fact["object"])}
    entities = [_described(one, sequence, number, quote) for one in sorted(people) if _name_in(one)]
    memory = DraftMemory("fact", said.text, quote, entities=tuple(entity.name for entity in entities))
    return Extraction((memory,), facts, tuple(entities))


def _described(told: str, sequence: Sequence_, number: int, quote: tuple[Quote, ...]) -> DraftEntity:
    """Somebody who is told apart by a description; `distinct` where another one of the name was spoken of before."""
    name = _name_in(told)
    before = [
        _as_said(one)
        for step in sequence["steps"][:number]
        for fact in step["facts"]
        for one in (fact["subject"], fact["object"])
    ]
    namesake = any(_name_in(one) == name and one != told for one in before)
    return DraftEntity(str(name), "person", quote, (told,), distinct=namesake and told not in before)


def _name_in(told: str) -> str | None:
    """The name in "Anna's sister Emma", "Emma from accounting" and "Mia the intern"."""
    if (found := described(told)) is not None:
        return found.name
    if (where := affiliation(told)) is not None:
        return where[0]
    name, the, _ = told.partition(" the ")
    return name if the else None


def _as_said(name: str) -> str:
    return _AS_SAID.get(name, name)
