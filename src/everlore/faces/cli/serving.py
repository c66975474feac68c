"""Commands that run until they are stopped: the server and the worker."""

import asyncio
import signal
from typing import Annotated

import typer

from everlore.faces.cli.call import Call, call_of, run


def add_to(app: typer.Typer) -> None:
    app.command()(up)
    app.command()(worker)


def up(
    ctx: typer.Context,
    host: Annotated[
        str | None, typer.Option(help="127.0.0.1, localhost or ::1: this machine only (EVERLORE_HOST).")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="0 takes any free port (EVERLORE_PORT; else 7411).")
    ] = None,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Leave indexing to other processes.")
    ] = False,
) -> None:
    """Serve the memory over HTTP on this machine until stopped, with a worker inside."""
    from everlore.faces.http.server import serve

    call = call_of(ctx)

    def ready(url: str) -> None:
        call.out.line(f"Everlore listens on {url} (its interface: {url}/openapi.json). Ctrl-C stops it.")

    settings = call.settings(host=host, port=port)
    asyncio.run(serve(settings, worker=not no_worker, ready=ready, say=call.out.note))


def worker(ctx: typer.Context) -> None:
    """Index in the background until stopped. Any number of workers may run at once."""
    run(_work(call_of(ctx)))


async def _work(call: Call) -> None:
    from everlore.everlore import Everlore

    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    async with Everlore.open(call.settings(), worker=True, say=call.out.note) as lore:
        # Being told to stop is how a worker's life ends well, so it is no error here.
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        call.out.line("The worker runs. Ctrl-C stops it.")
        stopped, failing = asyncio.create_task(stop.wait()), asyncio.create_task(lore.failed())
        await asyncio.wait([stopped, failing], return_when=asyncio.FIRST_COMPLETED)
        if failing.done():
            failing.result()
        failing.cancel()
        await asyncio.wait([failing])
