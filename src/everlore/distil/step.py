"""The distil step, as the registry knows it, and how windows come to be read anew. What it does when it runs stands in
`everlore.distil.reading`: loaded then, since most commands only have to know that there is such a step.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from everlore.distil.windows import WINDOW
from everlore.domain.errors import ModelUnavailable
from everlore.domain.operations import Failure
from everlore.runtime import Runtime
from everlore.step import Lagging, Scope, Step
from everlore.store import distilling
from everlore.store.run import Transaction


async def ask_again(
    runtime: Runtime,
    workspace_id: UUID,
    thread_id: UUID,
    *,
    since: int | None = None,
    until: int | None = None,
) -> int:
    """Have the windows of a thread that overlap a span of positions read anew; returns how many. A job is left for them."""
    async with runtime.database.workspace(workspace_id) as tx:
        windows = await distilling.windows(tx, thread_id, since, until)
        if windows:
            await distilling.ask_again(tx, thread_id, [first for first, _ in windows], runtime.clock())
    return len(windows)


async def _lags(tx: Transaction, runtime: Runtime, asked: Lagging) -> list[Scope]:
    now, distil = runtime.clock(), runtime.settings.distil
    found = await distilling.threads_to_distil(
        tx, now - distil.silence, now - distil.settle, asked.at_most, held=asked.held
    )
    return [Scope(*pair) for pair in found]


async def _distil(runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]) -> None:
    from everlore.distil.reading import distil_thread

    if scope.thread_id is not None:
        await distil_thread(runtime, scope.workspace_id, scope.thread_id, close=close, progress=progress)


async def _try_again(runtime: Runtime, failed: Sequence[Failure]) -> list[Scope]:
    """Have windows read anew that could not be read."""
    firsts: dict[Scope, list[int]] = {}
    for one in failed:
        if one.first is not None:
            firsts.setdefault(Scope(one.workspace_id, one.thread_id), []).append(one.first)
    for scope, windows in firsts.items():
        async with runtime.database.workspace(scope.workspace_id) as tx:
            await distilling.ask_again(tx, scope.id, windows, runtime.clock())
    return list(firsts)


def _spends(runtime: Runtime) -> bool:
    return runtime.analyst is not None and runtime.analyst.model is not None


# A model that fails was asked again already, and what it makes may cost money: nobody's command runs it unasked.
STEP = Step(
    name=distilling.STEP,
    queue="distil",
    scope="thread",
    lags=_lags,
    run=_distil,
    every=WINDOW,
    watermark=True,
    verb="distil",
    parks_on=(ModelUnavailable,),
    failures=distilling.failures,
    try_again=_try_again,
    wanted=lambda runtime: runtime.analyst is not None,
    spends=_spends,
)
