"""The group `import`: files of other tools become messages. Running an import again is harmless: it goes on where it stopped."""

import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from everlore.domain.errors import InvalidInput
from everlore.domain.knowledge import DistilEstimate, Distilled
from everlore.domain.messages import Receipt
from everlore.faces.cli.call import (
    Call,
    Json,
    Terminated,
    WorkspaceName,
    call_of,
    run,
    taken_by_worker,
    warn_of_backlog,
)
from everlore.faces.cli.distilling import estimated
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.capture.importers import Line, LocomoConversation
    from everlore.everlore import Everlore

BATCH = 1000
INCOMPLETE = 3
_PLACE = re.compile(r"messages\[(\d+)\]\.?(.*)")

app = typer.Typer(no_args_is_help=True, help="Import conversations from files.")


def _standard_input(file: Path) -> Path:
    return Path("/dev/stdin") if file == Path("-") else file


File = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The file to read; - is standard input.", callback=_standard_input),
]
NoIndex = Annotated[
    bool,
    typer.Option(
        "--no-index", help="Leave indexing by meaning and distilling to a worker or a later command."
    ),
]


@dataclass(frozen=True, slots=True)
class BadLine:
    """A message that was not imported. `line` counts from 1; a LoCoMo file has turns instead."""

    line: int | str
    reason: str


@dataclass(slots=True)
class Summary:
    """What became of a file. `passages` were embedded; `indexed` says by whom. `distilled`: what was read at once, by rules;
    `to_distil`: what a model would take for it; `undistilled_because`: why nothing is, or no facts are."""

    stored: int = 0
    already_there: int = 0
    refused: list[BadLine] = field(default_factory=list[BadLine])
    skipped: list[BadLine] = field(default_factory=list[BadLine])
    stopped: BadLine | None = None
    passages: int = 0
    indexed: Literal["here", "by a worker", "not yet"] = "not yet"
    distilled: Distilled | None = None
    to_distil: DistilEstimate | None = None
    undistilled_because: str | None = None

    def add(self, receipt: Receipt, lines: Sequence[int | str]) -> None:
        self.stored += receipt.stored
        self.already_there += receipt.already_there
        for line, outcome in zip(lines, receipt.outcomes, strict=True):
            if outcome.status == "refused":
                self.refused.append(BadLine(line, outcome.reason or ""))


@app.command()
def locomo(
    ctx: typer.Context,
    file: File,
    workspace: WorkspaceName = "default",
    no_index: NoIndex = False,
    to_json: Json = False,
) -> None:
    """Import the conversations of a LoCoMo file: one thread each, session by session.

    JSON: as for `import jsonl`; a problem's `line` is the conversation and the turn.
    """
    from everlore.capture.importers import read_locomo

    call = call_of(ctx)
    conversations = read_locomo(file)
    total = sum(len(session.messages) for one in conversations for session in one.sessions)

    async def keep(memory: "Workspace", summary: Summary, advance: Callable[[int], None]) -> None:
        for conversation in conversations:
            await _keep_conversation(memory, conversation, summary, advance)

    _import(call, file, workspace, total, keep, index=not no_index, to_json=to_json)


async def _keep_conversation(
    memory: "Workspace",
    conversation: "LocomoConversation",
    summary: Summary,
    advance: Callable[[int], None],
) -> None:
    for session in conversation.sessions:
        for start in range(0, len(session.messages), BATCH):
            batch = session.messages[start : start + BATCH]
            turns = [f"{conversation.name} {message.external_id}" for message in batch]
            try:
                receipt = await memory.record(batch, thread=conversation.name, session=session.name)
            except InvalidInput as error:
                place, reason = _placed(error)
                where = conversation.name if place is None else turns[place]
                raise InvalidInput(where, f"{reason} What stands before it is imported.") from error
            summary.add(receipt, turns)
            advance(len(batch))


