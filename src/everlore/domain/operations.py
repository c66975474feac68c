"""How an installation and its workspaces are doing: what the operator's verbs answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from everlore.domain.answers import Doc
from everlore.domain.knowledge import DistilEstimate, Distilled

Isolation: TypeAlias = Literal["full", "weaker"]


@dataclass(frozen=True, slots=True)
class WorkspaceSummary:
    """A workspace in a list."""

    workspace_id: Annotated[UUID, Doc("Its id.")]
    name: Annotated[str, Doc("Its name.")]
    created_at: Annotated[datetime, Doc("When it was made.")]
    threads: Annotated[int, Doc("How many threads it has.")]
    messages: Annotated[int, Doc("How many messages it has.")]
    last_at: Annotated[datetime | None, Doc("When the last of them was recorded.")]


@dataclass(frozen=True, slots=True)
class WorkspaceDeleted:
    """The receipt of a workspace that went for good: how many rows of each kind, never words."""

    workspace_id: Annotated[UUID, Doc("The workspace that was.")]
    name: Annotated[str, Doc("Its name, which is free again.")]
    counts: Annotated[Mapping[str, int], Doc("How many rows of each kind.")]
    deleted_at: Annotated[datetime, Doc("When.")]


@dataclass(frozen=True, slots=True)
class WorkspaceImported:
    """What was made of an export."""

    workspace_id: Annotated[UUID, Doc("The new workspace.")]
    name: Annotated[str, Doc("Its name.")]
    counts: Annotated[Mapping[str, int], Doc("How many rows of each kind it got.")]


@dataclass(frozen=True, slots=True)
class ModelProgress:
    """An embedding model, and how far it is."""

    name: Annotated[str, Doc("Its name.")]
    dimensions: Annotated[int, Doc("Of its vectors.")]
    in_use: Annotated[bool, Doc("Whether it answers questions.")]
    threads_behind: Annotated[int, Doc("Threads that it has not come to.")]
    distilled_behind: Annotated[int, Doc("Memories and facts that it has not come to.")] = 0


@dataclass(frozen=True, slots=True)
class ParkedJob:
    """A job that failed for good; retry it with `everlore jobs retry`."""

    job_id: Annotated[int, Doc("Its number.")]
    step: Annotated[str, Doc("The background step that it is of.")]
    workspace: Annotated[str, Doc("The workspace that it is about.")]
    workspace_id: Annotated[UUID, Doc("Its id.")]
    scope_id: Annotated[UUID, Doc("The id of the thread that it is about, or of the workspace as a whole.")]
    close: Annotated[bool, Doc("Whether what would wait for more was to be done, too.")]
    attempts: Annotated[int, Doc("How often it was tried.")]
    failed_at: Annotated[datetime | None, Doc("When it failed last.")]
    error: Annotated[str | None, Doc("Why.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a background step could not do: a window that could not be read, a passage that an embedding model will not take (it
    is found by its words). It holds nothing up; `everlore jobs retry` has it tried again."""

    step: Annotated[str, Doc("The background step.")]
    workspace: Annotated[str, Doc("The workspace.")]
    workspace_id: Annotated[UUID, Doc("Its id.")]
    thread: Annotated[str | None, Doc("The thread; null for what is in none.")]
    thread_id: Annotated[UUID | None, Doc("Its id.")]
    what: Annotated[str, Doc("What it could not do, in words: which messages, memory or fact.")]
    first: Annotated[int | None, Doc("Of messages of the thread the position of the first.")] = None
    last: Annotated[int | None, Doc("Of the last one.")] = None
    owner_id: Annotated[UUID | None, Doc("Of a passage the message, memory or fact.")] = None
    by: Annotated[str, Doc("Who could not: the analyst, or the embedding model.")]
    error: Annotated[str, Doc("Why.")]
    failed_at: Annotated[datetime | None, Doc("When, where that is known.")] = None


@dataclass(frozen=True, slots=True)
class Parked:
    """What failed for good."""

    parked: Annotated[tuple[ParkedJob, ...], Doc("Jobs that failed for good.")]
    failures: Annotated[tuple[Failure, ...], Doc("What background steps could not do and left.")]


