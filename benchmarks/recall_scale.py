"""How does recall scale? p50 and p95 of 200 questions in one workspace of 1k, 10k, 100k (and 1M) passages beside 200 small ones,
against a floor in the same run: one question embedded plus one prepared HNSW query (limit 10, ef_search 40), by the same role
on the same warm data.

The first 5,000 passages are really embedded; the vectors and token vectors of later ones are perturbed copies of theirs.

    python benchmarks/recall_scale.py [--sizes 1000,10000,100000] [--questions 200]
"""

import argparse
import asyncio
import struct
import time
from collections.abc import Iterator
from statistics import median, quantiles

import numpy as np
import psycopg
from numpy.typing import NDArray

import corpus
from everlore.api.workspace import Workspace
from everlore.everlore import Everlore
from everlore.index.step import pack_tail
from everlore.models.minilm import MiniLM
from everlore.recall import bm25
from everlore.store import index, postings
from everlore.store import recall as lanes
from everlore.store.database import APP, Database
from everlore.store.recall import Filter
from everlore.store.run import Transaction
from everlore.store.server import SUPERUSER

SMALL_WORKSPACES = 200
SMALL_PASSAGES = 60
EMBEDDED = 5000
BATCH = 10_000
THREAD_MESSAGES = 1000
_SAID = struct.pack(">i", 4) + b"said"
FLOOR = """
    select passage_id from everlore.passage_vector
    where workspace_id = %s and model_id = 1 and layer = 'said'
    order by embedding::halfvec(384) <=> %s::halfvec(384) limit 10
"""


async def grow(lore: Everlore, workspace: Workspace, have: int, want: int) -> None:
    """Bring the workspace to `want` passages: messages by the product, vectors beyond the first 5,000 as perturbed copies."""
    texts = corpus.messages(want - have, seed=have + 7)
    at = 0
    while at < len(texts):
        size = min(BATCH, len(texts) - at, EMBEDDED - have if have < EMBEDDED else BATCH)
        for start in range(at, at + size, THREAD_MESSAGES):
            chunk = texts[start : min(start + THREAD_MESSAGES, at + size)]
            await workspace.record(chunk, thread=f"thread {(have + start - at) // THREAD_MESSAGES}")
        at += size
        have += size
        if have <= EMBEDDED:
            await lore.catch_up()
        await pack_tail(lore.workers, workspace.workspace_id, at_least=1)
        print(f"  {have:,} passages", end="\r", flush=True)
    assert lore.server is not None
    with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as owner:
        perturbed_copies(owner, workspace)
        owner.execute("vacuum analyze")
        owner.execute("checkpoint")
    async with lore.workers.database.workspace(workspace.workspace_id) as connection:
        if have > EMBEDDED:
            began = time.perf_counter()
            await index.build_vector_index(connection, 1, "said")
            print(f"  vector index built in {time.perf_counter() - began:.0f} s")


def perturbed_copies(owner: psycopg.Connection, workspace: Workspace) -> None:
    """Give every passage without a vector a perturbed copy of an embedded one's vector, and its token vectors."""
    ws = str(workspace.workspace_id)
    rows = owner.execute(
        "select v.embedding::text, t.tokens from everlore.passage_vector v join everlore.passage_tokens t "
        "using (workspace_id, model_id, passage_id) where workspace_id = %s limit %s",
        [ws, EMBEDDED],
    ).fetchall()
    vectors = np.array([[float(x) for x in str(row[0])[1:-1].split(",")] for row in rows], dtype=np.float32)
    tokens = [bytes(row[1]) for row in rows]
    missing = [
        row[0]
        for row in owner.execute(
            "select passage_id from everlore.passage p where workspace_id = %s and not exists (select from "
            "everlore.passage_vector v where v.workspace_id = p.workspace_id and v.passage_id = p.passage_id) order by 1",
            [ws],
        )
    ]
    if not missing:
        return
    chance = np.random.default_rng(11)
    of: list[int] = chance.integers(0, len(vectors), size=len(missing)).tolist()
    with owner.transaction():
        with owner.cursor().copy(
            "copy everlore.passage_vector (workspace_id, model_id, passage_id, layer, embedding) from stdin (format binary)"
        ) as copy:
            for piece in vector_rows(workspace, missing, vectors, of, chance):
                copy.write(piece)
        with owner.cursor().copy(
            "copy everlore.passage_tokens (workspace_id, model_id, passage_id, tokens) from stdin (format binary)"
        ) as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for number, source in zip(missing, of, strict=True):
                copy.write(
                    head(workspace, number, fields=4)
                    + struct.pack(">i", len(tokens[source]))
                    + tokens[source]
                )
            copy.write(b"\xff\xff")
    owner.execute(
        "update everlore.watermark set position = written where workspace_id = %s and step like 'vector:%%'",
        [ws],
    )


