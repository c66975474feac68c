"""Distilling, review, usage and the state of the installation, as JSON."""

from datetime import date
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field, computed_field

from everlore.domain.ids import short_id
from everlore.domain.knowledge import ReviewKind
from everlore.domain.memories import Review
from everlore.faces.http.base import Answer, Name, Place, Utc, Within
from everlore.faces.http.bodies_memories import Limit

Position: TypeAlias = Annotated[int, Field(ge=1, le=2_147_483_647)]


class DistilBody(Within):
    """What to distil."""

    thread: Name | None = Field(None, description="Only this thread; it must exist.")
    again: bool = Field(False, description="Also what was read before; what it yields replaces that.")
    since_position: Position | None = Field(None, description="With `again`: from this position on.")
    until_position: Position | None = Field(None, description="With `again`: up to this position.")
    close: bool = Field(True, description="Read the last messages, too, or only full windows of 10.")
    estimate_only: bool = Field(False, description="Only say what waits and what it would take.")


class DecideBody(Within):
    """A person's word."""

    accept: bool = Field(description="true accepts, false rejects for good.")


class ReviewQuery(Place):
    """How many."""

    limit: Limit = Field(100, description="At most so many.")


class UsageQuery(Place):
    """How far back."""

    days: int = Field(30, ge=1, le=3660, description="So many days, today included.")


class EstimateAnswer(Answer):
    """What waits to be distilled, and roughly what it takes."""

    threads: int = Field(description="Threads with messages that wait.")
    messages: int = Field(description="Messages that wait.")
    analyst: str = Field(description="Who distils; none if nothing does.")
    calls: int = Field(description="Model calls; 0 by rules.")
    tokens_in: int = Field(description="Tokens of prompts.")
    tokens_out: int = Field(description="Tokens of answers.")
    cost: float | None = Field(description="In the currency of your prices; null where there are none.")


class DistilAnswer(Answer):
    """What was begun."""

    threads: int = Field(description="Threads for which a job was left.")
    estimate: EstimateAnswer = Field(description="What waits.")
    worker: bool = Field(description="Whether a worker runs that takes the jobs.")


class ReviewItemAnswer(Answer):
    """Something that waits for a person."""

    kind: ReviewKind = Field(description="A memory set aside, a link of two entities, or a thread's path.")
    id: UUID = Field(description="What to decide on.")
    state: Review = Field(description="Why a memory waits; suggested for the others.")
    text: str = Field(description="What it is.")
    reason: str = Field(description="Why it waits.")
    recorded_at: Utc = Field(description="Since when.")

    @computed_field(description="The end of the id, which the command line takes too.")
    @property
    def short_id(self) -> str:
        return short_id(self.id)


class ReviewAnswer(Answer):
    """What waits for a person."""

    review: list[ReviewItemAnswer] = Field(description="The oldest first.")


class UsageDayAnswer(Answer):
    """One model on one day."""

    day: date = Field(description="The day (UTC).")
    model: str = Field(description="The model.")
    calls: int = Field(description="Calls, failed ones included.")
    failed: int = Field(description="Calls that failed.")
    tokens_in: int = Field(description="Tokens of prompts.")
    tokens_out: int = Field(description="Tokens of answers.")
    cost: float = Field(description="In the currency of your prices; 0 where there are none.")


class LeftAloneAnswer(Answer):
    """A model that failed too often."""

    model: str = Field(description="The model.")
    until: Utc = Field(description="When it is tried again.")


class UsageAnswer(Answer):
    """What model calls cost."""

    days: list[UsageDayAnswer] = Field(description="Per day and model, the latest first.")
    soft_caps: list[str] = Field(description="Soft caps that today has passed, in words.")
    hard_caps: list[str] = Field(description="Hard caps that today has reached, in words.")
    left_alone: list[LeftAloneAnswer] = Field(description="Models that are not called for a while.")


class ModelAnswer(Answer):
    """An embedding model."""

    name: str = Field(description="Its name.")
    dimensions: int = Field(description="Of its vectors.")
    in_use: bool = Field(description="Whether it answers questions.")
    threads_behind: int = Field(description="Threads that it has not come to.")
    distilled_behind: int = Field(description="Memories and facts that it has not come to.")


class ParkedJobAnswer(Answer):
    """A job that failed for good."""

    job_id: int = Field(description="The job's number.")
    step: str = Field(description="The background step that it is of.")
    workspace: str = Field(description="The memory that it is about.")
    workspace_id: UUID = Field(description="The memory's id.")
    scope_id: UUID = Field(description="The id of the thread that it is about, or of the memory as a whole.")
    attempts: int = Field(description="How often it was tried.")
    failed_at: Utc | None = Field(description="When it failed last.")
    error: str | None = Field(description="Why.")


class FailedWindowAnswer(Answer):
    """A stretch of messages that could not be read."""

    workspace: str = Field(description="The workspace.")
    workspace_id: UUID = Field(description="Its id.")
    thread: str = Field(description="The thread.")
    thread_id: UUID = Field(description="Its id.")
    first: int = Field(description="Position of the first message.")
    last: int = Field(description="Position of the last one.")
    extractor: str = Field(description="Who could not read it.")
    error: str = Field(description="Why.")
    failed_at: Utc = Field(description="When.")


class HeldUpAnswer(Answer):
    """Why a workspace may not call a model now."""

    workspace: str = Field(description="The workspace.")
    workspace_id: UUID = Field(description="Its id.")
    model: str | None = Field(description="The model; null for all, where a daily cap is reached.")
    reason: str = Field(description="Why.")
    until: Utc = Field(description="Until when.")


class WorkspaceStatusAnswer(Answer):
    """How one workspace is doing."""

    workspace: str = Field(description="Its name.")
    threads: int = Field(description="Threads.")
    messages: int = Field(description="Messages.")
    unpacked: int = Field(description="Fresh passages that are found by reading them directly.")
    unembedded: dict[str, int] = Field(description="Per embedding model the passages that lack vectors.")
    memories: int = Field(description="Memories in use.")
    undistilled: int = Field(description="Messages that nobody has read yet.")
    failed_windows: int = Field(description="Stretches of messages that could not be read.")


class StatusAnswer(Answer):
    """How the installation and one workspace are doing."""

    postgres: str = Field(description="The version of Postgres.")
    embedded: bool = Field(description="Whether it is the embedded one.")
    data_dir: str | None = Field(description="Where the embedded one keeps its data; null for another.")
    isolation: Literal["full", "weaker"] = Field(
        description="Weaker where the application's login could act as another role than its own."
    )
    workspaces: int = Field(description="Workspaces.")
    messages: int = Field(description="Messages in all of them.")
    models: list[ModelAnswer] = Field(description="Embedding models.")
    jobs: dict[str, int] = Field(description="Jobs by state.")
    steps: dict[str, dict[str, int]] = Field(description="Jobs by background step and state.")
    parked: list[ParkedJobAnswer] = Field(description="Jobs that failed for good.")
    failed_windows: list[FailedWindowAnswer] = Field(
        description="Stretches of messages that could not be read."
    )
    held_up: list[HeldUpAnswer] = Field(description="Models that may not be called now, and why.")
    workers: int = Field(description="Workers that are alive.")
    workspace: WorkspaceStatusAnswer = Field(description="The workspace that was asked about.")


class RetryAnswer(Answer):
    """What is tried again."""

    retried: int = Field(description="Jobs and failed windows.")