@dataclass(frozen=True, slots=True)
class HeldUp:
    """Why a workspace may not call a model now, and until when: the breaker is open, or a hard cap is reached."""

    workspace: Annotated[str, Doc("The workspace.")]
    workspace_id: Annotated[UUID, Doc("Its id.")]
    model: Annotated[str | None, Doc("The model; null for all, where a daily cap is reached.")]
    reason: Annotated[str, Doc("Why.")]
    until: Annotated[datetime, Doc("Until when.")]


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """How one workspace is doing."""

    workspace: Annotated[str, Doc("Its name.")]
    threads: Annotated[int, Doc("Threads.")]
    messages: Annotated[int, Doc("Messages.")]
    unpacked: Annotated[int, Doc("Fresh passages that are found by reading them directly.")]
    unembedded: Annotated[Mapping[str, int], Doc("Per embedding model the passages that lack vectors.")]
    memories: Annotated[int, Doc("Memories in use.")] = 0
    undistilled: Annotated[int, Doc("Messages that nobody has read yet.")] = 0
    failed_windows: Annotated[int, Doc("Stretches of messages that could not be read.")] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The whole installation at a glance."""

    postgres: Annotated[str, Doc("The version of Postgres.")]
    embedded: Annotated[bool, Doc("Whether it is the embedded one.")]
    data_dir: Annotated[str | None, Doc("Where the embedded one keeps its data; null for another.")]
    isolation: Annotated[
        Isolation, Doc("Weaker where the application's login could act as another role than its own.")
    ]
    workspaces: Annotated[int, Doc("How many workspaces there are.")]
    messages: Annotated[int, Doc("How many messages there are in all of them.")]
    models: Annotated[tuple[ModelProgress, ...], Doc("Embedding models.")]
    steps: Annotated[Mapping[str, Mapping[str, int]], Doc("Jobs by background step and state.")]
    jobs: Annotated[Mapping[str, int], Doc("Jobs by state, of all steps.")]
    parked: Annotated[tuple[ParkedJob, ...], Doc("Jobs that failed for good.")]
    workers: Annotated[int, Doc("Workers that are alive.")]
    failures: Annotated[tuple[Failure, ...], Doc("What background steps could not do and left.")] = ()
    held_up: Annotated[tuple[HeldUp, ...], Doc("Models that may not be called now, and why.")] = ()
    undistilled_because: Annotated[
        str | None, Doc("Why nothing is distilled here, or no facts are, although it is to be; else null.")
    ] = None
    workspace: Annotated[WorkspaceStatus | None, Doc("The workspace that was asked about.")] = None


@dataclass(frozen=True, slots=True)
class Health:
    """How the server is doing."""

    ok: Annotated[bool, Doc("Whether messages can be recorded and recalled.")]
    database: Annotated[bool, Doc("Whether the database answers.")]
    worker: Annotated[bool, Doc("Whether some process indexes new messages.")]
    degraded: Annotated[tuple[str, ...], Doc("What is missing and why, in words; empty when all works.")]


@dataclass(frozen=True, slots=True)
class Tried:
    """What is tried again."""

    retried: Annotated[int, Doc("How many jobs and failures.")]


@dataclass(frozen=True, slots=True)
class InUse:
    """The embedding model that answers questions."""

    in_use: Annotated[str, Doc("Its name.")]


@dataclass(frozen=True, slots=True)
class DistilStarted:
    """What was begun, for a worker to do."""

    threads: Annotated[int, Doc("Threads for which a job was left.")]
    estimate: Annotated[DistilEstimate, Doc("What waits.")]
    worker: Annotated[bool, Doc("Whether a worker runs that takes the jobs.")]


@dataclass(frozen=True, slots=True)
class DistilDone:
    """What distilling here and now came to, workspaces together."""

    workspaces: Annotated[tuple[str, ...], Doc("The names of the workspaces.")]
    estimate: Annotated[DistilEstimate, Doc("What waited, and what it would take.")]
    read: Annotated[Distilled | None, Doc("What it came to; null for an estimate alone.")]
    waiting: Annotated[int, Doc("Messages that are left.")]
    errors: Annotated[tuple[str, ...], Doc("Why some are left, in words.")] = ()
    parked: Annotated[int, Doc("Jobs that failed for good on the way.")] = field(default=0)


@dataclass(frozen=True, slots=True)
class ModelTest:
    """What became of one question to the language model, in the form that distilling uses and as long as they get."""

    works: Annotated[bool, Doc("Whether nothing speaks against it.")]
    model: Annotated[str, Doc("Its name.")]
    url: Annotated[str | None, Doc("Where it was asked; null for a provider.")]
    size: Annotated[Literal["small", "large"], Doc("What is asked of it.")]
    because: Annotated[str, Doc("Why that.")]
    problems: Annotated[tuple[str, ...], Doc("What would fail, each with the setting that helps.")]
    remarks: Annotated[tuple[str, ...], Doc("What is worth knowing.")]
    memories: Annotated[tuple[str, ...], Doc("The sentences that it wrote.")] = ()
    seconds: Annotated[float | None, Doc("How long the answer took.")] = None
    tokens_in: Annotated[int | None, Doc("Tokens of the question, as the endpoint counts them.")] = None
    tokens_out: Annotated[int | None, Doc("Tokens of the answer.")] = None
    tokens_a_second: Annotated[
        float | None, Doc("Of the answer, with the time that the question took to read.")
    ] = None
    context_tokens: Annotated[int | None, Doc("The context that the server says it serves.")] = None
    window_seconds: Annotated[float | None, Doc("How long a window may take that gives a full answer.")] = (
        None
    )
    timeout_seconds: Annotated[float | None, Doc("How long it is waited for.")] = None
