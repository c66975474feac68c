"""Commands on what is remembered: record, recall, show, delete, threads, workspaces."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import short_id
from everlore.domain.messages import MAX_TEXT_BYTES, NewMessage, Role
from everlore.faces.cli.call import (
    Json,
    WorkspaceName,
    call_of,
    index_one,
    read_stdin,
    require_confirmation,
    run,
)
from everlore.faces.cli.output import (
    Output,
    as_json,
    clean,
    facts,
    local,
    markdown,
    moment,
    shortened,
    table,
    when,
)

if TYPE_CHECKING:
    from everlore.domain.recall import Hit, LaneTrace, Neighbour, Recall, Support
    from everlore.store.conversation import StoredMessage

# What the columns beside the text of a hit take up.
_BESIDE_TEXT = 52
_LINES_OF_TEXT = 4


def add_to(app: typer.Typer) -> None:
    for command in (record, recall, show, delete, threads, workspaces):
        app.command()(command)


def record(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What was said, as markdown; - reads it.")],
    workspace: WorkspaceName = "default",
    role: Annotated[Role, typer.Option(help="Who speaks.")] = "user",
    author: Annotated[str | None, typer.Option(metavar="NAME", help="The speaker's name.")] = None,
    thread: Annotated[str, typer.Option(metavar="NAME", help="The conversation it belongs to.")] = "main",
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sitting; else a gap of 6 hours begins a new one.")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Set on the thread.")] = None,
    taxonomy: Annotated[
        str | None, typer.Option(metavar="PATH", help="Path of the message, like work.studio.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When it was said (ISO 8601; no zone: local); else now."),
    ] = None,
    external_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Your own id: recording it again is harmless.")
    ] = None,
    caption: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What an attachment shows; repeatable.")
    ] = None,
    reply_to: Annotated[
        str | None, typer.Option(metavar="ID", help="External id of the message that it answers.")
    ] = None,
    metadata: Annotated[str | None, typer.Option(metavar="JSON", help="An object of anything else.")] = None,
    off_the_record: Annotated[
        bool, typer.Option("--off-the-record", help="Keep it as a message; never make memories of it.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Record one message. It is found by its words at once, and by its meaning when the command returns.

    JSON: workspace, thread, outcomes [{status, message_id, reason}].
    """
    call = call_of(ctx)
    message = NewMessage(
        role=role,
        text=read_stdin(MAX_TEXT_BYTES) if text == "-" else text,
        author=author,
        at=moment(at, "--at"),
        captions=caption or (),
        external_id=external_id,
        reply_to=reply_to,
        metadata=_metadata(metadata),
        taxonomy=taxonomy,
        off_the_record=off_the_record,
    )

    async def keep() -> Any:
        async with call.workspace(workspace, create=True) as (lore, memory):
            receipt = await memory.record([message], thread=thread, session=session, project=project)
            await index_one(lore, memory, call.out)
            return receipt

    try:
        receipt = run(keep())
    except InvalidInput as error:
        # There is only one message, and nobody wrote "messages[0]".
        raise InvalidInput(error.field.removeprefix("messages[0]."), error.reason) from error
    outcome = receipt.outcomes[0]
    if outcome.status == "refused":
        raise InvalidInput("--external-id", f"the message was refused: {outcome.reason}")
    if to_json:
        call.out.json({"workspace": workspace, "thread": receipt.thread, "outcomes": receipt.outcomes})
    else:
        status = "Recorded" if outcome.status == "stored" else "Already there:"
        call.out.line(f"{status} {short_id(outcome.message_id)} in {workspace}, thread {receipt.thread}.")


