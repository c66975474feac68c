"""The registry of background steps: one more line here, and a step is deferred, swept, run, retried and shown.

Nothing else knows a step's name: whoever works on all of them goes over this.
"""

from collections.abc import Sequence

from everlore.distil.step import STEP as DISTIL
from everlore.index.step import STEPS as INDEX
from everlore.runtime import Runtime
from everlore.step import Step
from everlore.store.jobs import StepRow

STEPS: dict[str, Step] = {step.name: step for step in (*INDEX, DISTIL)}


def wanted(runtime: Runtime) -> list[Step]:
    """The steps that are done here, by the settings."""
    return [step for step in STEPS.values() if step.wanted(runtime)]


def inline(runtime: Runtime) -> list[Step]:
    """Those of them that a person's own command runs where no worker does."""
    return [step for step in wanted(runtime) if step.inline]


def queues(steps: Sequence[Step]) -> list[str]:
    """Their queues, each once: a worker has a lane for each."""
    return list(dict.fromkeys(step.queue for step in steps))


def described() -> list[StepRow]:
    """All steps as the database is to know them."""
    return [StepRow(step.name, step.queue, step.scope, step.every, step.watermark) for step in STEPS.values()]
