"""The command `recall`: a question in, the facts, memories and messages that answer it out."""

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from everlore.domain.ids import short_id
from everlore.domain.recall import KINDS
from everlore.faces.cli.call import Json, WorkspaceName, call_of, run
from everlore.faces.cli.output import Output, clean, local, moment, shortened, table, when
from everlore.faces.cli.shown import RecordedAt, ValidAt, as_of, day, memory_text, statement, stretch

if TYPE_CHECKING:
    from everlore.domain.recall import Hit, Kind, LaneTrace, Neighbour, Recall, Support

# What the columns beside the text of a hit take up.
_BESIDE_TEXT = 52
_LINES_OF_TEXT = 4


def add_to(app: typer.Typer) -> None:
    app.command()(recall)


def recall(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="A question, or words to look for.")],
    workspace: WorkspaceName = "default",
    limit: Annotated[int, typer.Option(help="At most so many messages.")] = 10,
    now: Annotated[
        str | None, typer.Option(metavar="TIME", help='The moment that "last week" is relative to.')
    ] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only messages from then on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only messages before then.")] = None,
    author: Annotated[str | None, typer.Option(metavar="NAME", help="Only messages of this author.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="Only messages of this thread.")] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Only threads of this project.")] = None,
    taxonomy: Annotated[
        str | None, typer.Option(metavar="PATH", help="Only what lies under this path.")
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help=f"Only {', '.join(KINDS)}; repeatable.")
    ] = None,
    facts: Annotated[int, typer.Option(metavar="N", help="At most so many facts.")] = 5,
    memories: Annotated[int, typer.Option(metavar="N", help="At most so many memories.")] = 5,
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Also memories that are out of view by now.")
    ] = False,
    neighbours: Annotated[int, typer.Option(metavar="N", help="So many messages before and after each.")] = 0,
    deadline_ms: Annotated[
        float | None, typer.Option(metavar="MS", help="Answer with what is there after so long.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show how each search lane ranked each hit.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Find the facts, memories and messages that answer a question. Times without a zone are local.

    JSON: question, hits [{text, captions, citation {message_id, short_id, thread, author, role, at}, score, confidence,
    support {confidence, covered, missing, speaker, late_interaction}, neighbours [{offset, text, citation}],
    trace {lane: {rank, score}}}], memories [{memory (as in `everlore memories`), sources [citation], score, confidence, support,
    why {part: share}}], facts [{fact (as in `everlore facts`), sources [citation], score, confidence, support, current, why}],
    reading {types, status, entities, since, until, about, text} (how a question for tasks, decisions... was read; else null),
    degraded (sentences), took_ms {step: ms}.
    """
    from datetime import UTC, datetime

    call = call_of(ctx)
    # Words like "yesterday" are read in the zone of whoever asks.
    present = moment(now, "--now") or local(datetime.now(UTC))
    first, end = moment(since, "--since"), moment(until, "--until")
    times = as_of(valid_at, recorded_at)

    async def ask() -> "Recall":
        async with call.workspace(workspace) as (_, memory):
            return await memory.recall(
                question,
                limit=limit,
                now=present,
                since=first,
                until=end,
                author=author,
                thread=thread,
                project=project,
                taxonomy=taxonomy,
                kinds=cast("list[Kind] | None", kind),
                as_of=times,
                include_expired=include_expired,
                limit_memories=memories,
                limit_facts=facts,
                neighbours=neighbours,
                deadline_ms=deadline_ms,
                trace=trace,
            )

    found = run(ask())
    for sentence in found.degraded:
        call.out.warn(sentence)
    if to_json:
        call.out.json(found)
    else:
        print_answer(call.out, found)


def print_answer(out: Output, found: "Recall") -> None:
    """Facts first, then memories, then what was said; memories first where a question asks for tasks, decisions..."""
    if found.reading is not None:
        out.line(f"Read as: {found.reading.text}.")
    blocks = [_facts, _memories, _hits] if found.reading is None else [_memories, _facts, _hits]
    shown = [made for block in blocks if (made := block(out, found)) is not None]
    if not shown:
        out.line("Nothing that is remembered here answers this.")
    for number, made in enumerate(shown):
        if number:
            out.line()
        out.print(made)
    if any(hit.trace for hit in found.hits):
        took = ", ".join(f"{step} {ms:.1f}" for step, ms in found.took_ms.items())
        out.line(f"Milliseconds: {took}")


def _facts(out: Output, found: "Recall") -> Any:
    if not found.facts:
        return None
    listed = table("fact", "when", "sure", "sources", "id", numbers=["sure", "sources"], wide="fact")
    for hit in found.facts:
        fact = hit.fact
        listed.add_row(
            statement(fact),
            stretch(fact.valid_from, fact.valid_to),
            f"{fact.confidence:.2f}",
            str(len(hit.sources) or 1),
            short_id(fact.lineage_id),
        )
    return listed


def _memories(out: Output, found: "Recall") -> Any:
    if not found.memories:
        return None
    room = max(120, 2 * (out.width - _BESIDE_TEXT))
    listed = table("since", "type", "memory", "sure", "id", numbers=["sure"], wide="memory")
    for hit in found.memories:
        memory = hit.memory
        near = ["linked by who is named"] if "related" in hit.why else []
        listed.add_row(
            day(memory.valid_from),
            memory.type.replace("_", " "),
            memory_text(memory, room, *near),
            f"{memory.confidence:.2f}",
            short_id(memory.lineage_id),
        )
    return listed


def _hits(out: Output, found: "Recall") -> Any:
    if not found.hits:
        return None
    hits = table("#", "when", "who", "text", "id", numbers="#", wide="text")
    room = max(120, _LINES_OF_TEXT * (out.width - _BESIDE_TEXT))
    for rank, hit in enumerate(found.hits, start=1):
        hits.add_row(
            str(rank),
            when(hit.citation.at),
            _beneath(shortened(hit.citation.author, 20), shortened(hit.citation.thread, 20)),
            _hit_text(hit, room),
            short_id(hit.citation.message_id),
        )
    return hits


def _hit_text(hit: "Hit", room: int) -> Any:
    from rich.text import Text

    def beside(near: "Neighbour") -> Text:
        said = f"{near.offset:+d} {near.citation.author}: {near.text}"
        return Text(shortened(said, room), style="dim")

    def seen(lane: str, view: "LaneTrace") -> Text:
        rank = "not found" if view.rank is None else f"rank {view.rank}"
        score = "" if view.score is None else f", score {view.score:.4g}"
        return Text(clean(f"{lane}: {rank}{score}"), style="cyan")

    whole = " ".join([hit.text, *(f"[shares {caption}]" for caption in hit.captions)])
    lines = [
        *(beside(near) for near in hit.neighbours if near.offset < 0),
        Text(shortened(whole, room, hit.support.covered)),
        *(beside(near) for near in hit.neighbours if near.offset > 0),
        Text(supported(hit.support), style="dim"),
        *(seen(lane, view) for lane, view in hit.trace.items()),
    ]
    return Text("\n").join(lines)


def supported(support: "Support") -> str:
    """`0.62: sister, Emma; missing: moved`."""
    covered = ", ".join(support.covered)
    missing = f"; missing: {', '.join(support.missing)}" if support.missing else ""
    return shortened(f"{support.confidence:.2f}: {covered or 'no rare word of the question'}{missing}", 160)


def _beneath(upper: str, lower: str) -> Any:
    from rich.text import Text

    return Text(upper).append(f"\n{lower}", style="dim")