def head(workspace: Workspace, number: int, fields: int) -> bytes:
    return (
        struct.pack(">hi", fields, 16)
        + workspace.workspace_id.bytes
        + struct.pack(">ih", 2, 1)
        + struct.pack(">ii", 4, number)
    )


def vector_rows(
    workspace: Workspace,
    numbers: list[int],
    vectors: NDArray[np.float32],
    of: list[int],
    chance: np.random.Generator,
) -> Iterator[bytes]:
    """Rows in COPY's binary form. The noise keeps a cosine of about 0.8 to the original."""
    yield b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for start in range(0, len(numbers), BATCH):
        part = of[start : start + BATCH]
        noise = chance.standard_normal((len(part), vectors.shape[1])).astype(np.float32)
        noise *= 0.75 / np.linalg.norm(noise, axis=1, keepdims=True)
        moved = vectors[part] + noise
        moved /= np.linalg.norm(moved, axis=1, keepdims=True)
        halves = moved.astype(">f2")
        for number, row in zip(numbers[start : start + BATCH], halves, strict=True):
            data = struct.pack(">hh", len(row), 0) + row.tobytes()
            yield head(workspace, number, fields=5) + _SAID + struct.pack(">i", len(data)) + data
    yield b"\xff\xff"


async def measure(workspace: Workspace, database: Database, asked: list[str]) -> dict[str, float]:
    """p50 and p95 of recall and of the floor, question by question in turn."""
    embedder = MiniLM()
    for question in asked[:20]:
        await workspace.recall("warm " + question)
        await floor(database, workspace, embedder, "warm " + question)
    ours: list[float] = []
    least: list[float] = []
    steps: dict[str, list[float]] = {}
    for question in asked:
        least.append(await floor(database, workspace, embedder, question))
        began = time.perf_counter()
        found = await workspace.recall(question)
        ours.append((time.perf_counter() - began) * 1000)
        assert found.hits
        for step, took in found.took_ms.items():
            steps.setdefault(step, []).append(took)
    await embedder.close()
    print(
        "   ", "  ".join(f"{step} {median(took):.1f}" for step, took in steps.items()), "ms (medians by step)"
    )
    return {
        "p50": median(ours),
        "p95": quantiles(ours, n=20)[18],
        "floor": median(least),
        "floor p95": quantiles(least, n=20)[18],
    }


async def floor(database: Database, workspace: Workspace, embedder: MiniLM, question: str) -> float:
    began = time.perf_counter()
    encoded = await embedder.encode_question(question)
    vector = "[" + ",".join(map(str, encoded.vector.astype(np.float16))) + "]"
    async with database.workspace(workspace.workspace_id, read_only=True) as connection:
        await connection.connection.execute("set local hnsw.ef_search = 40")
        await (
            await connection.connection.execute(
                FLOOR, [workspace.workspace_id, vector], prepare=True, binary=True
            )
        ).fetchall()
    return (time.perf_counter() - began) * 1000


async def exactness(database: Database, workspace: Workspace, asked: list[str]) -> tuple[float, float]:
    """Shares of the true first 50 that the lexical lane and the HNSW lane find."""
    embedder = MiniLM()
    lexical: list[float] = []
    vector: list[float] = []
    async with database.workspace(workspace.workspace_id, read_only=True) as connection:
        for question in asked:
            view = (await postings.received(await postings.asked(connection, question)))["said"]
            got = bm25.best(bm25.score(view).scores, 50)
            lexical.append(await lexical_share(connection, question, got))
            encoded = await embedder.encode_question(question)
            true = {n for n, _ in await lanes.vector_exact(connection, 1, encoded.vector, 50)}
            near = {n for n, _ in await lanes.vector_hnsw(connection, 1, encoded.vector, 50, Filter())}
            vector.append(len(true & near) / len(true))
    await embedder.close()
    return float(np.mean(lexical)), float(np.mean(vector))


