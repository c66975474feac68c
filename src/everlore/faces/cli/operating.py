"""Commands for whoever keeps an installation running: status, jobs, models."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from everlore.faces.cli.call import Call, Json, WorkspaceName, call_of, run
from everlore.faces.cli.output import Output, clean, facts, one_line, table, when

if TYPE_CHECKING:
    from everlore.api.workspace import WorkspaceStatus
    from everlore.budget import HeldUp
    from everlore.everlore import Everlore, Retried, Status
    from everlore.store.distilling import FailedWindow
    from everlore.store.index import RefusedPassage
    from everlore.store.jobs import ParkedJob
    from everlore.store.operations import ModelProgress

WEAKER = (
    "weaker: the application's login only acts as everlore_app and could stop doing so. Let EVERLORE_DATABASE_URL log in "
    "as everlore_app."
)

jobs = typer.Typer(no_args_is_help=True, help="Background jobs that failed for good.")
models = typer.Typer(no_args_is_help=True, help="Embedding models.")


def add_to(app: typer.Typer) -> None:
    app.command()(status)


def status(ctx: typer.Context, workspace: WorkspaceName = "default", to_json: Json = False) -> None:
    """Show how the installation and one workspace are doing.

    JSON: postgres, embedded, data_dir (null by URL), isolation ("full", "weaker"), workspaces, messages,
    models [{name, dimensions, in_use, threads_behind, distilled_behind}], jobs {state: count}, steps {step: {state: count}},
    parked [{job_id, step, workspace, workspace_id, scope_id, close, attempts, failed_at, error}],
    failed_windows [{workspace, workspace_id, thread, thread_id, first, last, extractor, error, failed_at}],
    refused_passages [{workspace, workspace_id, thread (null: no message), kind, owner_id, model, error}],
    held_up [{workspace, workspace_id, model (null: all, by a daily cap), reason, until}], workers,
    workspace {workspace, threads, messages, unpacked, unembedded {model: passages}, memories, undistilled, failed_windows}.
    """
    call = call_of(ctx)

    async def look() -> dict[str, Any]:
        async with call.workspace(workspace) as (lore, memory):
            return _fields(lore, await lore.status()) | {"workspace": await memory.status()}

    found = run(look())
    if to_json:
        call.out.json(found)
    else:
        _print(call.out, found)


def _fields(lore: "Everlore", state: "Status") -> dict[str, Any]:
    return {
        "postgres": state.postgres,
        "embedded": state.embedded,
        "data_dir": lore.server.data_dir if lore.server else None,
        "isolation": "weaker" if state.weak_isolation else "full",
        "workspaces": state.workspaces,
        "messages": state.messages,
        "models": state.models,
        "jobs": state.jobs,
        "steps": state.steps,
        "parked": state.parked,
        "failed_windows": state.failed_windows,
        "refused_passages": state.refused_passages,
        "held_up": state.held_up,
        "workers": state.workers,
    }


def _print(out: Output, found: dict[str, Any]) -> None:
    here = found["workspace"]
    behind = ", ".join(
        f"{count:,} passages lack {model}" for model, count in here.unembedded.items() if count
    )
    counted = ", ".join(f"{count} {state}" for state, count in sorted(found["jobs"].items()))
    out.print(
        facts(
            {
                "Postgres": f"{found['postgres']}, {'embedded' if found['embedded'] else 'by URL'}",
                "data folder": found["data_dir"],
                "isolation": WEAKER
                if found["isolation"] == "weaker"
                else "full: the application logs in as everlore_app",
                "workspaces": f"{found['workspaces']:,} with {found['messages']:,} messages",
                "workers": found["workers"] or "none; commands index by themselves",
                "jobs": counted or "none waiting",
                f"in {here.workspace}": f"{here.threads:,} threads, {here.messages:,} messages",
                "remembered": f"{here.memories:,} memories",
                "to be indexed": behind or "nothing",
                "to be distilled": _waiting(here),
            }
        )
    )
    out.line()
    _print_models(out, found["models"])
    if found["held_up"]:
        out.line()
        _print_held_up(out, found["held_up"])
    if found["parked"]:
        out.line()
        _print_parked(out, found["parked"])
    if found["failed_windows"]:
        out.line()
        _print_failed(out, found["failed_windows"])
    if found["refused_passages"]:
        out.line()
        _print_refused(out, found["refused_passages"])


def _waiting(here: "WorkspaceStatus") -> str:
    if not (here.undistilled or here.failed_windows):
        return "nothing"
    failed = f", {here.failed_windows:,} windows failed" if here.failed_windows else ""
    return f"{here.undistilled:,} messages{failed}"


@jobs.command("list")
def list_jobs(ctx: typer.Context, to_json: Json = False) -> None:
    """List the jobs that failed for good, the stretches of messages that could not be read, and the passages that an embedding
    model would not take, with the reason.

    JSON: parked [{job_id, step, workspace, workspace_id, scope_id, close, attempts, failed_at, error}],
    failed_windows [{workspace, workspace_id, thread, thread_id, first, last, extractor, error, failed_at}],
    refused_passages [{workspace, workspace_id, thread (null: no message), kind, owner_id, model, error}].
    """
    call = call_of(ctx)

    async def look() -> "Status":
        async with call.memory() as lore:
            return await lore.status()

    state = run(look())
    if to_json:
        shown = {name: getattr(state, name) for name in ("parked", "failed_windows", "refused_passages")}
        call.out.json(shown)
        return
    if state.parked:
        _print_parked(call.out, state.parked)
    if state.failed_windows:
        _print_failed(call.out, state.failed_windows)
    if state.refused_passages:
        _print_refused(call.out, state.refused_passages)
    if not (state.parked or state.failed_windows or state.refused_passages):
        call.out.line("No job is parked.")


@jobs.command()
def retry(ctx: typer.Context, to_json: Json = False) -> None:
    """Queue the parked jobs again, have failed windows read again and refused passages embedded again; run all here unless a
    worker does. A model that is left alone after failures is tried at once.

    JSON: retried (how many of all three).
    """
    call = call_of(ctx)

    async def again() -> int:
        async with call.memory() as lore:
            retried = await lore.retry_parked()
            if retried.count and not await lore.worker_is_alive():
                await lore.catch_up()
                await _read_again(call, lore, retried)
            return retried.count

    retried = run(again())
    if to_json:
        call.out.json({"retried": retried})
    else:
        call.out.line(
            f"Retried {retried} jobs, windows and passages; `everlore jobs list` shows whether any failed again."
        )


async def _read_again(call: Call, lore: "Everlore", retried: "Retried") -> None:
    if not retried.runs:
        return
    with call.out.progress("Distilling") as advance:
        # Only what had failed: what else waits may cost a lot, and nobody agreed to that.
        await lore.run_retried(retried, progress=advance)
    await lore.catch_up()


@models.command("list")
def list_models(ctx: typer.Context, to_json: Json = False) -> None:
    """List the embedding models that the memory knows.

    JSON: models [{name, dimensions, in_use, threads_behind, distilled_behind}].
    """
    call = call_of(ctx)

    async def look() -> "list[ModelProgress]":
        async with call.memory() as lore:
            return (await lore.status()).models

    found = run(look())
    if to_json:
        call.out.json({"models": found})
    else:
        _print_models(call.out, found)


@models.command()
def use(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of `everlore models list`.")],
    to_json: Json = False,
) -> None:
    """Let another model answer questions. Refused until it has vectors of everything.

    JSON: in_use (its name).
    """
    call = call_of(ctx)

    async def change() -> None:
        async with call.memory() as lore:
            await lore.use_model(name)

    run(change())
    if to_json:
        call.out.json({"in_use": name})
    else:
        call.out.line(f"{name} answers questions from now on.")


def _print_models(out: Output, found: "list[ModelProgress]") -> None:
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


def _print_parked(out: Output, parked: "list[ParkedJob]") -> None:
    listed = table(
        "job", "workspace", "step", "attempts", "failed", "error", numbers=["job", "attempts"], wide="error"
    )
    for job in parked:
        reason = one_line(job.error or "not known")
        about = clean(job.workspace), clean(job.step)
        listed.add_row(str(job.job_id), *about, str(job.attempts), when(job.failed_at), reason)
    out.print(listed)


def _print_held_up(out: Output, held_up: "list[HeldUp]") -> None:
    listed = table("workspace", "no calls of", "until", "because", wide="because")
    for one in held_up:
        model = "any model" if one.model is None else clean(one.model)
        listed.add_row(clean(one.workspace), model, when(one.until), one_line(one.reason))
    out.print(listed)


def _print_refused(out: Output, refused: "list[RefusedPassage]") -> None:
    listed = table("workspace", "thread", "passage of", "id", "refused by", "error", wide="error")
    for one in refused:
        listed.add_row(
            clean(one.workspace),
            clean(one.thread or ""),
            one.kind,
            str(one.owner_id),
            clean(one.model),
            one_line(one.error),
        )
    out.print(listed)


def _print_failed(out: Output, failed: "list[FailedWindow]") -> None:
    listed = table("workspace", "thread", "messages", "failed", "error", wide="error")
    for one in failed:
        place = f"{one.first} to {one.last}"
        listed.add_row(
            clean(one.workspace), clean(one.thread), place, when(one.failed_at), one_line(one.error)
        )
    out.print(listed)
