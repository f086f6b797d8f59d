"""Features of kernels of group features: exact ones where they are few, else few to rounding.

Homogeneous polynomials have features that are products of columns.  Gaussian kernels of one or two
columns have a numerical rank of some dozens whatever the number of pairs: pivoted Cholesky.  With
pivots P chosen one after another where the rest of the diagonal is largest, ``phi(x) = L^-1 k(P, x)``,
``L L' = k(P, P)``, leaves ``k(x, z) - phi(x)' phi(z)`` of at most the largest rest of the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Factor
from pairity.kernels.elementary import derived_table
from pairity.pairs.arrays import Matrix, Places, Vector, as_dense, batches
from pairity.pairs.data import Pairs

#: More columns than this are not worth a product each.
_MOST_COLUMNS = 64
#: Factors that stand for a whole kernel of pairs.
BEYOND_FEATURES = ("rows", "known")
#: Entries of a kernel matrix below which features to rounding do not pay.
_FEW_ENTRIES = 1_000_000
#: Features at most, rest of the diagonal that is rounding, and numbers that features may take.
_MOST_FEATURES, _NEGLIGIBLE, _MOST_ENTRIES = 256, 1e-13, 20_000_000
#: Rest of the diagonal that single precision would lose anyway.
_ROUGH = 1e-7
#: Points among which pivots are looked for at first; those added where they leave too much.
_SAMPLE, _ADDED, _MOST_ROUNDS = 1000, 200, 4
#: Points whose diagonal is evaluated at a time.
_POINTS_AT_A_TIME = 512


Factors: TypeAlias = tuple[Factor, ...]
Swaps: TypeAlias = tuple[bool, ...]
Tables: TypeAlias = Sequence[Matrix]


def explicit_features(factors: Factors, pairs: Pairs) -> Matrix | None:
    """Columns phi, shape (n, h), whose inner products are the product of the factors; or None."""
    features = np.ones((len(pairs), 1))
    for factor in factors:
        power = _power(factor)
        if power is None:
            return None
        table = as_dense(factor.kernel.compared(group_table(factor, pairs)))
        if features.shape[1] * table.shape[1] ** power > _MOST_COLUMNS:
            return None
        for _ in range(power):
            columns = features.shape[1] * table.shape[1]
            products = np.einsum("ni,nj->nij", features, table)
            features = products.reshape(len(pairs), columns)
    return np.ascontiguousarray(features)


def swap_sign(factors: Factors) -> float:
    """Sign by which the features of a swapped pair differ: -1.0 for an odd power of x~."""
    odd = sum(_power(factor) or 0 for factor in factors if factor.is_odd) % 2
    return -1.0 if odd else 1.0


def factor_values(factors: Factors, left: Pairs, right: Pairs) -> Matrix:
    """Product of the factors between all left and right pairs."""
    product = np.ones((len(left), len(right)))
    for factor in factors:
        rows = group_table(factor, left.swap() if factor.left_swapped else left)
        columns = group_table(factor, right.swap() if factor.right_swapped else right)
        product *= factor.kernel.on_features(rows, columns)
    return product


def group_table(factor: Factor, pairs: Pairs) -> Matrix:
    """The features that a factor compares."""
    if factor.role == "derived":
        return derived_table(pairs, factor.parts, factor.scaling)
    return pairs.symmetric if factor.role == "symmetric" else pairs.antisymmetric


def _power(factor: Factor) -> int | None:
    """Degree of a homogeneous polynomial factor; None for anything else."""
    other = factor.role in BEYOND_FEATURES or factor.left_swapped or factor.right_swapped
    return None if other else factor.kernel.power


@dataclass(frozen=True)
class GroupFeatures:
    """Features, to rounding, of left and right pairs; of swapped ones when they are asked for."""

    left: Matrix
    right: Matrix
    mirrored_left: Callable[[], Matrix]
    mirrored_right: Callable[[], Matrix]
    n_rough: int  # how many of them, the first ones, are enough for single precision


def features_to_rounding(factors: Factors, left: Pairs, right: Pairs) -> GroupFeatures | None:
    """Features of the product of some factors; None where there are many, or little to gain."""
    if len(left) * len(right) < _FEW_ENTRIES:
        return None

    def tables(pairs: Pairs, swaps: Swaps) -> list[Matrix]:
        sides = {swapped: pairs.swap() if swapped else pairs for swapped in set(swaps)}
        return [
            as_dense(group_table(factor, sides[swapped]))
            for factor, swapped in zip(factors, swaps, strict=True)
        ]

    of_left = tuple(factor.left_swapped for factor in factors)
    of_right = tuple(factor.right_swapped for factor in factors)
    opposite_left = tuple(not swapped for swapped in of_left)
    opposite_right = tuple(not swapped for swapped in of_right)
    # features serve pairs in both orders
    sides = {(id(left), of_left): left, (id(right), of_right): right}
    sides |= {(id(left), opposite_left): left, (id(right), opposite_right): right}
    points = [tables(pairs, swaps) for (_, swaps), pairs in sides.items()]
    features = few_features([factor.kernel for factor in factors], points)
    if features is None:
        return None

    def table_of(pairs: Pairs, swaps: Swaps) -> Matrix:
        return features(tables(pairs, swaps))

    rows = table_of(left, of_left)
    same = right is left and of_left == of_right
    return GroupFeatures(
        rows,
        rows if same else table_of(right, of_right),
        partial(table_of, left, opposite_left),
        partial(table_of, right, opposite_right),
        features.n_rough,
    )


def few_features(kernels: Sequence[Kernel], lists: Sequence[Tables]) -> FewFeatures | None:
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
            features = FewFeatures(kernels, _take(points, sample[pivots.points]), pivots.n_rough)
        except np.linalg.LinAlgError:  # not positive semi-definite
            return None
        rest = diagonal - np.einsum("nh,nh->n", table := features(points), table)
        worst = np.argsort(-rest, kind="stable")[:_ADDED]
        worst = worst[rest[worst] > 10.0 * enough]
        if not len(worst):
            return features
        sample = np.union1d(sample, worst)
    return None


class FewFeatures:
    """``phi(x) = L^-1 k(P, x)`` for tables of points."""

    def __init__(self, kernels: Sequence[Kernel], pivots: Tables, n_rough: int) -> None:
        self._kernels, self._pivots, self.n_rough = kernels, pivots, n_rough
        self._factor = np.linalg.cholesky(_gram(kernels, pivots, pivots))

    def __call__(self, points: Tables) -> Matrix:
        """Features of points, shape (n, number of pivots)."""
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


@dataclass(frozen=True)
class _Pivots:
    """Points in the order in which they were chosen; how many are enough for single precision."""

    points: list[int]
    n_rough: int


def _pivots(
    kernels: Sequence[Kernel], points: Tables, diagonal: Vector, most: int, enough: float
) -> _Pivots | None:
    """Points whose features leave at most ``enough`` of the diagonal; None where too many do."""
    rest, gram = diagonal.copy(), _gram(kernels, points, points)
    rows: list[Vector] = []
    pivots: list[int] = []
    n_rough = 0
    while True:
        pivot = int(np.argmax(rest))
        if rest[pivot] > enough * (_ROUGH / _NEGLIGIBLE):
            n_rough = len(pivots) + 1
        if rest[pivot] <= enough:
            return _Pivots(pivots, n_rough)
        if len(pivots) == most:
            return None
        known = np.array(rows).reshape(len(rows), len(rest))
        row = (gram[pivot] - known[:, pivot] @ known) / np.sqrt(rest[pivot])
        rest -= row * row
        rest[pivot] = 0.0
        rows.append(row)
        pivots.append(pivot)
