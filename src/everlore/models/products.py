"""Products of matrices as small as a text: on the thread that asks.

The linear algebra library behind numpy wakes its threads for more than so many multiplications, and they go on spinning for a
while: for one question that costs more than the encoding itself, above all on a busy machine.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from everlore.ports.embedder import Vector

# OpenBLAS multiplies on one thread up to so many products.
_SINGLE_THREADED = 200_000


def product(rows: NDArray[Any], matrix: Vector) -> Vector:
    """`rows` (any, n) times `matrix` (n, m) in 32 bits, in blocks that stay on this thread."""
    found = np.empty((len(rows), matrix.shape[1]), dtype=np.float32)
    block = max(1, _SINGLE_THREADED // matrix.size)
    for start in range(0, len(rows), block):
        np.matmul(
            rows[start : start + block].astype(np.float32, copy=False),
            matrix,
            out=found[start : start + block],
        )
    return found
