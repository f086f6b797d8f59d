"""Passes of coordinate descent over sparse rows of features: the loop."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit

#: Columns of the table of rows: what a step on one of them needs lies side by side in memory.
LOW, HIGH, BELOW, ABOVE, INVERSE, THETA = range(6)
#: Numbers of the state of the loop: rows that take part, and where the generator of numbers stands.
ACTIVE, GENERATOR = range(2)
_FACTOR, _ADDED = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
#: Half the bits of the generator: the upper half, as a fraction, is the random number.
_HALF = np.uint64(32)
#: Rows of a block, which are next to one another in memory, at most; blocks of a pass, about, at least.
_MOST_ROWS, _LEAST_BLOCKS = 64, 64


@njit(cache=True, nogil=True)
def coordinate_passes(
    pointers, indices, data, rows, parameters, order, blocks, state, bar, tol, most, most_passes
):
    """Pass over blocks of rows in random order until no step violates by more than ``tol``.

    A step puts ``rows[:, THETA]`` where the objective is least along it, and keeps ``parameters``,
    the sum of theta times rows.  Rows on a bound that are farther from leaving it than any row of the
    last pass violates take no part, until the others are done.  Ends after ``most`` looks or more, or
    ``most_passes``.  Returns passes, looks, the largest violation seen in the last pass, and whether
    all is done.
    """
    n_passes, n_looks, worst = 0, np.int64(0), np.inf
    while n_looks < most and n_passes < most_passes:
        active, seed = np.int64(state[ACTIVE]), state[GENERATOR]
        size = min(max(np.int64(1), active // _LEAST_BLOCKS), np.int64(_MOST_ROWS))
        n_blocks = -(-active // size)
        for k in range(n_blocks):
            blocks[k] = k
        for k in range(n_blocks - 1, 0, -1):
            seed = seed * _FACTOR + _ADDED
            other = np.int64(((seed >> _HALF) * np.uint64(k + 1)) >> _HALF)
            blocks[k], blocks[other] = blocks[other], blocks[k]
        worst = 0.0
        for block in blocks[:n_blocks]:
            for k in range(block * size, min(block * size + size, active)):
                row = order[k]
                start, end = pointers[row], pointers[row + 1]
                if end == start + 2:  # as rows of two names are
                    one, two = np.uint64(indices[start]), np.uint64(indices[start + 1])
                    decision = data[start] * parameters[one] + data[start + 1] * parameters[two]
                else:
                    decision = 0.0
                    for entry in range(start, end):
                        decision += data[entry] * parameters[np.uint64(indices[entry])]
                theta, below, above = rows[row, THETA], rows[row, BELOW], rows[row, ABOVE]
                low, high = rows[row, LOW], rows[row, HIGH]
                up = (below if theta < 0.0 else above) - decision if theta < high else -np.inf
                down = decision - (above if theta > 0.0 else below) if theta > low else -np.inf
                violation = max(up, down)
                if violation < -bar[0]:
                    order[k] = -1
                    continue
                worst = max(worst, violation)
                if violation > 0.0:
                    inverse = rows[row, INVERSE]
                    point = theta - inverse * decision
                    moved = max(point + inverse * above, 0.0) + min(point + inverse * below, 0.0)
                    moved = min(max(moved, low), high)
                    rows[row, THETA] = moved
                    for entry in range(start, end):
                        parameters[np.uint64(indices[entry])] += (moved - theta) * data[entry]
        n_passes += 1
        n_looks += active
        state[GENERATOR], bar[0] = seed, worst
        if worst <= tol and active == len(order):
            return n_passes, n_looks, worst, True
        n_kept = 0
        if worst <= tol:  # all rows again
            for row in range(len(order)):
                order[row] = row
            n_kept, bar[0] = len(order), np.inf
        else:
            for k in range(active):
                if order[k] >= 0:
                    order[n_kept] = order[k]
                    n_kept += 1
        state[ACTIVE] = n_kept
    return n_passes, n_looks, worst, False
