"""The step that takes keys away which nobody said again in time."""

from collections.abc import Callable

from everlore.knowledge import keys
from everlore.runtime import Runtime
from everlore.step import Lagging, Scope, Step
from everlore.store import distilling
from everlore.store.run import Transaction

# So many in a run, which is one transaction: what is left the next sweep finds.
AT_MOST = 500
_NAME = "old_keys"


async def _lags(tx: Transaction, runtime: Runtime, asked: Lagging) -> list[Scope]:
    found = await distilling.workspaces_with_old_keys(
        tx, _NAME, runtime.clock(), asked.at_most, held=asked.held
    )
    return [Scope(workspace_id) for workspace_id in found]


async def _take_away(runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]) -> None:
    async with runtime.database.workspace(scope.workspace_id) as tx:
        await distilling.lock_workspace(tx)
        gone = await keys.remove_old(tx, runtime.clock(), AT_MOST)
    progress(gone)


# In a queue that every worker looks after, also where nobody distils any more.
STEP = Step(name=_NAME, queue="index", scope="workspace", lags=_lags, run=_take_away)
