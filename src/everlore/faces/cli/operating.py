"""How an installation looks to whoever keeps it running: status, jobs, models; and the command that tries jobs again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from everlore.domain.errors import promised
from everlore.faces.cli.call import Json, call_of, run
from everlore.faces.cli.output import Output, clean, facts, one_line, table, when
from everlore.faces.cli.shown import Shown, prints
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.domain.knowledge import Usage
    from everlore.domain.operations import (
        Failure,
        HeldUp,
        ModelProgress,
        Parked,
        ParkedJob,
        Status,
        Tried,
        WorkspaceStatus,
    )

WEAKER = (
    "weaker: the application's login only acts as everlore_app and could stop doing so. Let EVERLORE_DATABASE_URL log in "
    "as everlore_app."
)

jobs = typer.Typer(no_args_is_help=True, help="Background jobs that failed for good.")


def add_to(app: typer.Typer) -> None:
    app.add_typer(jobs, name="jobs")


@jobs.callback()
def group() -> None:
    """Keeps `jobs` a group while it has one command of its own."""


@prints("status")
def _status(shown: Shown) -> None:
    found: Status = shown.answer
    here, out = promised(found.workspace, "the verb asks about a workspace"), shown.out
    behind = ", ".join(
        f"{counted(count, 'passages', 'lack')} {model}" for model, count in here.unembedded.items() if count
    )
    queued = ", ".join(f"{count} {state}" for state, count in sorted(found.jobs.items()))
    out.print(
        facts(
            {
                "Postgres": f"{found.postgres}, {'embedded' if found.embedded else 'by URL'}",
                "data folder": found.data_dir,
                "isolation": WEAKER
                if found.isolation == "weaker"
                else "full: the application logs in as everlore_app",
                "workspaces": f"{found.workspaces:,} with {counted(found.messages, 'messages')}",
                "workers": found.workers or "none; commands index by themselves",
                "jobs": queued or "none waiting",
                f"in {here.workspace}": f"{counted(here.threads, 'threads')}, {counted(here.messages, 'messages')}",
                "remembered": counted(here.memories, "memories"),
                "to be indexed": behind or "nothing",
                "to be distilled": _waiting(here),
            }
        )
    )
    if found.undistilled_because is not None:
        out.warn(found.undistilled_because)
    out.line()
    _print_models(out, found.models)
    if found.held_up:
        out.line()
        _print_held_up(out, found.held_up)
    if found.parked:
        out.line()
        _print_parked(out, found.parked)
    if found.failures:
        out.line()
        _print_failures(out, found.failures)


def _waiting(here: "WorkspaceStatus") -> str:
    if not (here.undistilled or here.failed_windows):
        return "nothing"
    failed = f", {counted(here.failed_windows, 'windows')} failed" if here.failed_windows else ""
    return counted(here.undistilled, "messages") + failed


@prints("jobs list")
def _jobs(shown: Shown) -> None:
    found: Parked = shown.answer
    if found.parked:
        _print_parked(shown.out, found.parked)
    if found.failures:
        _print_failures(shown.out, found.failures)
    if not (found.parked or found.failures):
        shown.out.line("No job is parked.")


@jobs.command()
def retry(ctx: typer.Context, to_json: Json = False) -> None:
    """Queue the parked jobs again, and have done again what steps could not do: windows that failed, passages that were refused;
    run all here unless a worker does. A model that is left alone after failures is tried at once.

    JSON: retried (how many of all)."""
    call = call_of(ctx)

    async def again() -> "Tried":
        from everlore.operating import retry_here

        async with call.memory() as lore:
            with call.out.progress("Distilling") as advance:
                return await retry_here(lore, advance)

    found = run(again())
    if to_json:
        call.out.json(found)
    else:
        call.out.line(
            f"Tried again, of jobs and failures: {found.retried:,}. `everlore jobs list` shows whether any failed again."
        )


@prints("jobs distil")
def _begun(shown: Shown) -> None:
    begun, out = shown.answer, shown.out
    if begun.estimate.undistilled_because is not None:
        out.warn(begun.estimate.undistilled_because)
    out.line(
        f"{counted(begun.estimate.messages, 'messages', 'wait')}; jobs were left for {counted(begun.threads, 'threads')}."
    )
    if begun.threads and not begun.worker:
        out.warn("no worker runs that would take them: start one with `everlore worker` or `everlore up`.")


@prints("models list")
def _models(shown: Shown) -> None:
    _print_models(shown.out, shown.answer)


@prints("models use")
def _used(shown: Shown) -> None:
    shown.out.line(f"{shown.answer.in_use} answers questions from now on.")


def _print_models(out: Output, found: "Sequence[ModelProgress]") -> None:
    if not found:
        out.line("No embedding model is installed: messages are found by words and time only.")
        return
    numbers = ["dimensions", "threads behind", "memories behind"]
    listed = table("model", "dimensions", "in use", *numbers[1:], numbers=numbers)
    for model in found:
        in_use = "yes" if model.in_use else ""
        behind = f"{model.threads_behind:,}", f"{model.distilled_behind:,}"
        listed.add_row(clean(model.name), str(model.dimensions), in_use, *behind)
    out.print(listed)


def _print_parked(out: Output, parked: "Sequence[ParkedJob]") -> None:
    columns = ("job", "workspace", "step", "attempts", "failed", "error")
    listed = table(*columns, numbers=["job", "attempts"], wide="error")
    for job in parked:
        reason = one_line(job.error or "not known")
        listed.add_row(
            str(job.job_id),
            clean(job.workspace),
            clean(job.step),
            str(job.attempts),
            when(job.failed_at),
            reason,
        )
    out.print(listed)


def _print_held_up(out: Output, held_up: "Sequence[HeldUp]") -> None:
    listed = table("workspace", "no calls of", "until", "because", wide="because")
    for one in held_up:
        model = "any model" if one.model is None else clean(one.model)
        listed.add_row(clean(one.workspace), model, when(one.until), one_line(one.reason))
    out.print(listed)


def _print_failures(out: Output, failures: "Sequence[Failure]") -> None:
    listed = table("workspace", "step", "thread", "what failed", "by", "when", "error", wide="error")
    for one in failures:
        listed.add_row(
            clean(one.workspace),
            clean(one.step),
            clean(one.thread or ""),
            clean(one.what),
            clean(one.by),
            when(one.failed_at),
            one_line(one.error),
        )
    out.print(listed)


@prints("usage")
def _usage(shown: Shown) -> None:
    found: Usage = shown.answer
    out = shown.out
    for cap in found.hard_caps:
        out.warn(f"today's hard cap is reached: {cap}; no model is called before tomorrow (UTC).")
    for cap in found.soft_caps:
        out.warn(f"today's soft cap is passed: {cap}.")
    for model, until in found.left_alone:
        out.warn(f"{model} failed too often and is left alone until {when(until)}.")
    if not found.days:
        out.line(
            f"No model was called for the workspace {shown.workspace} in {counted(shown.arguments.get('days', 30), 'days')}."
        )
        return
    numbers = ["calls", "failed", "tokens in", "tokens out", "cost"]
    listed = table("day", "model", *numbers, numbers=numbers)
    for one in found.days:
        counts = (one.calls, one.failed, one.tokens_in, one.tokens_out)
        listed.add_row(
            one.day.isoformat(), clean(one.model), *(f"{count:,}" for count in counts), f"{one.cost:.4f}"
        )
    out.print(listed)
