"""Where the thresholds of `everlore.knowledge.similarity` come from: cosines of the bundled model on pairs of memories
whose relation is known.

    python scripts/calibrate_similarity.py

`same`: the lowest cosine from which on, among pairs that make equal claims (numbers, names, yes or no, no word of weight that is
new), at most one in twenty says something else. `overlap`: nine of ten fuller forms of a memory lie above it. Prints both with
what they keep and what they let through; they are written into `similar.CALIBRATED` by hand.
"""

import asyncio
import json
from pathlib import Path

import numpy as np

from everlore.knowledge.similarity import adds_nothing, cosine, equal_claims, holds_all_of
from everlore.models.minilm import MiniLM
from everlore.ports.embedder import Embedder

PAIRS = Path(__file__).with_name("similar_pairs.json")
STEP = 0.01
MOST_WRONG = 1 / 20
FULLER_KEPT = 0.9


async def likeness(embedder: Embedder, pairs: list[list[str]]) -> list[float]:
    one, other = [await embedder.encode_passages(list(texts)) for texts in zip(*pairs, strict=True)]
    return [cosine(a.vector, b.vector) for a, b in zip(one, other, strict=True)]


def same_claim(known: str, new: str) -> bool:
    return equal_claims(known, new) and adds_nothing(new, known)


async def calibrate(embedder: Embedder) -> None:
    pairs: dict[str, list[list[str]]] = json.loads(PAIRS.read_text("utf-8"))
    cosines = {kind: await likeness(embedder, given) for kind, given in pairs.items()}
    for kind, found in cosines.items():
        low, middle, high = np.quantile(found, (0.1, 0.5, 0.9))
        print(
            f"{kind:7} {len(found):3} pairs, cosines: {low:.2f} (10 %)  {middle:.2f} (50 %)  {high:.2f} (90 %)"
        )
    alike = [c for c, pair in zip(cosines["same"], pairs["same"], strict=True) if same_claim(*pair)]
    unlike = [c for c, pair in zip(cosines["other"], pairs["other"], strict=True) if same_claim(*pair)]
    print(f"claims are compared first: {len(alike)} of the same and {len(unlike)} of the others pass")
    for same in np.arange(0.70, 1.0, STEP):
        kept, wrong = sum(c >= same for c in alike), sum(c >= same for c in unlike)
        if wrong <= MOST_WRONG * max(kept + wrong, 1):
            print(
                f"same = {same:.2f}: keeps {kept} of {len(cosines['same'])}, takes {wrong} of {len(cosines['other'])} others"
                f" for the same"
            )
            break
    fuller = [c for c, (a, b) in zip(cosines["fuller"], pairs["fuller"], strict=True) if holds_all_of(b, a)]
    overlap = float(np.quantile(fuller, 1 - FULLER_KEPT))
    wrong = sum(
        c >= overlap and holds_all_of(b, a)
        for c, (a, b) in zip(cosines["other"], pairs["other"], strict=True)
    )
    print(
        f"overlap = {overlap:.2f}: keeps {FULLER_KEPT:.0%} of {len(fuller)} fuller forms that hold every word,"
        f" takes {wrong} others"
    )


if __name__ == "__main__":
    asyncio.run(calibrate(MiniLM()))
