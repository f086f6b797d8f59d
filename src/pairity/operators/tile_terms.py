"""Terms of a kernel of pairs, from rows of both sides, and a tile of its matrix made of them.

    K = sum over parts of (base + ratio exp(-|s_i - s_j|^2)) (sum of terms),

so that ``additive + additive in context`` takes one exponential more than ``additive``.  Which parts
a kernel has is found in :mod:`pairity.operators.tile_parts`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.operators._tile_loops import (
    add_double,
    add_same,
    add_single,
    add_times,
    add_twins_double,
    add_twins_single,
)
from pairity.operators.operator import Rows
from pairity.pairs.arrays import Matrix

#: Places in the memory of a tile: what is returned, products of rows, a sum, and what multiplies it.
_TOTAL, _PRODUCTS, _SUM, _FACTOR, _N_PLACES = 0, 1, 3, 4, 5

_Table: TypeAlias = NDArray[Any]
#: Rows of both sides, one pair of tables for each product that a term takes.
Sides: TypeAlias = list[tuple[_Table, _Table]]


class Room:
    """Memory of one tile and of what it is made from, used again and again."""

    def __init__(self, dtype: Any, n_entries: int) -> None:
        self._memory = np.empty((_N_PLACES, n_entries), dtype)

    def of(self, place: int, shape: tuple[int, int]) -> _Table:
        """A table in one of the places."""
        return self._memory[place, : shape[0] * shape[1]].reshape(shape)

    def empty(self, place: int, shape: tuple[int, int]) -> _Table:
        """The same, filled with 0."""
        table = self.of(place, shape)
        table[...] = 0.0
        return table


class Term:
    """Part of a kernel, from rows of both sides."""

    def __init__(self, *sides: tuple[_Table, _Table]) -> None:
        self._sides: dict[Any, Sides] = {np.dtype(np.float64): [*sides]}

    def in_precision(self, dtype: Any) -> Sides:
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

    def add_tile(self, total: _Table, sides: Sides, room: Room) -> None:
        """Add the entries of a tile, from its rows."""
        products = [
            np.matmul(left, right.T, out=room.of(place, total.shape))
            for place, (left, right) in enumerate(sides, _PRODUCTS)
        ]
        self.add(total, products)

    def add(self, total: _Table, products: list[_Table]) -> None:
        """Add the entries of a tile, from the matrix products of its rows."""
        raise NotImplementedError


class InnerProduct(Term):
    """``<z_i, z_j>``."""

    def add(self, total: _Table, products: list[_Table]) -> None:
        """The product is what is added."""
        total += products[0]


class Exponential(Term):
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


class Twins(Term):
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

    def add(self, total: _Table, products: list[_Table]) -> None:
        """Add the entries of both terms, from p and q."""
        add = add_twins_double if total.dtype == np.float64 else add_twins_single
        add(total, *products, *self.signs)


class SameObjects(Term):
    """``w_ac [a = c] + w_ad [a = d] + w_bc [b = c] + w_bd [b = d]`` with numbers of objects."""

    def __init__(self, weights: list[float], *ends: tuple[_Table, _Table]) -> None:
        super().__init__(*ends)
        self._weights = np.array(weights)

    def in_precision(self, dtype: Any) -> Sides:
        """Numbers of objects of both sides, which have no precision."""
        return self._sides[np.dtype(np.float64)]

    def add_tile(self, total: _Table, sides: Sides, room: Room) -> None:
        """Add the weights of the ends that are the same."""
        (a, c), (b, d) = sides
        add_same(total, a, b, c, d, self._weights.astype(total.dtype))


@dataclass(frozen=True, eq=False)
class Part:
    """``(base + ratio exp(-|s_i - s_j|^2)) (sum of terms)``; without a context the sum alone."""

    terms: list[Term]
    context: Exponential | None = None
    base: float = 0.0
    ratio: float = 1.0

    @property
    def every_term(self) -> list[Term]:
        """Its terms, and the context if it has one."""
        return self.terms if self.context is None else [*self.terms, self.context]

    def sides(self, rows: Rows, columns: Rows, dtype: Any) -> list[Sides]:
        """Some rows and columns of every term."""
        return [
            [(one[rows], two[columns]) for one, two in term.in_precision(np.dtype(dtype))]
            for term in self.every_term
        ]


def fill_tile(
    parts: list[Part], tables: list[list[Sides]], rows: slice, columns: slice, room: Room
) -> _Table:
    """The entries of one tile, in memory that the next one takes."""
    shape = rows.stop - rows.start, columns.stop - columns.start
    total, known = room.empty(_TOTAL, shape), None
    for part, sides in zip(parts, tables, strict=True):
        here = [[(one[rows], two[columns]) for one, two in side] for side in sides]
        target = total if part.context is None else room.empty(_SUM, shape)
        for term, side in zip(part.terms, here, strict=False):
            term.add_tile(target, side, room)
        if part.context is None:
            continue
        factor = room.of(_FACTOR, shape)
        if part.context is not known:
            factor[...] = 0.0
            part.context.add_tile(factor, here[-1], room)
            known = part.context
        number = total.dtype.type
        add_times(total, target, factor, number(part.base), number(part.ratio))
    return total
