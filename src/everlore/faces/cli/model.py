"""The group `model`: whether the language model that distils does what is asked of it."""

from typing import TYPE_CHECKING

import typer

from everlore.faces.cli.call import Json, call_of, run
from everlore.faces.cli.output import Output, facts

if TYPE_CHECKING:
    from everlore.domain.operations import ModelTest

FAILED = 1

app = typer.Typer(no_args_is_help=True, help="The language model that distils (distil.model).")


@app.callback()
def group() -> None:
    """Keeps `model` a group while it has one command."""


@app.command("test")
def ask(ctx: typer.Context, to_json: Json = False) -> None:
    """Ask the language model one question, in the form and of the length that distilling uses, and say what would fail and which
    setting helps: address, key, name, form of the answer, context, speed. Exit code 1 if something would. It counts towards
    no cap.

    JSON: works, model, url, size, because, problems, remarks, memories, seconds, tokens_in, tokens_out, tokens_a_second,
    context_tokens, window_seconds, timeout_seconds (null where not known)."""
    call = call_of(ctx)

    async def asked() -> "ModelTest":
        from everlore.operating import test_model

        with call.out.progress("Asking"):
            return await test_model(call.settings())

    found = run(asked())
    if to_json:
        call.out.json(found)
    else:
        _print(call.out, found)
    if not found.works:
        raise typer.Exit(FAILED)


def _print(out: Output, found: "ModelTest") -> None:
    served = None if found.context_tokens is None else f"{found.context_tokens:,} tokens, says the server"
    waited = "" if found.timeout_seconds is None else f" (given up after {found.timeout_seconds:g} s)"
    out.print(
        facts(
            {
                "model": f"{found.model} at {found.url or 'its provider'}",
                "asked as": f"{found.size}: {found.because}",
                "answer": _answer(found),
                "context": served,
                "a full answer": found.window_seconds and f"takes about {found.window_seconds:.0f} s{waited}",
            }
        )
    )
    for content in found.memories:
        out.line(f"  - {content}")
    for remark in found.remarks:
        out.note(remark)
    for problem in found.problems:
        out.warn(problem)
    out.line("It works." if found.works else "Distilling with it would fail.")


def _answer(found: "ModelTest") -> str | None:
    if found.seconds is None:
        return None
    took = f"after {found.seconds:g} s"
    if found.tokens_in is None or found.tokens_out is None:
        return took
    return (
        f"{took}: {found.tokens_in:,} tokens in, {found.tokens_out:,} out, {found.tokens_a_second:g} a second"
    )
