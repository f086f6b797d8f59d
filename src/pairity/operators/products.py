"""Products of a pair kernel with coefficients, through object Gram matrices (MATH: vec tricks).

Coefficients ``v_j`` on pairs ``(c_j, d_j)`` form a sparse matrix V with ``V[c_j, d_j] = v_j``.
A monomial of the kernel turns into matrix products, by the edges it has:

===============  ===========================================  =================
edges            ``sum_j v_j * monomial(ab, j)``              kind
===============  ===========================================  =================
none             ``sum(v)``                                   number
ac               ``(A cnt_c)_a``, and likewise ad, bc, bd     vector at a or b
ac ad            ``diag(A V B')_a``, and likewise bc bd       vector at a or b
ac bd            ``[A V B']_ab``                              matrix
ad bc            ``[A V' B']_ab``                             matrix
ac bc            ``[A diag(cnt_c) B']_ab``, likewise ad bd    matrix
three edges      ``[(P o (S V')) R']_ab`` and its like        matrix
===============  ===========================================  =================

``cnt_c`` adds up the coefficients of each object in first place, ``cnt_d`` in second place.
Matrix terms with the same two Gram matrices share one middle matrix: the metric-learning kernel
costs one product with the graph Laplacian of the coefficients, not ten.

With group features phi, K(ab, cd) = sum_h phi_h(ab) (p_h(cd) G_ac G_bd + q_h(cd) G_ad G_bc), and

    sum_j v_j K(ab, j) = sum_h phi_h(ab) [G V_h G']_ab,    V_h[c, d] += v p_h,  V_h[d, c] += v q_h:

the V_h side by side are one matrix, and two matrix products serve all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.operators._operator_loops import (
    add_columns,
    add_row_dots,
    add_sparse_products,
    dot_columns,
)
from pairity.operators.terms import TermGroup, TermTable
from pairity.pairs.arrays import Matrix, Places, Vector, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.parity import unordered
from pairity.runtime.resources import megabytes_of, run_in_ranges

AC, AD, BC, BD = range(4)
#: Share of nonzero entries above which a product with V is a dense one.
_DENSE_SHARE = 0.02
#: Gathered kernel entries that take as long as one multiplication inside a matrix product, a
#: sparse product, a row dot product (measured on two cores).
_MATRIX_COST, _SPARSE_COST, _DOT_COST = 0.02, 0.8, 0.25
_FIXED_COST = 200_000.0
#: Entries of sparse products that one range of work covers; pairs, of row dot products.
_ENTRIES_PER_RANGE = 500_000
_PAIRS_PER_RANGE = 2048
#: Tables up to this size stay in the cache of a core.
_CACHE_BYTES = 1_000_000
#: Multiplications of a matrix product that one range of work covers, and its rows at least.
_MULTIPLICATIONS_PER_RANGE, _LEAST_ROWS = 5_000_000, 64
#: Share of all pairs of objects from which on matrices V_h are best full; megabytes that they, and
#: what is made of them, may take; multiplications, and pairs, that one range of work covers.
_FULL_SHARE, _MOST_MEGABYTES = 0.005, 400.0
_PRODUCTS_PER_RANGE, _SAMPLES_PER_RANGE = 50_000_000, 8192


class CoefficientMatrix:
    """V and what is derived from it, each computed when first asked for."""

    def __init__(
        self, pairs: Pairs, values: Vector, n_objects: int, dtype: Any = np.float64
    ) -> None:
        self.pairs, self.n_objects = pairs, n_objects
        self.values = values.astype(dtype, copy=False)
        self.first_counts = np.bincount(pairs.first, values, n_objects).astype(dtype, copy=False)
        self.second_counts = np.bincount(pairs.second, values, n_objects).astype(dtype, copy=False)
        self.total = float(values.sum())
        self._products: dict[tuple[int, int], Matrix] = {}

    @cached_property
    def matrix(self) -> sp.csr_array:
        """V as a sparse matrix."""
        entries = (self.values, (self.pairs.first, self.pairs.second))
        return sp.csr_array(entries, shape=(self.n_objects, self.n_objects))

    def times(self, gram: Matrix, key: int, sign: int) -> Matrix:
        """``gram (V + sign V')`` for sign +1, -1 or 0; remembered by ``key``."""
        if (key, sign) not in self._products:
            if len(self.values) > _DENSE_SHARE * self.n_objects**2:
                product = _multiplied(gram, self._dense, sign)
            else:
                product = self._sparse_times(gram, float(sign))
            self._products[key, sign] = product
        return self._products[key, sign]

    @cached_property
    def _dense(self) -> Matrix:
        size = self.n_objects
        cells = self.pairs.first * size + self.pairs.second
        sums = sums_at(cells, self.values, size * size).astype(self.values.dtype, copy=False)
        return sums.reshape(size, size)

    def _sparse_times(self, gram: Matrix, sign: float) -> Matrix:
        out = np.zeros_like(gram)
        first, second = self.pairs.first, self.pairs.second
        scale = self.values.dtype.type(sign)

        def add(start: int, stop: int) -> None:
            part = slice(start, stop)
            add_sparse_products(out[part], gram[part], first, second, self.values, scale)

        run_in_ranges(add, len(out), max(1, _ENTRIES_PER_RANGE // max(1, len(self.values))))
        return out


class BilinearSum(NamedTuple):
    """``[X Y']_ab``; ``sign`` is +1 or -1 where that matrix is known to be symmetric or skew."""

    left: Matrix
    right: Matrix
    sign: float = 0.0


@dataclass
class PairSums:
    """``sum_j v_j K(ab, j)`` for all objects a, b: ``number + at_a[a] + at_b[b] + sum [X Y']_ab``."""

    number: float
    at_a: Vector
    at_b: Vector
    bilinear: list[BilinearSum] = field(default_factory=list)


def supports_products(terms: TermTable) -> bool:
    """Whether every monomial has at most three of the four edges."""
    return bool(((terms.edge_gram >= 0).sum(axis=1) <= 3).all())


def products_are_cheaper(terms: TermTable, n_used: int, n_left: int) -> bool:
    """Whether products of object matrices beat touching every pair of pairs."""
    entries = float(n_left) * n_used * len(terms.weights)
    return supports_products(terms) and product_cost(terms, n_used, n_left) < entries


def product_cost(terms: TermTable, n_used: int, n_left: int) -> float:
    """What a product through object matrices costs, in units of one gathered kernel entry."""
    m_left, m_right = terms.grams.shape[1:]
    if ((terms.edge_gram >= 0).sum(axis=1) <= 1).all():  # sums over single objects
        return _FIXED_COST + len(terms.weights) * _DOT_COST * m_left * m_right
    dense = n_used > _DENSE_SHARE * m_right * m_right
    reduce = _MATRIX_COST * m_left * m_right**2 if dense else _SPARSE_COST * n_used * m_left
    sample = min(_MATRIX_COST * m_left**2, _DOT_COST * n_left) * m_right
    return _FIXED_COST + max(1, len(terms.factors)) * (reduce + sample)


def sample_pairs(sums: PairSums, lists: list[Pairs]) -> list[Vector]:
    """Values of a reduced sum at lists of pairs of objects of the left table."""
    outs = [sums.number + sums.at_a[pairs.first] + sums.at_b[pairs.second] for pairs in lists]
    n_pairs = sum(map(len, lists))
    for table in sums.bilinear:
        # all pairs of objects by one matrix product, where that beats the wanted ones by row dots
        cheaper = _MATRIX_COST * len(table.left) * len(table.left) < _DOT_COST * n_pairs
        grid = _grid(table) if cheaper else None
        for out, pairs in zip(outs, lists, strict=True):
            if grid is not None:
                out += _look_up(grid, table.sign, pairs)
            else:
                _add_dots(out, pairs, table)
    return outs


def _multiplied(gram: Matrix, dense: Matrix, sign: int) -> Matrix:
    """``gram (V + sign V')``, some rows at a time on each core."""
    middle = dense + sign * dense.T if sign else dense
    out = np.empty((len(gram), middle.shape[1]), dtype=gram.dtype)

    def multiply(start: int, stop: int) -> None:
        np.matmul(gram[start:stop], middle, out=out[start:stop])

    run_in_ranges(multiply, len(gram), _rows_per_range(middle))
    return out


def _rows_per_range(matrix: Matrix) -> int:
    """Rows whose products with a matrix one range of work covers."""
    return max(_LEAST_ROWS, _MULTIPLICATIONS_PER_RANGE // max(1, matrix.size))


def _grid(table: BilinearSum) -> Matrix:
    """``X Y'``; only its upper triangle (in blocks) where the other one mirrors it."""
    size = len(table.left)
    grid = np.empty((size, len(table.right)), dtype=table.left.dtype)

    def multiply(start: int, stop: int) -> None:
        begin = start if table.sign else 0
        np.matmul(table.left[start:stop], table.right[begin:].T, out=grid[start:stop, begin:])

    run_in_ranges(multiply, size, _rows_per_range(table.right))
    return grid


def _look_up(grid: Matrix, sign: float, pairs: Pairs) -> Vector:
    if not sign:
        return grid[pairs.first, pairs.second]
    low, high, swapped = unordered(pairs.first, pairs.second)
    values = grid[low, high]
    if sign < 0:
        np.negative(values, out=values, where=swapped)
    return values


def _add_dots(out: Vector, pairs: Pairs, table: BilinearSum) -> None:
    places = np.arange(len(out))
    if table.left.nbytes > _CACHE_BYTES:  # so that a row is read once for all pairs of its object
        few = len(table.left) <= np.iinfo(np.uint16).max + 1  # which are sorted by their digits
        places = np.argsort(pairs.first.astype(np.uint16) if few else pairs.first, kind="stable")

    def add(start: int, stop: int) -> None:
        add_row_dots(out, places[start:stop], pairs.first, pairs.second, table.left, table.right)

    run_in_ranges(add, len(out), _PAIRS_PER_RANGE)


class Reduction:
    """Sums over pairs at object level: one product for all terms of the same two Gram matrices."""

    def __init__(self, terms: TermTable, coefficients: CoefficientMatrix) -> None:
        self.terms, self.coefficients = terms, coefficients
        m_left = terms.grams.shape[1]
        self.sums = PairSums(0.0, np.zeros(m_left), np.zeros(m_left))
        # (left gram, right gram) -> weights of V and V', weights of diag(cnt_c) and diag(cnt_d)
        self.middles: dict[tuple[int, int], Vector] = {}
        for weight, edges in zip(terms.weights.tolist(), terms.edge_gram.tolist(), strict=True):
            self._add(weight, edges, tuple(edge for edge in range(4) if edges[edge] >= 0))
        for (left, right), weights in self.middles.items():
            self.sums.bilinear.append(self._bilinear(left, right, weights))

    def _add(self, weight: float, edges: list[int], present: tuple[int, ...]) -> None:
        at_end = self.sums.at_a if present and present[0] < 2 else self.sums.at_b
        if not present:
            self.sums.number += weight * self.coefficients.total
        elif len(present) == 1:
            counts = self.coefficients.first_counts, self.coefficients.second_counts
            at_end += weight * (self.terms.grams[edges[present[0]]] @ counts[present[0] % 2])
        elif present in ((AC, AD), (BC, BD)):
            at_end += weight * self._diagonal(edges[present[0]], edges[present[1]])
        elif len(present) == 2:
            middle = self.middles.setdefault((edges[present[0]], edges[present[1]]), np.zeros(4))
            middle[{(AC, BD): 0, (AD, BC): 1, (AC, BC): 2, (AD, BD): 3}[present]] += weight
        else:
            (missing,) = {AC, AD, BC, BD} - set(present)
            self.sums.bilinear.append(self._coupled(weight, edges, missing))

    def _bilinear(self, left: int, right: int, weights: Vector) -> BilinearSum:
        """``[A M B']`` as two tables; with A = X X_r' and B = Y Y_r' as ``[X (X_r' M Y_r)] Y'``."""
        first, second = self.terms.factors[left], self.terms.factors[right]
        sign = 0.0  # whether ``w0 V + w1 V' + diag(...)`` is symmetric, skew or neither
        if left == right and weights[0] == weights[1]:
            sign = 1.0
        elif left == right and weights[0] == -weights[1] and not weights[2:].any():
            sign = -1.0
        if first is None or second is None:
            return BilinearSum(self._middle(left, weights), self.terms.grams[right], sign)
        matrix = self.coefficients.matrix
        middle = weights[0] * matrix + weights[1] * matrix.T
        core = first[1].T @ (middle @ second[1] + self._counts(weights)[:, np.newaxis] * second[1])
        return BilinearSum(first[0] @ core, second[0], sign)

    def _counts(self, weights: Vector) -> Vector:
        first, second = self.coefficients.first_counts, self.coefficients.second_counts
        return weights[2] * first + weights[3] * second

    def _diagonal(self, one: int, two: int) -> Vector:
        """``diag(A V B')``: for A = B half of ``diag(A (V + V') A')``."""
        if one == two:
            return 0.5 * np.einsum("ac,ac->a", self._times(one, +1), self.terms.grams[one])
        return np.einsum("ac,ac->a", self._times(one, 0), self.terms.grams[two])

    def _times(self, gram: int, sign: int) -> Matrix:
        """``A (V + sign V')``."""
        return self.coefficients.times(self.terms.grams[gram], gram, sign)

    def _middle(self, gram: int, weights: Vector) -> Matrix:
        """``A (w0 V + w1 V' + diag(w2 cnt_c + w3 cnt_d))``, with as few products as possible."""
        even, odd = (weights[0] + weights[1]) / 2.0, (weights[0] - weights[1]) / 2.0
        parts = [(weights[0], 0)] if not weights[1] else [(even, +1), (odd, -1)]
        products = [weight * self._times(gram, sign) for weight, sign in parts if weight]
        if weights[2] or weights[3]:
            products.append(self.terms.grams[gram] * self._counts(weights))
        return reduce(add, products)

    def _coupled(self, weight: float, edges: list[int], missing: int) -> BilinearSum:
        """Three edges: the end with two of them has ``P o (S V)``, or ``P o (S V')``."""
        kept, through, alone = _COUPLED[missing]
        if through % 2:  # V'
            both, difference = (self._times(edges[through], sign) for sign in (+1, -1))
            product = 0.5 * (both - difference)
        else:
            product = self._times(edges[through], 0)
        mixed, lone = self.terms.grams[edges[kept]] * product, self.terms.grams[edges[alone]]
        if missing in (BC, BD):
            return BilinearSum(weight * mixed, lone)
        return BilinearSum(weight * lone, mixed)


#: By the missing edge: P and S at the end with two edges, and the edge of the other end.
_COUPLED = {BD: (AC, AD, BC), BC: (AD, AC, BD), AD: (BC, BD, AC), AC: (BD, BC, AD)}


# Times a kernel of group features, all columns of them at once -----------------------------------


class Ends(NamedTuple):
    """Weights of ``G_ac G_bd`` and of ``G_ad G_bc``."""

    straight: float
    crossed: float


def ends_of(group: TermGroup) -> Ends | None:
    """Weights of the two products of one Gram matrix, where these are all terms of a group."""
    table = group.table
    if group.left is None or len(table.grams) != 1:
        return None
    terms = table.by_edges
    straight, crossed = terms.pop((0, -1, -1, 0), 0.0), terms.pop((-1, 0, 0, -1), 0.0)
    if terms or (group.crossed is not None and crossed):
        return None
    return Ends(straight, crossed if group.crossed is None else straight)


def takes_all_columns(group: TermGroup, n_used: int) -> bool:
    """Whether there are enough coefficients for full matrices, which fit."""
    m_left, m_right = group.table.grams.shape[1:]
    size = megabytes_of(max(m_left, m_right), m_right, group.n_columns, copies=3.0)
    enough = n_used >= _FULL_SHARE * m_right * m_right and size <= _MOST_MEGABYTES
    return enough and ends_of(group) is not None


def add_group_products(
    group: TermGroup,
    used: Places,
    right: Pairs,
    weights: Vector,
    lefts: list[Pairs],
    totals: list[Vector],
) -> None:
    """Add ``K weights`` of a group to the totals of each list of left pairs."""
    paired = group.in_pairs if len(lefts) == 1 else None
    if paired is not None:
        straight, crossed = paired
        sums = _sums(group, straight[used], crossed[used], right, weights)
        _add_samples(totals[0], lefts[0], sums, 0.5 * straight)
        _add_samples(totals[0], lefts[0].swap(), sums, 0.5 * crossed)
        return
    assert group.right is not None
    of_swapped = group.right if group.crossed is None else group.crossed
    sums = _sums(group, group.right[used], of_swapped[used], right, weights)
    for left, total, table in zip(lefts, totals, group.features_of(len(lefts)) or [], strict=True):
        _add_samples(total, left, sums, table)


def _sums(
    group: TermGroup, straight: Matrix, crossed: Matrix, right: Pairs, weights: Vector
) -> NDArray[Any]:
    """``[G V_h G']_ab`` for all objects a, b and all columns h, in this order."""
    ends, gram = ends_of(group), group.table.grams[0]
    assert ends is not None
    (m_left, m_right), width = gram.shape, straight.shape[1]
    middle = np.zeros((m_right, m_right, width), dtype=gram.dtype)
    coefficients = weights.astype(gram.dtype, copy=False)
    tables = (ends.straight * straight).astype(gram.dtype, copy=False), ends.crossed * crossed
    add_columns(middle, right.first, right.second, coefficients, *tables)
    sums: NDArray[Any] = np.empty((m_left, m_left, width), dtype=gram.dtype)
    flat = middle.reshape(m_right, -1)

    def multiply(start: int, stop: int) -> None:
        half = (gram[start:stop] @ flat).reshape(stop - start, m_right, -1)
        np.matmul(gram, half, out=sums[start:stop])

    run_in_ranges(multiply, m_left, max(1, _PRODUCTS_PER_RANGE // max(1, 2 * middle.size)))
    return sums


def _add_samples(total: Vector, left: Pairs, sums: NDArray[Any], features: NDArray[Any]) -> None:
    def sample(start: int, stop: int) -> None:
        part = slice(start, stop)
        dot_columns(total[part], left.first[part], left.second[part], sums, features[part])

    run_in_ranges(sample, len(left), _SAMPLES_PER_RANGE)
