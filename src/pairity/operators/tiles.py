"""Sums of ``exp(-|u_i - v_j|^2)`` and of ``<z_i, z_j>``: every entry from rows of pairs, by tiles.

A monomial of Gaussian kernels, of objects and of group features, is one exponential of a distance
between rows that hold all that it compares; monomials that have few explicit features
(:mod:`pairity.operators.words`) are together one inner product.  Nothing is held between objects, so
that pairs of objects that appear once cost no more than others, and neither do many group features.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Factor, Monomial, expand
from pairity.operators._tile_loops import add_entries, add_products
from pairity.operators.explicit_rows import ExplicitFeatures, tables_of
from pairity.operators.group_features import group_table
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.words import form_of
from pairity.pairs.arrays import Matrix, Places, Vector, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Rows and columns of a tile, which stays in the cache of a core.
_TILE_ROWS, _TILE_COLUMNS = 128, 256
#: Rows of a square of a symmetric product at least, and squares along a side at most.
_SQUARE_ROWS, _MOST_SQUARES = 512, 64
#: More exponentials, or explicit features, than these for an entry are better gathered.
_MOST_EXPONENTIALS, _MOST_FEATURES = 12, 200
#: Exponentials of an entry that take about as long as reading it from memory for the first time.
_FEW_EXPONENTIALS = 4

_Table: TypeAlias = NDArray[Any]


class _Term:
    """Part of a kernel, from rows of both sides."""

    def __init__(self, *sides: tuple[_Table, _Table]) -> None:
        self._sides: dict[Any, list[tuple[_Table, _Table]]] = {np.dtype(np.float64): [*sides]}

    def between(self, rows: Rows, columns: Rows, dtype: Any) -> list[tuple[_Table, _Table]]:
        """Rows of some pairs of either side, in a precision."""
        dtype = np.dtype(dtype)
        if dtype not in self._sides:
            known = self._sides[np.dtype(np.float64)]
            self._sides[dtype] = [(one.astype(dtype), two.astype(dtype)) for one, two in known]
        return [(one[rows], two[columns]) for one, two in self._sides[dtype]]

    @property
    def megabytes(self) -> float:
        """What the rows take, in both precisions."""
        return 1.5e-6 * sum(
            one.nbytes + two.nbytes for one, two in self._sides[np.dtype(np.float64)]
        )

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """Add the entries of some rows and columns, in the precision of ``out``."""
        raise NotImplementedError

    def product(self, rows: Rows, columns: Places, weights: Vector, dtype: Any) -> Vector:
        """Entries of some rows times weights of the columns, which are added up in double."""
        raise NotImplementedError

    def square_product(self, index: Places, weights: Vector, dtype: Any) -> Vector:
        """The same between some pairs and themselves."""
        return self.product(index, index, weights, dtype)


class _InnerProduct(_Term):
    """``<z_i, z_j>``."""

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """The matrix product."""
        ((left, right),) = self.between(rows, columns, out.dtype)
        out += left @ right.T

    def product(self, rows: Rows, columns: Places, weights: Vector, dtype: Any) -> Vector:
        """Through the features, whatever the precision."""
        ((left, right),) = self.between(rows, columns, np.float64)
        return np.asarray(left @ (right.T @ weights))


class _Exponentials(_Term):
    """``sign exp(p)``, or ``plus exp(p + q) + minus exp(p - q)``, p and q products of rows."""

    signs: list[float]

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """A band of rows at a time on each core."""
        sides = self.between(rows, columns, out.dtype)
        signs = np.array(self.signs, out.dtype)

        def fill(start: int, stop: int) -> None:
            bands = [(left[start:stop], right) for left, right in sides]
            add_entries(out[start:stop], bands[0], bands[-1], signs, _TILE_COLUMNS)

        run_in_ranges(fill, len(out), _TILE_ROWS)

    def product(self, rows: Rows, columns: Places, weights: Vector, dtype: Any) -> Vector:
        """A band of rows at a time on each core."""
        sides = self.between(rows, columns, dtype)
        out, none = np.zeros(len(sides[0][0])), np.empty(0)

        def multiply(start: int, stop: int) -> None:
            bands = [(left[start:stop], right) for left, right in sides]
            self._add_products(out[start:stop], none, bands, weights, none)

        run_in_ranges(multiply, len(out), _TILE_ROWS)
        return out

    def square_product(self, index: Places, weights: Vector, dtype: Any) -> Vector:
        """Every square of pairs off the diagonal serves twice.

        What the squares of a row or a column come to is kept apart, and added up in their order.
        """
        sides, n = self.between(index, index, dtype), len(index)
        bands = list(batches(n, max(_SQUARE_ROWS, -(-n // _MOST_SQUARES))))
        squares = list(combinations_with_replacement(range(len(bands)), 2))
        parts, none = np.zeros((len(bands), n)), np.empty(0)

        def multiply(start: int, stop: int) -> None:
            for one, other in squares[start:stop]:
                down, across = bands[one], bands[other]
                part = [(left[down], right[across]) for left, right in sides]
                by_columns = none if one == other else parts[one, across]
                by_rows = parts[other, down]
                self._add_products(by_rows, by_columns, part, weights[across], weights[down])

        run_in_ranges(multiply, len(squares), 1)
        return np.asarray(parts.sum(axis=0))

    def _add_products(
        self,
        by_rows: Vector,
        by_columns: Vector,
        sides: list[tuple[_Table, _Table]],
        weights: Vector,
        of_rows: Vector,
    ) -> None:
        signs, tile = np.array(self.signs, sides[0][0].dtype), (_TILE_ROWS, _TILE_COLUMNS)
        add_products(by_rows, by_columns, sides[0], sides[-1], signs, weights, of_rows, tile)


class _Exponential(_Exponentials):
    """``weight exp(-|u_i - v_j|^2)``, as ``sign exp(<left_i, right_j>)`` of longer rows.

    With ``left = [2u, log |weight| - |u|^2, -1]`` and ``right = [v, 1, |v|^2]`` one matrix product
    gives all exponents.
    """

    def __init__(self, weight: float, left: Matrix, right: Matrix) -> None:
        of_left, of_right = (np.einsum("ij,ij->i", side, side) for side in (left, right))
        offset, ones = np.log(abs(weight)) - of_left, np.ones
        self.signs = [1.0 if weight > 0.0 else -1.0]
        super().__init__(
            (
                np.column_stack([2.0 * left, offset, -ones(len(left))]),
                np.column_stack([right, ones(len(right)), of_right]),
            )
        )

    def with_twin(self, other: _Exponential) -> _Twins | None:
        """Both terms at half the price, where the right pairs of one are the other's swapped."""
        ((left, right),) = self._sides[np.dtype(np.float64)]
        ((same, twin),) = other._sides[np.dtype(np.float64)]
        half = (left.shape[1] - 2) // 2
        if left.shape != same.shape or left.shape[1] != 2 * half + 2 or not half:
            return None
        # the last columns, of norms, may differ by rounding
        swapped = np.hstack([right[:, half : 2 * half], right[:, :half]])
        if not (np.array_equal(left, same) and np.array_equal(twin[:, : 2 * half], swapped)):
            return None
        return _Twins(self, other, left, right, half)


