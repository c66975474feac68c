"""Commands on memories: `remember`, and the group `memories`, which lists them and changes one."""

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, cast

import typer

from everlore.domain.errors import InvalidInput
from everlore.domain.ids import short_id
from everlore.domain.memories import (
    MAX_CONTENT_CHARACTERS,
    MEMORY_TYPES,
    STATUSES,
    Memory,
    MemoryType,
    Status,
)
from everlore.faces.cli.call import (
    Json,
    WorkspaceName,
    call_of,
    index_one,
    read_stdin,
    require_confirmation,
    run,
)
from everlore.faces.cli.output import Output, clean, facts, moment, plain, shortened, when
from everlore.faces.cli.shown import (
    RecordedAt,
    ValidAt,
    alone,
    as_of,
    fact_table,
    memory_table,
    remarks,
    source_table,
    stretch,
)

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.domain.erasure import ErasureReceipt
    from everlore.domain.knowledge import MemoryDetail

# What the columns beside the words take up, and how many lines these may have.
_BESIDE_TEXT = 45
_LINES_OF_TEXT = 3

app = typer.Typer(help="Memories: list them, look at one, change what is known.")

Identifier: TypeAlias = Annotated[
    str, typer.Argument(metavar="ID", help="A memory's id, or at least its last 8 characters.")
]
Type: TypeAlias = Annotated[
    str | None, typer.Option(metavar="TYPE", help=f"One of {', '.join(MEMORY_TYPES)}.")
]
Tags: TypeAlias = Annotated[list[str] | None, typer.Option(metavar="TEXT", help="A tag; repeatable.")]
Category: TypeAlias = Annotated[str | None, typer.Option(metavar="NAME", help="A category of your own.")]
EventAt: TypeAlias = Annotated[
    str | None, typer.Option(metavar="TIME", help="When what it tells of happens.")
]
ExpiresAt: TypeAlias = Annotated[
    str | None, typer.Option(metavar="TIME", help="When it goes out of view; else by its type.")
]
Importance: TypeAlias = Annotated[float | None, typer.Option(metavar="0-1", help="How much it matters.")]


def add_to(app: typer.Typer) -> None:
    app.command()(remember)


def remember(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What to remember; - reads it.")],
    workspace: WorkspaceName = "default",
    type: Type = "general",
    tag: Tags = None,
    category: Category = None,
    importance: Importance = None,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="Since when it is true; else since now.")
    ] = None,
    event_at: EventAt = None,
    expires_at: ExpiresAt = None,
    pin: Annotated[bool, typer.Option("--pin", help="Always in context.")] = False,
    author: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose word it is: who I and my are.")
    ] = None,
    entity: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Whom it speaks of, beside those that it names; repeatable."),
    ] = None,
    to_json: Json = False,
) -> None:
    """Keep a memory directly. The same words again make what is known surer. Times without a zone are local.

    JSON: memory (as in `everlore memories`).
    """
    call = call_of(ctx)
    given: dict[str, Any] = {
        "category": category,
        "tags": tag or (),
        "at": moment(at, "--at"),
        "event_at": moment(event_at, "--event-at"),
        "expires_at": moment(expires_at, "--expires-at"),
        "pin": pin,
        "entities": entity or (),
    }
    given |= {
        name: value for name, value in (("importance", importance), ("author", author)) if value is not None
    }
    content = read_stdin(MAX_CONTENT_CHARACTERS * 4) if text == "-" else text

    async def keep() -> Memory:
        async with call.workspace(workspace, create=True) as (lore, memory):
            kept = await memory.remember(content, type=cast("MemoryType", type), **given)
            await index_one(lore, memory, call.out)
            return kept

    kept = run(keep())
    _changed(call.out, kept, f"Remembered in {workspace}", to_json=to_json)