@app.command()
def jsonl(
    ctx: typer.Context,
    file: File,
    workspace: WorkspaceName = "default",
    thread: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Record all lines into this thread instead of their own."),
    ] = None,
    on_error: Annotated[
        Literal["stop", "skip"], typer.Option(help="What to do about a line that cannot be imported.")
    ] = "stop",
    no_index: NoIndex = False,
    to_json: Json = False,
) -> None:
    """Import a file of messages, one JSON object a line (docs/operations.md has the schema).

    With `stop` the lines before a bad one are imported and the command ends with 2; with `skip` it goes on, names the lines
    at the end and ends with 3, as it does when messages were refused because their external id is taken by other content.

    JSON: workspace, file, stored, already_there, refused [{line, reason}], skipped [{line, reason}],
    stopped {line, reason} or null, indexed ("here", "by a worker", "not yet"), passages, distilled (as `read` of
    `everlore distil`; null where nothing was), to_distil (as `estimate` there, where a model would be asked; else null),
    undistilled_because (why nothing is, or no facts are; else null).
    """
    call = call_of(ctx)
    total = _count_lines(file)

    async def keep(memory: "Workspace", summary: Summary, advance: Callable[[int], None]) -> None:
        from everlore.capture.importers import read_jsonl

        importing = _Importing(memory, summary, skip=on_error == "skip", thread=thread)
        reached = 0
        for batch in batches(read_jsonl(file)):
            await importing.keep(batch)
            if summary.stopped is not None:
                return
            advance(batch[-1].number - reached)
            reached = batch[-1].number

    _import(call, file, workspace, total, keep, index=not no_index, to_json=to_json)


def _count_lines(file: Path) -> int | None:
    """How many lines there are to import; None for what can be read only once (a pipe, standard input)."""
    try:
        mode = file.stat().st_mode
        if file.is_relative_to("/dev") or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            return None
        with file.open("rb") as lines:
            return sum(1 for _ in lines)
    except OSError as error:
        raise InvalidInput(str(file), f"cannot be read: {error.strerror}") from error


def batches(lines: "Iterator[Line]") -> "Iterator[list[Line]]":
    """Lines that follow each other and go to the same place, at most 1,000; a line that says nothing stands alone."""
    batch: list[Line] = []
    for line in lines:
        if batch and (len(batch) == BATCH or _goes_to(line) != _goes_to(batch[0])):
            yield batch
            batch = []
        batch.append(line)
    if batch:
        yield batch


def _goes_to(line: "Line") -> tuple[object, ...]:
    return (line.number,) if line.message is None else (line.thread, line.session)


