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
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.operators._gather_loops import add_row_dots, add_sparse_products
from pairity.operators.terms import TermTable
from pairity.pairs import Pairs
from pairity.threads import run_in_ranges

__all__ = [
    "BilinearSum",
    "CoefficientMatrix",
    "PairSums",
    "products_are_cheaper",
    "sample_pairs",
    "sum_over_pairs",
    "supports_products",
]

Matrix = NDArray[np.float64]

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
#: Rows of a triangular product that are multiplied at a time.
_ROWS_PER_BLOCK = 384


class CoefficientMatrix:
    """V and what is derived from it, each computed when first asked for."""

    def __init__(self, pairs: Pairs, values: NDArray[np.float64], n_objects: int) -> None:
        self.pairs, self.values, self.n_objects = pairs, values, n_objects
        self.first_counts = np.bincount(pairs.first, values, n_objects)
        self.second_counts = np.bincount(pairs.second, values, n_objects)
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
                product = gram @ (self._dense + sign * self._dense.T if sign else self._dense)
            else:
                product = self._sparse_times(gram, float(sign))
            self._products[key, sign] = product
        return self._products[key, sign]

    @cached_property
    def _dense(self) -> Matrix:
        size = self.n_objects
        cells = self.pairs.first * size + self.pairs.second
        sums = np.bincount(cells, self.values, size * size)
        return sums.astype(np.float64, copy=False).reshape(size, size)

    def _sparse_times(self, gram: Matrix, sign: float) -> Matrix:
        out = np.zeros_like(gram)
        first, second = self.pairs.first, self.pairs.second

        def add(start: int, stop: int) -> None:
            part = slice(start, stop)
            add_sparse_products(out[part], gram[part], first, second, self.values, sign)

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
    at_a: NDArray[np.float64]
    at_b: NDArray[np.float64]
    bilinear: list[BilinearSum] = field(default_factory=list)


def supports_products(terms: TermTable) -> bool:
    """Whether every monomial has at most three of the four edges."""
    return bool(((terms.edge_gram >= 0).sum(axis=1) <= 3).all())


def _grid_is_cheaper(n_pairs: int, m_left: int) -> bool:
    """Whether all pairs of objects by one matrix product beat the wanted ones by row dots."""
    return _MATRIX_COST * m_left * m_left < _DOT_COST * n_pairs


def products_are_cheaper(terms: TermTable, n_used: int, n_left: int) -> bool:
    """Whether products of object matrices beat touching every pair of pairs."""
    if not supports_products(terms):
        return False
    pairwise = float(n_left) * n_used * len(terms.weights)
    return _products_cost(terms, n_used, n_left) < pairwise


def _products_cost(terms: TermTable, n_used: int, n_left: int) -> float:
    """Cost of a product through objects, in units of one gathered kernel entry."""
    m_left, m_right = terms.grams.shape[1:]
    dense = n_used > _DENSE_SHARE * m_right * m_right
    reduce = _MATRIX_COST * m_left * m_right**2 if dense else _SPARSE_COST * n_used * m_left
    sample = min(_MATRIX_COST * m_left**2, _DOT_COST * n_left) * m_right
    n_bilinear = max(1, len(terms.factors))
    return _FIXED_COST + n_bilinear * (reduce + sample)


def sample_pairs(sums: PairSums, lists: list[Pairs]) -> list[NDArray[np.float64]]:
    """Values of a reduced sum at lists of pairs of objects of the left table."""
    outs = [sums.number + sums.at_a[pairs.first] + sums.at_b[pairs.second] for pairs in lists]
    n_pairs = sum(map(len, lists))
    for table in sums.bilinear:
        grid = _grid(table) if _grid_is_cheaper(n_pairs, len(table.left)) else None
        for out, pairs in zip(outs, lists, strict=True):
            if grid is not None:
                out += _look_up(grid, table.sign, pairs)
            else:
                _add_dots(out, pairs.first, pairs.second, table.left, table.right)
    return outs


def _grid(table: BilinearSum) -> Matrix:
    """``X Y'``; only its upper triangle (in blocks) where the other one mirrors it."""
    if not table.sign:
        return table.left @ table.right.T
    size = len(table.left)
    grid = np.empty((size, size))
    for start in range(0, size, _ROWS_PER_BLOCK):
        rows = slice(start, start + _ROWS_PER_BLOCK)
        grid[rows, start:] = table.left[rows] @ table.right[start:].T
    return grid


def _look_up(grid: Matrix, sign: float, pairs: Pairs) -> NDArray[np.float64]:
    if not sign:
        return grid[pairs.first, pairs.second]
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    values = grid[low, high]
    if sign < 0:
        np.negative(values, out=values, where=pairs.first > pairs.second)
    return values


def _add_dots(
    out: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    left: Matrix,
    right: Matrix,
) -> None:
    def add(start: int, stop: int) -> None:
        part = slice(start, stop)
        add_row_dots(out[part], first[part], second[part], left, right)

    run_in_ranges(add, len(out), _PAIRS_PER_RANGE)


def sum_over_pairs(terms: TermTable, coefficients: CoefficientMatrix) -> PairSums:
    """Reduce the sum over training pairs to object level, one product per pair of Gram matrices."""
    m_left = terms.grams.shape[1]
    sums = PairSums(0.0, np.zeros(m_left), np.zeros(m_left))
    # (left gram, right gram) -> weights of V and V', weights of diag(cnt_c) and diag(cnt_d)
    middles: dict[tuple[int, int], NDArray[np.float64]] = {}
    for weight, edges in zip(terms.weights, terms.edge_gram, strict=True):
        present = tuple(int(edge) for edge in np.flatnonzero(edges >= 0))
        _add_term(float(weight), edges, present, terms, coefficients, sums, middles)
    for (left, right), weights in middles.items():
        sums.bilinear.append(_bilinear(left, right, weights, terms, coefficients))
    return sums


