"""How memories look, and what changing one says."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from everlore.domain.ids import short_id
from everlore.faces.cli.output import Output, clean, facts, shortened, when
from everlore.faces.cli.shown import (
    Shown,
    asks,
    fact_table,
    memory_table,
    prints,
    remarks,
    source_table,
    stretch,
)
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.domain.erasure import ErasureReceipt
    from everlore.domain.knowledge import MemoryDetail
    from everlore.domain.memories import Memory

# What the columns beside the words take up, and how many lines these may have.
_BESIDE_TEXT = 45
_LINES_OF_TEXT = 3
_DONE = {
    "memories correct": "Corrected",
    "memories pin": "Pinned",
    "memories unpin": "Unpinned",
    "memories forget": "Forgot",
    "memories restore": "Restored",
    "memories confirm": "Confirmed",
    "memories reject": "Rejected",
}


@prints("memories")
def _list(shown: Shown) -> None:
    if shown.answer:
        room = max(120, _LINES_OF_TEXT * (shown.out.width - _BESIDE_TEXT))
        shown.out.print(memory_table(shown.answer, room))
    else:
        shown.out.line(f"No memory of the workspace {shown.workspace} passes these filters.")


@prints("memories show")
def _show(shown: Shown) -> None:
    found: MemoryDetail = shown.answer
    memory, out = found.memory, shown.out
    out.print(
        facts(
            {
                "id": f"{memory.lineage_id}, version {memory.version}",
                "type": memory.type.replace("_", " "),
                "true": stretch(memory.valid_from, memory.valid_to),
                "recorded": when(memory.recorded_at),
                "sure": f"{memory.confidence:.2f}{', confirmed' if memory.confirmed else ''}",
                "importance": f"{memory.importance:.2f}",
                "besides": "; ".join(remarks(memory)),
                "category": memory.category,
                "tags": ", ".join(memory.tags),
                "thread": memory.thread,
                "taxonomy": memory.taxonomy,
                "by": f"{memory.extractor} {memory.extractor_version}" if memory.extractor else "hand",
                "because": memory.reasoning,
            }
        )
    )
    out.line()
    out.line(memory.content)
    if found.sources:
        out.line()
        out.print(source_table(found.sources))
    if found.facts:
        out.line()
        out.print(fact_table(found.facts))
    if len(found.versions) > 1:
        out.line()
        _print_versions(out, found.versions)


@prints("memories history")
def _history(shown: Shown) -> None:
    _print_versions(shown.out, shown.answer)


def _print_versions(out: Output, versions: "Sequence[Memory]") -> None:
    for version in versions:
        until = f" to {when(version.superseded_at)}" if version.superseded_at else ""
        state = "forgotten" if version.forgotten_at else version.review
        notes = "; ".join(part for part in (stretch(version.valid_from, version.valid_to), state) if part)
        out.line(
            f"{version.version}. believed from {when(version.recorded_at)}{until}: {shortened(version.content, 300)} ({notes})"
        )


@prints("remember")
def _remembered(shown: Shown) -> None:
    _changed(shown, f"Remembered in {shown.workspace}")


for command, done in _DONE.items():
    prints(command)(lambda shown, done=done: _changed(shown, done))


def _changed(shown: Shown, done: str) -> None:
    memory: Memory = shown.answer
    notes = f" ({'; '.join(remarks(memory))})" if remarks(memory) else ""
    shown.out.line(f"{done}: {short_id(memory.lineage_id)} {shortened(memory.content, 200)}{clean(notes)}")


@asks("memories erase")
async def _sure(lore: Any, arguments: Mapping[str, Any]) -> str:
    workspace = await lore.workspace(arguments["workspace"], create=False)
    found: MemoryDetail = await workspace.memory(arguments["identifier"])
    said = {source.message_id for source in found.sources if source.message_id is not None}
    besides = (
        f" and the {counted(len(said), 'messages')} that it was read from"
        if arguments.get("sources") and said
        else ""
    )
    return f"Erase the memory {found.memory.short_id} ({shortened(found.memory.content, 80)}){besides}?"


@prints("memories erase")
def _erased(shown: Shown) -> None:
    receipt: ErasureReceipt = shown.answer
    went = ", ".join(counted(count, what) for what, count in receipt.counts.items() if count)
    shown.out.line(f"Erased {shown.arguments['identifier']}: {went}.")
    if receipt.to_read_again:
        shown.out.line(
            f"{counted(len(receipt.to_read_again), 'windows', 'are')} read anew: everlore distil, or a worker."
        )
