"""The commands `record` and `reconcile`, and how messages, threads and workspaces look."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.ids import short_id
from everlore.domain.messages import MAX_TEXT_BYTES, NewMessage, Role
from everlore.faces.cli.call import Json, WorkspaceName, call_of, index_one, read_stdin, run, warn_at_first
from everlore.faces.cli.output import as_json, clean, facts, markdown, moment, shortened, table, when
from everlore.faces.cli.shown import Shown, asks, prints
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.domain.messages import StoredMessage, ThreadPath
    from everlore.domain.operations import WorkspaceDeleted

# As much as 10,000 messages of a client may come to.
_MAX_HISTORY_BYTES = 100_000_000


def add_to(app: typer.Typer) -> None:
    app.command()(record)
    app.command()(reconcile)


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
    parent: Annotated[
        str | None, typer.Option(metavar="ID", help="The message that it follows; else the last of the path.")
    ] = None,
    revise: Annotated[
        bool, typer.Option("--revise", help="If its external id is taken by other content, take its place.")
    ] = False,
    to_json: Json = False,
) -> None:
    """Record one message. It is found by its words at once, and by its meaning when the command returns.

    JSON: workspace, thread, outcomes [{status, message_id, reason}], stored, already_there, refused."""
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
            receipt = await memory.record(
                [message], thread=thread, session=session, project=project, parent=parent, revise=revise
            )
            await index_one(lore, memory, call.out)
            await warn_at_first(lore, memory, receipt.stored, call.out)
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
        call.out.json(receipt)
    else:
        status = "Recorded" if outcome.status == "stored" else "Already there:"
        call.out.line(f"{status} {short_id(outcome.message_id)} in {workspace}, thread {receipt.thread}.")


def reconcile(
    ctx: typer.Context,
    history: Annotated[
        str,
        typer.Argument(
            metavar="FILE|-", help="The messages as JSON: a list, or what a client sends; - reads it."
        ),
    ],
    workspace: WorkspaceName = "default",
    thread: Annotated[str, typer.Option(metavar="NAME", help="The conversation they belong to.")] = "main",
    session: Annotated[
        str | None, typer.Option(metavar="NAME", help="The sitting; else a gap of 6 hours begins a new one.")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Set on the thread.")] = None,
    to_json: Json = False,
) -> None:
    """Record what is new of a whole history, as a client that keeps no state sends it with every call.

    Turns are known by what they say. What was edited begins a branch, which becomes the path; a beginning that is missing, or
    stands summarised, is no change.

    JSON: workspace, thread, tip, turns [{status, message_id}], stored."""
    call = call_of(ctx)
    turns = _history(read_stdin(_MAX_HISTORY_BYTES) if history == "-" else _read(history))

    async def keep() -> Any:
        async with call.workspace(workspace, create=True) as (lore, memory):
            answer = await memory.reconcile(turns, thread=thread, session=session, project=project)
            await index_one(lore, memory, call.out)
            await warn_at_first(lore, memory, answer.stored, call.out)
            return answer

    answer = run(keep())
    if to_json:
        call.out.json(answer)
    else:
        turns_given = counted(len(answer.turns), "turns")
        call.out.line(f"{answer.stored:,} new of {turns_given}, in {workspace}, thread {answer.thread}.")


def _read(path: str) -> str:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("FILE", f"cannot be read: {error}") from error


def _history(text: str) -> list[Any]:
    """The list of messages in what a client sends: by itself, or as `messages`, `input` or `contents`."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("FILE", f"is not valid JSON: {error}") from error
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        value = next((fields[key] for key in ("messages", "input", "contents") if key in fields), None)
    if not isinstance(value, list):
        raise InvalidInput("FILE", "must be a list of messages, or an object with one")
    return cast("list[Any]", value)


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


@prints("show")
def _show(shown: Shown) -> None:
    message: StoredMessage = shown.answer
    out = shown.out
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
                "follows": message.parent_id,
                "instead of": message.revision_of,
                "path": None if message.on_path else "off the path of its thread",
                "finish": None if message.finish == "complete" else message.finish,
                "captions": "\n".join(message.captions),
                "metadata": as_json(message.metadata) if message.metadata else None,
                "tool calls": as_json(message.tool_calls) if message.tool_calls else None,
                "system prompt": message.system_prompt,
            }
        )
    )
    out.line()
    out.print(markdown(message.text))