@app.callback(invoke_without_command=True)
def memories(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    type: Annotated[
        list[str] | None, typer.Option(metavar="TYPE", help="Only of this type; repeatable.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(metavar="STATUS", help=f"Instead of those in use: all, or {', '.join(STATUSES)}."),
    ] = None,
    entity: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only those that speak of this entity (or its id).")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="WORDS", help="Only those that say this.")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="Only true from then on.")] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Only true from before then.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="Only out of this thread.")] = None,
    taxonomy: Annotated[
        str | None, typer.Option(metavar="PATH", help="Only what lies under this path.")
    ] = None,
    pinned: Annotated[
        bool | None, typer.Option("--pinned/--not-pinned", help="Only pinned ones, or only others.")
    ] = None,
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Also what is out of view by now.")
    ] = False,
    limit: Annotated[int, typer.Option(help="At most so many.")] = 50,
    offset: Annotated[int, typer.Option(metavar="N", help="Leave out the first so many.")] = 0,
    to_json: Json = False,
) -> None:
    """List memories, the latest first, or do something with one of them. Times without a zone are local.

    JSON: memories [{memory_id, lineage_id, short_id, version, status, type, content, category, tags, importance, confidence,
    valid_from, valid_to, recorded_at, superseded_at, superseded_by, event_at, expires_at, generation, pinned, confirmed,
    source_kind, review, review_reason, forgotten_at, author, role, thread, taxonomy, reasoning, extractor, extractor_version,
    entities, access_count, last_access_at}].
    """
    if not alone(ctx):
        return
    call = call_of(ctx)
    times = as_of(valid_at, recorded_at)
    first, end = moment(since, "--since"), moment(until, "--until")

    async def look() -> list[Memory]:
        async with call.workspace(workspace) as (_, memory):
            return await memory.memories(
                types=cast("list[MemoryType] | None", type),
                status=cast("Status | None", status),
                entity=entity,
                text=text,
                since=first,
                until=end,
                thread=thread,
                taxonomy=taxonomy,
                pinned=pinned,
                as_of=times,
                include_expired=include_expired,
                limit=limit,
                offset=offset,
            )

    found = run(look())
    if to_json:
        call.out.json({"memories": found})
    elif not found:
        call.out.line(f"No memory of the workspace {workspace} passes these filters.")
    else:
        call.out.print(memory_table(found, max(80, _LINES_OF_TEXT * (call.out.width - _BESIDE_TEXT))))


@app.command()
def show(
    ctx: typer.Context,
    identifier: Identifier,
    workspace: WorkspaceName = "default",
    valid_at: ValidAt = None,
    recorded_at: RecordedAt = None,
    to_json: Json = False,
) -> None:
    """Show all of one memory: where it was said, its versions, the facts that it states.

    JSON: memory (as in `everlore memories`), sources [{message_id, short_id, start, end, quote, author, role, at, thread}],
    versions [memory], facts (as in `everlore facts`).
    """
    call = call_of(ctx)
    found = run(_detail(ctx, identifier, workspace, valid_at, recorded_at))
    if to_json:
        call.out.json(found)
    else:
        _print(call.out, found)


@app.command()
def history(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """List the versions of a memory, the first one first: what was believed when.

    JSON: versions (memories, as in `everlore memories`).
    """
    call = call_of(ctx)
    found = run(_detail(ctx, identifier, workspace, None, None))
    if to_json:
        call.out.json({"versions": found.versions})
    else:
        _print_versions(call.out, found)


async def _detail(
    ctx: typer.Context, identifier: str, workspace: str, valid_at: str | None, recorded_at: str | None
) -> "MemoryDetail":
    times = as_of(valid_at, recorded_at)
    async with call_of(ctx).workspace(workspace) as (_, memory):
        return await memory.memory(identifier, as_of=times)


def _print(out: Output, found: "MemoryDetail") -> None:
    memory = found.memory
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
        _print_versions(out, found)


def _print_versions(out: Output, found: "MemoryDetail") -> None:
    for version in found.versions:
        until = f" to {when(version.superseded_at)}" if version.superseded_at else ""
        state = "forgotten" if version.forgotten_at else version.review
        notes = "; ".join(part for part in (stretch(version.valid_from, version.valid_to), state) if part)
        out.line(
            f"{version.version}. believed from {when(version.recorded_at)}{until}: {shortened(version.content, 300)} ({notes})"
        )


@app.command()
def correct(
    ctx: typer.Context,
    identifier: Identifier,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT|-]", help="The words as they should be; - reads them.")
    ] = None,
    workspace: WorkspaceName = "default",
    type: Type = None,
    tag: Tags = None,
    category: Category = None,
    importance: Importance = None,
    event_at: EventAt = None,
    expires_at: ExpiresAt = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Take category, tags, event_at or expires_at away; repeatable."),
    ] = None,
    to_json: Json = False,
) -> None:
    """Correct a memory: a new version with other words, or another type, tags, times. The old one stays in the history.

    JSON: memory (as in `everlore memories`).
    """
    empty: dict[str, Any] = {"category": None, "tags": [], "event_at": None, "expires_at": None}
    for field in clear or ():
        if field not in empty:
            raise InvalidInput("--clear", f"must be one of {', '.join(empty)}, not {field!r}")
    given = {
        "content": read_stdin(MAX_CONTENT_CHARACTERS * 4) if text == "-" else text,
        "type": type,
        "tags": tag,
        "category": category,
        "importance": importance,
        "event_at": moment(event_at, "--event-at"),
        "expires_at": moment(expires_at, "--expires-at"),
    }
    changes = {field: value for field, value in given.items() if value is not None}
    changes |= {field: empty[field] for field in clear or ()}
    _do(ctx, workspace, lambda memory: memory.correct(identifier, **changes), "Corrected", to_json=to_json)


