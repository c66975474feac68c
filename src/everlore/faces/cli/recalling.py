"""How what was recalled looks: facts, memories and messages that answer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from everlore.domain.ids import short_id
from everlore.faces.cli.output import Output, clean, shortened, table, when
from everlore.faces.cli.shown import Shown, day, memory_text, prints, statement, stretch

if TYPE_CHECKING:
    from everlore.domain.recall import Hit, LaneTrace, Neighbour, Recall, Support

# What the columns beside the text of a hit take up.
_BESIDE_TEXT = 52
_LINES_OF_TEXT = 4


@prints("recall")
def _recall(shown: Shown) -> None:
    print_answer(shown.out, shown.answer)


@prints("feedback")
def _feedback(shown: Shown) -> None:
    given = shown.answer
    said = [
        f"{what} {', '.join(map(short_id, ids))}"
        for what, ids in (("Confirmed", given.confirmed), ("refused", given.refused))
        if ids
    ]
    sentence = "; ".join(said)
    shown.out.line(f"{sentence[0].upper()}{sentence[1:]}.")


def print_answer(out: Output, found: "Recall") -> None:
    """Facts first, then memories, then what was said; memories first where a question asks for tasks, decisions..."""
    if found.reading is not None:
        out.line(f"Read as: {found.reading.text}.")
    blocks = [_facts, _memories, _hits] if found.reading is None else [_memories, _facts, _hits]
    blocks.append(_branches)
    shown = [made for block in blocks if (made := block(out, found)) is not None]
    if not shown:
        out.line("Nothing that is remembered here answers this.")
        if found.unsupported:
            out.line("Too little speaks for what comes nearest; recall.floor = 0 shows it all the same.")
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
    return _hit_table(out, found.hits, "text")


def _branches(out: Output, found: "Recall") -> Any:
    return _hit_table(out, found.branches, "off the path")


def _hit_table(out: Output, found: "Sequence[Hit]", title: str) -> Any:
    if not found:
        return None
    hits = table("#", "when", "who", title, "id", numbers="#", wide=title)
    room = max(120, _LINES_OF_TEXT * (out.width - _BESIDE_TEXT))
    for rank, hit in enumerate(found, start=1):
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

    private = ["[off the record]"] if hit.off_the_record else []
    whole = " ".join([*private, hit.text, *(f"[shares {caption}]" for caption in hit.captions)])
    lines = [
        *(beside(near) for near in hit.neighbours if near.offset < 0),
        Text(shortened(whole, room, hit.support.covered)),
        *(beside(near) for near in hit.neighbours if near.offset > 0),
        Text(supported(hit.support), style="dim"),
        *(seen(lane, view) for lane, view in hit.trace.items()),
    ]
    return Text("\n").join(lines)


def supported(support: "Support") -> str:
    """`strong 0.82: says sister, Emma; does not say moved`."""
    reasons = "; ".join(support.reasons) or "shares no word with the question"
    return shortened(f"{support.grade} {support.confidence:.2f}: {reasons}", 160)


def _beneath(upper: str, lower: str) -> Any:
    from rich.text import Text

    return Text(upper).append(f"\n{lower}", style="dim")
