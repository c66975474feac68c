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
    as_json,
    clean,
    facts,
    markdown,
    moment,
    shortened,
    table,
    when,
)

if TYPE_CHECKING:
    from everlore.store.conversation import StoredMessage


def add_to(app: typer.Typer) -> None:
    for command in (record, show, delete, threads, workspaces):
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