@app.command()
def pin(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Keep a memory always in context.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.pin(identifier), "Pinned", to_json=to_json)


@app.command()
def unpin(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Undo `pin`.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.pin(identifier, pinned=False), "Unpinned", to_json=to_json)


@app.command()
def forget(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Take a memory, and what only it states, out of every answer. `restore` undoes it.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.forget(identifier), "Forgot", to_json=to_json)


@app.command()
def restore(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Undo `forget`.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.restore(identifier), "Restored", to_json=to_json)


@app.command()
def confirm(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Say that a memory is right. What waited for review is in use from then on.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.confirm(identifier), "Confirmed", to_json=to_json)


@app.command()
def reject(
    ctx: typer.Context, identifier: Identifier, workspace: WorkspaceName = "default", to_json: Json = False
) -> None:
    """Say that a memory is wrong. It is used no more and not distilled again, and stays among the rejected.

    JSON: memory.
    """
    _do(ctx, workspace, lambda memory: memory.reject(identifier), "Rejected", to_json=to_json)


@app.command()
def erase(
    ctx: typer.Context,
    identifier: Identifier,
    sources: Annotated[
        bool,
        typer.Option(
            "--sources", help="Also the messages that it was read from, and all that was made of them."
        ),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Erase a memory for good, in all its versions, with what only it states.

    JSON: messages, memories, versions, facts, entities (ids of what went), counts {what: rows}, to_read_again [{thread_id,
    first}] (windows that are distilled anew).
    """
    call = call_of(ctx)
    found = run(_detail(ctx, identifier, workspace, None, None))
    said = {source.message_id for source in found.sources if source.message_id is not None}
    besides = f" and the {len(said)} messages that it was read from" if sources and said else ""
    question = f"Erase the memory {short_id(found.memory.lineage_id)} ({shortened(found.memory.content, 80)}){besides}?"
    require_confirmation(clean(question), yes=yes)

    async def remove() -> "ErasureReceipt":
        async with call.workspace(workspace) as (_, memory):
            return await memory.erase(found.memory.lineage_id, sources=sources)

    receipt = run(remove())
    if to_json:
        again = [{"thread_id": thread_id, "first": first} for thread_id, first in receipt.to_read_again]
        call.out.json(plain(receipt) | {"to_read_again": again})
    else:
        went = ", ".join(f"{count:,} {what}" for what, count in receipt.counts.items() if count)
        call.out.line(f"Erased {short_id(found.memory.lineage_id)}: {went}.")
        if receipt.to_read_again:
            call.out.line(
                f"{len(receipt.to_read_again)} windows are read anew: everlore distil, or a worker."
            )


def _do(
    ctx: typer.Context,
    workspace: str,
    verb: "Callable[[Workspace], Coroutine[Any, Any, Memory]]",
    done: str,
    *,
    to_json: bool,
) -> None:
    call = call_of(ctx)

    async def change() -> Memory:
        async with call.workspace(workspace) as (_, memory):
            return await verb(memory)

    _changed(call.out, run(change()), done, to_json=to_json)


def _changed(out: Output, memory: Memory, done: str, *, to_json: bool) -> None:
    if to_json:
        out.json({"memory": memory})
    else:
        notes = f" ({'; '.join(remarks(memory))})" if remarks(memory) else ""
        out.line(f"{done}: {short_id(memory.lineage_id)} {shortened(memory.content, 200)}{clean(notes)}")
