"""The taxonomy: paths with labels, and paths that were suggested for threads."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from everlore.domain.graph import TaxonomyNode, TaxonomySuggestion
from everlore.store.queries import queries
from everlore.store.run import Transaction

_QUERIES = queries("taxonomy")


async def tree(tx: Transaction) -> list[TaxonomyNode]:
    """All paths that have a label, a thread, or something below them, in their order. A thread without a path of its own
    stands at its project's."""
    labels = dict(await tx.tuples(_QUERIES["labels"]))
    threads = dict(await tx.tuples(_QUERIES["threads_by_path"]))
    return nodes(labels, threads)


def nodes(labels: Mapping[str, str], threads: Mapping[str, int]) -> list[TaxonomyNode]:
    """The tree as a list, with the paths that nobody named but that lie between."""
    below: dict[tuple[str, ...], int] = {}
    for path in {*labels, *threads}:
        parts = tuple(path.split("."))
        for length in range(1, len(parts) + 1):
            below[parts[:length]] = below.get(parts[:length], 0) + threads.get(path, 0)
    return [
        TaxonomyNode(path, labels.get(path), threads.get(path, 0), below[parts])
        for parts in sorted(below)
        for path in (".".join(parts),)
    ]


async def label(tx: Transaction, path: str, called: str, now: datetime) -> None:
    await tx.done(_QUERIES["label_path"], path=path, label=called, now=now)


async def suggestions(tx: Transaction, at_most: int) -> list[TaxonomySuggestion]:
    return await tx.rows(_QUERIES["waiting"], TaxonomySuggestion, at_most=at_most)


async def lock_suggestion(tx: Transaction, suggestion_id: UUID) -> tuple[UUID, str, datetime | None] | None:
    """Thread, path, and when it was decided; None if there is none of that id."""
    row = await tx.tuple(_QUERIES["lock_suggested"], suggestion_id=suggestion_id)
    return (row[0], row[1], row[2]) if row else None


async def decide(tx: Transaction, suggestion_id: UUID, accepted: bool, now: datetime) -> None:
    await tx.done(_QUERIES["decide_path"], suggestion_id=suggestion_id, accepted=accepted, now=now)


async def set_path(tx: Transaction, thread_id: UUID, path: str) -> None:
    await tx.done(_QUERIES["set_path"], thread_id=thread_id, path=path)
