"""The path of a thread: revising a message, giving another answer, and switching to another branch.

One path is real. What leaves it stays stored, with its passages in a layer of their own; windows that it was distilled in are
read anew, so that what rests on it alone is withdrawn, and comes back when the path does.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from everlore.capture.accept import Accepted, accept
from everlore.capture.write import give_back, prepared, write, writing
from everlore.domain.errors import InvalidInput, NotFound
from everlore.domain.messages import StoredMessage, ThreadPath
from everlore.runtime import Runtime
from everlore.store import conversation, distilling, passages, tree
from everlore.store.conversation import Destination, OpenThread, ThreadState
from everlore.store.run import Transaction
from everlore.store.tree import Place


async def follow(tx: Transaction, opened: OpenThread, target: UUID | None, now: datetime) -> OpenThread:
    """Have the path of a locked thread end with a message of it, or (None) be empty. What comes next follows that."""
    if target == opened.state.tip_id:
        return opened
    return opened.at(await lead_to(tx, opened.state.thread_id, target, now))


async def lead_to(tx: Transaction, thread_id: UUID, target: UUID | None, now: datetime) -> ThreadState:
    """The same of a thread whose path ends elsewhere."""
    # What is being distilled is held against what is on the path: either before this, or after.
    await distilling.lock_workspace(tx)
    branch = [] if target is None else await tree.up(tx, target)
    fork = max((position for _, position, on_path in branch if on_path), default=0)
    joining = [message_id for message_id, _, on_path in branch if not on_path]
    leaving = await tree.leave(tx, thread_id, fork)
    await tree.join(tx, joining)
    state = await tree.end_at(tx, thread_id, target, len(leaving) - len(joining))
    await passages.move(tx, leaving, to="branches")
    await passages.move(tx, joining, to="said")
    await distilling.ask_for_messages(tx, [*leaving, *joining], now)
    return state


async def same_thread(tx: Transaction, message_id: UUID, thread_id: UUID, field: str) -> Place:
    """The place of a message of that thread. Raises InvalidInput, which names the field, for any other."""
    found = await tree.place(tx, message_id)
    if found is None or found.thread_id != thread_id:
        raise InvalidInput(field, f"there is no message {message_id} in this thread")
    return found


async def sibling(
    runtime: Runtime,
    workspace_id: UUID,
    message_id: UUID,
    given: Mapping[str, Any],
    *,
    revises: bool,
) -> UUID:
    """Store another message in the place of one: it follows the same message, and the path leads to it. `given`: what differs.
    `revises`: it is the same message said anew, else another answer. Returns its id. Raises NotFound, InvalidInput."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        old = await _shown(tx, message_id)
    if not revises and old.role != "assistant":
        raise InvalidInput("identifier", f"is a message of the role {old.role}; only answers are given anew")
    accepted = _in_place_of(old, given, now, revises=revises)
    recording = await prepared(runtime, workspace_id, [accepted], now)
    async with writing(runtime, workspace_id) as tx:
        opened = await _opened(tx, message_id)
        place = await tree.place(tx, message_id)
        if place is None:
            raise NotFound(f"There is no message {message_id} any more.")
        opened = await follow(tx, opened, place.parent_id, now)
        ids, _ = await write(
            tx,
            recording,
            opened,
            [accepted],
            into=Destination(old.thread),
            action="revise" if revises else "regenerate",
            revision_of=message_id if revises else None,
        )
        await give_back(tx, recording)
    return ids[id(accepted)]


def _in_place_of(old: StoredMessage, given: Mapping[str, Any], now: datetime, *, revises: bool) -> Accepted:
    kept: dict[str, Any] = {
        "role": old.role,
        "author": None if old.author == old.role else old.author,
        "reply_to": old.reply_to,
        "taxonomy": old.taxonomy,
        "off_the_record": old.off_the_record,
        "system_prompt": old.system_prompt,
        "metadata": old.metadata,
    }
    if revises:
        kept |= {"captions": old.captions, "external_id": old.external_id, "tool_calls": old.tool_calls}
    (accepted,) = accept([kept | dict(given)], now)
    return accepted


async def _shown(tx: Transaction, message_id: UUID) -> StoredMessage:
    found = await conversation.show_message(tx, message_id)
    if found is None:
        raise NotFound(f"There is no message {message_id}.")
    return found


async def _opened(tx: Transaction, message_id: UUID) -> OpenThread:
    """The thread of a message, locked."""
    place = await tree.place(tx, message_id)
    locked = None if place is None else await tree.lock(tx, place.thread_id)
    if locked is None:
        raise NotFound(f"There is no message {message_id} any more.")
    return OpenThread(locked[0], None, {})


async def switch(runtime: Runtime, workspace_id: UUID, thread: str, message_id: UUID) -> ThreadPath:
    """Make the branch that leads to a message the path of its thread; it ends there. Raises InvalidInput, NotFound."""
    now = runtime.clock()
    async with runtime.database.workspace(workspace_id) as tx:
        thread_id = await conversation.lock_thread(tx, thread)
        if thread_id is None:
            raise NotFound(f"There is no thread {thread}.")
        await same_thread(tx, message_id, thread_id, "message")
        locked = await tree.lock(tx, thread_id)
        if locked is not None and locked[0].tip_id != message_id:
            await lead_to(tx, thread_id, message_id, now)
            await conversation.audit(tx, "switch", thread, message=str(message_id))
        on_path, off_path = await tree.counts(tx, thread_id)
    return ThreadPath(thread, message_id, on_path, off_path)
