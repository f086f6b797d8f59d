"""Terms of a kernel of pairs, from rows of both sides: their entries, and products with them.

    K = sum of terms,     a term in context being  exp(-|s_i - s_j|^2) (sum of terms),

so that ``additive + additive in context`` takes one exponential more than ``additive``.  Which terms
a kernel has is found in :mod:`pairity.operators.tiles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.operators._operator_loops import dot_rows
from pairity.operators._tile_loops import (
    add_entries,
    add_products,
    add_same,
    add_times,
    add_to_columns,
)
from pairity.operators.operator import Rows
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.runtime.resources import run_in_ranges

#: Rows and columns of a tile, which stays in the cache of a core.
TILE_ROWS, TILE_COLUMNS = 64, 512
#: Rows of a square of a symmetric product at least, and squares along a side at most.
_SQUARE_ROWS, _MOST_SQUARES = 512, 64

_Table: TypeAlias = NDArray[Any]
#: Rows of both sides, one pair of tables for each product that a term takes.
Sides: TypeAlias = list[tuple[_Table, _Table]]
_NONE: Vector = np.empty(0)


def _cut(sides: Sides, rows: slice, columns: slice) -> Sides:
    return [(left[rows], right[columns]) for left, right in sides]


class Term:
    """Part of a kernel, from rows of both sides.

    A subclass adds the entries of a tile; what is quicker as a whole it does as a whole.
    """

    #: Exponentials that an entry takes.
    n_exponentials = 0

    def __init__(self, *sides: tuple[_Table, _Table]) -> None:
        self._sides: dict[Any, Sides] = {np.dtype(np.float64): [*sides]}

    def in_precision(self, dtype: Any) -> Sides:
        """Rows of both sides."""
        if dtype not in self._sides:
            known = self._sides[np.dtype(np.float64)]
            self._sides[dtype] = [(one.astype(dtype), two.astype(dtype)) for one, two in known]
        return self._sides[dtype]

    def between(self, rows: Rows, columns: Rows, dtype: Any) -> Sides:
        """Rows of some pairs of either side, in a precision."""
        return [(one[rows], two[columns]) for one, two in self.in_precision(np.dtype(dtype))]

    @property
    def megabytes(self) -> float:
        """What the rows take, in both precisions."""
        return 1.5e-6 * sum(
            one.nbytes + two.nbytes for one, two in self._sides[np.dtype(np.float64)]
        )

    def add_tile(self, total: _Table, sides: Sides) -> None:
        """Add the entries of a tile, from its rows."""
        raise NotImplementedError

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """Add the entries of some rows and columns, in the precision of ``out``."""
        sides = self.between(rows, columns, out.dtype)

        def fill(start: int, stop: int) -> None:
            band = slice(start, stop)
            for across in batches(out.shape[1], TILE_COLUMNS):
                out[band, across] += self._tile(sides, band, across)

        run_in_ranges(fill, len(out), TILE_ROWS)

    def _tile(self, sides: Sides, rows: slice, columns: slice) -> _Table:
        part = _cut(sides, rows, columns)
        # numbers of objects have no precision
        precision = next((left.dtype for left, _ in sides if left.dtype.kind == "f"), np.float64)
        tile = np.zeros((len(part[0][0]), len(part[0][1])), precision)
        self.add_tile(tile, part)
        return tile

    def product(self, rows: Rows, columns: Places, weights: Vector, dtype: Any) -> Vector:
        """Entries of some rows times weights of the columns, which are added up in double."""
        sides = self.between(rows, columns, dtype)
        out = np.zeros(len(sides[0][0]))

        def multiply(start: int, stop: int) -> None:
            bands = [(left[start:stop], right) for left, right in sides]
            self.add_products(out[start:stop], _NONE, bands, weights, _NONE)

        run_in_ranges(multiply, len(out), TILE_ROWS)
        return out

    def square_product(self, index: Places, weights: Vector, dtype: Any) -> Vector:
        """The same between some pairs and themselves: every square off the diagonal serves twice.

        What the squares of a row or a column come to is kept apart, and added up in their order.
        """
        sides, n = self.between(index, index, dtype), len(index)
        bands = list(batches(n, max(_SQUARE_ROWS, -(-n // _MOST_SQUARES))))
        squares = list(combinations_with_replacement(range(len(bands)), 2))
        parts = np.zeros((len(bands), n))

        def multiply(start: int, stop: int) -> None:
            for one, other in squares[start:stop]:
                down, across = bands[one], bands[other]
                by_columns = _NONE if one == other else parts[one, across]
                part, by_rows = _cut(sides, down, across), parts[other, down]
                self.add_products(by_rows, by_columns, part, weights[across], weights[down])

        run_in_ranges(multiply, len(squares), 1)
        return np.asarray(parts.sum(axis=0))

    def add_products(
        self, by_rows: Vector, by_columns: Vector, sides: Sides, weights: Vector, of_rows: Vector
    ) -> None:
        """``by_rows += E weights`` and, unless that is empty, ``by_columns += of_rows E``."""
        for band in batches(len(by_rows), TILE_ROWS):
            part = np.empty(len(by_rows[band]))
            for across in batches(len(weights), TILE_COLUMNS):
                tile = self._tile(sides, band, across)
                dot_rows(part, tile, weights[across])
                by_rows[band] += part
                if len(by_columns):
                    add_to_columns(by_columns[across], tile, of_rows[band])


class InnerProduct(Term):
    """``<z_i, z_j>``."""

    def add_tile(self, total: _Table, sides: Sides) -> None:
        """The product is what is added."""
        ((left, right),) = sides
        total += left @ right.T

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """The matrix product."""
        self.add_tile(out, self.between(rows, columns, out.dtype))

    def product(self, rows: Rows, columns: Places, weights: Vector, dtype: Any) -> Vector:
        """Through the features, whatever the precision."""
        ((left, right),) = self.between(rows, columns, np.float64)
        return np.asarray(left @ (right.T @ weights))

    def square_product(self, index: Places, weights: Vector, dtype: Any) -> Vector:
        """The same."""
        return self.product(index, index, weights, dtype)


class _Exponentials(Term):
    """``sign exp(p)``, or ``plus exp(p + q) + minus exp(p - q)``, p and q products of rows."""

    signs: list[float]

    @property
    def n_exponentials(self) -> int:  # type: ignore[override]
        """One, or two."""
        return len(self.signs)

    def add_tile(self, total: _Table, sides: Sides) -> None:
        """In one compiled pass."""
        signs = np.array(self.signs, total.dtype)
        add_entries(total, sides[0], sides[-1], signs, total.shape[1])

    def add_entries(self, out: _Table, rows: Rows, columns: Rows) -> None:
        """A band of rows at a time on each core."""
        sides = self.between(rows, columns, out.dtype)
        signs = np.array(self.signs, out.dtype)

        def fill(start: int, stop: int) -> None:
            bands = [(left[start:stop], right) for left, right in sides]
            add_entries(out[start:stop], bands[0], bands[-1], signs, TILE_COLUMNS)

        run_in_ranges(fill, len(out), TILE_ROWS)

    def add_products(
        self, by_rows: Vector, by_columns: Vector, sides: Sides, weights: Vector, of_rows: Vector
    ) -> None:
        """In one compiled pass: exponentials are never stored."""
        signs, tile = np.array(self.signs, sides[0][0].dtype), (TILE_ROWS, TILE_COLUMNS)
        add_products(by_rows, by_columns, sides[0], sides[-1], signs, weights, of_rows, tile)


class Exponential(_Exponentials):
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

    def with_twin(self, other: Exponential) -> Twins | None:
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
        return Twins(self, other, left, right, half)


class Twins(_Exponentials):
    """``+- exp(<a, c> + <b, d>) +- exp(<a, d> + <b, c>)`` with rows (a, b) and (c, d).

    The exponents are ``p + q`` and ``p - q`` with ``p = <a + b, c + d> / 2`` and
    ``q = <a - b, c - d> / 2``: two matrix products of half the width.
    """

    def __init__(
        self, one: Exponential, other: Exponential, left: _Table, right: _Table, half: int
    ) -> None:
        self.signs = one.signs + other.signs
        a, b, rest = left[:, :half], left[:, half : 2 * half], left[:, 2 * half :]
        c, d, others = right[:, :half], right[:, half : 2 * half], right[:, 2 * half :]
        sums = np.hstack([a + b, rest]), np.hstack([0.5 * (c + d), others])
        super().__init__(sums, (a - b, 0.5 * (c - d)))


class SameObjects(Term):
    """``w_ac [a = c] + w_ad [a = d] + w_bc [b = c] + w_bd [b = d]`` with numbers of objects."""

    def __init__(self, weights: list[float], *ends: tuple[_Table, _Table]) -> None:
        super().__init__(*ends)
        self._weights = np.array(weights)

    def in_precision(self, dtype: Any) -> Sides:
        """Numbers of objects of both sides, which have no precision."""
        return self._sides[np.dtype(np.float64)]

    def add_tile(self, total: _Table, sides: Sides) -> None:
        """Add the weights of the ends that are the same."""
        (a, c), (b, d) = sides
        add_same(total, a, b, c, d, self._weights.astype(total.dtype))


@dataclass(frozen=True, eq=False)
class Multiplied:
    """``(base + ratio context) (sum of terms)``."""

    terms: list[Term]
    base: float
    ratio: float


class InContext(Term):
    """Sums of terms that one exponential multiplies: ``sum of (base + ratio exp(...)) (terms)``."""

    def __init__(self, context: Exponential, sums: list[Multiplied]) -> None:
        self.context, self.sums = context, sums

    @property
    def n_exponentials(self) -> int:  # type: ignore[override]
        """Its own, and those of the terms."""
        return 1 + sum(term.n_exponentials for one in self.sums for term in one.terms)

    @property
    def _terms(self) -> Iterator[Term]:
        yield self.context
        for one in self.sums:
            yield from one.terms

    def in_precision(self, dtype: Any) -> Sides:
        """Those of the context, then those of all terms."""
        return [side for term in self._terms for side in term.in_precision(dtype)]

    @property
    def megabytes(self) -> float:
        """What the rows of all terms take."""
        return sum(term.megabytes for term in self._terms)

    def add_tile(self, total: _Table, sides: Sides) -> None:
        """The context once, every sum times it."""
        left = iter(sides)

        def own(term: Term) -> Sides:
            return [next(left) for _ in term.in_precision(np.dtype(np.float64))]

        factor, number = np.zeros_like(total), total.dtype.type
        self.context.add_tile(factor, own(self.context))
        for one in self.sums:
            inside = np.zeros_like(total)
            for term in one.terms:
                term.add_tile(inside, own(term))
            add_times(total, inside, factor, number(one.base), number(one.ratio))
