"""Splitting on the grid: the entrywise passes."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit

#: Cells that a pass goes over at a time: a few of their rows stay in the innermost cache.
_BLOCK = 1024


@njit(cache=True, nogil=True)
def project_cells(point, step, low, bend, high, below, above, feasible, right):
    """Prox of every cell into ``feasible`` (Z), and ``(2 Z - point) / step`` into ``right``."""
    scale = point.dtype.type(1.0) / step
    for i in range(point.shape[0]):
        for j in range(point.shape[1]):
            x = point[i, j]
            # below >= above: of the three the one in the middle
            moved = max(min(x + step * below[i, j], bend[i, j]), x + step * above[i, j])
            z = min(max(moved, low[i, j]), high[i, j])
            feasible[i, j] = z
            right[i, j] = scale * (z + z - x)


@njit(cache=True, nogil=True)
def relax(point, smooth, feasible, factor):
    """``T(w)`` and ``T(w) - w = factor (S - Z)``."""
    image, residual = np.empty_like(point), np.empty_like(point)
    for i in range(point.shape[0]):
        for j in range(point.shape[1]):
            change = factor * (smooth[i, j] - feasible[i, j])
            residual[i, j] = change
            image[i, j] = point[i, j] + change
    return image, residual


# Sums may be regrouped (never contracted).
@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _two_dots(row, one, other):
    """Inner products of a row with two others."""
    first = second = row[0] - row[0]
    for j in range(len(row)):
        first += row[j] * one[j]
        second += row[j] * other[j]
    return first, second


@njit(cache=True, nogil=True)
def _subtract(out, one, other):
    for j in range(len(out)):
        out[j] = one[j] - other[j]


@njit(cache=True, nogil=True)
def remember_step(place, image, residual, last_image, last_residual, images, residuals):
    """Changes of the image and of the residual as rows ``place`` of those that are known.

    Returns inner products of all known changes of the residual with that one, and with the residual.
    """
    with_change, with_residual = np.zeros(len(residuals)), np.zeros(len(residuals))
    for start in range(0, len(image), _BLOCK):
        stop = min(start + _BLOCK, len(image))
        change, here = residuals[place, start:stop], residual[start:stop]
        _subtract(images[place, start:stop], image[start:stop], last_image[start:stop])
        _subtract(change, here, last_residual[start:stop])
        for k in range(len(residuals)):
            first, second = _two_dots(residuals[k, start:stop], change, here)
            with_change[k] += first
            with_residual[k] += second
    return with_change, with_residual


@njit(cache=True, nogil=True)
def combine_steps(image, gamma, images):
    """``image - gamma @ images``."""
    out = np.empty_like(image)
    for start in range(0, len(image), _BLOCK):
        stop = min(start + _BLOCK, len(image))
        target = out[start:stop]
        target[:] = image[start:stop]
        for k in range(len(gamma)):
            share, row = gamma[k], images[k, start:stop]
            for j in range(len(target)):
                target[j] -= share * row[j]
    return out


# Decision values are compared, never added up: without NaN the order makes no difference.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def grid_violation(feasible, values, low, bend, high, below, above):
    """Ends of the bias interval over cells, from their decision values.

    A cell below its bend may rise towards the decision ``below``, from there on towards ``above``;
    likewise for falling.
    """
    most, least = values.dtype.type(-np.inf), values.dtype.type(np.inf)
    for i in range(len(feasible)):
        z, value = feasible[i], values[i]
        rising = (below[i] if z < bend[i] else above[i]) - value
        falling = (above[i] if z > bend[i] else below[i]) - value
        most = max(most, rising if z < high[i] else -np.inf)
        least = min(least, falling if z > low[i] else np.inf)
    return most, least
