"""Kernel matrices of sums of exponentials, inner products and names: entries anew, by tiles.

What the sums are is found in :mod:`pairity.operators.tile_parts`.  Nothing is held between objects,
so that pairs of objects that appear once cost no more than others, and neither do many group
features.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators._operator_loops import dot_rows
from pairity.operators._tile_loops import add_to_columns
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.tile_terms import Part, Room, Sides, fill_tile
from pairity.pairs.arrays import Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Rows and columns of a tile, which stays in the cache of a core.
_TILE_ROWS, _TILE_COLUMNS = 256, 256
#: Rows of a square of a symmetric product at least, and squares along a side at most.
_SQUARE_ROWS, _MOST_SQUARES = 512, 64

_Table: TypeAlias = NDArray[Any]
#: Rows of both sides of the terms of each part.
_Tables: TypeAlias = list[list[Sides]]


class Tiles(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held, so that a matrix in memory is worth it.
    is_costly = True
    #: Products with less than double precision are quicker.
    has_rough_products = True

    def __init__(
        self, kernel: Kernel, left: Pairs, parts: list[Part], right: Pairs | None = None
    ) -> None:
        super().__init__(kernel, left, right)
        self._parts = parts

    @property
    def object_megabytes(self) -> float:
        """What the rows take."""
        return sum(term.megabytes for part in self._parts for term in part.every_term)

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The entries of some rows and columns, into ``out`` in its precision."""
        if out is None:
            left, right = (
                np.arange(n)[part] for n, part in zip(self.shape, (rows, columns), strict=True)
            )
            out = np.empty((len(left), len(right)))
        sides = self._sides(rows, columns, out.dtype)

        def fill(start: int, stop: int) -> None:
            room = _room(out.dtype)
            for part in batches(out.shape[1], _TILE_COLUMNS):
                out[start:stop, part] = self._tile(sides, slice(start, stop), part, room)

        run_in_ranges(fill, len(out), _TILE_ROWS)
        return out

    def square(self, index: Places, out: NDArray[Any]) -> None:
        """The entries between some rows and the same columns: one triangle, tile after tile."""
        sides, bands = self._sides(index, index, out.dtype), list(batches(len(index), _TILE_ROWS))

        def fill(start: int, stop: int) -> None:
            room = _room(out.dtype)
            for number in range(start, stop):
                rows = bands[number]
                for columns in bands[number:]:
                    tile = self._tile(sides, rows, columns, room)
                    if columns is rows:
                        tile = (tile + tile.T) * out.dtype.type(0.5)
                    out[rows, columns] = tile
                    out[columns, rows] = tile.T

        run_in_ranges(fill, len(bands), 1)

    def _sides(self, rows: Rows, columns: Rows, dtype: Any) -> _Tables:
        return [part.sides(rows, columns, dtype) for part in self._parts]

    def _tile(self, sides: _Tables, rows: slice, columns: slice, room: Room) -> _Table:
        """The entries of one tile, in memory that the next one takes."""
        return fill_tile(self._parts, sides, rows, columns, room)

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
        out = np.zeros(len(np.arange(self.shape[0])[rows]))

        def multiply(start: int, stop: int) -> None:
            part, room, band = np.empty(stop - start), _room(dtype), slice(start, stop)
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
                    sides,
                    bands[down],
                    bands[across],
                    weights,
                    parts[across],
                    parts[down],
                    dtype,
                )

        run_in_ranges(multiply, len(squares), 1)
        return np.asarray(parts.sum(axis=0))

    def _add_square(
        self,
        sides: _Tables,
        rows: slice,
        columns: slice,
        weights: Vector,
        by_rows: Vector,
        by_columns: Vector,
        dtype: Any,
    ) -> None:
        """Add a square times the weights of its columns and, off the diagonal, of its rows."""
        room = _room(dtype)
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


def _room(dtype: Any) -> Room:
    return Room(dtype, _TILE_ROWS * _TILE_COLUMNS)
