"""What tests of steps need beside the verbs: a look at the rows, the lexical truth, and gates to stop a step at."""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, LiteralString, Protocol
from uuid import UUID

import numpy as np
import psycopg
import pytest
from tests.conftest import TestDatabase

from everlore.everlore import Everlore
from everlore.recall import bm25
from everlore.runtime import Runtime
from everlore.store import postings
from everlore.store.postings import POSTING


class Rows(Protocol):
    """Runs a statement as the superuser, who sees the rows of all workspaces; answers with its rows."""

    def __call__(self, statement: LiteralString, *parameters: object) -> Awaitable[list[tuple[Any, ...]]]: ...


@pytest.fixture
async def rows(database: TestDatabase) -> AsyncIterator[Rows]:
    async with await psycopg.AsyncConnection.connect(database.superuser, autocommit=True) as connection:
        await connection.execute("set search_path = jobs, public")  # triggers of the queue need it

        async def run(statement: LiteralString, *parameters: object) -> list[tuple[Any, ...]]:
            cursor = await connection.execute(statement, parameters or None)
            return await cursor.fetchall() if cursor.description else []

        yield run


def exact_up_to_five(lore: Everlore) -> Runtime:
    """The workers' runtime with settings under which more than five passages get an index of their own."""
    recall = lore.settings.recall.model_copy(update={"exact_below": 5})
    return replace(lore.workers, settings=lore.settings.model_copy(update={"recall": recall}))


class Gate:
    """A place where a step stops: `reached` is set when it is there, `open` lets it go on."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self._opened = asyncio.Event()

    async def stand(self) -> None:
        self.reached.set()
        await self._opened.wait()

    def open(self) -> None:
        self._opened.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType, str], Gate]:
    """Puts a gate behind the next call of an async function; the calls after it pass."""

    def put(module: ModuleType, name: str) -> Gate:
        whole: Callable[..., Awaitable[Any]] = getattr(module, name)
        made = Gate()
        waiting = iter([True])

        async def gated(*arguments: Any, **named: Any) -> Any:
            result = await whole(*arguments, **named)
            if next(waiting, False):
                await made.stand()
            return result

        monkeypatch.setattr(module, name, gated)
        return made

    return put


@pytest.fixture
def lexicon_is_exact(lore: Everlore, rows: Rows) -> Callable[[UUID], Awaitable[None]]:
    """Checks a workspace's postings against its passages: blocks, totals, and scores worked out anew."""

    async def check(workspace_id: UUID) -> None:
        passages: dict[int, tuple[int, dict[str, int], bool]] = {
            number: (length, terms or {}, packed)
            for number, length, terms, packed in await rows(
                "select p.passage_id, p.length,"
                "  (select jsonb_object_agg(u.lexeme, cardinality(u.positions)) from unnest(p.terms) as u),"
                "  p.position <= w.position"
                " from everlore.passage p join everlore.watermark w using (workspace_id, thread_id)"
                " where w.step = 'lexical' and p.workspace_id = %s",
                workspace_id,
            )
        }
        blocks = await rows(
            "select term, postings from everlore.posting_block where workspace_id = %s and layer = 'said'"
            " order by term, segment",
            workspace_id,
        )
        stored = sorted(
            (term, *posting) for term, raw in blocks for posting in np.frombuffer(raw, POSTING).tolist()
        )
        expected = sorted(
            (term, number, count, length)
            for number, (length, terms, packed) in passages.items()
            if packed
            for term, count in terms.items()
        )
        assert stored == expected
        totals = await rows(
            "select passages, length from everlore.lexical_statistics where workspace_id = %s and layer = 'said'",
            workspace_id,
        )
        lengths = [length for length, _, packed in passages.values() if packed]
        assert totals == [(len(lengths), sum(lengths))]
        await _scores_are_exact(lore, workspace_id, passages)

    return check


async def _scores_are_exact(
    lore: Everlore, workspace_id: UUID, passages: dict[int, tuple[int, dict[str, int], bool]]
) -> None:
    vocabulary = sorted({term for _, terms, _ in passages.values() for term in terms})
    for start in range(0, max(len(vocabulary), 1), 7):
        question = " ".join([*vocabulary[start : start + 7], "unheard"])
        async with lore.runtime.database.workspace(workspace_id, read_only=True) as connection:
            view = (await postings.received(await postings.asked(connection, question)))["said"]
        expected = _bm25(passages, [term for _, term in view.words if term is not None])
        scores = bm25.score(view).scores
        assert set(np.flatnonzero(scores).tolist()) == set(expected)
        for number, value in expected.items():
            assert scores[number] == pytest.approx(value, rel=1e-4)
        top = [(-round(float(scores[number]), 3), -number) for number, _ in bm25.best(scores, 10)]
        assert (
            top == sorted((-round(float(scores[number]), 3), -number) for number in expected)[:10]
            or len(expected) > 10
        )


def _bm25(passages: dict[int, tuple[int, dict[str, int], bool]], question: list[str]) -> dict[int, float]:
    if not passages:
        return {}
    mean = sum(length for length, _, _ in passages.values()) / len(passages)
    scores: dict[int, float] = {}
    for term in sorted(set(question)):
        having = {number: terms[term] for number, (_, terms, _) in passages.items() if term in terms}
        rarity = math.log(1 + (len(passages) - len(having) + 0.5) / (len(having) + 0.5))
        for number, count in having.items():
            share = 1 - bm25.B + bm25.B * passages[number][0] / mean
            scores[number] = scores.get(number, 0) + rarity * count * (bm25.K1 + 1) / (
                count + bm25.K1 * share
            )
    return scores
