"""The app, and the process that serves it."""

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from importlib.metadata import version
from typing import Any

import uvicorn
from fastapi import FastAPI

from everlore.api.verbs import lines_of, verbs
from everlore.config import Settings
from everlore.domain.errors import ConfigurationError
from everlore.everlore import Everlore
from everlore.faces.http.errors import answer_errors
from everlore.faces.http.guard import Guard
from everlore.faces.http.routes import router

# What each name that the settings allow stands for. "localhost" is not looked up: a hosts file may point it anywhere.
_ADDRESSES = {
    "127.0.0.1": (socket.AF_INET, "127.0.0.1"),
    "localhost": (socket.AF_INET, "127.0.0.1"),
    "::1": (socket.AF_INET6, "::1"),
}
_GRACE_S = 10


def create_app(settings: Settings, *, worker: bool = True, **open_options: Any) -> FastAPI:
    """The ASGI app. Its lifespan opens the memory; `open_options` are those of `Everlore.open`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        async with Everlore.open(settings, worker=worker, **open_options) as lore:
            app.state.lore = lore
            yield

    app = FastAPI(
        title="Everlore",
        summary="A long-term memory for AI agents and companions.",
        version=version("everlore"),
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load their scripts from the internet
        redoc_url=None,
        redirect_slashes=False,
    )
    app.include_router(router())
    app.add_middleware(Guard, lines={(verb.method, verb.path) for verb in verbs() if lines_of(verb)})
    answer_errors(app)
    return app


async def serve(
    settings: Settings, *, worker: bool, ready: Callable[[str], None], **open_options: Any
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, then finish what was begun and return. A second signal stops at once.

    `ready` is told the URL as soon as requests are answered. Raises ConfigurationError where the port cannot be had, and
    what `Everlore.open` raises.
    """
    app = create_app(settings, worker=worker, **open_options)
    config = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",  # run here instead, where its errors reach the caller
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    with closing(_listening(settings.host, settings.port)) as listening:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        url = f"http://{host}:{listening.getsockname()[1]}"
        server = _Server(config, lambda: ready(url))
        with _stopped_by_signals(server):
            async with app.router.lifespan_context(app):
                await _served(server, listening, app.state.lore)


async def _served(server: uvicorn.Server, listening: socket.socket, lore: Everlore) -> None:
    """Serve to the end, which comes early where something in the background fails: that is raised then."""
    failing = asyncio.create_task(lore.failed())

    def stop(_: asyncio.Task[None]) -> None:
        server.should_exit = True

    failing.add_done_callback(stop)
    try:
        await server.serve(sockets=[listening])
        if failing.done():
            failing.result()
    finally:
        failing.cancel()
        await asyncio.wait([failing])


class _Server(uvicorn.Server):
    """Uvicorn, telling when it listens, and leaving signals to us: its own way ends the process by the signal."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextmanager
def _stopped_by_signals(server: uvicorn.Server) -> Generator[None]:
    """From before the memory opens until after it is closed, so that no signal leaves it half open."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals belong to the main thread; whoever runs us in another one cancels the task.
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def stop() -> None:
        if server.should_exit and task is not None:
            task.cancel()
        server.should_exit = True

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
        signals.append(signal.SIGHUP)
    for number in signals:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)


def _listening(host: str, port: int) -> socket.socket:
    """Taken before the memory opens: a port that cannot be had is said at once."""
    family, address = _ADDRESSES[host]
    try:
        return socket.create_server((address, port), family=family)
    except OSError as error:
        match error.errno:
            case errno.EADDRINUSE:
                reason = "another program uses it. Stop that, or choose another port; 0 takes any free one"
            case errno.EACCES:
                reason = "ports below 1024 are for the administrator. Choose a higher one"
            case _:
                reason = f"{error.strerror}. Choose another host or port"
        raise ConfigurationError(f"Cannot listen on {host}, port {port}: {reason}.") from error
