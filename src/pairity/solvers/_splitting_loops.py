"""Splitting on the grid: the entrywise passes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def project_cells(point, step, low, bend, high, below, above, feasible, reflected):
    """Prox of every cell into ``feasible`` (Z), and ``2 Z - point`` into ``reflected``."""
    for i in range(point.shape[0]):
        for j in range(point.shape[1]):
            x = point[i, j]
            up, down = x + step * below[i, j], x + step * above[i, j]
            if up <= bend[i, j]:
                z = up
            elif down >= bend[i, j]:
                z = down
            else:
                z = bend[i, j]
            z = min(max(z, low[i, j]), high[i, j])
            feasible[i, j] = z
            reflected[i, j] = z + z - x


@njit(cache=True, nogil=True)
def grid_violation(feasible, values, low, bend, high, below, above):
    """Ends of the bias interval over all observed cells, from decision values on the grid.

    A cell below its bend may rise towards the decision ``below``, from there on towards ``above``;
    likewise for falling.  The lower triangle mirrors the upper one.
    """
    most, least = -np.inf, np.inf
    for i in range(feasible.shape[0]):
        for j in range(i, feasible.shape[1]):
            if low[i, j] == high[i, j]:
                continue
            z = feasible[i, j]
            if z < high[i, j]:
                target = below[i, j] if z < bend[i, j] else above[i, j]
                most = max(most, target - values[i, j])
            if z > low[i, j]:
                target = above[i, j] if z > bend[i, j] else below[i, j]
                least = min(least, target - values[i, j])
    return most, least
