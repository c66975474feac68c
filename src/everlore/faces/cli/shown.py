"""How answers look on a terminal: who prints which, and what memories, facts and sources look like wherever they are shown."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from everlore.domain.ids import short_id
from everlore.domain.memories import AsOf, Fact, Memory, Source
from everlore.domain.predicates import in_words
from everlore.faces.cli.output import Output, clean, local, moment, shortened, table, when

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Shown:
    """An answer to print, and what it answers."""

    out: Output
    answer: Any
    arguments: Mapping[str, Any]

    @property
    def workspace(self) -> str:
        return self.arguments.get("workspace", "default")


Printer: TypeAlias = Callable[[Shown], None]
Question: TypeAlias = Callable[[Any, Mapping[str, Any]], Awaitable[str]]
# By the words of the command. Without a printer, an answer is JSON; without a question, one is made of the verb's summary.
PRINTERS: dict[str, Printer] = {}
QUESTIONS: dict[str, Question] = {}


def prints(*commands: str) -> Callable[[Printer], Printer]:
    """Say that this shows the answers of these commands to people."""

    def register(printer: Printer) -> Printer:
        PRINTERS.update(dict.fromkeys(commands, printer))
        return printer

    return register


def asks(command: str) -> Callable[[Question], Question]:
    """Say that this words what a person is asked before the command is done."""

    def register(question: Question) -> Question:
        QUESTIONS[command] = question
        return question

    return register


ValidAt: TypeAlias = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="What was true then, as it is known today.")
]
RecordedAt: TypeAlias = Annotated[
    str | None, typer.Option("--known-at", metavar="TIME", help="What was believed then.")
]


def as_of(valid_at: str | None, recorded_at: str | None) -> AsOf:
    """The two questions of time, as typed. Raises InvalidInput."""
    return AsOf(moment(valid_at, "--as-of"), moment(recorded_at, "--known-at"))


def alone(ctx: typer.Context) -> bool:
    """Whether a group that lists was called by itself. Raises BadParameter for options that would be lost on a subcommand."""
    if ctx.invoked_subcommand is None:
        return True
    given = [
        one
        for one in ctx.params
        # Compared by name: typer brings its parser along and exports nothing of it.
        if getattr(ctx.get_parameter_source(one), "name", "") == "COMMANDLINE"
    ]
    if given:
        raise typer.BadParameter(
            f"Options of `{ctx.command_path} {ctx.invoked_subcommand}` stand behind it, not before it."
        )
    return False


def day(at: datetime | None) -> str:
    """`2025-05-12`, in the local zone."""
    return "" if at is None else local(at).date().isoformat()


def stretch(begins: datetime, ends: datetime | None) -> str:
    """`since 2025-05-12`, `2024-01-03 to 2025-05-12`, or `never` for what was corrected."""
    if ends is None:
        return f"since {day(begins)}"
    return "never" if ends <= begins else f"{day(begins)} to {day(ends)}"


def statement(fact: Fact) -> str:
    """`Emma lives in Lisbon`."""
    return shortened(f"{fact.subject} {in_words(fact.predicate)} {fact.object}", 160)


def fact_table(found: Iterable[Fact]) -> "Table":
    listed = table("fact", "when", "sure", "sources", "id", numbers=["sure", "sources"], wide="fact")
    for fact in found:
        listed.add_row(
            statement(fact),
            stretch(fact.valid_from, fact.valid_to),
            f"{fact.confidence:.2f}",
            str(len(fact.sources)),
            short_id(fact.lineage_id),
        )
    return listed


def memory_table(found: Sequence[Memory], room: int) -> "Table":
    listed = table("when", "type", "memory", "sure", "id", numbers=["sure"], wide="memory")
    for memory in found:
        listed.add_row(
            day(memory.valid_from),
            memory.type,
            memory_text(memory, room),
            f"{memory.confidence:.2f}",
            short_id(memory.lineage_id),
        )
    return listed


def memory_text(memory: Memory, room: int, *more: str) -> Any:
    """Its words, and beneath them what is out of the ordinary about it."""
    from rich.text import Text

    lines = [Text(shortened(memory.content, room))]
    if notes := [*remarks(memory), *more]:
        lines.append(Text(shortened("; ".join(notes), room), style="dim"))
    return Text("\n").join(lines)


def remarks(memory: Memory) -> list[str]:
    """What a list says of a memory beside its words."""
    status = memory.status or "active"
    said: list[str] = []
    if memory.pinned:
        said.append("pinned")
    if status != "active":
        said.append(f"{status}: {memory.review_reason}" if memory.review_reason else status)
    if memory.valid_to is not None:
        said.append(stretch(memory.valid_from, memory.valid_to))
    if memory.event_at is not None:
        said.append(f"on {day(memory.event_at)}")
    if memory.expires_at is not None:
        said.append(f"{'expired' if status == 'expired' else 'until'} {day(memory.expires_at)}")
    if memory.entities:
        said.append(f"about {', '.join(memory.entities)}")
    return said


def source_table(sources: Iterable[Source]) -> "Table":
    listed = table("said", "who", "words", "message", wide="words")
    for source in sources:
        if source.message_id is None:
            listed.add_row("", "", "told directly", "")
        else:
            listed.add_row(
                when(source.at),
                shortened(source.author or source.role or "", 20),
                shortened(source.quote or "", 300),
                short_id(source.message_id),
            )
    return listed


def entity_name(label: str, kind: str) -> str:
    return clean(label if kind == "other" else f"{label} ({kind.replace('_', ' ')})")
