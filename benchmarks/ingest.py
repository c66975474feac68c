"""How fast is recording? Compared in the same run with a plain COPY by the owner into copies of the same tables with every
index, postings included; and, with vectors, with the bare embedder.

    python benchmarks/ingest.py [--messages 50000] [--vectors 2000]
"""

import argparse
import asyncio
import time
from statistics import median

import psycopg

import corpus
from everlore.api.workspace import Workspace
from everlore.capture.passages import passages
from everlore.everlore import Everlore
from everlore.index.step import pack_tail
from everlore.models.minilm import MiniLM, count_wordpieces
from everlore.runtime import Runtime
from everlore.store.database import OWNER
from everlore.store.server import SUPERUSER

ROUNDS = 3
# What recording writes, with the columns of the key after the workspace.
TABLES = {
    "message": ("message_id",),
    "passage": ("passage_id",),
    "posting_block": ("term", "segment"),
    "posting_segment": ("segment",),
}
OWN_COLUMNS = """
    select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
    where attrelid = %s::regclass and attnum > 0 and not attisdropped and attgenerated = ''
"""


def rate(count: int, seconds: float) -> str:
    return f"{count / seconds:>9,.0f} messages/s"


async def compare_with_copy(lore: Everlore, messages: list[dict[str, str]], per_call: int) -> float:
    """Record all messages in rounds, each followed by COPY of what the round wrote; returns the median ratio of times.

    As in the product, fresh passages are packed into postings by another connection while the next call is recorded; a
    round ends when all are packed.
    """
    workspace = await lore.workspace(f"ingest-{per_call}", create=True)
    assert lore.server is not None
    worker = lore.workers
    with psycopg.connect(lore.server.conninfo(OWNER), autocommit=True) as owner:
        make_copies(lore, owner)
        ours: list[float] = []
        floor: list[float] = []
        calls = max(len(messages) // ROUNDS // per_call, 1)
        a_round = calls * per_call
        for first in range(0, len(messages) - a_round + 1, a_round):
            ours.append(await record_round(workspace, worker, messages[first : first + a_round], per_call))
            floor.append(copy_what_was_written(owner, workspace, per_call))
        owner.execute("drop schema floor cascade")
    ratio = median(f / o for f, o in zip(floor[1:], ours[1:], strict=True))  # the first round warms both
    done = a_round * (len(ours) - 1)
    print(
        f"{per_call:>6,} a call: Everlore {rate(done, sum(ours[1:]))}   COPY {rate(done, sum(floor[1:]))}   {ratio:6.1%} of COPY"
    )
    return ratio


async def record_round(
    workspace: Workspace, worker: Runtime, messages: list[dict[str, str]], per_call: int
) -> float:
    began = time.perf_counter()
    packing = asyncio.create_task(asyncio.sleep(0, result=0))
    for number, start in enumerate(range(0, len(messages), per_call)):
        await workspace.record(messages[start : start + per_call], thread=f"thread {number % 10}")
        await packing
        packing = asyncio.create_task(pack_tail(worker, workspace.workspace_id, at_least=1))
    await packing
    await pack_tail(worker, workspace.workspace_id, at_least=1)
    return time.perf_counter() - began


def make_copies(lore: Everlore, owner: psycopg.Connection) -> None:
    assert lore.server is not None
    with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as superuser:
        superuser.execute("create schema floor authorization everlore_owner")
    for table in TABLES:
        owner.execute(f"create table floor.{table} (like everlore.{table} including all)")  # pyright: ignore


def copy_what_was_written(owner: psycopg.Connection, workspace: Workspace, per_call: int) -> float:
    """COPY the rows of the last round into the copies, as many messages to a transaction; returns the seconds."""
    data: dict[str, tuple[str, list[bytes]]] = {}
    with owner.cursor() as cursor:
        for table, key in TABLES.items():
            of_floor, of_table = (", ".join(f"{alias}.{column}" for column in key) for alias in "ft")
            row = cursor.execute(OWN_COLUMNS, [f"everlore.{table}"]).fetchone()
            assert row is not None
            query = (
                f"select {row[0]} from everlore.{table} t where workspace_id = '{workspace.workspace_id}' and not exists "
                f"(select from floor.{table} f where (f.workspace_id, {of_floor}) = (t.workspace_id, {of_table})) "
                f"order by {of_table}"
            )
            with cursor.copy(f"copy ({query}) to stdout") as copy:  # pyright: ignore[reportArgumentType]
                rows = b"".join(copy).splitlines(keepends=True)
            data[table] = (str(row[0]), rows)
        calls = max(1, len(data["message"][1]) // per_call)
        pieces = [
            (
                table,
                columns,
                [b"".join(rows[i * len(rows) // calls : (i + 1) * len(rows) // calls]) for i in range(calls)],
            )
            for table, (columns, rows) in data.items()
        ]
        began = time.perf_counter()
        for call in range(calls):
            with owner.transaction():
                for table, columns, parts in pieces:
                    with cursor.copy(f"copy floor.{table} ({columns}) from stdin") as copy:  # pyright: ignore[reportArgumentType]
                        copy.write(parts[call])
        return time.perf_counter() - began


async def compare_with_embedder(lore: Everlore, messages: list[dict[str, str]]) -> float:
    """Returns Everlore's rate with vectors as a share of the bare embedder's on the same passages."""
    workspace = await lore.workspace("vectors", create=True)
    embedder = MiniLM()
    texts = [f"{m['author']}: {p}" for m in messages for p in passages(m["text"], count_wordpieces)]
    await embedder.encode_passages(texts[:32])
    await workspace.record(messages[:32], thread="warm")
    await lore.catch_up()
    bare: list[float] = []
    ours: list[float] = []
    third = len(messages) // 3
    for turn in range(3):  # in turn, because the machine's speed drifts
        chunk = messages[turn * third : (turn + 1) * third]
        texts = [f"{m['author']}: {p}" for m in chunk for p in passages(m["text"], count_wordpieces)]
        began = time.perf_counter()
        await embedder.encode_passages(texts)
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        await workspace.record(chunk, thread="vectors")
        await lore.catch_up()
        ours.append(time.perf_counter() - began)
    ratio = median(b / o for b, o in zip(bare, ours, strict=True))
    print(
        f"with vectors: Everlore {rate(3 * third, sum(ours))}   bare embedder {rate(3 * third, sum(bare))}   {ratio:6.1%} of it"
    )
    await embedder.close()
    return ratio


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--vectors", type=int, default=1500)
    options = parser.parse_args()
    texts = corpus.messages(options.messages, seed=1)
    async with corpus.temporary_everlore() as lore:
        print("Recording without vectors, postings included:")
        await compare_with_copy(lore, texts, 10_000)
        await compare_with_copy(lore, texts[: options.messages // 2], 1_000)
    async with corpus.temporary_everlore() as lore:
        await compare_with_embedder(lore, corpus.messages(options.vectors, seed=2))


if __name__ == "__main__":
    asyncio.run(main())
