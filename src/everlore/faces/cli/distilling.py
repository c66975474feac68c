"""Commands on distilling: `distil` reads what waits, `usage` says what models cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from everlore.domain.errors import ConfigurationError
from everlore.domain.knowledge import DistilEstimate, Distilled
from everlore.faces.cli.call import Call, Json, WorkspaceName, call_of, confirmed, run
from everlore.faces.cli.output import Output, clean, table, when

if TYPE_CHECKING:
    from everlore.api.workspace import Workspace
    from everlore.domain.knowledge import Usage
    from everlore.everlore import Everlore

# From so many calls of a model on, somebody is asked first.
MANY_CALLS = 50
FAILED = 1


def add_to(app: typer.Typer) -> None:
    app.command()(distil)
    app.command()(usage)


@dataclass(frozen=True, slots=True)
class _Span:
    """What is to be read: a thread or all, what waits or also what was read at some positions."""

    thread: str | None
    again: bool
    since: int | None
    until: int | None


@dataclass(slots=True)
class _Done:
    """What distilling came to, workspaces together. `waiting` messages are left; `errors` say why; `parked` jobs failed now."""

    workspaces: list[str] = field(default_factory=list[str])
    read: Distilled = field(default_factory=Distilled)
    waiting: int = 0
    errors: list[str] = field(default_factory=list[str])
    parked: int = 0


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

    JSON: workspaces (names), estimate {threads, messages, analyst, calls, tokens_in, tokens_out, cost}, read {windows, messages,
    memories, facts, rejected, failed} (null with --estimate), waiting (messages that are left), errors (why, in words).
    """
    if everywhere and (thread is not None or workspace != "default"):
        raise typer.BadParameter("--all means every workspace; leave out --workspace and --thread.")
    if not again and (since is not None or until is not None):
        raise typer.BadParameter("Positions are for what was read before; add --again.")
    call = call_of(ctx)
    span = _Span(thread, again, since, until)
    chosen = None if everywhere else workspace

    # In steps of their own: the server need not be held while a person thinks.
    waiting = run(_estimated(call, chosen, span, close=close))
    if not estimate:
        if waiting.analyst == "none":
            raise ConfigurationError("Nothing is distilled here: the setting distil.analyst is none.")
        _ask(call.out, waiting, yes=yes)
    done = None if estimate else run(_distil(call, chosen, span, waiting.messages, close=close))
    if to_json:
        found = done or _Done([] if chosen is None else [chosen], waiting=waiting.messages)
        read = None if done is None else done.read
        call.out.json(
            {
                "workspaces": found.workspaces,
                "estimate": waiting,
                "read": read,
                "waiting": found.waiting,
                "errors": found.errors,
            }
        )
    elif done is None:
        call.out.line(estimated(waiting))
    else:
        _print(call.out, done)
    if done is not None and (done.read.failed or done.parked):
        raise typer.Exit(FAILED)


async def _chosen(lore: "Everlore", name: str | None) -> "list[Workspace]":
    if name is not None:
        return [await lore.workspace(name, create=False)]
    return [await lore.workspace(one.name) for one in await lore.workspaces()]


async def _estimated(call: Call, name: str | None, span: _Span, *, close: bool) -> DistilEstimate:
    async with call.memory() as lore:
        found = [
            await memory.estimate_distil(
                span.thread, again=span.again, since=span.since, until=span.until, close=close
            )
            for memory in await _chosen(lore, name)
        ]
    return together(found)


def together(found: Sequence[DistilEstimate]) -> DistilEstimate:
    """Estimates of several workspaces as one."""
    costs = [one.cost for one in found if one.cost is not None]
    return DistilEstimate(
        sum(one.threads for one in found),
        sum(one.messages for one in found),
        found[0].analyst,
        sum(one.calls for one in found),
        sum(one.tokens_in for one in found),
        sum(one.tokens_out for one in found),
        sum(costs, Decimal(0)) if costs else None,
    )


def estimated(waiting: DistilEstimate) -> str:
    """What waits, and what it would take, in a sentence or two."""
    said = f"{waiting.messages:,} messages of {waiting.threads:,} threads wait to be distilled."
    if not waiting.calls:
        return said
    cost = "" if waiting.cost is None else f", a cost of about {waiting.cost:.2f}"
    return (
        f"{said} With {waiting.analyst} that is about {waiting.calls:,} calls, {waiting.tokens_in:,} tokens in and "
        f"{waiting.tokens_out:,} out{cost}; retries come on top."
    )


def _ask(out: Output, waiting: DistilEstimate, *, yes: bool) -> None:
    if waiting.calls < MANY_CALLS:
        return
    out.note(estimated(waiting))
    confirmed(
        "Distil them now?",
        yes=yes,
        otherwise=f"Nothing was distilled: it takes about {waiting.calls:,} model calls, and there is no terminal to ask on; "
        "confirm with --yes.",
    )


