"""Few features, to rounding, of a product of smooth kernels on short tables: pivoted Cholesky.

Gaussian kernels of one or two group features have a numerical rank of some dozens whatever the
number of pairs.  With pivots P chosen one after another where the rest of the diagonal is largest,
``phi(x) = L^-1 k(P, x)``, ``L L' = k(P, P)``, leaves ``k(x, z) - phi(x)' phi(z)`` of at most the
largest rest of the diagonal, for all x and z.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import solve_triangular

from pairity.kernels.algebra import Kernel
from pairity.pairs.arrays import Matrix, Places, Vector, batches

#: Features at most, rest of the diagonal that is rounding, and numbers that features may take.
_MOST_FEATURES, _NEGLIGIBLE, _MOST_ENTRIES = 256, 1e-13, 20_000_000
#: Points among which pivots are looked for at first; those added where they leave too much.
_SAMPLE, _ADDED, _MOST_ROUNDS = 1000, 200, 4
#: Points whose diagonal is evaluated at a time.
_POINTS_AT_A_TIME = 512

Tables = Sequence[Matrix]


def few_features(
    kernels: Sequence[Kernel], lists: Sequence[Tables]
) -> Callable[[Tables], Matrix] | None:
    """A function from tables (one for each kernel) to features, or None where there are many.

    It serves the points in all lists of tables, to rounding.
    """
    points = [np.vstack(tables) for tables in zip(*lists, strict=True)]
    most = min(_MOST_FEATURES, _MOST_ENTRIES // max(1, len(points[0])))
    diagonal = _diagonal(kernels, points)
    enough = _NEGLIGIBLE * float(diagonal.max(initial=0.0))
    generator = np.random.default_rng(0)
    sample = generator.permutation(len(diagonal))[:_SAMPLE]
    for _ in range(_MOST_ROUNDS):
        pivots = _pivots(kernels, _take(points, sample), diagonal[sample], most, enough)
        if pivots is None:
            return None
        try:
            features = _Features(kernels, _take(points, sample[pivots]))
        except np.linalg.LinAlgError:  # not positive semi-definite
            return None
        rest = diagonal - np.einsum("nh,nh->n", table := features(points), table)
        worst = np.argsort(-rest, kind="stable")[:_ADDED]
        worst = worst[rest[worst] > 10.0 * enough]
        if not len(worst):
            return features
        sample = np.union1d(sample, worst)
    return None


class _Features:
    """``phi(x) = L^-1 k(P, x)`` for tables of points."""

    def __init__(self, kernels: Sequence[Kernel], pivots: Tables) -> None:
        self._kernels, self._pivots = kernels, pivots
        self._factor = np.linalg.cholesky(_gram(kernels, pivots, pivots))

    def __call__(self, points: Tables) -> Matrix:
        columns = _gram(self._kernels, self._pivots, points)
        table = solve_triangular(self._factor, columns, lower=True, check_finite=False)
        return np.ascontiguousarray(table.T)


def _take(points: Tables, index: Places) -> Tables:
    return [table[index] for table in points]


def _gram(kernels: Sequence[Kernel], left: Tables, right: Tables) -> Matrix:
    product = np.ones((len(left[0]), len(right[0])))
    for kernel, rows, columns in zip(kernels, left, right, strict=True):
        product *= kernel.on_features(rows, columns)
    return product


def _diagonal(kernels: Sequence[Kernel], points: Tables) -> Vector:
    """``k(x, x)``, some points at a time: a kernel may know no better way than a whole matrix."""
    product = np.ones(len(points[0]))
    for kernel, table in zip(kernels, points, strict=True):
        for part in batches(len(product), _POINTS_AT_A_TIME):
            product[part] *= kernel.paired(table[part], table[part])
    return product


def _pivots(
    kernels: Sequence[Kernel], points: Tables, diagonal: Vector, most: int, enough: float
) -> list[int] | None:
    """Points whose features leave at most ``enough`` of the diagonal; None where too many do."""
    rest, gram = diagonal.copy(), _gram(kernels, points, points)
    rows: list[Vector] = []
    pivots: list[int] = []
    while True:
        pivot = int(np.argmax(rest))
        if rest[pivot] <= enough:
            return pivots
        if len(pivots) == most:
            return None
        known = np.array(rows).reshape(len(rows), len(rest))
        row = (gram[pivot] - known[:, pivot] @ known) / np.sqrt(rest[pivot])
        rest -= row * row
        rest[pivot] = 0.0
        rows.append(row)
        pivots.append(pivot)
