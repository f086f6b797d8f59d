"""Names of the arrays that travel through the package, and what is asked of row numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
#: Row numbers.
Places: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
#: A table of features, dense or CSR, one row each.
Features: TypeAlias = NDArray[np.float64] | sp.csr_array


def sums_at(places: Places, amounts: Vector, size: int) -> Vector:
    """Sums of the amounts at each of ``size`` places; floats even of no amounts at all."""
    return np.bincount(places, amounts, size).astype(np.float64, copy=False)


def unordered(first: Places, second: Places) -> tuple[Places, Places, Mask]:
    """The smaller end of each pair, the larger one, and whether the pair is written backwards."""
    return np.minimum(first, second), np.maximum(first, second), first > second


def unordered_keys(first: Places, second: Places, n_objects: int) -> Places:
    """A number for each pair, ``low * n_objects + high``: the same in either order."""
    low, high, _ = unordered(first, second)
    return low * n_objects + high


def batches(n_rows: int, size: int) -> Iterator[slice]:
    """Slices of ``size`` rows, or of 1 at least, that cover all of them."""
    step = max(1, size)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))
