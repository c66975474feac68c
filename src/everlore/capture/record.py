"""Recording: messages, their passages and the job that indexes them become one commit."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from everlore.capture.accept import Accepted, accept
from everlore.capture.tree import follow, same_thread
from everlore.capture.write import aside, give_back, prepared, write, writing
from everlore.domain.messages import NewMessage, Outcome, Receipt
from everlore.runtime import Runtime
from everlore.store import conversation, distilling, tree
from everlore.store.conversation import Destination
from everlore.store.run import Transaction
from everlore.store.tree import Place


async def record(
    runtime: Runtime,
    workspace_id: UUID,
    messages: Sequence[NewMessage | Mapping[str, Any]],
    *,
    workspace: str,
    into: Destination,
    parent: UUID | None = None,
    revise: bool = False,
) -> Receipt:
    """Write messages to a thread of the workspace, whose name the receipt repeats. Returns after the commit; raises InvalidInput
    before anything is written.

    A message whose external id the thread has already is not written again: the same content is "already there", other
    content is refused, or (`revise`) takes the other's place. `parent`: the message that the first one follows; left out, the
    last one of the path. What followed the parent leaves the path.
    """
    now = runtime.clock()
    size = len(messages) if isinstance(messages, Sequence) else 0  # pyright: ignore[reportUnnecessaryIsInstance]
    accepted = await aside(size, accept, messages, now)
    external_ids = [message.external_id for message in accepted if message.external_id is not None]
    ids: dict[int, UUID] = {}
    recording = await prepared(runtime, workspace_id, accepted, now)
    async with writing(runtime, workspace_id) as tx:
        opened = await conversation.open_thread(tx, into, external_ids=external_ids)
        known, fresh = opened.known, _first_of_each(accepted, opened.known)
        if parent is not None:
            target = await same_thread(tx, parent, opened.state.thread_id, "parent")
            if fresh:
                # What was recorded by an earlier try is followed by what is new of this one.
                last = _last_known_before(fresh[0], accepted, known)
                opened = await follow(tx, opened, last or target.message_id, now)
        revisions = await _revisions(tx, accepted, known) if revise else []
        if revisions:
            # Before anything is locked that the distil step locks behind it.
            await distilling.lock_workspace(tx)
        instead: dict[UUID, UUID] = {}
        left_path = False
        for message, place, anew in revisions:
            if not (left_path and place.on_path):
                above = place.parent_id and instead.get(place.parent_id, place.parent_id)
                opened = await follow(tx, opened, above, now)
            old = place.message_id if anew else None
            new, state = await write(
                tx, recording, opened, [message], into=into, action="revise", revision_of=old
            )
            opened = opened.at(state)
            ids |= new
            instead[place.message_id] = new[id(message)]
            left_path = left_path or place.on_path
        if fresh:
            new, _ = await write(tx, recording, opened, fresh, into=into, action="record")
            ids |= new
        await give_back(tx, recording)
    return Receipt(workspace, into.thread, _outcomes(accepted, known, ids))


def _first_of_each(accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]]) -> list[Accepted]:
    """Those that the thread does not have, without repetitions of an external id within the call."""
    seen = set(known)
    fresh: list[Accepted] = []
    for message in accepted:
        if message.external_id is not None:
            if message.external_id in seen:
                continue
            seen.add(message.external_id)
        fresh.append(message)
    return fresh


def _last_known_before(
    first: Accepted, accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]]
) -> UUID | None:
    """The message that the thread has already of what a call gives just before its first new one."""
    last: UUID | None = None
    for message in accepted:
        if message is first:
            break
        last, _ = known[message.external_id or ""]
    return last


async def _revisions(
    tx: Transaction, accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]]
) -> list[tuple[Accepted, Place, bool]]:
    """Of each external id that the thread has with other content, what is given last, and where the message stands that it takes
    the place of; in the order of the thread, those of the path last. So too (False) what is given of the path behind the first of
    them: it stays on it."""
    there = {one.external_id: one for one in accepted if one.external_id in known}
    revised = {key for key, one in there.items() if known[key or ""][1] != one.content_hash}
    if not revised:
        return []
    places = [(one, await tree.place(tx, known[key or ""][0]), key in revised) for key, one in there.items()]
    found = [(one, place, anew) for one, place, anew in places if place is not None]
    first = min((place.position for _, place, anew in found if anew and place.on_path), default=None)
    kept = [
        (one, place, anew)
        for one, place, anew in found
        if anew or (first is not None and place.on_path and place.position > first)
    ]
    return sorted(kept, key=lambda one: (one[1].on_path, one[1].position))


def _outcomes(
    accepted: list[Accepted], known: Mapping[str, tuple[UUID, bytes]], written: Mapping[int, UUID]
) -> tuple[Outcome, ...]:
    """`written` has the ids of the messages that this call stored, by the identity of the accepted message."""
    there = dict(known)
    outcomes: list[Outcome] = []
    for message in accepted:
        message_id = written.get(id(message))
        if message_id is not None:
            outcomes.append(Outcome("stored", message_id))
            if message.external_id is not None:
                there[message.external_id] = (message_id, message.content_hash)
            continue
        message_id, content = there[message.external_id or ""]
        if content == message.content_hash:
            outcomes.append(Outcome("already there", message_id))
        else:
            reason = f"external_id {message.external_id!r} is taken by a message with other content"
            outcomes.append(Outcome("refused", message_id, reason))
    return tuple(outcomes)
