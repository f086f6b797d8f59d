"""A bounded store of kernel rows: rows come on demand, the least recently used ones go."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.operators.base import KernelOperator

__all__ = ["RowCache"]

#: Rows fetched along with a missing one, at most.
_BATCH = 64


class RowCache:
    """Rows of an operator in one array of at most ``megabytes``, with room for two at least.

    ``rows[slot[i]]`` is row i where ``slot[i] >= 0``.
    """

    def __init__(self, operator: KernelOperator, megabytes: float) -> None:
        self._operator = operator
        n = operator.shape[1]
        fitting = int(megabytes * 1e6 / (8 * max(1, n)))
        self.capacity = max(2, min(n, fitting))
        self.rows = np.empty((self.capacity, n))
        self.slot = np.full(n, -1, dtype=np.int64)
        self.last_used = np.full(self.capacity, -1, dtype=np.int64)
        self._owner = np.full(self.capacity, -1, dtype=np.int64)

    def fetch(self, missing: int, wanted: NDArray[np.intp], now: int) -> None:
        """Bring in row ``missing``, and those of ``wanted`` that fit beside what is in use."""
        batch = max(1, min(_BATCH, self.capacity // 4))
        extra = wanted[(self.slot[wanted] < 0) & (wanted != missing)][: batch - 1]
        index = np.concatenate([[missing], extra]).astype(np.intp)
        # the row used last is never evicted: it may be the partner of the missing one
        oldest = np.argpartition(self.last_used, min(len(index), self.capacity - 1))
        places = oldest[: len(index)]
        places = places[np.argsort(self.last_used[places], kind="stable")]
        evicted = self._owner[places]
        self.slot[evicted[evicted >= 0]] = -1
        self.rows[places] = self._operator.rows(index)
        self._owner[places] = index
        self.slot[index] = places
        self.last_used[places] = now - 1
        self.last_used[places[0]] = now
