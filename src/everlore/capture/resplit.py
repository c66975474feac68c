"""Passages made anew from the messages that are stored: the first part of rebuilding a search index."""

import asyncio
from uuid import UUID

from everlore.capture.searchable import searchable
from everlore.ports.tokens import Count
from everlore.runtime import Runtime
from everlore.store import conversation, passages
from everlore.store.conversation import MessagePassage, SearchedMessage
from everlore.store.run import Transaction

_CHUNK = 1000


async def resplit_workspace(runtime: Runtime, workspace_id: UUID) -> None:
    """Make all passages of a workspace anew, thread by thread; steps then index them as if they were just recorded."""
    async with runtime.database.workspace(workspace_id, read_only=True) as tx:
        threads = await conversation.list_threads(tx)
    for thread in threads:
        async with runtime.database.workspace(workspace_id) as tx:
            await resplit(tx, thread.thread_id, runtime.wordpieces)


async def resplit(tx: Transaction, thread_id: UUID, wordpieces: Count) -> None:
    """The same of one thread, in the caller's transaction."""
    await conversation.lock_thread_id(tx, thread_id)
    await passages.remove_messages(tx, await conversation.messages_of_thread(tx, thread_id))
    sequence = position = 0
    while messages := await conversation.messages_to_search(tx, thread_id, position, _CHUNK):
        pieces = await asyncio.to_thread(_pieces, messages, wordpieces)
        numbers = await conversation.take_passages(tx, sum(map(len, pieces)))
        texts = [
            (message.position, text) for message, made in zip(messages, pieces, strict=True) for text in made
        ]
        await conversation.write_passages(
            tx,
            thread_id,
            [
                MessagePassage(number, at, place, text)
                for place, (number, (at, text)) in enumerate(
                    zip(numbers, texts, strict=True), start=sequence + 1
                )
            ],
        )
        sequence, position = sequence + len(texts), messages[-1].position
    await conversation.restart_steps(tx, thread_id, sequence)


def _pieces(messages: list[SearchedMessage], wordpieces: Count) -> list[list[str]]:
    return [
        searchable(None if m.author == m.role else m.author, m.text, m.captions, wordpieces) for m in messages
    ]