async def lexical_share(connection: Transaction, question: str, got: list[tuple[int, float]]) -> float:
    """BM25 written down in SQL, straight from the definition, over the passages' own terms."""
    rows = await (
        await connection.execute(
            """
            with terms as materialized (select distinct term from everlore.query_words(%(q)s) where term is not null),
            all_passages as materialized (select count(*)::float8 as n, avg(length)::float8 as mean from everlore.passage),
            found as materialized (
                select p.passage_id, p.length, t.term, cardinality(u.positions)::float8 as tf
                from everlore.passage p, terms t, unnest(p.terms) u where u.lexeme = t.term),
            df as (select term, count(*)::float8 as df from found group by term)
            select passage_id, sum(ln(1 + (n - df + 0.5) / (df + 0.5)) * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * length / mean))) as s
            from found join df using (term), all_passages group by passage_id order by s desc, passage_id desc limit 50
            """,
            {"q": question},
        )
    ).fetchall()
    true = {row[0] for row in rows}
    return len(true & {number for number, _ in got}) / len(true) if true else 1.0


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument(
        "--exactness", type=int, default=50, help="how many questions the lanes are compared for"
    )
    options = parser.parse_args()
    async with corpus.temporary_everlore() as lore:
        assert lore.server is not None
        app = Database(lore.server.conninfo(APP), APP, pool_size=2)
        await app.open()
        print(f"{SMALL_WORKSPACES} small workspaces of {SMALL_PASSAGES} passages ...")
        for number in range(SMALL_WORKSPACES):
            small = await lore.workspace(f"small {number}", create=True)
            await small.record(corpus.messages(SMALL_PASSAGES, seed=100 + number % 5))
        with psycopg.connect(lore.server.conninfo(SUPERUSER), autocommit=True) as owner:
            give_small_vectors(owner)
        workspace = await lore.workspace("large", create=True)
        have = 0
        results: dict[int, dict[str, float]] = {}
        for size in map(int, options.sizes.split(",")):
            await grow(lore, workspace, have, size)
            have = size
            # Other questions for each size: what was asked before is in the question cache.
            asked = corpus.questions(options.questions, seed=size)
            results[size] = await measure(workspace, app, asked)
            r = results[size]
            print(
                f"{size:>9,} passages: recall p50 {r['p50']:6.1f} ms, p95 {r['p95']:6.1f}; "
                f"floor p50 {r['floor']:5.1f}, p95 {r['floor p95']:5.1f}; {r['p50'] / r['floor']:.2f} x floor; "
                f"{r['p50'] / results[min(results)]['p50']:.2f} x smallest",
                flush=True,
            )
            if size > EMBEDDED and options.exactness:
                lexical, vector = await exactness(app, workspace, asked[: options.exactness])
                print(
                    f"          lexical first 50 equal to exact BM25: {lexical:.1%}; vector recall@50 against exact: {vector:.1%}"
                )
        await app.close()


def give_small_vectors(owner: psycopg.Connection) -> None:
    """Random unit vectors for the small workspaces: they are there to be in the way."""
    rows = owner.execute("select workspace_id, passage_id from everlore.passage").fetchall()
    chance = np.random.default_rng(5)
    with owner.cursor().copy(
        "copy everlore.passage_vector (workspace_id, model_id, passage_id, layer, embedding) from stdin"
    ) as copy:
        for workspace_id, number in rows:
            vector = chance.standard_normal(384)
            vector /= np.linalg.norm(vector)
            copy.write_row(
                (workspace_id, 1, number, "said", "[" + ",".join(f"{x:.4f}" for x in vector) + "]")
            )
    owner.execute("update everlore.watermark set position = written where step like 'vector:%'")


if __name__ == "__main__":
    asyncio.run(main())
