"""The group `eval`: benchmarks of recall. By default in a folder of their own, which is removed afterwards."""

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from everlore.faces.cli.call import Call, Json, call_of, run
from everlore.faces.cli.output import Output, table
from everlore.text.counts import counted

if TYPE_CHECKING:
    from everlore.config import Settings

Distil: TypeAlias = Literal["none", "analyst", "observations"]

app = typer.Typer(no_args_is_help=True, help="Measure how well recall finds what answers.")


@app.callback()
def group() -> None:
    """Keeps `eval` a group while it has one command."""


@app.command()
def locomo(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A LoCoMo file.")],
    categories: Annotated[
        str, typer.Option(metavar="LIST", help="Categories of questions, 1 to 5.")
    ] = "1,2,3,4,5",
    limit: Annotated[
        int | None, typer.Option(metavar="QUESTIONS", min=1, help="Stop after so many questions.")
    ] = None,
    distil: Annotated[
        Distil,
        typer.Option(
            help="Ask before and after distilling: by the set analyst, or what the data set observes."
        ),
    ] = "none",
    to_json: Json = False,
) -> None:
    """Measure recall on LoCoMo: are the turns that answer found? No language model is asked, unless one distils.

    It runs on a Postgres of its own that is removed afterwards, unless --data-dir or --database-url names another.

    JSON: recall, hit, ndcg (each {"5": 0-1, ...}), by_category, confidence_auc (null without category 5), support_auc,
    latency_ms {p50, p95}, questions, turns, ingest {turns_per_second_recorded, turns_per_second_indexed}; with --distil also
    distilled {before {recall, hit, ndcg}, recall_10_gain {mean, low, high, ...}, memories, source_turns {precision, recall},
    ms_per_turn}.
    """
    from everlore.capture.importers import read_locomo

    call = call_of(ctx)
    chosen = _categories(categories)
    read_locomo(file)  # what is wrong with the file is said before a server is started for it
    with _place(call) as settings:
        summary = run(_measure(call, settings, file, chosen, limit, distil))
    if to_json:
        call.out.json(summary)
    else:
        _print(call.out, summary)


def _categories(given: str) -> list[int]:
    chosen = [part.strip() for part in given.split(",")]
    if not all(part in {"1", "2", "3", "4", "5"} for part in chosen):
        raise typer.BadParameter(f"--categories takes numbers from 1 to 5 joined by commas, not {given!r}.")
    return [int(part) for part in chosen]


@contextmanager
def _place(call: Call) -> "Generator[Settings]":
    """The settings to measure with: a database of its own, unless one was named on the command line."""
    if call.data_dir or call.database_url:
        yield call.settings()
        return
    folder = Path(tempfile.mkdtemp(prefix="everlore-eval-"))
    try:
        if os.geteuid() == 0:
            folder.chmod(0o711)  # the server runs as another user then and has to pass
        urls: tuple[str, ...] = ("database_url", "migration_url", "worker_url")
        settings = call.settings().model_copy(update=dict.fromkeys(urls))
        yield settings.model_copy(update={"data_dir": folder / "data"})
    finally:
        shutil.rmtree(folder)


async def _measure(
    call: Call,
    settings: "Settings",
    file: Path,
    categories: list[int],
    limit: int | None,
    distil: Distil,
) -> dict[str, Any]:
    from everlore.capture.importers import read_locomo
    from everlore.evaluation.locomo import evaluate
    from everlore.evaluation.observations import ObservationAnalyst

    analyst = ObservationAnalyst(read_locomo(file)) if distil == "observations" else None
    async with call.memory(settings, analyst) as lore:
        with call.out.stages() as progress:
            result = await evaluate(
                lore, file, categories=categories, limit=limit, distil=distil != "none", progress=progress
            )
    return result.summary()


def _print(out: Output, summary: dict[str, Any]) -> None:
    cuts = list(summary["recall"])
    numbers = ["questions", *(f"R@{cut}" for cut in cuts), "nDCG@10"]
    figures = table("category", *numbers, numbers=numbers)
    groups: dict[str, dict[str, Any]] = {"all but 5": summary | {"questions": ""}, **summary["by_category"]}
    for name, group_ in groups.items():
        shares = [f"{group_['recall'][cut]:.3f}" for cut in cuts]
        figures.add_row(name, str(group_["questions"]), *shares, f"{group_['ndcg']['10']:.3f}")
    out.print(figures)
    if distilled := summary.get("distilled"):
        gain, turns = distilled["recall_10_gain"], distilled["source_turns"]
        out.line(
            f"Distilling brought {counted(distilled['memories'], 'memories')} and {gain['mean'] * 100:+.2f} points of R@10 "
            f"(95 %: {gain['low'] * 100:+.2f} to {gain['high'] * 100:+.2f}). Of the turns that they rest on, "
            f"{turns['precision'] or 0:.3f} are observed by the data set; {turns['recall'] or 0:.3f} of those are found."
        )
    latency, ingest = summary["latency_ms"], summary["ingest"]
    out.line(
        f"{counted(summary['questions'], 'questions')} on {counted(summary['turns'], 'turns')}. Latency: p50 "
        f"{latency['p50']} ms, p95 {latency['p95']} ms. Turns a second: {ingest['turns_per_second_recorded']} recorded, "
        f"{ingest['turns_per_second_indexed']} with vectors."
    )
    if summary["support_auc"] is not None:
        out.line(
            f"Confidence tells answers from other hits among the first ten with an AUC of {summary['support_auc']:.3f}."
        )
    if summary["confidence_auc"] is not None:
        out.line(
            f"Confidence tells answerable questions from others with an AUC of {summary['confidence_auc']:.3f}."
        )
