"""Reconciling: a client that keeps no state sends its whole history with every call; what is new of it is stored, in its place.

What is new follows the last turn that the thread knows (`everlore.capture.alignment`), and the path leads there.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.capture.accept import Accepted, accept_one
from everlore.capture.alignment import Known, Turn, align
from everlore.capture.history import read, without_summary
from everlore.capture.tree import follow
from everlore.capture.turns import turn_key
from everlore.capture.write import aside, give_back, prepared_within, write, writing
from everlore.domain.errors import InvalidInput
from everlore.domain.messages import (
    MAX_MESSAGES,
    MAX_TEXT_BYTES,
    ROLES,
    NewMessage,
    Reconciled,
    ReconciledTurn,
)
from everlore.runtime import Runtime
from everlore.store import conversation, tree
from everlore.store.conversation import Destination
from everlore.store.run import Transaction
from everlore.store.tree import KnownTurn
from everlore.validation import valid_text

# What a client puts in by itself changes from call to call and is no turn of the conversation.
_OF_CLIENT = ("system", "developer")
_PLAIN = frozenset({"role", "content"})
_SKIPPED = ReconciledTurn("skipped", None)


async def reconcile(
    runtime: Runtime,
    workspace_id: UUID,
    history: Sequence[NewMessage | Mapping[str, Any]],
    *,
    workspace: str,
    into: Destination,
) -> Reconciled:
    """Store what is new of a thread's history. Returns after the commit; raises InvalidInput before anything is written."""
    now = runtime.clock()
    size = len(history) if isinstance(history, Sequence) else 0  # pyright: ignore[reportUnnecessaryIsInstance]
    given = await aside(size, _turns, history, now)
    turns = [one for one in given if one is not None and one.role not in _OF_CLIENT]
    keys = [one.key for one in turns]
    ids: Mapping[int, UUID] = {}
    async with writing(runtime, workspace_id) as tx:
        opened = await conversation.open_thread(tx, into)
        thread_id = opened.state.thread_id
        known = Known(await tree.known_turns(tx, thread_id, keys), opened.state.tip_id)
        aligned = await align(tx, thread_id, turns, known)
        last = aligned.follows
        new = [one for one, found in zip(turns, aligned.found, strict=True) if found == "new"]
        if new and last is None:
            new[0].accepted = _with_prompt(new[0].message(now), given)
        fresh = [one.message(now) for one in new]
        if fresh:
            follows, revised = await _place(tx, thread_id, last, fresh[0], opened.state.tip_id)
            opened = await follow(tx, opened, follows, now)
            await _check_external_ids(tx, thread_id, fresh)
            recording = await prepared_within(tx, runtime, thread_id, fresh, now)
            ids, state = await write(
                tx, recording, opened, fresh, into=into, action="reconcile", revision_of=revised
            )
            opened = opened.at(state)
            await give_back(tx, recording)
        elif last is not None and not last.on_path:
            # Sent by a client that went back to another branch.
            opened = await follow(tx, opened, last.message_id, now)
    found = iter(aligned.found)
    outcomes = tuple(
        _SKIPPED if one is None or one.role in _OF_CLIENT else _outcome(one, next(found), ids)
        for one in given
    )
    return Reconciled(workspace, into.thread, opened.state.tip_id, outcomes)


async def _check_external_ids(tx: Transaction, thread_id: UUID, fresh: Sequence[Accepted]) -> None:
    """An external id names one message of a path."""
    counts = Counter(one.external_id for one in fresh if one.external_id is not None)
    for external_id, count in counts.items():
        if count > 1:
            raise InvalidInput("history", f"has several messages with the external id {external_id!r}")
    for external_id in await conversation.external_ids_on_path(tx, thread_id, list(counts)):
        raise InvalidInput(
            "history",
            f"gives the external id {external_id!r} to a new turn; an earlier message of the thread has it",
        )


def _turns(history: Sequence[NewMessage | Mapping[str, Any]], now: datetime) -> list[Turn | None]:
    """Each entry; None for one that is no turn."""
    if isinstance(history, str | bytes | Mapping) or not isinstance(history, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput("history", "must be a list of messages")
    if not history:
        raise InvalidInput("history", "is empty; give 1 to 10,000 messages")
    if len(history) > MAX_MESSAGES:
        raise InvalidInput("history", f"has {len(history):,} messages; the limit is {MAX_MESSAGES:,}")
    return [_turn_of(one, f"history[{place}]", now) for place, one in enumerate(history)]


def _turn_of(given: NewMessage | Mapping[str, Any], field: str, now: datetime) -> Turn | None:
    try:
        own = without_summary(given)
        said = read(given if own is None else own, field)
    except RecursionError as error:
        raise InvalidInput(field, "is nested too deeply") from error
    except TypeError as error:
        raise InvalidInput(field, f"cannot be written as JSON: {error}") from error
    if said is None:
        return None
    if isinstance(said, Mapping) and not said.keys() - _PLAIN and said["role"] in ROLES:
        # Most of a long history is known: what consists of words only is checked when it turns out to be new.
        role, text = said["role"], said["content"]
        return Turn(role, text, turn_key(role, text, (), "[]"), said, field, merged=own is not None)
    accepted = accept_one(said, field, now)
    role, text = accepted.role, accepted.text
    return Turn(role, text, accepted.turn_key, said, field, accepted, merged=own is not None)


def _outcome(one: Turn, found: UUID | str, ids: Mapping[int, UUID]) -> ReconciledTurn:
    if isinstance(found, UUID):
        return ReconciledTurn("known", found)
    if found == "new":
        return ReconciledTurn("stored", ids[id(one.accepted)])
    return ReconciledTurn("erased", None) if found == "erased" else _SKIPPED


async def _place(
    tx: Transaction, thread_id: UUID, last: KnownTurn | None, first: Accepted, tip_id: UUID | None
) -> tuple[UUID | None, UUID | None]:
    """The message that the first new turn follows, and the one that it takes the place of: the turn that the path goes on with,
    if the same role says it."""
    follows = last and last.message_id
    if tip_id in (None, follows) or (last is not None and not last.on_path):
        return follows, None
    following = await tree.following(tx, thread_id, last.position if last else 0)
    if following is None:
        # Only instructions stand behind the last turn.
        return tip_id, None
    return follows, following.message_id if following.role == first.role else None


def _with_prompt(first: Accepted, given: Sequence[Turn | None]) -> Accepted:
    """The first turn of a conversation, with the instructions that its client put in front of it."""
    prompts: list[str] = []
    for one in given:
        if one is not None and one.role not in _OF_CLIENT:
            break
        if one is not None:
            prompts.append(one.text)
    if not prompts or first.system_prompt is not None:
        return first
    return first._replace(system_prompt=valid_text("\n\n".join(prompts), "history", MAX_TEXT_BYTES))