def _bilinear(
    left: int,
    right: int,
    weights: NDArray[np.float64],
    terms: TermTable,
    coefficients: CoefficientMatrix,
) -> BilinearSum:
    """``[A M B']`` as two tables; with A = X X_r' and B = Y Y_r' as ``[X (X_r' M Y_r)] Y'``."""
    first, second = terms.factors[left], terms.factors[right]
    sign = _sign_of_middle(weights) if left == right else 0.0
    if first is None or second is None:
        product = _middle_product(left, weights, terms, coefficients)
        return BilinearSum(product, terms.grams[right], sign)
    counts = weights[2] * coefficients.first_counts + weights[3] * coefficients.second_counts
    middle = weights[0] * coefficients.matrix + weights[1] * coefficients.matrix.T
    core = first[1].T @ (middle @ second[1] + counts[:, np.newaxis] * second[1])
    return BilinearSum(first[0] @ core, second[0], sign)


def _sign_of_middle(weights: NDArray[np.float64]) -> float:
    """Whether ``w0 V + w1 V' + diag(...)`` is symmetric (+1), skew (-1) or neither (0)."""
    if weights[0] == weights[1]:
        return 1.0
    return -1.0 if weights[0] == -weights[1] and not weights[2:].any() else 0.0


def _add_term(
    weight: float,
    edges: NDArray[np.int64],
    present: tuple[int, ...],
    terms: TermTable,
    coefficients: CoefficientMatrix,
    sums: PairSums,
    middles: dict[tuple[int, int], NDArray[np.float64]],
) -> None:
    grams = terms.grams
    counts = {0: coefficients.first_counts, 1: coefficients.second_counts}
    if not present:
        sums.number += weight * coefficients.total
    elif len(present) == 1:
        edge = present[0]
        target = sums.at_a if edge < 2 else sums.at_b
        target += weight * (grams[edges[edge]] @ counts[edge % 2])
    elif present in ((AC, AD), (BC, BD)):
        target = sums.at_a if present[0] == AC else sums.at_b
        target += weight * _diagonal_product(
            edges[present[0]], edges[present[1]], terms, coefficients
        )
    elif len(present) == 2:
        key = (int(edges[present[0]]), int(edges[present[1]]))
        place = {(AC, BD): 0, (AD, BC): 1, (AC, BC): 2, (AD, BD): 3}[present]
        middles.setdefault(key, np.zeros(4))[place] += weight
    else:
        sums.bilinear.append(_coupled(weight, edges, present, terms, coefficients))


def _diagonal_product(
    one: np.int64, two: np.int64, terms: TermTable, coefficients: CoefficientMatrix
) -> NDArray[np.float64]:
    """``diag(A V B')``: for A = B half of ``diag(A (V + V') A')``."""
    left, right = terms.grams[one], terms.grams[two]
    if one == two:
        product = coefficients.times(left, int(one), +1)
        return 0.5 * np.einsum("ac,ac->a", product, left)
    return np.einsum("ac,ac->a", _times_v(left, int(one), coefficients), right)


def _times_v(gram: Matrix, key: int, coefficients: CoefficientMatrix) -> Matrix:
    """``gram V``."""
    return coefficients.times(gram, key, 0)


def _middle_product(
    key: int, weights: NDArray[np.float64], terms: TermTable, coefficients: CoefficientMatrix
) -> Matrix:
    """``A (w0 V + w1 V' + diag(w2 cnt_c + w3 cnt_d))``, with as few products as possible."""
    gram = terms.grams[key]
    even, odd = (weights[0] + weights[1]) / 2.0, (weights[0] - weights[1]) / 2.0
    parts = [(weights[0], 0)] if not weights[1] else [(even, +1), (odd, -1)]
    products = [weight * coefficients.times(gram, key, sign) for weight, sign in parts if weight]
    if weights[2] or weights[3]:
        counts = weights[2] * coefficients.first_counts + weights[3] * coefficients.second_counts
        products.append(gram * counts)
    return reduce(add, products)


def _coupled(
    weight: float,
    edges: NDArray[np.int64],
    present: tuple[int, ...],
    terms: TermTable,
    coefficients: CoefficientMatrix,
) -> BilinearSum:
    """Three edges: one end has two of them, the other end one."""
    missing = ({AC, AD, BC, BD} - set(present)).pop()
    grams = terms.grams

    def of(edge: int) -> Matrix:
        return grams[edges[edge]]

    if missing == BD:  # sum_c bc * ac * (ad V')_ac
        mixed = of(AC) * _times_vt(of(AD), int(edges[AD]), coefficients)
        return BilinearSum(weight * mixed, of(BC))
    if missing == BC:  # sum_d bd * ad * (ac V)_ad
        mixed = of(AD) * _times_v(of(AC), int(edges[AC]), coefficients)
        return BilinearSum(weight * mixed, of(BD))
    if missing == AD:  # sum_c ac * bc * (bd V')_bc
        mixed = of(BC) * _times_vt(of(BD), int(edges[BD]), coefficients)
        return BilinearSum(weight * of(AC), mixed)
    mixed = of(BD) * _times_v(of(BC), int(edges[BC]), coefficients)
    return BilinearSum(weight * of(AD), mixed)


def _times_vt(gram: Matrix, key: int, coefficients: CoefficientMatrix) -> Matrix:
    """``gram V'``."""
    return 0.5 * (coefficients.times(gram, key, +1) - coefficients.times(gram, key, -1))