@prints("revise", "regenerate")
def _said_anew(shown: Shown) -> None:
    message: StoredMessage = shown.answer
    shown.out.line(f"Recorded {message.short_id}, message {message.position} of the thread {message.thread}.")


@prints("threads switch")
def _switched(shown: Shown) -> None:
    path: ThreadPath = shown.answer
    beside = f", {counted(path.off_path, 'messages')} off it" if path.off_path else ""
    shown.out.line(
        f"The path of {path.thread} ends with {short_id(path.tip)}: {counted(path.messages, 'messages')}{beside}."
    )


@prints("messages")
def _messages(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line("The thread has no more messages.")
        return
    tree = bool(shown.arguments.get("branches"))
    behind = ["behind"] if tree else []
    listed = table("#", *behind, "when", "who", "text", "id", numbers=["#", *behind], wide="text")
    places = {message.message_id: str(message.position) for message in shown.answer}
    for message in shown.answer:
        who = clean(message.author if message.on_path else f"{message.author} (off the path)")
        # One on an earlier page by its id.
        above = message.parent_id and (places.get(message.parent_id) or short_id(message.parent_id))
        listed.add_row(
            str(message.position), *([above or ""] if tree else []), when(message.at), who,
            shortened(message.text, 300), message.short_id,
        )  # fmt: skip
    shown.out.print(listed)
    if tree:
        off = sum(not message.on_path for message in shown.answer)
        shown.out.line(f"{counted(len(shown.answer) - off, 'messages')} on the path, {off:,} off it.")


@asks("delete")
async def _sure_of_message(lore: Any, arguments: Mapping[str, Any]) -> str:
    workspace = await lore.workspace(arguments["workspace"], create=False)
    found: StoredMessage = await workspace.show(arguments["identifier"])
    said = f"{when(found.at)} {found.author}: {shortened(found.text, 80)}"
    return f"Delete the message {found.short_id} ({said})?"


@prints("delete")
def _deleted(shown: Shown) -> None:
    shown.out.line(f"Deleted the message {shown.answer.short_id}.")


@asks("threads delete")
async def _sure_of_thread(lore: Any, arguments: Mapping[str, Any]) -> str:
    workspace = await lore.workspace(arguments["workspace"], create=False)
    found = await workspace.messages(arguments["thread"], limit=1)
    return f"Delete the thread {arguments['thread']} with its {counted(found.total, 'messages')}?"


@prints("threads delete")
def _thread_deleted(shown: Shown) -> None:
    gone = shown.answer
    shown.out.line(f"Deleted the thread {gone.thread} with its {counted(gone.deleted, 'messages')}.")


@asks("workspaces delete")
async def _sure_of_workspace(lore: Any, arguments: Mapping[str, Any]) -> str:
    for one in await lore.workspaces():
        if one.name == arguments["name"]:
            said = counted(one.messages, "messages")
            return f"Delete the workspace {one.name} with its {said} and all that is known from them?"
    raise NotFound(f"There is no workspace {arguments['name']}; `everlore workspaces` lists them.")


@prints("workspaces delete")
def _workspace_deleted(shown: Shown) -> None:
    gone: WorkspaceDeleted = shown.answer
    went = ", ".join(counted(count, what) for what, count in gone.counts.items() if count)
    shown.out.line(f"Deleted the workspace {gone.name}: {went or 'it was empty'}.")


@prints("threads")
def _threads(shown: Shown) -> None:
    if not shown.answer:
        shown.out.line(f"The workspace {shown.workspace} has no threads yet.")
        return
    listed = table(
        "thread",
        "messages",
        "off the path",
        "last",
        "project",
        "taxonomy",
        numbers=["messages", "off the path"],
    )
    for one_thread in shown.answer:
        listed.add_row(
            clean(one_thread.name),
            f"{one_thread.messages:,}",
            f"{one_thread.off_path:,}" if one_thread.off_path else "",
            when(one_thread.last_at),
            clean(one_thread.project or ""),
            clean(one_thread.taxonomy or ""),
        )
    shown.out.print(listed)


@prints("workspaces")
def _workspaces(shown: Shown) -> None:
    listed = table("workspace", "threads", "messages", "last", numbers=["threads", "messages"])
    for one_workspace in shown.answer:
        listed.add_row(
            clean(one_workspace.name),
            f"{one_workspace.threads:,}",
            f"{one_workspace.messages:,}",
            when(one_workspace.last_at),
        )
    shown.out.print(listed)