def _metadata(given: str | None) -> dict[str, Any]:
    if given is None:
        return {}
    try:
        value = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("--metadata", f"is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidInput("--metadata", "must be a JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


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
    neighbours: Annotated[int, typer.Option(metavar="N", help="So many messages before and after each.")] = 0,
    deadline_ms: Annotated[
        float | None, typer.Option(metavar="MS", help="Answer with what is there after so long.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show how each search lane ranked each hit.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Find the messages that answer a question. Times without a zone are local.

    JSON: question, hits [{text, captions, citation {message_id, short_id, thread, author, role, at}, score, confidence,
    support {confidence, covered, missing, speaker, late_interaction}, neighbours [{offset, text, citation}],
    trace {lane: {rank, score}}}], degraded (sentences), took_ms {step: ms}.
    """
    from datetime import UTC, datetime

    call = call_of(ctx)
    # Words like "yesterday" are read in the zone of whoever asks.
    present = moment(now, "--now") or local(datetime.now(UTC))
    first, end = moment(since, "--since"), moment(until, "--until")

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
        print_hits(call.out, found)


def print_hits(out: Output, found: "Recall") -> None:
    if not found.hits:
        out.line("Nothing that is remembered here answers this.")
        return
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
    out.print(hits)
    if any(hit.trace for hit in found.hits):
        took = ", ".join(f"{step} {ms:.1f}" for step, ms in found.took_ms.items())
        out.line(f"Milliseconds: {took}")


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


def show(
    ctx: typer.Context,
    identifier: Annotated[
        str, typer.Argument(metavar="ID", help="A message's id, or at least its last 8 characters.")
    ],
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Show all of one message.

    JSON: message_id, thread, session, position, role, author, at, recorded_at, text, captions, system_prompt, tool_calls,
    external_id, reply_to, metadata, taxonomy, off_the_record.
    """
    call = call_of(ctx)

    async def look() -> "StoredMessage":
        async with call.workspace(workspace) as (_, memory):
            return await memory.show(identifier)

    message = run(look())
    if to_json:
        call.out.json(message)
        return
    out = call.out
    out.print(
        facts(
            {
                "id": message.message_id,
                "said": f"{when(message.at)} by {message.author} ({message.role})",
                "recorded": when(message.recorded_at),
                "thread": f"{message.thread}, message {message.position}",
                "session": message.session,
                "taxonomy": message.taxonomy,
                "external id": message.external_id,
                "reply to": message.reply_to,
                "captions": "\n".join(message.captions),
                "metadata": as_json(message.metadata) if message.metadata else None,
                "tool calls": as_json(message.tool_calls) if message.tool_calls else None,
                "system prompt": message.system_prompt,
            }
        )
    )
    out.line()
    out.print(markdown(message.text))


def delete(
    ctx: typer.Context,
    identifier: Annotated[
        str | None, typer.Argument(metavar="ID", help="A message's id, or at least its last 8 characters.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option(metavar="NAME", help="Delete this whole thread instead.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: WorkspaceName = "default",
    to_json: Json = False,
) -> None:
    """Delete a message or a thread, and everything that was derived from it, for good.

    JSON: deleted (how many messages), thread, message (what it was; null for a thread).
    """
    if (identifier is None) == (thread is None):
        raise typer.BadParameter("Name a message by its ID, or a thread with --thread; one of them.")
    call = call_of(ctx)

    async def find() -> "StoredMessage | int":
        async with call.workspace(workspace) as (_, memory):
            if identifier is not None:
                return await memory.show(identifier)
            for known in await memory.threads():
                if known.name == thread:
                    return known.messages
            raise NotFound(f"There is no thread {thread} in the workspace {workspace}.")

    async def remove(what: "StoredMessage | int") -> int:
        async with call.workspace(workspace) as (_, memory):
            if thread is not None:
                return await memory.delete_thread(thread)
            assert not isinstance(what, int)  # noqa: S101 - it was found by its id
            await memory.delete(what.message_id)
            return 1

    # Found first and in a step of its own: the server need not be held while a person thinks.
    found = run(find())
    if isinstance(found, int):
        question = f"Delete the thread {thread} with its {found} messages?"
    else:
        said = f"{when(found.at)} {found.author}: {shortened(found.text, 80)}"
        question = f"Delete the message {short_id(found.message_id)} ({said})?"
    require_confirmation(clean(question), yes=yes)
    deleted = run(remove(found))
    message = None if isinstance(found, int) else found
    if to_json:
        named = thread if message is None else message.thread
        call.out.json({"deleted": deleted, "thread": named, "message": message})
    elif message is not None:
        call.out.line(f"Deleted the message {short_id(message.message_id)}.")
    else:
        call.out.line(f"Deleted the thread {thread} with its {deleted} messages.")


def threads(ctx: typer.Context, workspace: WorkspaceName = "default", to_json: Json = False) -> None:
    """List the threads of a workspace, the latest first.

    JSON: threads [{thread_id, name, project, taxonomy, last_at, messages}].
    """
    call = call_of(ctx)

    async def look() -> list[Any]:
        async with call.workspace(workspace) as (_, memory):
            return list(await memory.threads())

    found = run(look())
    if to_json:
        call.out.json({"threads": found})
        return
    if not found:
        call.out.line(f"The workspace {workspace} has no threads yet.")
        return
    listed = table("thread", "messages", "last", "project", "taxonomy", numbers=["messages"])
    for one_thread in found:
        listed.add_row(
            clean(one_thread.name),
            f"{one_thread.messages:,}",
            when(one_thread.last_at),
            clean(one_thread.project or ""),
            clean(one_thread.taxonomy or ""),
        )
    call.out.print(listed)


def workspaces(ctx: typer.Context, to_json: Json = False) -> None:
    """List all workspaces.

    JSON: workspaces [{workspace_id, name, created_at, threads, messages, last_at}].
    """
    call = call_of(ctx)

    async def look() -> list[Any]:
        async with call.memory() as lore:
            return list(await lore.workspaces())

    found = run(look())
    if to_json:
        call.out.json({"workspaces": found})
        return
    listed = table("workspace", "threads", "messages", "last", numbers=["threads", "messages"])
    for one_workspace in found:
        listed.add_row(
            clean(one_workspace.name),
            f"{one_workspace.threads:,}",
            f"{one_workspace.messages:,}",
            when(one_workspace.last_at),
        )
    call.out.print(listed)
