"""The demonstration: a bundled year of conversation is recorded, distilled, shown in five moments and asked ten questions."""

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import resources
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from everlore.domain.memories import STATUSES, Status
from everlore.faces.cli import moments
from everlore.faces.cli.call import Call, Json, call_of, run
from everlore.faces.cli.distilling import estimated
from everlore.faces.cli.importing import Summary, batches, distil_all, index_all
from everlore.faces.cli.moments import Moments
from everlore.faces.cli.output import Output
from everlore.faces.cli.shown import fact_table, memory_table
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.domain.memories import Fact, Memory
    from everlore.domain.recall import Hit, Recall

WORKSPACE = "demo"
_SHOWN = 3
_KNOWN = 5
_STATES: dict[Status, str] = {"active": "in use", "superseded": "replaced or ended"}


def add_to(app: typer.Typer) -> None:
    app.command()(demo)


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """`gold` are the external ids of the messages that answer it."""

    question: str
    why: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    question: DemoQuestion
    hits: "list[tuple[Hit, bool]]"
    took_ms: float
    answer: "Recall"

    @property
    def rank_in_words(self) -> str:
        """The rank of the first message that answers; of a question that nothing answers, whether that is said."""
        if not self.question.gold:
            return "none" if not any(hit.support.grade == "strong" for hit, _ in self.hits) else "wrong"
        return str(self.place or "-")

    @property
    def place(self) -> int | None:
        """The rank of the first message that answers."""
        return next((rank for rank, (_, is_gold) in enumerate(self.hits, start=1) if is_gold), None)

    def gold_among(self, first: int) -> bool:
        return any(is_gold for _, is_gold in self.hits[:first])


@dataclass(slots=True)
class Demonstration:
    """What was done. `ids` tells which line of the sample each message is."""

    summary: Summary = field(default_factory=Summary)
    ids: dict[UUID, str] = field(default_factory=dict[UUID, str])
    last_at: datetime | None = None
    found: list[DemoAnswer] = field(default_factory=list[DemoAnswer])
    moments: Moments = field(default_factory=Moments)
    degraded: set[str] = field(default_factory=set[str])
    memories: "list[Memory]" = field(default_factory=list["Memory"])
    facts: "list[Fact]" = field(default_factory=list["Fact"])
    memories_by_status: "Counter[Status]" = field(default_factory=Counter["Status"])
    facts_holding: int = 0
    facts_in_all: int = 0

    @property
    def now(self) -> datetime | None:
        """The sample ends on a day of its own: to it "last spring" is not this year's."""
        return None if self.last_at is None else self.last_at + timedelta(hours=1)