class _Twins(_Exponentials):
    """``+- exp(<a, c> + <b, d>) +- exp(<a, d> + <b, c>)`` with rows (a, b) and (c, d).

    The exponents are ``p + q`` and ``p - q`` with ``p = <a + b, c + d> / 2`` and
    ``q = <a - b, c - d> / 2``: two matrix products of half the width.
    """

    def __init__(
        self, one: _Exponential, other: _Exponential, left: _Table, right: _Table, half: int
    ) -> None:
        self.signs = one.signs + other.signs
        a, b, rest = left[:, :half], left[:, half : 2 * half], left[:, 2 * half :]
        c, d, others = right[:, :half], right[:, half : 2 * half], right[:, 2 * half :]
        sums = np.hstack([a + b, rest]), np.hstack([0.5 * (c + d), others])
        super().__init__(sums, (a - b, 0.5 * (c - d)))


class Tiles(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held, so that a matrix in memory is worth it.
    is_costly = True
    #: Products with less than double precision are quicker.
    has_rough_products = True

    def __init__(
        self, kernel: Kernel, left: Pairs, terms: list[_Term], right: Pairs | None = None
    ) -> None:
        super().__init__(kernel, left, right)
        self._terms = terms

    @property
    def entries_are_cheap(self) -> bool:  # type: ignore[override]
        """Whether few exponentials make an entry."""
        exponentials = (term for term in self._terms if isinstance(term, _Exponentials))
        return sum(len(term.signs) for term in exponentials) <= _FEW_EXPONENTIALS

    @property
    def object_megabytes(self) -> float:
        """What the rows take."""
        return sum(term.megabytes for term in self._terms)

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The entries of some rows and columns, into ``out`` in its precision."""
        if out is None:
            left, right = (
                np.arange(n)[part] for n, part in zip(self.shape, (rows, columns), strict=True)
            )
            out = np.empty((len(left), len(right)))
        out[...] = 0.0
        for term in self._terms:
            term.add_entries(out, rows, columns)
        return out

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector, in double precision."""
        return self._product(vector, np.float64)

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector: entries in single precision, added up in double."""
        return self._product(vector, np.float32)

    def _product(self, vector: Vector, dtype: Any) -> Vector:
        used, out = np.flatnonzero(vector), np.zeros(self.shape[0])
        weights = vector[used]
        if self.right is not self.left or 2 * len(used) <= len(vector):
            for term in self._terms:
                out += term.product(slice(None), used, weights, dtype)
            return out
        others = np.flatnonzero(vector == 0.0)
        for term in self._terms:
            out[used] += term.square_product(used, weights, dtype)
            out[others] += term.product(others, used, weights, dtype)
        return out


def terms_of(kernel: Kernel, left: Pairs, right: Pairs) -> list[_Term] | None:
    """The kernel as a sum of few terms; None where it is none."""
    if sp.issparse(left.objects):
        return None
    exponentials: list[_Exponential] = []
    others: dict[Monomial, float] = {}
    for monomial, weight in expand(kernel, left.n_symmetric, left.n_antisymmetric).terms.items():
        tables = _compared(monomial, left, right)
        if tables is None:
            others[monomial] = weight
        elif len(exponentials) == _MOST_EXPONENTIALS:
            return None
        else:
            exponentials.append(_Exponential(weight, *tables))
    rest = _inner_product(others, left, right) if others else None
    if not exponentials or (others and rest is None):
        return None
    return _paired(exponentials) + ([] if rest is None else [rest])


def _inner_product(terms: dict[Monomial, float], left: Pairs, right: Pairs) -> _InnerProduct | None:
    """Monomials by their explicit features; None where these are sparse or many, or none."""
    form = form_of(terms)
    one = tables_of(form, (left[:1].without_unused_objects(),)) if form else None
    if not one or any(one[0].is_unknown(block) for block in form):
        return None
    features = ExplicitFeatures(form, one[0])
    if features.is_sparse or features.n_columns > _MOST_FEATURES:
        return None
    known: Any = tables_of(form, (left, right))
    rows, columns = (ExplicitFeatures(form, side).rows for side in known)
    return _InnerProduct((rows, columns))


def _paired(sums: list[_Exponential]) -> list[_Term]:
    """The terms, twins as one."""
    found: list[_Term] = []
    for term in sums:
        for place, other in enumerate(found):
            both = other.with_twin(term) if isinstance(other, _Exponential) else None
            if both is not None:
                found[place] = both
                break
        else:
            found.append(term)
    return found


def _compared(monomial: Monomial, left: Pairs, right: Pairs) -> tuple[Matrix, Matrix] | None:
    """Rows of left and right pairs that hold all that a monomial compares."""
    parts: list[tuple[Matrix, Matrix]] = []
    for edge, kernels in enumerate(monomial.edges):
        for kernel in kernels:
            rows, columns = (kernel.exponent(side.objects) for side in (left, right))
            if rows is None or columns is None:
                return None
            at_left = left.first if edge < 2 else left.second
            at_right = right.second if edge % 2 else right.first
            one, two = _centred(as_dense(rows), as_dense(columns))
            parts.append((one[at_left], two[at_right]))
    for factor in monomial.factors:
        tables = _of_group(factor, left, right)
        if tables is None:
            return None
        parts.append(_centred(*tables))
    if not parts:
        return None
    return np.hstack([one for one, _ in parts]), np.hstack([two for _, two in parts])


def _centred(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    """Both tables moved to the middle of the right one, where less is lost in rounding."""
    middle = right.mean(axis=0) if len(right) else 0.0
    return left - middle, right - middle


def _of_group(factor: Factor, left: Pairs, right: Pairs) -> tuple[Matrix, Matrix] | None:
    if factor.role not in ("symmetric", "antisymmetric", "derived"):
        return None
    rows = factor.kernel.exponent(group_table(factor, left.swap() if factor.left_swapped else left))
    columns = factor.kernel.exponent(
        group_table(factor, right.swap() if factor.right_swapped else right)
    )
    return None if rows is None or columns is None else (as_dense(rows), as_dense(columns))