async def _distil(call: Call, name: str | None, span: _Span, messages: int, *, close: bool) -> _Done:
    done = _Done()
    async with call.memory() as lore:
        parked = {job.job_id for job in (await lore.status()).parked}
        threads: set[UUID] = set()
        with call.out.progress("Distilling", messages or None) as advance:
            for memory in await _chosen(lore, name):
                before = await memory.distilled()
                if span.again:
                    names = [span.thread] if span.thread else [one.name for one in await memory.threads()]
                    for thread in names:
                        await memory.distil_again(thread, since=span.since, until=span.until)
                threads.update(await memory.threads_to_distil(span.thread))
                await lore.distil(memory, span.thread, close=close, progress=advance)
                after = await memory.distilled()
                done.read += after - before
                done.workspaces.append(memory.name)
                done.waiting += (await memory.estimate_distil(span.thread)).messages
        if done.read.windows:
            await lore.catch_up()
        done.parked = sum(
            job.job_id not in parked and job.scope_id in threads for job in (await lore.status()).parked
        )
        if (done.waiting and close) or done.read.failed or done.parked:
            done.errors = await reasons(lore, set(done.workspaces))
    return done


async def reasons(lore: "Everlore", workspaces: set[str]) -> list[str]:
    """Why messages are left: windows that could not be read, jobs that are parked, models that may not be asked now."""
    state = await lore.status()
    said = [
        f"{one.workspace}, thread {one.thread}, messages {one.first} to {one.last}: {one.error}"
        for one in state.failed_windows
        if one.workspace in workspaces
    ]
    said += [
        f"{job.workspace}, {job.step}: {job.error or 'the job failed'}"
        for job in state.parked
        if job.workspace in workspaces
    ]
    for name in sorted(workspaces):
        used = await (await lore.workspace(name)).usage(days=1)
        said += [f"{name}: the daily cap is reached: {cap}" for cap in used.hard_caps]
        said += [
            f"{name}: {model} failed too often and is left alone until {when(until)}"
            for model, until in used.left_alone
        ]
    return list(dict.fromkeys(said))


def _print(out: Output, done: _Done) -> None:
    read = done.read
    if not read.windows and not done.waiting:
        out.line("Nothing waits to be distilled.")
        return
    out.line(
        f"{read.messages:,} messages read: {read.memories:,} memories and {read.facts:,} statements of facts kept, "
        f"{read.rejected:,} set aside, {read.failed:,} windows failed."
    )
    if read.rejected:
        out.line("What was set aside: everlore review")
    if done.waiting:
        out.warn(f"{done.waiting:,} messages still wait; `everlore status` says more.")
    for reason in done.errors:
        out.warn(reason)
    if read.failed:
        out.warn("`everlore jobs retry` has failed windows read again.")


async def distil_imported(
    call: Call, lore: "Everlore", memory: "Workspace"
) -> "Distilled | DistilEstimate | None":
    """After an import: by rules at once, since that costs nothing; with a model only what it would take. None if nothing
    waits, or nothing is distilled here."""
    waiting = await memory.estimate_distil()
    if waiting.analyst == "none" or not waiting.messages:
        return None
    if waiting.calls:
        return waiting
    before = await memory.distilled()
    with call.out.progress("Distilling", waiting.messages) as advance:
        await lore.distil(memory, progress=advance)
    await lore.catch_up()
    return await memory.distilled() - before


def usage(
    ctx: typer.Context,
    workspace: WorkspaceName = "default",
    days: Annotated[int, typer.Option(help="So many days, today included.")] = 30,
    to_json: Json = False,
) -> None:
    """Show what model calls cost, per day (UTC) and model. Failed ones count.

    JSON: days [{day, model, calls, failed, tokens_in, tokens_out, cost}], soft_caps, hard_caps (those that today has reached,
    in words), left_alone [[model, until]].
    """
    call = call_of(ctx)

    async def look() -> "Usage":
        async with call.workspace(workspace) as (_, memory):
            return await memory.usage(days=days)

    found = run(look())
    if to_json:
        call.out.json(found)
    else:
        _print_usage(call.out, found, workspace, days)


def _print_usage(out: Output, found: "Usage", workspace: str, days: int) -> None:
    for cap in found.hard_caps:
        out.warn(f"today's hard cap is reached: {cap}; no model is called before tomorrow (UTC).")
    for cap in found.soft_caps:
        out.warn(f"today's soft cap is passed: {cap}.")
    for model, until in found.left_alone:
        out.warn(f"{model} failed too often and is left alone until {when(until)}.")
    if not found.days:
        out.line(f"No model was called for the workspace {workspace} in {days} days.")
        return
    numbers = ["calls", "failed", "tokens in", "tokens out", "cost"]
    listed: Any = table("day", "model", *numbers, numbers=numbers)
    for one in found.days:
        counts = (one.calls, one.failed, one.tokens_in, one.tokens_out)
        listed.add_row(
            one.day.isoformat(), clean(one.model), *(f"{count:,}" for count in counts), f"{one.cost:.4f}"
        )
    out.print(listed)