def demo(
    ctx: typer.Context,
    fresh: Annotated[
        bool, typer.Option("--fresh/--keep", help="Record anew, or keep what an earlier run recorded.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Record a bundled conversation of 14 months into the workspace "demo", distil it, show five moments, ask ten questions.

    JSON: workspace, messages, stored, already_there, questions [{question, why, took_ms, gold_in_top_3, gold_in_top_10,
    hits [{rank, gold, text, captions, citation, score, confidence, support, ...}]}], gold_in_top_3, gold_in_top_10 (how many
    questions), latency_ms {p50}, degraded, distilled (as `read` of `everlore distil`; null where nothing was distilled now),
    memories, facts (the surest five of each, as in `everlore memories` and `everlore facts`).
    """
    call = call_of(ctx)
    shown = run(_demonstrate(call, fresh=fresh))
    for sentence in sorted(shown.degraded):
        call.out.warn(sentence)
    if to_json:
        call.out.json(_as_fields(shown))
    else:
        _print(call.out, shown)


async def _demonstrate(call: Call, *, fresh: bool) -> Demonstration:
    shown = Demonstration()
    async with call.workspace(WORKSPACE, create=True) as (lore, memory):
        if fresh:
            for thread in await memory.thread_names():
                await memory.delete_thread(thread)
        with call.out.progress("Recording", len(_sample("sample.jsonl").splitlines())) as advance:
            await _record(memory, shown, advance)
        await index_all(call, lore, memory, shown.summary)
        await distil_all(call, lore, memory, shown.summary)
        shown.degraded.update(filter(None, [shown.summary.undistilled_because]))
        with call.out.progress("Asking", len(questions())) as advance:
            for question in questions():
                shown.found.append(await _ask(memory, question, shown))
                advance(1)
        await _look_at_what_is_known(memory, shown)
    return shown


async def _look_at_what_is_known(memory: "Workspace", shown: Demonstration) -> None:
    answers = {one.question.question: one.answer for one in shown.found}
    places = {one.question.question: one.place for one in shown.found}
    shown.moments = await moments.gather(memory, answers, places, shown.now or memory.now())
    known = await memory.memories(status="all", limit=1000)
    used = [one for one in known if one.status == "active"]
    used.sort(key=lambda one: (-one.confidence, -one.importance, one.memory_id))
    history = await memory.facts(history=True, limit=1000)
    holding = await memory.facts(limit=1000)
    facts = sorted(holding, key=lambda one: (-one.confidence, one.fact_id))
    shown.memories, shown.facts = used[:_KNOWN], facts[:_KNOWN]
    shown.memories_by_status = Counter(one.status or "active" for one in known)
    shown.facts_holding, shown.facts_in_all = holding.total, history.total


async def _record(memory: "Workspace", shown: Demonstration, advance: Callable[[int], None]) -> None:
    from everlore.capture.importers import read_jsonl

    with resources.as_file(resources.files("everlore") / "data" / "sample.jsonl") as path:
        for batch in batches(read_jsonl(path)):
            messages = [line.message for line in batch if line.message is not None]
            receipt = await memory.record(messages, thread=batch[0].thread, session=batch[0].session)
            shown.summary.add(receipt, [line.number for line in batch])
            for message, outcome in zip(messages, receipt.outcomes, strict=True):
                if outcome.message_id is not None:
                    shown.ids[outcome.message_id] = message["external_id"]
                shown.last_at = message["at"]
            advance(len(messages))


def questions() -> list[DemoQuestion]:
    given = json.loads(_sample("sample_questions.json"))
    return [DemoQuestion(one["question"], one["why"], frozenset(one["gold"])) for one in given]


def _sample(name: str) -> str:
    return (resources.files("everlore") / "data" / name).read_text(encoding="utf-8")


async def _ask(memory: "Workspace", question: DemoQuestion, shown: Demonstration) -> DemoAnswer:
    began = time.perf_counter()
    answer = await memory.recall(question.question, limit=10, now=shown.now)
    took_ms = (time.perf_counter() - began) * 1000
    shown.degraded.update(answer.degraded)
    hits = [(hit, shown.ids.get(hit.citation.message_id) in question.gold) for hit in answer.hits]
    return DemoAnswer(question, hits, took_ms, answer)


def _as_fields(shown: Demonstration) -> dict[str, Any]:
    from everlore.domain.answers import to_json

    return {
        "workspace": WORKSPACE,
        "messages": len(shown.ids),
        "stored": shown.summary.stored,
        "already_there": shown.summary.already_there,
        "questions": [
            {
                "question": found.question.question,
                "why": found.question.why,
                "took_ms": round(found.took_ms, 2),
                "gold_in_top_3": found.gold_among(_SHOWN),
                "gold_in_top_10": found.gold_among(10),
                "hits": [
                    {"rank": rank, "gold": is_gold, **to_json(hit)}
                    for rank, (hit, is_gold) in enumerate(found.hits, start=1)
                ],
            }
            for found in shown.found
        ],
        "gold_in_top_3": sum(found.gold_among(_SHOWN) for found in shown.found),
        "gold_in_top_10": sum(found.gold_among(10) for found in shown.found),
        "latency_ms": {"p50": round(median(found.took_ms for found in shown.found), 2)},
        "degraded": sorted(shown.degraded),
        "distilled": to_json(shown.summary.distilled),
        "memories": to_json(shown.memories),
        "facts": to_json(shown.facts),
    }


def _print(out: Output, shown: Demonstration) -> None:
    summary = shown.summary
    out.wrapped(
        f"{counted(len(shown.ids), 'messages')} in the workspace {WORKSPACE}: {summary.stored} stored "
        f"now, {summary.already_there} already there."
    )
    moments.show(out, shown.moments)
    out.line()
    out.wrapped("Ten questions, and where the first message that answers stands:")
    for found in shown.found:
        out.wrapped(f"{found.question.question} {found.question.why}", f"{found.rank_in_words:>4}  ")
    count = len(shown.found)
    out.line()
    out.wrapped(
        f"A message that answers was among the first {_SHOWN} for {sum(f.gold_among(_SHOWN) for f in shown.found)} "
        f"of {counted(count, 'questions')}, among the first 10 for {sum(f.gold_among(10) for f in shown.found)}. Half of "
        f"the answers took less than {median(f.took_ms for f in shown.found):.0f} ms."
    )
    _print_known(out, shown)
    out.line("Ask more:")
    out.line(f'  everlore recall -w {WORKSPACE} "..."')


def _print_known(out: Output, shown: Demonstration) -> None:
    summary = shown.summary
    out.line()
    if summary.to_distil is not None:
        out.wrapped(f"{estimated(summary.to_distil)} `everlore distil -w {WORKSPACE}` begins.")
    if not shown.facts_in_all and not shown.memories_by_status:
        return
    out.wrapped(_kept(shown))
    out.line()
    if shown.facts:
        out.wrapped(f"The surest facts, of {shown.facts_holding:,} that hold:")
        out.print(fact_table(shown.facts))
        out.line()
    if shown.memories:
        out.wrapped(f"The surest memories, of {shown.memories_by_status['active']:,} in use:")
        out.print(memory_table(shown.memories, 160))
        out.line()
    for what, with_ended in (
        ("All of these:", ("", "")),
        ("With what ended:", (" --history", " --status all")),
    ):
        out.line(what)
        for verb, option in zip(("facts", "memories"), with_ended, strict=True):
            out.line(f"  everlore {verb} -w {WORKSPACE}{option}")


def _kept(shown: Demonstration) -> str:
    """How much is known of the conversation: all of it, and what each part of that is."""
    by_status = shown.memories_by_status
    states = [f"{by_status[one]:,} {_STATES.get(one, one)}" for one in STATUSES if by_status[one]]
    over = shown.facts_in_all - shown.facts_holding
    return (
        f"Read out of {counted(len(shown.ids), 'messages')} and kept: "
        f"{counted(by_status.total(), 'memories')} ({', '.join(states) or 'none in use'}) and "
        f"{counted(shown.facts_in_all, 'facts')} ({shown.facts_holding:,} that hold, {over:,} that no longer do)."
    )
