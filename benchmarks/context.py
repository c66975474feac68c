"""Evidence per token: how often all turns that answer a LoCoMo question stand, word for word, in the tail of a context.

    python benchmarks/context.py locomo.json [--budgets 500 1000 2000 4000] [--tokenizer tokenizer.json]

Each conversation goes into a workspace of its own; nothing is distilled, and no language model is asked. The head is made first,
as at the beginning of a conversation, so that the budget is the tail's alone. Beside it, with the same counting: the last so many
tokens of the conversation, and as many of the best turns as fit, as plain lines. Categories 1 to 4. Prints; asserts nothing.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

from everlore.api.workspace import Workspace
from everlore.capture.importers import LocomoConversation, read_locomo
from everlore.config import load_settings
from everlore.domain.context import ContextItem
from everlore.evaluation.locomo import gold_questions
from everlore.everlore import Everlore
from everlore.ports.tokens import Count

CATEGORIES = (1, 2, 3, 4)
TARGETS = {500: 0.72, 1000: 0.79, 2000: 0.85, 4000: 0.90}
_TOP = 200


def first_that_fit(lines: Iterable[tuple[str, str]], budget: int, count: Count) -> set[str]:
    """Turns, given with their lines, up to the first that does not fit."""
    held: set[str] = set()
    for turn, line in lines:
        budget -= count(line)
        if budget < 0:
            break
        held.add(turn)
    return held


async def record(lore: Everlore, workspace: Workspace, conversation: LocomoConversation) -> dict[UUID, str]:
    """Record and index a conversation; returns the turn that each message is."""
    turn_of: dict[UUID, str] = {}
    for session in conversation.sessions:
        receipt = await workspace.record(session.messages, thread=conversation.name, session=session.name)
        for message, outcome in zip(session.messages, receipt.outcomes, strict=True):
            if outcome.message_id is not None:
                turn_of[outcome.message_id] = str(message.external_id)
    await lore.catch_up()
    return turn_of


def turns_in(
    text: str, items: Sequence[ContextItem], turn_of: dict[UUID, str], said: dict[str, str]
) -> set[str]:
    """Turns that stand in a text as they were said."""
    named = [turn_of[item.id] for item in items if item.kind == "message" and item.id is not None]
    return {turn for turn in named if said[turn] in text}


async def run(
    lore: Everlore, path: Path, budgets: Sequence[int], found: dict[str, dict[int, list[bool]]]
) -> dict[str, Any]:
    count = lore.runtime.tokens
    took: dict[str, list[float]] = defaultdict(list)
    whole: list[int] = []
    for conversation in read_locomo(path):
        workspace = await lore.workspace(f"locomo-{conversation.name}")
        turn_of = await record(lore, workspace, conversation)
        turns = [message for session in conversation.sessions for message in session.messages]
        now = turns[-1].at
        # Marks and blanks at the ends are not what was said; a tail has lines of its own.
        said = {str(turn.external_id): " ".join(turn.text.split()) for turn in turns}
        lines = [(str(turn.external_id), f"{turn.author}: {turn.text}\n") for turn in turns]
        whole.append(sum(count(line) for _, line in lines))
        line_of = dict(lines)
        # Without a question, so that nothing of the conversation was given before.
        head = await workspace.context(now=now, thread=conversation.name)
        for question, _, gold in gold_questions(conversation, CATEGORIES):
            began = time.perf_counter()
            hits = (await workspace.recall(question, limit=_TOP, now=now)).hits
            took["recall"].append(time.perf_counter() - began)
            best = [turn_of[hit.citation.message_id] for hit in hits]
            for budget in budgets:
                began = time.perf_counter()
                made = await workspace.context(question, since=head.context_id, budget=budget, now=now)
                took["context"].append(time.perf_counter() - began)
                if count(made.tail.text) > budget:
                    raise AssertionError(f"{count(made.tail.text)} tokens in a budget of {budget}")
                text = " ".join(made.tail.text.split())
                found["context"][budget].append(gold <= turns_in(text, made.tail.items, turn_of, said))
                last = first_that_fit(reversed(lines), budget, count)
                found["last tokens"][budget].append(gold <= last)
                top = first_that_fit(((turn, line_of[turn]) for turn in best), budget, count)
                found["plain top-k"][budget].append(gold <= top)
    return {
        "questions": len(took["recall"]),
        "tokens_of_whole_conversations": whole,
        "ms_p50": {name: round(1000 * median(times), 1) for name, times in took.items()},
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--budgets", type=int, nargs="+", default=list(TARGETS))
    parser.add_argument("--tokenizer", type=Path)
    given = parser.parse_args()
    found: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(prefix="everlore-benchmark-") as folder:
        Path(folder).chmod(0o755)
        settings = load_settings(data_dir=f"{folder}/data")
        counting = settings.context.model_copy(update={"tokenizer": given.tokenizer})
        settings = settings.model_copy(update={"context": counting})
        async with Everlore.open(settings, worker=False) as lore:
            told = await run(lore, given.file, given.budgets, found)
    shares = {
        name: {budget: round(sum(held) / len(held), 4) for budget, held in by_budget.items()}
        for name, by_budget in found.items()
    }
    print(json.dumps({**shares, "targets": TARGETS, **told}, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
