"""Splitting on the grid: the entrywise passes."""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["grid_violation", "project_cells"]


@njit(cache=True, nogil=True)
def project_cells(point, step, low, high, bend, feasible, reflected):  # type: ignore[no-untyped-def]
    """Prox of every cell into ``feasible`` (Z), and ``2 Z - point`` into ``reflected``."""
    for i in range(point.shape[0]):
        for j in range(point.shape[1]):
            x = point[i, j]
            if x + step <= bend[i, j]:
                z = x + step
            elif x - step >= bend[i, j]:
                z = x - step
            else:
                z = bend[i, j]
            z = min(max(z, low[i, j]), high[i, j])
            feasible[i, j] = z
            reflected[i, j] = z + z - x


@njit(cache=True, nogil=True)
def grid_violation(feasible, values, low, high, bend):  # type: ignore[no-untyped-def]
    """Ends of the bias interval over all observed cells, from decision values on the grid.

    A cell below its bend may rise towards decision +1, one above it towards -1 (the decision at
    which the slope changes sign); likewise for falling.  The lower triangle mirrors the upper one.
    Returns ``low end, high end``.
    """
    most, least = -np.inf, np.inf
    for i in range(feasible.shape[0]):
        for j in range(i, feasible.shape[1]):
            if low[i, j] == high[i, j]:
                continue
            z = feasible[i, j]
            if z < high[i, j]:
                target = 1.0 if z < bend[i, j] else -1.0
                most = max(most, target - values[i, j])
            if z > low[i, j]:
                target = -1.0 if z > bend[i, j] else 1.0
                least = min(least, target - values[i, j])
    return most, least
