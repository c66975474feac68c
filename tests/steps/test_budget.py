"""The spend governor on a real database: caps, the breaker, and two workers at once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Clock, TestDatabase

from everlore.budget import (
    Estimate,
    SpendGovernor,
    caps_reached,
    cost_of,
    estimate,
    spent_today,
)
from everlore.config import DistilSettings, ModelSettings
from everlore.domain.errors import SpendLimit
from everlore.everlore import Everlore
from everlore.ports.analyst import CallReport
from everlore.store import usage
from everlore.store.database import WORKER, Database
from everlore.store.usage import Spent, UsageRow

MODEL = "tiny"


def caps(
    *,
    price_in: float | None = None,
    price_out: float | None = None,
    calls_soft: int | None = None,
    calls_hard: int | None = 2000,
    tokens_soft: int | None = None,
    tokens_hard: int | None = None,
    cost_soft: float | None = None,
    cost_hard: float | None = None,
    **others: Any,
) -> DistilSettings:
    """Settings with these daily caps and prices."""
    return DistilSettings(
        model=ModelSettings(model=MODEL, price_in=price_in, price_out=price_out),
        daily_calls_soft=calls_soft,
        daily_calls_hard=calls_hard,
        daily_tokens_soft=tokens_soft,
        daily_tokens_hard=tokens_hard,
        daily_cost_soft=cost_soft,
        daily_cost_hard=cost_hard,
        **others,
    )


NO_CAPS = caps(calls_hard=None)
TODAY = date(2025, 6, 14)
MIDNIGHT = datetime(2025, 6, 15, tzinfo=UTC)


@pytest.fixture
async def workers(database: TestDatabase) -> AsyncIterator[Database]:
    opened = Database(database.worker, WORKER, pool_size=4)
    await opened.open()
    yield opened
    await opened.close()


@pytest.fixture
async def workspace_id(lore: Everlore) -> UUID:
    return (await lore.workspace("ours", create=True)).workspace_id


@pytest.fixture
def governor(
    workers: Database, workspace_id: UUID, clock: Clock
) -> Callable[[DistilSettings], SpendGovernor]:
    return lambda limits: SpendGovernor(workers, workspace_id, clock, limits)


async def rows(workers: Database, workspace_id: UUID, since: date = TODAY) -> list[UsageRow]:
    async with workers.workspace(workspace_id, read_only=True) as connection:
        return await usage.usage(connection, since)


async def spent(workers: Database, workspace_id: UUID, clock: Clock) -> Spent:
    async with workers.workspace(workspace_id, read_only=True) as connection:
        return await spent_today(connection, clock())


def call(
    model: str = MODEL, *, failed: bool = False, tokens_in: int = 1000, tokens_out: int = 100
) -> CallReport:
    return CallReport(model, tokens_in, tokens_out, failed)


async def fail(governed: SpendGovernor, times: int = 1) -> None:
    for _ in range(times):
        await governed.allow(MODEL)
        await governed.report(call(failed=True))


# ----- counting


async def test_calls_tokens_and_money_are_counted_per_day_and_model(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, workspace_id: UUID, clock: Clock
) -> None:
    governed = governor(caps(calls_hard=None, price_in=0.4, price_out=1.6))
    await governed.allow(MODEL)
    await governed.report(call())
    await governed.allow(MODEL)
    await governed.report(call(failed=True, tokens_in=0, tokens_out=0))
    await governed.allow("other")
    await governed.report(call("other"))
    clock.advance(days=1)
    await governed.allow(MODEL)
    await governed.report(call())
    cost = Decimal("0.00056000")
    assert await rows(workers, workspace_id) == [
        UsageRow(date(2025, 6, 15), MODEL, 1, 0, 1000, 100, cost),
        UsageRow(TODAY, "other", 1, 0, 1000, 100, cost),
        UsageRow(TODAY, MODEL, 2, 1, 1000, 100, cost),
    ]
    assert len(await rows(workers, workspace_id, date(2025, 6, 15))) == 1
    assert await spent(workers, workspace_id, clock) == Spent(1, 0, 1000, 100, cost)


async def test_a_call_that_is_killed_has_counted(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, workspace_id: UUID
) -> None:
    await governor(NO_CAPS).allow(MODEL)
    assert await rows(workers, workspace_id) == [UsageRow(TODAY, MODEL, 1, 0, 0, 0, Decimal(0))]


async def test_a_call_over_midnight_is_counted_on_the_day_it_began(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, workspace_id: UUID, clock: Clock
) -> None:
    clock.now = MIDNIGHT - timedelta(seconds=1)
    governed = governor(NO_CAPS)
    await governed.allow(MODEL)
    clock.advance(seconds=5)
    await governed.report(call())
    assert await rows(workers, workspace_id) == [UsageRow(TODAY, MODEL, 1, 0, 1000, 100, Decimal(0))]


async def test_workspaces_are_counted_apart(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, lore: Everlore, clock: Clock
) -> None:
    other = (await lore.workspace("another", create=True)).workspace_id
    limits = caps(calls_hard=1)
    await governor(limits).allow(MODEL)
    await SpendGovernor(workers, other, clock, limits).allow(MODEL)
    with pytest.raises(SpendLimit):
        await governor(limits).allow(MODEL)


# ----- caps


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (caps(calls_hard=2), "calls 2 of 2"),
        (caps(tokens_hard=2200), "tokens 2200 of 2200"),
        (caps(cost_hard=0.002, price_in=1.0), "cost 0.002 of 0.002"),
    ],
)
async def test_a_hard_cap_forbids_until_midnight(
    governor: Callable[[DistilSettings], SpendGovernor],
    workers: Database,
    workspace_id: UUID,
    clock: Clock,
    limits: DistilSettings,
    said: str,
) -> None:
    governed = governor(limits)
    for _ in range(2):
        await governed.allow(MODEL)
        await governed.report(call())
    with pytest.raises(SpendLimit, match=said) as refused:
        await governed.allow(MODEL)
    assert refused.value.until == MIDNIGHT
    assert (await spent(workers, workspace_id, clock)).calls == 2, "what was refused was not counted"
    clock.now = refused.value.until
    await governed.allow(MODEL)


async def test_the_cap_is_on_all_models_together(governor: Callable[[DistilSettings], SpendGovernor]) -> None:
    governed = governor(caps(calls_hard=2))
    await governed.allow(MODEL)
    await governed.allow("other")
    with pytest.raises(SpendLimit):
        await governed.allow("third")


async def test_failed_calls_count(governor: Callable[[DistilSettings], SpendGovernor]) -> None:
    governed = governor(caps(calls_hard=3))
    await fail(governed, 3)
    with pytest.raises(SpendLimit, match="calls 3 of 3"):
        await governed.allow(MODEL)


async def test_a_cap_of_zero_allows_nothing(governor: Callable[[DistilSettings], SpendGovernor]) -> None:
    with pytest.raises(SpendLimit):
        await governor(caps(calls_hard=0)).allow(MODEL)


async def test_a_soft_cap_is_told_once_and_forbids_nothing(
    governor: Callable[[DistilSettings], SpendGovernor],
    workers: Database,
    workspace_id: UUID,
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    limits = caps(calls_soft=1)
    governed = governor(limits)
    for _ in range(3):
        await governed.allow(MODEL)
        await governed.report(call())
    assert caplog.text.count("passed a soft cap") == 1
    assert caps_reached(await spent(workers, workspace_id, clock), limits, "soft") == ("calls 3 of 1",)


async def test_many_workers_at_once_do_not_pass_the_cap(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, workspace_id: UUID
) -> None:
    limits = caps(calls_hard=25)
    granted = 0

    async def work(model: str) -> None:
        nonlocal granted
        governed = governor(limits)
        for _ in range(10):
            try:
                await governed.allow(model)
            except SpendLimit:
                return
            granted += 1
            await governed.report(call(model))

    await asyncio.gather(*(work(f"model {number % 3}") for number in range(8)))
    assert granted == 25
    assert sum(row.calls for row in await rows(workers, workspace_id)) == 25
    assert sum(row.tokens_in for row in await rows(workers, workspace_id)) == 25_000


# ----- the breaker


async def test_the_breaker_opens_after_failures_in_a_row(
    governor: Callable[[DistilSettings], SpendGovernor], workers: Database, workspace_id: UUID, clock: Clock
) -> None:
    governed = governor(NO_CAPS)
    await fail(governed, 4)
    await governed.allow(MODEL)
    await governed.report(call())  # a success in between: counting begins anew
    await fail(governed, 5)
    with pytest.raises(SpendLimit, match="failed 5 times in a row") as refused:
        await governed.allow(MODEL)
    assert refused.value.until == clock() + timedelta(minutes=5)
    await governed.allow("other")  # another model is another matter
    async with workers.workspace(workspace_id) as connection:
        (opened,) = await usage.open_breakers(connection)
    assert (opened.model, opened.failures, opened.open_until) == (MODEL, 5, refused.value.until)
    assert (await spent(workers, workspace_id, clock)).calls == 11


async def test_after_the_cooldown_one_probe_goes_through(
    governor: Callable[[DistilSettings], SpendGovernor], clock: Clock
) -> None:
    governed, second = governor(NO_CAPS), governor(NO_CAPS)
    await fail(governed, 5)
    clock.advance(minutes=5)
    await governed.allow(MODEL)
    with pytest.raises(SpendLimit):
        await second.allow(MODEL)
    await governed.report(call())
    await second.allow(MODEL)
    await governed.allow(MODEL)


async def test_of_two_workers_one_sends_the_probe(
    governor: Callable[[DistilSettings], SpendGovernor], clock: Clock
) -> None:
    await fail(governor(NO_CAPS), 5)
    clock.advance(minutes=5)
    outcomes = await asyncio.gather(
        *(governor(NO_CAPS).allow(MODEL) for _ in range(6)), return_exceptions=True
    )
    assert sum(outcome is None for outcome in outcomes) == 1
    assert all(outcome is None or isinstance(outcome, SpendLimit) for outcome in outcomes)


async def test_the_cooldown_doubles_up_to_an_hour(
    governor: Callable[[DistilSettings], SpendGovernor], clock: Clock
) -> None:
    governed = governor(NO_CAPS)
    await fail(governed, 5)
    waits: list[float] = []
    for _ in range(6):
        with pytest.raises(SpendLimit) as refused:
            await governed.allow(MODEL)
        waits.append((refused.value.until - clock()) / timedelta(minutes=1))
        clock.now = refused.value.until
        await fail(governed)
    assert waits == [5, 10, 20, 40, 60, 60]


async def test_a_probe_that_was_killed_makes_way_for_another(
    governor: Callable[[DistilSettings], SpendGovernor], clock: Clock
) -> None:
    await fail(governor(NO_CAPS), 5)
    clock.advance(minutes=5)
    await governor(NO_CAPS).allow(MODEL)  # and never heard of again
    clock.advance(minutes=5)
    await governor(NO_CAPS).allow(MODEL)


async def test_calls_that_were_under_way_when_it_opened_do_not_lengthen_the_cooldown(
    governor: Callable[[DistilSettings], SpendGovernor], clock: Clock
) -> None:
    late = [governor(NO_CAPS) for _ in range(4)]
    for one in late:
        await one.allow(MODEL)
    governed = governor(NO_CAPS)
    await fail(governed, 5)
    for one in late:
        await one.report(call(failed=True))
    with pytest.raises(SpendLimit) as refused:
        await governed.allow(MODEL)
    assert refused.value.until == clock() + timedelta(minutes=5)


# ----- what it would cost


def test_an_estimate_in_numbers() -> None:
    limits = caps(price_in=1.0, price_out=4.0)
    assert estimate(0, 0, 0, limits) == Estimate(0, 0, 0, Decimal(0))
    assert estimate(0, 0, 0, NO_CAPS).cost is None
    large = estimate(100, 1000, 120_000, limits)
    assert large.calls == 100
    assert large.tokens_in == 100 * (2000 + 3000) + 30_000 + 25_000
    assert large.cost == cost_of(large.tokens_in, large.tokens_out, limits)


@given(
    st.integers(1, 10**6),
    st.integers(0, 10**9),
    st.integers(0, 10**4),
    st.integers(0, 10**6),
    st.integers(0, 200),
    st.integers(1, 10**6),
)
def test_an_estimate_grows_with_the_text(
    messages: int, more: int, others: int, characters: int, context: int, calls: int
) -> None:
    limits = caps(price_in=0.5, context_messages=context)
    less = estimate(calls, messages, characters, limits)
    larger = estimate(calls + others, messages + others, characters + more, limits)
    assert less.calls <= larger.calls
    assert less.tokens_out <= larger.tokens_out
    assert less.tokens_in >= characters / 4
    assert less.calls == calls
    assert less.cost is not None
    assert less.cost >= 0


@given(
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.none() | st.floats(0, 1000),
    st.none() | st.floats(0, 1000),
)
def test_money_is_exact_and_never_negative(
    tokens_in: int, tokens_out: int, price_in: float | None, price_out: float | None
) -> None:
    cost = cost_of(tokens_in, tokens_out, caps(price_in=price_in, price_out=price_out))
    if price_in is None and price_out is None:
        assert cost is None
    else:
        assert cost is not None
        assert cost >= 0
        assert cost == (
            tokens_in * Decimal(str(price_in or 0)) + tokens_out * Decimal(str(price_out or 0))
        ) / Decimal(1_000_000)
