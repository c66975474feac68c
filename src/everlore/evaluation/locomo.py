"""LoCoMo (Maharana et al. 2024): does recall find the turns that answer? The unit is the single turn; no model is asked.

Each conversation goes into a workspace of its own. Gold are the ids in `evidence` that name a turn; a question that is left
with none is skipped. recall@k is the share of a question's gold turns among the first k messages; hit@k whether any is there;
nDCG@10 has binary gain and an ideal of min(10, gold). Category 5 asks about what was never said (or of the wrong person):
how well the confidence of the first hit tells those from the answerable ones is one AUC; how well it tells gold turns from
other hits among the first ten, of the answerable ones, is the other.

Asked to distil, it puts each question twice in the same run, before and after the conversation is distilled by the analyst that
the memory was opened with, compares both by paired bootstrap, and says which turns the memories rest on: precision and recall
against those that the data set's own observations name. No worker may run beside it.
"""

import math
import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any
from uuid import UUID

from everlore.api.workspace import Workspace
from everlore.capture.importers import LocomoConversation, read_locomo
from everlore.domain.errors import InvalidInput
from everlore.evaluation.bootstrap import paired_bootstrap
from everlore.evaluation.observations import observations_of
from everlore.everlore import Everlore

CUTS = (1, 5, 10, 20, 50)
LIMIT = 50
_TURN = re.compile(r"D\d+:\d+")
_NEVER_SAID = 5
_PAGE = 200
_FIRST = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's outcome: ranks (from 0) at which gold turns were found, and how many there are; `confidences` of the first
    ten hits."""

    category: int
    gold: int
    ranks: tuple[int, ...]
    confidences: tuple[float, ...]
    latency_ms: float

    @property
    def confidence(self) -> float:
        """Of the first hit."""
        return self.confidences[0] if self.confidences else 0.0


@dataclass(slots=True)
class Result:
    """`before` are the answers from messages alone, where the run distils. `sources` and `observed` are turns, each as
    conversation and turn: those that memories rest on, and those that the data set names."""

    answers: list[Answer] = field(default_factory=list[Answer])
    before: list[Answer] = field(default_factory=list[Answer])
    sources: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    observed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    memories: int = 0
    turns: int = 0
    record_s: float = 0.0
    index_s: float = 0.0
    distil_s: float = 0.0

    def summary(self) -> dict[str, Any]:
        """All figures, with the keys that the command prints as JSON; shares are 0-1."""
        latencies = [a.latency_ms for a in self.answers]
        spread = quantiles(latencies, n=20) if len(latencies) > 1 else latencies * 19
        return {
            **_quality(self.answers),
            "by_category": {
                str(category): {**_quality(group), "questions": len(group)}
                for category in sorted({a.category for a in self.answers})
                if (group := [a for a in self.answers if a.category == category])
            },
            "confidence_auc": confidence_auc(self.answers),
            "support_auc": support_auc(self.answers),
            "latency_ms": {"p50": round(median(latencies), 2), "p95": round(spread[18], 2)},
            "questions": len(self.answers),
            "turns": self.turns,
            "ingest": {
                "turns_per_second_recorded": round(self.turns / self.record_s, 1) if self.record_s else None,
                "turns_per_second_indexed": round(self.turns / (self.record_s + self.index_s), 1)
                if self.index_s
                else None,
            },
            **({"distilled": self._distilled()} if self.before else {}),
        }

    def _distilled(self) -> dict[str, Any]:
        """What the memories brought, and where they came from."""
        met = len(self.sources & self.observed)
        return {
            "before": _quality(self.before),
            "recall_10_gain": paired_bootstrap(
                [recall_at(a, 10) for a in self.before], [recall_at(a, 10) for a in self.answers]
            ).summary(),
            "memories": self.memories,
            "source_turns": {
                "precision": round(met / len(self.sources), 4) if self.sources else None,
                "recall": round(met / len(self.observed), 4) if self.observed else None,
            },
            "ms_per_turn": round(1000 * self.distil_s / self.turns, 2) if self.turns else None,
        }


async def evaluate(
    lore: Everlore,
    path: Path,
    *,
    categories: Sequence[int] = (1, 2, 3, 4, 5),
    limit: int | None = None,
    distil: bool = False,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _of: None,
) -> Result:
    """Run the benchmark. `limit` stops after so many questions. `distil`: ask before and after distilling. `progress` hears
    (what, done, of). Raises ConfigurationError when it is to distil and the memory has no analyst."""
    conversations = read_locomo(path)
    asked = {id(c): gold_questions(c, categories) for c in conversations}
    total = sum(map(len, asked.values()))
    if limit is not None:
        total = min(total, limit)
    if not total:
        raise InvalidInput("categories", f"no question of the file belongs to {list(categories)}")
    result = Result()
    for conversation in conversations:
        if len(result.answers) >= total:
            break
        if not conversation.sessions:
            continue
        workspace = await lore.workspace(f"locomo-{conversation.name}")
        turn_of = await _record(lore, workspace, conversation, result, progress)
        now = conversation.sessions[-1].messages[-1].at
        questions = asked[id(conversation)][: total - len(result.answers)]

        async def ask(answers: list[Answer]) -> None:
            for question, category, gold in questions:  # noqa: B023 - awaited before the next conversation
                answers.append(await _answer(workspace, question, category, gold, now, turn_of))  # noqa: B023
                progress("questions", len(answers), total)

        if distil:
            await ask(result.before)
            await _distil(lore, workspace, conversation, result, turn_of)
        await ask(result.answers)
    return result


async def _answer(
    workspace: Workspace,
    question: str,
    category: int,
    gold: frozenset[str],
    now: datetime | None,
    turn_of: Mapping[UUID, str],
) -> Answer:
    began = time.perf_counter()
    found = await workspace.recall(question, limit=LIMIT, now=now)
    latency = (time.perf_counter() - began) * 1000
    ranked = [turn_of[hit.citation.message_id] for hit in found.hits]
    ranks = tuple(rank for rank, turn in enumerate(ranked) if turn in gold)
    return Answer(category, len(gold), ranks, tuple(hit.confidence for hit in found.hits[:_FIRST]), latency)


async def _distil(
    lore: Everlore,
    workspace: Workspace,
    conversation: LocomoConversation,
    result: Result,
    turn_of: Mapping[UUID, str],
) -> None:
    """Distil and index a conversation, and note which turns its memories rest on."""
    began = time.perf_counter()
    await lore.distil(workspace)
    result.distil_s += time.perf_counter() - began
    await lore.catch_up()
    cursor, begun = None, False
    while cursor or not begun:
        page = await workspace.memories(limit=_PAGE, cursor=cursor, include_expired=True)
        cursor, begun = page.cursor, True
        result.memories += len(page)
        for memory in page:
            messages = [source.message_id for source in (await workspace.memory(memory.memory_id)).sources]
            result.sources |= {
                (conversation.name, turn_of[one]) for one in messages if one and one in turn_of
            }
    turns = set(turn_of.values())
    result.observed |= {
        (conversation.name, turn)
        for observation in observations_of(conversation)
        for turn in observation.turns
        if turn in turns
    }


async def _record(
    lore: Everlore,
    workspace: Workspace,
    conversation: LocomoConversation,
    result: Result,
    progress: Callable[[str, int, int], None],
) -> dict[UUID, str]:
    """Record and index a conversation; returns the turn that each message is."""
    turn_of: dict[UUID, str] = {}
    began = time.perf_counter()
    for session in conversation.sessions:
        receipt = await workspace.record(session.messages, thread=conversation.name, session=session.name)
        for message, outcome in zip(session.messages, receipt.outcomes, strict=True):
            if outcome.message_id is not None and message.external_id is not None:
                turn_of[outcome.message_id] = message.external_id
    recorded = time.perf_counter()
    done = 0

    def embedded(passages: int) -> None:
        nonlocal done
        done += passages
        progress(f"turns of {conversation.name}", done, len(turn_of))

    await lore.catch_up(progress=embedded)
    result.turns += len(turn_of)
    result.record_s += recorded - began
    result.index_s += time.perf_counter() - recorded
    return turn_of


def gold_questions(
    conversation: LocomoConversation, categories: Sequence[int]
) -> list[tuple[str, int, frozenset[str]]]:
    """Question, category and gold turns of each question that has any."""
    turns = {str(message.external_id) for session in conversation.sessions for message in session.messages}
    questions: list[tuple[str, int, frozenset[str]]] = []
    for item in conversation.questions:
        if not isinstance(item, dict) or not {"question", "category"} <= item.keys():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                conversation.name, "has a question without text or category, so this is no LoCoMo file"
            )
        named = _TURN.findall(str(item.get("evidence") or ""))
        gold = frozenset(turn for turn in named if turn in turns)
        if int(item["category"]) in categories and gold:
            questions.append((str(item["question"]), int(item["category"]), gold))
    return questions


def _quality(answers: Sequence[Answer]) -> dict[str, dict[str, float]]:
    return {
        "recall": {str(k): round(fmean(recall_at(a, k) for a in answers), 4) for k in CUTS},
        "hit": {str(k): round(fmean(any(r < k for r in a.ranks) for a in answers), 4) for k in CUTS},
        "ndcg": {"10": round(fmean(ndcg(a.ranks, a.gold, 10) for a in answers), 4)},
    }


def recall_at(answer: Answer, k: int) -> float:
    """The share of a question's gold turns among the first k."""
    return sum(rank < k for rank in answer.ranks) / answer.gold


