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
from pairity.operators._operator_loops import dot_rows
from pairity.operators._tile_loops import (
    add_double,
    add_single,
    add_to_columns,
    add_twins_double,
    add_twins_single,
)
from pairity.operators.explicit_rows import ExplicitFeatures, tables_of
from pairity.operators.group_features import group_table
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.words import form_of
from pairity.pairs.arrays import Matrix, Places, Vector, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Rows and columns of a tile, which stays in the cache of a core.
_TILE_ROWS, _TILE_COLUMNS = 256, 256
#: Rows of a square of a symmetric product at least, and squares along a side at most.
_SQUARE_ROWS, _MOST_SQUARES = 512, 64
#: More exponentials, or explicit features, than these for an entry are better gathered.
_MOST_EXPONENTIALS, _MOST_FEATURES = 12, 200

_Table: TypeAlias = NDArray[Any]
#: Rows of both sides of each term, and of both halves of a pair of terms.
_Sides: TypeAlias = list[list[tuple[_Table, _Table]]]


class _Term:
    """Part of a kernel, from matrix products of rows of both sides."""

    def __init__(self, *sides: tuple[_Table, _Table]) -> None:
        self._sides: dict[Any, list[tuple[_Table, _Table]]] = {np.dtype(np.float64): [*sides]}

    def in_precision(self, dtype: Any) -> list[tuple[_Table, _Table]]:
        """Rows of both sides."""
        if dtype not in self._sides:
            known = self._sides[np.dtype(np.float64)]
            self._sides[dtype] = [(one.astype(dtype), two.astype(dtype)) for one, two in known]
        return self._sides[dtype]

    @property
    def megabytes(self) -> float:
        """What the rows take, in both precisions."""
        return 1.5e-6 * sum(
            one.nbytes + two.nbytes for one, two in self._sides[np.dtype(np.float64)]
        )

    def add(self, total: _Table, products: list[_Table]) -> None:
        """Add the entries of a tile, from the matrix products of its rows."""
        raise NotImplementedError


class _InnerProduct(_Term):
    """``<z_i, z_j>``."""

    def add(self, total: _Table, products: list[_Table]) -> None:
        """The product is what is added."""
        total += products[0]


class _Exponential(_Term):
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

    def add(self, total: _Table, products: list[_Table]) -> None:
        """The exponential of the product."""
        add = add_double if total.dtype == np.float64 else add_single
        add(total, *products, *self.signs)

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


class _Twins(_Term):
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

    def add(self, total: _Table, products: list[_Table]) -> None:
        """Add the entries of both terms, from p and q."""
        add = add_twins_double if total.dtype == np.float64 else add_twins_single
        add(total, *products, *self.signs)


class _Room:
    """Memory of one tile and of what it is made from, used again and again."""

    def __init__(self, dtype: Any) -> None:
        self._memory = np.empty((3, _TILE_ROWS * _TILE_COLUMNS), dtype)

    def of(self, number: int, shape: tuple[int, int]) -> _Table:
        return self._memory[number, : shape[0] * shape[1]].reshape(shape)


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
        sides = self._sides(rows, columns, out.dtype)

        def fill(start: int, stop: int) -> None:
            room = _Room(out.dtype)
            for part in batches(out.shape[1], _TILE_COLUMNS):
                out[start:stop, part] = self._tile(sides, slice(start, stop), part, room)

        run_in_ranges(fill, len(out), _TILE_ROWS)
        return out

    def _sides(self, rows: Rows, columns: Rows, dtype: Any) -> _Sides:
        tables = [term.in_precision(np.dtype(dtype)) for term in self._terms]
        return [[(one[rows], two[columns]) for one, two in term] for term in tables]

    def _tile(self, sides: _Sides, rows: slice, columns: slice, room: _Room) -> _Table:
        """The entries of one tile, in memory that the next one takes."""
        shape = rows.stop - rows.start, columns.stop - columns.start
        total = room.of(0, shape)
        total[...] = 0.0
        for term, tables in zip(self._terms, sides, strict=True):
            products = [
                np.matmul(left[rows], right[columns].T, out=room.of(place, shape))
                for place, (left, right) in enumerate(tables, 1)
            ]
            term.add(total, products)
        return total

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector, in double precision."""
        return self._product(vector, np.float64)

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector: entries in single precision, added up in double."""
        return self._product(vector, np.float32)

    def _product(self, vector: Vector, dtype: Any) -> Vector:
        used, out = np.flatnonzero(vector), np.zeros(self.shape[0])
        if self.right is self.left and 2 * len(used) > len(vector):
            others = np.flatnonzero(vector == 0.0)
            out[used] = self._symmetric_product(used, vector[used], dtype)
            out[others] = self._plain_product(others, used, vector[used], dtype)
            return out
        return self._plain_product(slice(None), used, vector[used], dtype)

    def _plain_product(self, rows: Rows, used: Places, weights: Vector, dtype: Any) -> Vector:
        """The product at some rows, over the columns in use."""
        sides = self._sides(rows, used, dtype)
        out = np.zeros(len(sides[0][0][0]))

        def multiply(start: int, stop: int) -> None:
            part, room, band = np.empty(stop - start), _Room(dtype), slice(start, stop)
            for columns in batches(len(used), _TILE_COLUMNS):
                dot_rows(part, self._tile(sides, band, columns, room), weights[columns])
                out[start:stop] += part

        run_in_ranges(multiply, len(out), _TILE_ROWS)
        return out

    def _symmetric_product(self, used: Places, weights: Vector, dtype: Any) -> Vector:
        """The product at the rows that are the columns: every square of pairs serves twice.

        What the squares of a row or a column come to is kept apart, and added up in their order.
        """
        sides, n = self._sides(used, used, dtype), len(used)
        step = max(_SQUARE_ROWS, -(-n // _MOST_SQUARES))
        bands = list(batches(n, step))
        squares = list(combinations_with_replacement(range(len(bands)), 2))
        parts = np.zeros((len(bands), n))

        def multiply(start: int, stop: int) -> None:
            for down, across in squares[start:stop]:
                self._add_square(
                    sides, bands[down], bands[across], weights, parts[across], parts[down]
                )

        run_in_ranges(multiply, len(squares), 1)
        return np.asarray(parts.sum(axis=0))

    def _add_square(
        self,
        sides: _Sides,
        rows: slice,
        columns: slice,
        weights: Vector,
        by_rows: Vector,
        by_columns: Vector,
    ) -> None:
        """Add a square times the weights of its columns and, off the diagonal, of its rows."""
        room = _Room(sides[0][0][0].dtype)
        for start in range(rows.start, rows.stop, _TILE_ROWS):
            band = slice(start, min(start + _TILE_ROWS, rows.stop))
            part = np.empty(band.stop - band.start)
            for begin in range(columns.start, columns.stop, _TILE_COLUMNS):
                across = slice(begin, min(begin + _TILE_COLUMNS, columns.stop))
                tile = self._tile(sides, band, across, room)
                dot_rows(part, tile, weights[across])
                by_rows[band] += part
                if rows is not columns:
                    add_to_columns(by_columns[across], tile, weights[band])


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