@dataclass(slots=True)
class _Importing:
    """Records batches in order, and finds the line at which one is refused."""

    memory: "Workspace"
    summary: Summary
    skip: bool
    thread: str | None

    async def keep(self, batch: "list[Line]") -> None:
        while batch and self.summary.stopped is None:
            messages = [line.message for line in batch if line.message is not None]
            if len(messages) < len(batch):
                self._leave_out(batch[0], batch[0].problem or "")
                return
            try:
                receipt = await self._record(batch, messages)
            except InvalidInput as error:
                place, reason = _placed(error)
                if place is None and len(batch) > 1:
                    # It is not said which line it is, so halves are tried until there is one left.
                    await self.keep(batch[: len(batch) // 2])
                    batch = batch[len(batch) // 2 :]
                    continue
                place = place or 0
                await self.keep(batch[:place])
                self._leave_out(batch[place], reason)
                batch = batch[place + 1 :]
            else:
                self.summary.add(receipt, [line.number for line in batch])
                return

    async def _record(self, batch: "list[Line]", messages: Sequence[Mapping[str, Any]]) -> Receipt:
        thread = self.thread or batch[0].thread
        return await self.memory.record(messages, thread=thread, session=batch[0].session)

    def _leave_out(self, line: "Line", reason: str) -> None:
        problem = BadLine(line.number, reason)
        if self.skip:
            self.summary.skipped.append(problem)
        else:
            self.summary.stopped = problem


def _placed(error: InvalidInput) -> tuple[int | None, str]:
    """The place in the batch that an error names, if it names one, and what is the matter with it."""
    match = _PLACE.fullmatch(error.field)
    if match is None:
        return None, str(error)
    return int(match[1]), f"{match[2]}: {error.reason}" if match[2] else error.reason


def _import(
    call: Call,
    file: Path,
    workspace: str,
    total: int | None,
    keep: "Callable[[Workspace, Summary, Callable[[int], None]], object]",
    *,
    index: bool,
    to_json: bool,
) -> None:
    summary = Summary()

    async def all_of_it() -> None:
        async with call.workspace(workspace, create=True) as (lore, memory):
            with call.out.progress(f"Importing {file.name}", total) as advance:
                await keep(memory, summary, advance)  # pyright: ignore[reportGeneralTypeIssues]
            if index:
                await index_all(call, lore, memory, summary)
                await distil_all(call, lore, memory, summary)

    try:
        run(all_of_it())
    except (KeyboardInterrupt, Terminated):
        # A batch whose commit was under way may be stored, too.
        call.out.note(
            f"Stopped. At least {counted(summary.stored, 'messages', 'are')} stored; there already: {summary.already_there:,}. "
            "Run the same command again to go on: nothing is stored twice."
        )
        raise
    if to_json:
        call.out.json({"workspace": workspace, "file": file, **_fields(summary)})
    else:
        _print(call, summary)
    if summary.stopped is not None:
        raise InvalidInput(
            f"{file.name}, line {summary.stopped.line}",
            f"{summary.stopped.reason}. The lines before it are imported; mend the line (or use --on-error skip) and run "
            "the same command again: what is there already is not stored twice",
        )
    if summary.skipped or summary.refused:
        raise typer.Exit(INCOMPLETE)


async def index_all(call: Call, lore: "Everlore", memory: "Workspace", summary: Summary) -> None:
    """Embed what was imported, unless a worker of another process is at it (which distils it, too)."""
    if await taken_by_worker(lore, memory, to_the_end=False):
        summary.indexed = "by a worker"
        return
    waiting = max((await memory.status()).unembedded.values(), default=0)
    with call.out.progress("Indexing", waiting) as advance:

        def embedded(count: int) -> None:
            summary.passages += count
            advance(count)

        await lore.catch_up(progress=embedded)
    summary.indexed = "here"
    await warn_of_backlog(lore, call.out)


async def distil_all(call: Call, lore: "Everlore", memory: "Workspace", summary: Summary) -> None:
    """Distil what was imported where that costs nothing; else say what it would take."""
    from everlore.operating import distil_at_no_cost

    summary.undistilled_because = lore.undistilled_because
    with call.out.progress("Distilling") as advance:
        match await distil_at_no_cost(lore, memory, advance):
            case Distilled() as read:
                summary.distilled = read
            case DistilEstimate() as waiting:
                summary.to_distil = waiting
            case None:
                pass


def _fields(summary: Summary) -> dict[str, object]:
    return {
        "stored": summary.stored,
        "already_there": summary.already_there,
        "refused": summary.refused,
        "skipped": summary.skipped,
        "stopped": summary.stopped,
        "indexed": summary.indexed,
        "passages": summary.passages,
        "distilled": summary.distilled,
        "to_distil": summary.to_distil,
        "undistilled_because": summary.undistilled_because,
    }


def _print(call: Call, summary: Summary) -> None:
    counts = f"{summary.stored:,} stored, {summary.already_there:,} already there"
    counts += f", {len(summary.refused):,} refused, {len(summary.skipped):,} skipped."
    match summary.indexed:
        case "here":
            indexed = f" {counted(summary.passages, 'passages')} indexed by meaning."
        case "by a worker":
            indexed = " A running worker indexes them by meaning."
        case "not yet":
            indexed = " Found by words only until they are indexed."
    call.out.line(counts + indexed)
    if summary.distilled is not None:
        read = summary.distilled
        call.out.line(
            f"{counted(read.messages, 'messages')} distilled: {counted(read.memories, 'memories')} and "
            f"{counted(read.facts, 'statements of facts')}."
        )
    if summary.undistilled_because is not None:
        call.out.warn(summary.undistilled_because)
    if summary.to_distil is not None:
        call.out.line(f"{estimated(summary.to_distil)} `everlore distil` begins.")
    for kind, problems in (("Refused", summary.refused), ("Skipped", summary.skipped)):
        for problem in problems:
            call.out.warn(f"{kind} line {problem.line}: {problem.reason}")
