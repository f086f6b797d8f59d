"""Kernels that are sums of ``exp(-|u_i - v_j|^2)``: every entry from rows of pairs, by tiles.

A monomial of Gaussian kernels, of objects and of group features, is one exponential of a distance
between rows that hold all that it compares.  Nothing is held between objects, so that pairs of
objects that appear once cost no more than others, and neither do many group features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Factor, Monomial, expand
from pairity.operators._operator_loops import dot_rows
from pairity.operators.group_features import group_table
from pairity.operators.operator import KernelOperator, Rows
from pairity.pairs.arrays import Matrix, Vector, as_dense
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Rows and columns of a tile, which stays in the cache of a core.
_TILE_ROWS, _TILE_COLUMNS = 64, 2048
#: More exponentials than this for an entry are better gathered.
_MOST_TERMS = 8


class _Exponential:
    """``weight exp(-|u_i - v_j|^2)``, as ``sign exp(<left_i, right_j>)`` of longer rows.

    With ``left = [2u, log |weight| - |u|^2, -1]`` and ``right = [v, 1, |v|^2]`` one matrix product
    gives all exponents.
    """

    def __init__(self, weight: float, left: Matrix, right: Matrix) -> None:
        middle = right.mean(axis=0) if len(right) else 0.0  # less is lost near the middle
        left, right = left - middle, right - middle
        of_left, of_right = (np.einsum("ij,ij->i", side, side) for side in (left, right))
        offset, ones = np.log(abs(weight)) - of_left, np.ones
        self.sign = 1.0 if weight > 0.0 else -1.0
        self._sides: dict[Any, tuple[NDArray[Any], NDArray[Any]]] = {
            np.dtype(np.float64): (
                np.column_stack([2.0 * left, offset, -ones(len(left))]),
                np.column_stack([right, ones(len(right)), of_right]),
            )
        }

    def in_precision(self, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Rows of both sides."""
        known = self._sides[np.dtype(np.float64)]
        if dtype not in self._sides:
            self._sides[dtype] = known[0].astype(dtype), known[1].astype(dtype)
        return self._sides[dtype]

    @property
    def megabytes(self) -> float:
        """What the rows take, in both precisions."""
        return 1.5e-6 * sum(side.nbytes for side in self._sides[np.dtype(np.float64)])


class Tiles(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held, so that a matrix in memory is worth it.
    is_costly = True
    #: Products with less than double precision are quicker.
    has_rough_products = True

    def __init__(
        self, kernel: Kernel, left: Pairs, terms: list[_Exponential], right: Pairs | None = None
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
            for begin in range(0, out.shape[1], _TILE_COLUMNS):
                part = slice(begin, begin + _TILE_COLUMNS)
                out[start:stop, part] = self._tile(sides, slice(start, stop), part)

        run_in_ranges(fill, len(out), _TILE_ROWS)
        return out

    def _sides(
        self, rows: Rows, columns: Rows, dtype: Any
    ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Rows of both sides of each term."""
        tables = [term.in_precision(np.dtype(dtype)) for term in self._terms]
        return [(left[rows], right[columns]) for left, right in tables]

    def _tile(
        self, sides: list[tuple[NDArray[Any], NDArray[Any]]], rows: slice, columns: slice
    ) -> NDArray[Any]:
        total: NDArray[Any] | None = None
        for term, (left, right) in zip(self._terms, sides, strict=True):
            values = left[rows] @ right[columns].T
            np.exp(values, out=values)
            if total is None:
                total = values if term.sign > 0.0 else np.negative(values, out=values)
            elif term.sign > 0.0:
                total += values
            else:
                total -= values
        assert total is not None
        return total

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector, in double precision."""
        return self._product(vector, np.float64)

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector: entries in single precision, added up in double."""
        return self._product(vector, np.float32)

    def _product(self, vector: Vector, dtype: Any) -> Vector:
        used = np.flatnonzero(vector)
        weights, out = vector[used], np.zeros(self.shape[0])
        sides = self._sides(slice(None), used, dtype)

        def multiply(start: int, stop: int) -> None:
            part = np.empty(stop - start)
            for begin in range(0, len(used), _TILE_COLUMNS):
                columns = slice(begin, begin + _TILE_COLUMNS)
                dot_rows(part, self._tile(sides, slice(start, stop), columns), weights[columns])
                out[start:stop] += part

        run_in_ranges(multiply, len(out), _TILE_ROWS)
        return out


def exponentials(kernel: Kernel, left: Pairs, right: Pairs) -> list[_Exponential] | None:
    """The kernel as a sum of few exponentials; None where it is none."""
    terms = expand(kernel, left.n_symmetric, left.n_antisymmetric).terms
    if not 0 < len(terms) <= _MOST_TERMS or sp.issparse(left.objects):
        return None
    sums = []
    for monomial, weight in terms.items():
        tables = _compared(monomial, left, right)
        if tables is None:
            return None
        sums.append(_Exponential(weight, *tables))
    return sums


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
            parts.append((as_dense(rows)[at_left], as_dense(columns)[at_right]))
    for factor in monomial.factors:
        tables = _of_group(factor, left, right)
        if tables is None:
            return None
        parts.append(tables)
    if not parts:
        return None
    return np.hstack([one for one, _ in parts]), np.hstack([two for _, two in parts])


def _of_group(factor: Factor, left: Pairs, right: Pairs) -> tuple[Matrix, Matrix] | None:
    if factor.role not in ("symmetric", "antisymmetric", "derived"):
        return None
    rows = factor.kernel.exponent(group_table(factor, left.swap() if factor.left_swapped else left))
    columns = factor.kernel.exponent(
        group_table(factor, right.swap() if factor.right_swapped else right)
    )
    return None if rows is None or columns is None else (as_dense(rows), as_dense(columns))
