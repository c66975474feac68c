"""The command `distil`: reads what waits, here and now."""

from typing import Annotated, Any

import typer

from everlore.domain.knowledge import DistilEstimate, Distilled
from everlore.domain.operations import DistilDone
from everlore.faces.cli.call import Call, Json, WorkspaceName, call_of, confirmed, run
from everlore.faces.cli.output import Output
from everlore.text.counts import counted

# From so many calls of a model on, somebody is asked first.
MANY_CALLS = 50
FAILED = 1


def add_to(app: typer.Typer) -> None:
    app.command()(distil)


def distil(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    everywhere: Annotated[bool, typer.Option("--all", help="In all workspaces.")] = False,
    thread: Annotated[str | None, typer.Option(metavar="NAME", help="Only this thread.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also what was read before; what it yields replaces that.")
    ] = False,
    since: Annotated[
        int | None, typer.Option("--since-position", min=1, metavar="N", help="With --again: from here on.")
    ] = None,
    until: Annotated[
        int | None, typer.Option("--until-position", min=1, metavar="N", help="With --again: up to here.")
    ] = None,
    close: Annotated[
        bool,
        typer.Option("--close/--no-close", help="Read the last messages, too, or only full windows of 10."),
    ] = True,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what waits and what it would take.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before many model calls.")] = False,
    to_json: Json = False,
) -> None:
    """Read what waits, and keep memories, facts and entities out of it. From 50 model calls on it asks first. Exit code 1 if a
    window could not be read or a job was parked.

    JSON: workspaces, estimate {threads, messages, analyst, calls, tokens_in, tokens_out, cost, undistilled_because},
    read {windows, messages, memories, facts, rejected, failed} (null with --estimate), waiting, errors, parked."""
    if everywhere and (thread is not None or workspace != "default"):
        raise typer.BadParameter("--all means every workspace; leave out --workspace and --thread.")
    if not again and (since is not None or until is not None):
        raise typer.BadParameter("Positions are for what was read before; add --again.")
    call = call_of(ctx)
    chosen = None if everywhere else workspace
    span: dict[str, Any] = {"again": again, "since": since, "until": until, "close": close}

    # In steps of their own: the server need not be held while a person thinks.
    waiting = run(_estimated(call, chosen, thread, span))
    if estimate:
        done = DistilDone(() if chosen is None else (chosen,), waiting, None, waiting.messages)
    else:
        if waiting.analyst != "none":
            _ask(call.out, waiting, yes=yes)
        done = run(_distil(call, chosen, thread, span, waiting.messages))
    if waiting.undistilled_because is not None:
        call.out.warn(waiting.undistilled_because)
    if to_json:
        call.out.json(done)
    elif estimate:
        call.out.line(estimated(waiting))
    else:
        _print(call.out, done)
    if done.parked or (done.read and done.read.failed):
        raise typer.Exit(FAILED)


async def _estimated(
    call: Call, workspace: str | None, thread: str | None, span: dict[str, Any]
) -> DistilEstimate:
    from everlore import operating

    async with call.memory() as lore:
        return await operating.estimate(lore, workspace, thread, **span)


async def _distil(
    call: Call, workspace: str | None, thread: str | None, span: dict[str, Any], messages: int
) -> DistilDone:
    from everlore import operating

    async with call.memory() as lore:
        with call.out.progress("Distilling", messages or None) as advance:
            return await operating.distil(lore, workspace, thread, **span, progress=advance)


def estimated(waiting: DistilEstimate) -> str:
    """What waits, and what it would take, in a sentence or two."""
    threads = counted(waiting.threads, "threads")
    said = f"{counted(waiting.messages, f'messages of {threads}', 'wait')} to be distilled."
    if not waiting.calls:
        return said
    cost = "" if waiting.cost is None else f", a cost of about {waiting.cost:.2f}"
    return (
        f"{said} With {waiting.analyst} that is about {counted(waiting.calls, 'calls')}, {waiting.tokens_in:,} tokens in and "
        f"{waiting.tokens_out:,} out{cost}; retries come on top."
    )


def _ask(out: Output, waiting: DistilEstimate, *, yes: bool) -> None:
    if waiting.calls < MANY_CALLS:
        return
    out.note(estimated(waiting))
    confirmed(
        "Distil them now?",
        yes=yes,
        otherwise=f"Nothing was distilled: it takes about {waiting.calls:,} model calls, and there is no terminal to ask "
        "on; confirm with --yes.",
    )


def _print(out: Output, done: DistilDone) -> None:
    read = done.read or Distilled()
    if not read.windows and not done.waiting:
        out.line("Nothing waits to be distilled.")
        return
    out.line(
        f"{counted(read.messages, 'messages')} read: {counted(read.memories, 'memories')} and "
        f"{counted(read.facts, 'statements of facts')} kept, "
        f"{read.rejected:,} set aside, {counted(read.failed, 'windows')} failed."
    )
    if read.rejected:
        out.line("What was set aside: everlore review")
    if done.waiting:
        out.warn(f"{counted(done.waiting, 'messages', 'still wait')}; `everlore status` says more.")
    for reason in done.errors:
        out.warn(reason)
    if read.failed:
        out.warn("`everlore jobs retry` has failed windows read again.")
