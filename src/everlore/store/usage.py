"""What model calls cost, and the breaker: counted before and after each call, per workspace, day (UTC) and model."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("usage")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a workspace spent on one day, all models together. `calls` counts the ones under way and the failed ones too."""

    calls: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One model on one day. `cost` is in the currency of the prices that were given; 0 where none were."""

    day: date
    model: str
    calls: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class Breaker:
    """Failures in a row of a model. `open_until`: it is left alone until then; past: the next call is a probe."""

    model: str
    failures: int
    open_until: datetime | None


async def hold_caps(tx: Transaction) -> None:
    """Until the transaction ends nobody else reserves in this workspace: caps that are checked after this hold."""
    await tx.done(_QUERIES["hold_caps"])


async def breaker(tx: Transaction, model: str) -> Breaker:
    return await tx.row(_QUERIES["breaker"], Breaker, model=model) or Breaker(model, 0, None)


async def spent(tx: Transaction, day: date) -> Spent:
    return await tx.row(_QUERIES["spent"], Spent, day=day) or Spent()


async def reserve(tx: Transaction, day: date, model: str) -> None:
    await tx.done(_QUERIES["reserve"], day=day, model=model)


async def add(
    tx: Transaction,
    day: date,
    model: str,
    *,
    failed: bool,
    tokens_in: int,
    tokens_out: int,
    cost: Decimal,
) -> None:
    await tx.done(
        _QUERIES["add"],
        day=day,
        model=model,
        failed=int(failed),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cost=cost,
    )


async def failed_again(tx: Transaction, model: str) -> int:
    return await tx.value(_QUERIES["failed_again"], model=model)


async def open_breaker(tx: Transaction, model: str, until: datetime) -> None:
    await tx.done(_QUERIES["open_until"], model=model, open_until=until)


async def close_breaker(tx: Transaction, model: str) -> None:
    await tx.done(_QUERIES["close_breaker"], model=model)


async def end_cooldown(tx: Transaction, model: str, now: datetime) -> None:
    """If the model is left alone, only until now."""
    await tx.done(_QUERIES["end_cooldown"], model=model, now=now)


async def usage(tx: Transaction, since_day: date) -> list[UsageRow]:
    """Per day and model, the latest day first."""
    return await tx.rows(_QUERIES["usage"], UsageRow, since_day=since_day)


async def open_breakers(tx: Transaction) -> list[Breaker]:
    return await tx.rows(_QUERIES["open_breakers"], Breaker)
