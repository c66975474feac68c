"""A background step: what the registry (`everlore.work.steps`) and all that goes over it must know of one.

A step leaves nothing half done: it loads, thinks (holding no connection) and commits, stretch by stretch. What is to be done
follows from watermarks; its jobs are hints, and one that finds nothing left ends at once.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from everlore.domain.errors import InternalError, WorldError
from everlore.domain.operations import Failure
from everlore.runtime import Runtime
from everlore.store.run import Transaction

MAX_ATTEMPTS = 10


@dataclass(frozen=True, slots=True)
class Scope:
    """What one run is about: a thread of a workspace, or (`thread_id` is None) the whole workspace."""

    workspace_id: UUID
    thread_id: UUID | None = None

    @property
    def id(self) -> UUID:
        return self.workspace_id if self.thread_id is None else self.thread_id

    def lock(self, step: str) -> str:
        """What keeps two workers off it. A workspace that was imported has threads of the same ids as the one that it was
        exported from, and nothing to do with it."""
        return f"{step}:{self.workspace_id}:{self.id}"


@dataclass(frozen=True, slots=True)
class Lagging:
    """What is asked of `Step.lags`: scopes that nobody has a job for, or (`held`) those whose job is being run; `thorough`
    also finds what only a look at everything finds."""

    at_most: int
    held: bool = False
    thorough: bool = True


class Run(Protocol):
    """Load, think, commit, until nothing is left. `close`: also what would wait for more (a window that is not full).
    `progress` hears of each number of things done: passages, or messages."""

    def __call__(
        self, runtime: Runtime, scope: Scope, *, close: bool, progress: Callable[[int], None]
    ) -> Awaitable[object]: ...


async def _no_failures(_: Transaction) -> Sequence[Failure]:
    return ()


async def _nothing_again(_: Runtime, failures: Sequence[Failure]) -> Sequence[Scope]:
    raise InternalError(f"{len(failures)} failures of a step that tries none again")


def _always(_: Runtime) -> bool:
    return True


def _never(_: Runtime) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Step:
    """One background step.

    `lags` asks, in one query with a limit, which scopes of all workspaces have something to do; it runs as the workers' role,
    whom row-level security lets look there through a function of the owner's (migrations/0005_work.sql).
    `every`: recording leaves a job whenever so many more positions of a thread are full and it goes on, and where a session
    ends; None: it leaves none. `watermark`: recording raises the watermark of the step's name.

    The world's faults are tried again after 1, 2, 4, ... seconds and parked after `attempts`; those of `parks_on` are parked
    at once, since they were tried again already. Where a cap or the circuit breaker forbids a call, the job waits until it may.

    `failures` lists what it could not do and left, of all workspaces, as the workers' role; `try_again` has such failures done
    again: it leaves jobs, and returns their scopes.

    `wanted`: whether anybody does it here, by the settings. `inline`: a person's own command runs it where no worker does;
    `verb`: the verb of theirs that asks for it. `spends`: it may ask models that cost money, so that caps and circuit breaker
    hold it.
    """

    name: str
    queue: str
    scope: Literal["thread", "workspace"]
    lags: Callable[[Transaction, Runtime, Lagging], Awaitable[Sequence[Scope]]]
    run: Run
    every: int | None = None
    watermark: bool = False
    inline: bool = False
    verb: str | None = None
    attempts: int = MAX_ATTEMPTS
    parks_on: tuple[type[WorldError], ...] = ()
    failures: Callable[[Transaction], Awaitable[Sequence[Failure]]] = _no_failures
    try_again: Callable[[Runtime, Sequence[Failure]], Awaitable[Sequence[Scope]]] = _nothing_again
    wanted: Callable[[Runtime], bool] = _always
    spends: Callable[[Runtime], bool] = _never

    def scope_of(self, workspace_id: UUID, scope_id: UUID) -> Scope:
        """The scope of that id, as jobs have it."""
        return Scope(workspace_id, scope_id if self.scope == "thread" else None)
