"""The spend governor: caps per workspace and day, and a breaker. And what distilling a history would cost.

A call is reserved in a transaction of its own before it is made, so that one that is killed halfway has counted; what it
cost is added when it is known. Reservations of a workspace pass one at a time: the cap on calls is exact under any number
of workers. Tokens and money are known only afterwards: their caps are passed by at most the calls then under way.

The breaker opens after so many failures in a row and stays open for a cooldown. Then one call is let through as a probe:
if it succeeds all is well again, if it fails the cooldown doubles, up to an hour.
"""

import logging
import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from everlore.config import DistilSettings
from everlore.domain.errors import SpendLimit
from everlore.domain.operations import HeldUp
from everlore.ports.analyst import CallReport
from everlore.ports.clock import Clock
from everlore.store import usage
from everlore.store.database import Database
from everlore.store.run import Transaction
from everlore.store.usage import Spent
from everlore.text.counts import counted

log = logging.getLogger(__name__)

MAX_COOLDOWN_S = 3600.0

_CHARACTERS_A_TOKEN = 4
# The bundled prompt and schema have about 8,000 characters. An answer is taken to hold four memories, six facts and five names.
_PROMPT_TOKENS = 2000
_MESSAGE_TOKENS = 25
_ANSWER_TOKENS = 900


@dataclass(frozen=True, slots=True)
class Estimate:
    """What distilling so much text would roughly cost; `cost` is None without prices."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None


class SpendGovernor:
    """For one workspace, and for one extraction at a time: it remembers from `allow` to `report` what the call is."""

    def __init__(
        self, database: Database, workspace_id: UUID, clock: Clock, settings: DistilSettings
    ) -> None:
        self._database = database
        self._workspace_id = workspace_id
        self._clock = clock
        self._settings = settings
        self._day: date | None = None
        self._probing = False
        self._warned = False

    async def allow(self, model: str) -> None:
        """Reserve a call. Raises SpendLimit when a hard cap is reached or the breaker is open."""
        now = self._clock()
        day = _day(now)
        async with self._database.workspace(self._workspace_id) as tx:
            await usage.hold_caps(tx)
            probing = await self._pass_breaker(tx, model, now)
            spent = await usage.spent(tx, day)
            if reached := caps_reached(spent, self._settings, "hard"):
                raise SpendLimit(
                    f"The daily cap is reached ({'; '.join(reached)}). Raise it in the settings, or wait for tomorrow (UTC).",
                    _midnight_after(now),
                )
            await usage.reserve(tx, day, model)
        self._day, self._probing = day, probing
        if not self._warned and (reached := caps_reached(spent, self._settings, "soft")):
            self._warned = True
            log.warning(
                "workspace %s has passed a soft cap today: %s", self._workspace_id, "; ".join(reached)
            )

    async def report(self, call: CallReport) -> None:
        """Add what the call cost to the day on which it was reserved, and tell the breaker."""
        now = self._clock()
        probing, self._probing = self._probing, False
        async with self._database.workspace(self._workspace_id) as tx:
            await usage.hold_caps(tx)  # first, as in `allow`: rows are locked in one order only
            await usage.add(
                tx,
                self._day or _day(now),
                call.model,
                failed=call.failed,
                tokens_in=call.tokens_in,
                tokens_out=call.tokens_out,
                cost=cost_of(call.tokens_in, call.tokens_out, self._settings) or Decimal(0),
            )
            if not call.failed:
                await usage.close_breaker(tx, call.model)
                return
            breaker = await usage.breaker(tx, call.model)
            if breaker.open_until is not None and not probing:
                return  # it was under way when the breaker opened, and tells nothing new
            failures = await usage.failed_again(tx, call.model)
            if failures >= self._settings.breaker_failures:
                until = now + self._cooldown(failures)
                await usage.open_breaker(tx, call.model, until)
                log.warning(
                    "the model %s failed %d times in a row and is left alone until %s",
                    call.model,
                    failures,
                    until,
                )

    async def _pass_breaker(self, tx: Transaction, model: str, now: datetime) -> bool:
        """Whether this call is the probe. A probe shuts the door behind it: should it be killed, another may try later."""
        breaker = await usage.breaker(tx, model)
        if breaker.open_until is None:
            return False
        if breaker.open_until > now:
            raise SpendLimit(
                f"The model {model} failed {counted(breaker.failures, 'times')} in a row and is left alone for a while.",
                breaker.open_until,
            )
        await usage.open_breaker(tx, model, now + self._cooldown(breaker.failures))
        return True

    def _cooldown(self, failures: int) -> timedelta:
        doublings = min(max(0, failures - self._settings.breaker_failures), 30)
        most = max(MAX_COOLDOWN_S, self._settings.breaker_cooldown_s)
        return timedelta(seconds=min(self._settings.breaker_cooldown_s * 2**doublings, most))


def caps_reached(spent: Spent, settings: DistilSettings, which: Literal["soft", "hard"]) -> tuple[str, ...]:
    """The caps of one sort ("soft" or "hard") that the day's spending has reached, in words."""
    soft = which == "soft"
    caps = (
        ("calls", spent.calls, settings.daily_calls_soft if soft else settings.daily_calls_hard),
        ("tokens", spent.tokens, settings.daily_tokens_soft if soft else settings.daily_tokens_hard),
        ("cost", float(spent.cost), settings.daily_cost_soft if soft else settings.daily_cost_hard),
    )
    return tuple(f"{name} {said:g} of {cap:g}" for name, said, cap in caps if cap is not None and said >= cap)