def ndcg(ranks: Sequence[int], gold: int, k: int) -> float:
    """Normalised discounted cumulative gain (Jarvelin and Kekalainen 2002) with binary gain; ranks count from 0."""
    gain = sum(1 / math.log2(rank + 2) for rank in ranks if rank < k)
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, gold)))
    return gain / ideal if ideal else 0.0


def confidence_auc(answers: Sequence[Answer]) -> float | None:
    """How often an answerable question has more confidence than one about what was never said."""
    said = [a.confidence for a in answers if a.category != _NEVER_SAID]
    never = [a.confidence for a in answers if a.category == _NEVER_SAID]
    return _auc(said, never)


def support_auc(answers: Sequence[Answer]) -> float | None:
    """How often a gold turn has more confidence than another hit, both among the first ten of any answerable question."""
    of_hits = [
        (rank in a.ranks, confidence)
        for a in answers
        if a.category != _NEVER_SAID
        for rank, confidence in enumerate(a.confidences)
    ]
    return _auc([one for gold, one in of_hits if gold], [one for gold, one in of_hits if not gold])


def _auc(high: Sequence[float], low: Sequence[float]) -> float | None:
    """How often one of the first is above one of the second; ties count half. None where there are none of either."""
    if not high or not low:
        return None
    ordered = sorted(low)
    wins = sum(bisect_left(ordered, one) + bisect_right(ordered, one) for one in high)
    return round(wins / (2 * len(high) * len(low)), 4)
