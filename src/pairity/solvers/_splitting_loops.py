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
def grid_violation(observed, feasible, values, low, bend, high, below, above):
    """Ends of the bias interval over observed cells, from decision values on the flat grid.

    A cell below its bend may rise towards the decision ``below``, from there on towards ``above``;
    likewise for falling.
    """
    most, least = -np.inf, np.inf
    for i in observed:
        z = feasible[i]
        if z < high[i]:
            target = below[i] if z < bend[i] else above[i]
            most = max(most, target - values[i])
        if z > low[i]:
            target = above[i] if z > bend[i] else below[i]
            least = min(least, target - values[i])
    return most, least
