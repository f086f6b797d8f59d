"""Kernel values of working sets that follow one another: what two of them share is kept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.operators.operator import KernelOperator
from pairity.solvers._block_loops import keep_rows_and_columns
from pairity.solvers.polish import Gram, Index

#: Sets up to which, and tolerances below which, kernel values are in double precision.
_SMALL_SET, _FINE = 2048, 1e-5
#: Share of a set that must be in the last one for its kernel values to be kept.
_MOST_OF_IT = 0.5


class GramBlock:
    """The square of kernel values of a working set, in memory that is used again and again.

    Large ones are in single precision: what that loses, the next product sets right.
    """

    def __init__(self, operator: KernelOperator, tol: float) -> None:
        self._operator, self._tol = operator, tol
        self._memory: NDArray[np.uint8] = np.empty(0, dtype=np.uint8)
        self._last: Index = np.zeros(0, dtype=np.intp)
        self._dtype: np.dtype = np.dtype(np.float64)

    def of(self, wanted: Index, *, precise: bool = False) -> tuple[Index, Gram]:
        """The set, those first that were in the last one as well, and its kernel values."""
        size = len(wanted)
        fine = precise or size <= _SMALL_SET or self._tol < _FINE
        dtype = np.dtype(np.float64 if fine else np.float32)
        kept = np.flatnonzero(np.isin(self._last, wanted))
        known = dtype == self._dtype and size <= len(self._last)
        if known and len(kept) >= _MOST_OF_IT * size:
            order, block = self._grown(kept, wanted)
        else:
            order, block = wanted, self._room(size, dtype)
            self._operator.square(wanted, block)
        self._last, self._dtype = order, dtype
        return order, block

    def _room(self, size: int, dtype: np.dtype) -> Gram:
        needed = size * size * dtype.itemsize
        if len(self._memory) < needed:
            self._memory = np.empty(0, dtype=np.uint8)  # goes before the next one comes
            self._memory = np.empty(needed, dtype=np.uint8)
        return self._memory[:needed].view(dtype).reshape(size, size)

    def _grown(self, kept: Index, wanted: Index) -> tuple[Index, Gram]:
        """Rows and columns at the places ``kept`` of the last set, followed by new ones."""
        old, size, n_kept = len(self._last), len(wanted), len(kept)
        memory = self._room(old, self._dtype).reshape(-1)
        keep_rows_and_columns(memory, kept, old, size)
        order = np.concatenate([self._last[kept], np.setdiff1d(wanted, self._last)])
        block = self._room(size, self._dtype)
        if n_kept < size:
            part = np.empty((size - n_kept, size), dtype=self._dtype)
            self._operator.block(order[n_kept:], order, part)
            block[n_kept:], block[:n_kept, n_kept:] = part, part[:, :n_kept].T
            corner = block[n_kept:, n_kept:]
            corner[...] = (corner + corner.T) * corner.dtype.type(0.5)
        return order, block
