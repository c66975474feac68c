"""The registry of background steps: one more line here, and a step is deferred, swept, run, retried and shown.

Nothing else knows a step's name: whoever works on all of them goes over this.
"""

from collections.abc import Sequence

from everlore.distil.keys import STEP as OLD_KEYS
from everlore.distil.step import STEP as DISTIL
from everlore.domain.operations import Failure
from everlore.index.step import STEPS as INDEX
from everlore.runtime import Runtime
from everlore.step import Scope, Step
from everlore.store.jobs import StepRow
from everlore.store.run import Transaction

STEPS: dict[str, Step] = {step.name: step for step in (*INDEX, DISTIL, OLD_KEYS)}


def wanted(runtime: Runtime) -> list[Step]:
    """The steps that are done here, by the settings."""
    return [step for step in STEPS.values() if step.wanted(runtime)]


def inline(runtime: Runtime) -> list[Step]:
    """Those of them that a person's own command runs where no worker does."""
    return [step for step in wanted(runtime) if step.inline]


def by_verb(verb: str, runtime: Runtime) -> Step | None:
    """The one that a person has done by this verb, if anybody does it here."""
    return next((step for step in wanted(runtime) if step.verb == verb), None)


async def failures(tx: Transaction) -> list[Failure]:
    """What they could not do and left, in all workspaces."""
    return [failure for step in STEPS.values() for failure in await step.failures(tx)]


async def try_again(runtime: Runtime, failed: Sequence[Failure]) -> list[tuple[str, Scope]]:
    """Have failures done again; returns the scopes that jobs were left for, with the names of their steps."""
    left: list[tuple[str, Scope]] = []
    for step in STEPS.values():
        if own := [failure for failure in failed if failure.step == step.name]:
            left += [(step.name, scope) for scope in await step.try_again(runtime, own)]
    return left


def queues(steps: Sequence[Step]) -> list[str]:
    """Their queues, each once: a worker has a lane for each."""
    return list(dict.fromkeys(step.queue for step in steps))


def described() -> list[StepRow]:
    """All steps as the database is to know them."""
    return [StepRow(step.name, step.queue, step.scope, step.every, step.watermark) for step in STEPS.values()]
