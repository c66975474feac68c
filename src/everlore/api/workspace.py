"""Workspace: all verbs on one memory. Every face calls these and nothing else."""

import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Concatenate, ParamSpec, TypeVar, cast
from uuid import UUID

from everlore.api.contexts import Contexts
from everlore.api.directory import Directory, Verbs
from everlore.api.distilling import Distilling
from everlore.api.entities import Graph
from everlore.api.facts import Facts
from everlore.api.feedback import Judging
from everlore.api.memories import Memories
from everlore.api.messages import Messages
from everlore.api.review import Review
from everlore.domain.errors import Conflict, NotFound, WorkspaceGone

log = logging.getLogger(__name__)

# A verb that deadlocked with another was rolled back as a whole, and may be run again.
_ATTEMPTS = 3

Part = TypeVar("Part", bound=Verbs)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def _verb(
    kind: type[Part], verb: Callable[Concatenate[Part, Given], Coroutine[Any, Any, Answer]]
) -> "Callable[Concatenate[Workspace, Given], Coroutine[Any, Any, Answer]]":
    """A verb of a part as one of the workspace, with its signature and its docstring."""

    @wraps(verb)
    async def call(self: "Workspace", *args: Given.args, **kwargs: Given.kwargs) -> Answer:
        part = kind(self.directory, self.name)
        for _ in range(_ATTEMPTS - 1):
            try:
                return await verb(part, *args, **kwargs)
            except WorkspaceGone:
                # Deleted since its id was looked up. There may be a new one of that name; if not, that is said.
                self.directory.ids.pop(self.name, None)
            except Conflict as error:
                log.info("%s is run again: %s", verb.__name__, error)
        return await verb(part, *args, **kwargs)

    return call


def _again(kind: type[Part]) -> type[Part]:
    """A part of the workspace that is called by itself, with its verbs run again as those of the workspace are."""
    verbs = {
        name: _verb(kind, verb)
        for base in reversed(kind.__mro__)
        for name, verb in vars(base).items()
        if iscoroutinefunction(verb) and not name.startswith("_")
    }
    return cast("type[Part]", type(kind.__name__, (kind,), verbs))


_GRAPH = _again(Graph)


class Workspace:
    """One memory, apart from all others: the database lets these verbs see and touch its rows only.

    It is made when something is first kept in it; until then reading raises NotFound. The verbs on entities stand under `graph`.
    """

    def __init__(self, directory: Directory, called: str) -> None:
        self.directory = directory
        self.name = called
        self.graph = _GRAPH(directory, called)

    @property
    def workspace_id(self) -> UUID:
        """Raises NotFound for one that was not reached yet: it may not exist."""
        if self.name not in self.directory.ids:
            raise NotFound(f"There is no workspace {self.name} yet: recording makes it.")
        return self.directory.ids[self.name]

    def now(self) -> datetime:
        """The present, by the clock of this memory."""
        return self.directory.runtime.clock()

    record = _verb(Messages, Messages.record)
    reconcile = _verb(Messages, Messages.reconcile)
    revise = _verb(Messages, Messages.revise)
    regenerate = _verb(Messages, Messages.regenerate)
    switch = _verb(Messages, Messages.switch)
    recall = _verb(Messages, Messages.recall)
    context = _verb(Contexts, Contexts.context)
    contexts = _verb(Contexts, Contexts.contexts)
    context_record = _verb(Contexts, Contexts.context_record)
    feedback = _verb(Judging, Judging.feedback)
    messages = _verb(Messages, Messages.messages)
    threads = _verb(Messages, Messages.threads)
    thread_names = _verb(Messages, Messages.thread_names)
    show = _verb(Messages, Messages.show)
    delete = _verb(Messages, Messages.delete)
    delete_thread = _verb(Messages, Messages.delete_thread)

    remember = _verb(Memories, Memories.remember)
    memories = _verb(Memories, Memories.memories)
    memory = _verb(Memories, Memories.memory)
    history = _verb(Memories, Memories.history)
    correct = _verb(Memories, Memories.correct)
    pin = _verb(Memories, Memories.pin)
    unpin = _verb(Memories, Memories.unpin)
    forget = _verb(Memories, Memories.forget)
    restore = _verb(Memories, Memories.restore)
    confirm = _verb(Memories, Memories.confirm)
    reject = _verb(Memories, Memories.reject)
    erase = _verb(Memories, Memories.erase)

    facts = _verb(Facts, Facts.facts)
    fact_detail = _verb(Facts, Facts.fact_detail)
    fact = _verb(Facts, Facts.fact)
    fact_versions = _verb(Facts, Facts.fact_versions)
    confirm_fact = _verb(Facts, Facts.confirm_fact)
    reject_fact = _verb(Facts, Facts.reject_fact)

    review = _verb(Review, Review.review)
    accept = _verb(Review, Review.accept)
    decline = _verb(Review, Review.decline)
    decide = _verb(Review, Review.decide)

    estimate_distil = _verb(Distilling, Distilling.estimate_distil)
    distilled = _verb(Distilling, Distilling.distilled)
    threads_to_distil = _verb(Distilling, Distilling.threads_to_distil)
    distil_again = _verb(Distilling, Distilling.distil_again)
    usage = _verb(Distilling, Distilling.usage)
    status = _verb(Distilling, Distilling.status)