def cost_of(tokens_in: int, tokens_out: int, settings: DistilSettings) -> Decimal | None:
    """In the currency of the prices; None where neither is given."""
    model = settings.model
    if model is None or (model.price_in is None and model.price_out is None):
        return None
    price_in, price_out = (Decimal(str(price or 0)) for price in (model.price_in, model.price_out))
    return (tokens_in * price_in + tokens_out * price_out) / 1_000_000


async def spent_today(tx: Transaction, now: datetime) -> Spent:
    return await usage.spent(tx, _day(now))


async def held_up(
    tx: Transaction, workspace_id: UUID, called: str, now: datetime, settings: DistilSettings
) -> list[HeldUp]:
    """What keeps the workspace of the connection from calling models now."""
    found = [
        HeldUp(
            called,
            workspace_id,
            one.model,
            f"failed {counted(one.failures, 'times')} in a row",
            one.open_until,
        )
        for one in await usage.open_breakers(tx)
        if one.open_until is not None and one.open_until > now
    ]
    if reached := caps_reached(await spent_today(tx, now), settings, "hard"):
        reason = f"the daily cap is reached: {'; '.join(reached)}"
        found.append(HeldUp(called, workspace_id, None, reason, _midnight_after(now)))
    return found


async def probe_at_once(tx: Transaction, now: datetime) -> list[datetime]:
    """Let the next call of each model that is left alone be its probe; returns until when they would have been left alone."""
    opened = [
        (one.model, one.open_until)
        for one in await usage.open_breakers(tx)
        if one.open_until is not None and one.open_until > now
    ]
    if opened:
        await usage.hold_caps(tx)  # first, as in `allow`
    for model, _ in opened:
        await usage.end_cooldown(tx, model, now)
    return [until for _, until in opened]


def estimate(
    calls: int,
    messages: int,
    characters: int,
    settings: DistilSettings,
) -> Estimate:
    """What so many calls, one for each window, would cost for so many messages with so many characters in all. Retries are not
    counted."""
    if calls <= 0 or messages <= 0:
        return Estimate(0, 0, 0, None if cost_of(0, 0, settings) is None else Decimal(0))
    said = math.ceil(characters / _CHARACTERS_A_TOKEN) + messages * _MESSAGE_TOKENS
    # The first windows have little before them, the others as much as fits.
    context = min(
        settings.context_tokens, math.ceil(said / messages * min(settings.context_messages, messages))
    )
    tokens_in = calls * (_PROMPT_TOKENS + context) + said
    tokens_out = calls * _ANSWER_TOKENS
    return Estimate(calls, tokens_in, tokens_out, cost_of(tokens_in, tokens_out, settings))


def _day(now: datetime) -> date:
    return now.astimezone(UTC).date()


def _midnight_after(now: datetime) -> datetime:
    return datetime.combine(_day(now) + timedelta(days=1), datetime.min.time(), UTC)
