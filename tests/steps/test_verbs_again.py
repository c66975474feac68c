"""A verb that was in another's way is run again as a whole, at most three times; an error of ours is loud."""

from typing import Any

import pytest

from everlore.api.workspace import Workspace
from everlore.domain.errors import Conflict, InternalError
from everlore.domain.messages import NewMessage
from everlore.everlore import Everlore
from everlore.store import conversation, graph

DEADLOCK = b"do $$ begin raise exception using errcode = 'deadlock_detected'; end $$"


@pytest.fixture
async def workspace(lore: Everlore) -> Workspace:
    made = await lore.workspace("alice", create=True)
    await made.remember("My sister Emma lives in Porto.")
    await made.record([NewMessage(role="user", text="boat")], thread="main")
    return made


class Deadlocks:
    """Postgres ends so many of the next transactions that come to `audit`, as it ends one of two that wait for each other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.attempts = 0
        whole = conversation.audit

        async def audit(tx: Any, *arguments: Any, **named: Any) -> None:
            await whole(tx, *arguments, **named)
            self.attempts += 1
            if self.attempts <= times:
                await tx.done(DEADLOCK)

        monkeypatch.setattr(conversation, "audit", audit)


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_a_deadlock_is_tried_again_by_every_verb(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    for verb in (lambda: workspace.graph.add_alias("Emma", "Em"), lambda: workspace.delete_thread("main")):
        with monkeypatch.context() as patched:
            deadlocks = Deadlocks(patched, times)
            if times < 3:
                await verb()
            else:
                with pytest.raises(Conflict):
                    await verb()
            assert deadlocks.attempts == min(times + 1, 3)
    names = [alias.variant for alias in (await workspace.graph.entity("Emma")).entity.aliases]
    assert names.count("Em") == (1 if times < 3 else 0)
    assert [thread.name for thread in await workspace.threads()] == ([] if times < 3 else ["main"])


async def test_a_cast_that_our_own_statement_cannot_make_is_our_error(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(tx: Any, *_: Any, **__: Any) -> Any:
        return await tx.value(b"select 'x'::integer")

    monkeypatch.setattr(graph, "facts_of", broken)
    with pytest.raises(InternalError, match="invalid input syntax for type integer"):
        await workspace.graph.entity("Emma")
