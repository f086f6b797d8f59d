"""Features of kernels of group features: exact ones where they are few, else few to rounding.

Homogeneous polynomials have features that are products of columns.  Gaussian kernels of one or two
columns have a numerical rank of some dozens whatever the number of pairs: pivoted Cholesky.  With
pivots P chosen one after another where the rest of the diagonal is largest, ``phi(x) = L^-1 k(P, x)``,
``L L' = k(P, P)``, leaves ``k(x, z) - phi(x)' phi(z)`` of at most the largest rest of the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import mul
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
#: Mean squares of combinations of features that are rounding, relative to the largest, by the bytes
#: of a number.
_ROUNDING = {4: 1e-8, 8: 1e-15}
#: Rest of the diagonal that single precision would lose anyway.
_ROUGH = 1e-7
#: Points among which pivots are looked for at first.
_SAMPLE = 1000
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


def are_powers(factors: Factors) -> bool:
    """Whether the factors are powers of inner products of group features, or none."""
    return all(_power(factor) is not None for factor in factors)


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
    if factor.role == "time":
        return pairs.clock
    return pairs.symmetric if factor.role == "symmetric" else pairs.antisymmetric


def _power(factor: Factor) -> int | None:
    """Degree of a homogeneous polynomial factor; None for anything else."""
    other = factor.role in BEYOND_FEATURES or factor.left_swapped or factor.right_swapped
    return None if other else factor.kernel.power


def in_pairs(straight: Matrix, crossed: Matrix) -> tuple[Matrix, Matrix]:
    """The same kernel by fewer columns: p and q, which stand for an even and an odd one each.

    ``straight = e + o`` and ``crossed = e - o`` are features of a pair and of the swapped one.  Products
    of e and o vanish in the sum, so that each may be turned by itself to its principal columns, few
    of which matter; the h-th of both then share a column: p = e + o, q = e - o.
    """
    even, odd = (_principal(0.5 * (straight + sign * crossed)) for sign in (1.0, -1.0))
    width = max(even.shape[1], odd.shape[1])
    wide = [np.zeros((len(straight), width), dtype=straight.dtype) for _ in range(2)]
    wide[0][:, : even.shape[1]], wide[1][:, : odd.shape[1]] = even, odd
    return wide[0] + wide[1], wide[0] - wide[1]


def _principal(table: Matrix) -> Matrix:
    """Combinations of columns with the largest mean squares, without those that are rounding."""
    _, directions = principal_directions(table, _ROUNDING[table.dtype.itemsize])
    return np.asarray(table @ directions[:, ::-1], dtype=table.dtype)


def principal_directions(table: Matrix, negligible: float) -> tuple[Vector, Matrix]:
    """Mean squares, ascending, and directions of principal combinations of columns.

    Those below a share of the largest are left out.
    """
    moments = table.T.astype(np.float64, copy=False) @ table / max(1, len(table))
    squares, directions = np.linalg.eigh(moments)
    kept = squares > negligible * max(float(squares.max(initial=0.0)), 1e-300)
    return squares[kept], directions[:, kept]


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
    bounds = np.cumsum([len(pairs) for pairs in sides.values()])[:-1]
    known = dict(zip(sides, np.split(features.table, bounds), strict=True))
    rows, columns = known[id(left), of_left], known[id(right), of_right]
    return GroupFeatures(
        rows,
        rows if right is left and of_left == of_right else columns,
        partial(known.__getitem__, (id(left), opposite_left)),
        partial(known.__getitem__, (id(right), opposite_right)),
        features.n_rough,
    )


@dataclass(frozen=True)
class FewFeatures:
    """``phi(x) = L^-1 k(P, x)`` of points x; how many of them are enough for single precision."""

    table: Matrix  # (n, number of pivots)
    n_rough: int


def few_features(kernels: Sequence[Kernel], lists: Sequence[Tables]) -> FewFeatures | None:
    """Features, to rounding, of the points in all lists of tables (one for each kernel).

    None where there are many.
    """
    points = [np.vstack(tables) for tables in zip(*lists, strict=True)]
    most = min(_MOST_FEATURES, _MOST_ENTRIES // max(1, len(points[0])))
    diagonal = _diagonal(kernels, points)
    enough = _NEGLIGIBLE * float(diagonal.max(initial=0.0))
    # some points at random, and the outermost of each column, which others tell least about
    drawn = [np.random.default_rng(0).permutation(len(points[0]))[:_SAMPLE]]
    for table in points:
        if table.size:
            drawn += [table.argmin(axis=0), table.argmax(axis=0)]
    sample = np.unique(np.concatenate(drawn))
    chosen = _pivots(kernels, _take(points, sample), diagonal[sample], most, enough)
    if chosen is None:
        return None
    pivots, n_rough = chosen
    try:
        table = _features_of(kernels, _take(points, sample[pivots]), lists)
    except np.linalg.LinAlgError:  # not positive semi-definite
        return None
    whole = _completed(table, kernels, points, diagonal, most, 10.0 * enough)
    return None if whole is None else FewFeatures(whole, n_rough)


def _completed(
    table: Matrix,
    kernels: Sequence[Kernel],
    points: Tables,
    diagonal: Vector,
    most: int,
    enough: float,
) -> Matrix | None:
    """With more features where those of a sample leave too much: further pivots among all points."""
    rest = diagonal - np.einsum("nh,nh->n", table, table)
    while True:
        pivot = int(np.argmax(rest))
        if rest[pivot] <= enough:
            return table
        if table.shape[1] >= most:
            return None
        values = _gram(kernels, points, _take(points, np.array([pivot])))[:, 0]
        column = (values - table @ table[pivot]) / np.sqrt(rest[pivot])
        table = np.column_stack([table, column])
        rest -= column * column
        rest[pivot] = 0.0


def _features_of(kernels: Sequence[Kernel], pivots: Tables, lists: Sequence[Tables]) -> Matrix:
    """``L^-1 k(P, x)`` of the points in all lists, one row each."""
    factor = np.linalg.cholesky(_gram(kernels, pivots, pivots))
    columns = np.vstack(_values(kernels, lists, pivots))
    solved = solve_triangular(factor, columns.T, lower=True, overwrite_b=True, check_finite=False)
    return np.ascontiguousarray(solved.T)


def _values(kernels: Sequence[Kernel], lists: Sequence[Tables], pivots: Tables) -> list[Matrix]:
    """``k(x, P)`` of the points of each list; a table that is in several of them is looked at once."""
    known: dict[tuple[int, int], Matrix] = {}

    def value(place: int, table: Matrix) -> Matrix:
        key = place, id(table)
        if key not in known:
            known[key] = kernels[place].on_features(table, pivots[place])
        return known[key]

    return [reduce(mul, (value(*numbered) for numbered in enumerate(tables))) for tables in lists]


def _take(points: Tables, index: Places) -> Tables:
    return [table[index] for table in points]


def _gram(kernels: Sequence[Kernel], left: Tables, right: Tables) -> Matrix:
    (product,) = _values(kernels, [left], right)
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
) -> tuple[list[int], int] | None:
    """Points whose features leave at most ``enough`` of the diagonal; None where too many do.

    In the order in which they were chosen, and how many of them are enough for single precision.
    """
    rest = diagonal.copy()
    rows = np.empty((min(most, len(rest)), len(rest)))
    pivots: list[int] = []
    n_rough = 0
    while True:
        pivot = int(np.argmax(rest))
        if rest[pivot] > enough * (_ROUGH / _NEGLIGIBLE):
            n_rough = len(pivots) + 1
        if rest[pivot] <= enough:
            return pivots, n_rough
        if len(pivots) == len(rows):
            return None
        known, row = rows[: len(pivots)], rows[len(pivots)]
        values = _gram(kernels, _take(points, np.array([pivot])), points)[0]
        row[:] = (values - known[:, pivot] @ known) / np.sqrt(rest[pivot])
        rest -= row * row
        rest[pivot] = 0.0
        pivots.append(pivot)
