"""Kernel matrices of sums of exponentials, inner products and names: entries anew, by tiles.

What the sums are is found in :mod:`pairity.operators.tile_parts`.  Nothing is held between objects,
so that pairs of objects that appear once cost no more than others, and neither do many group
features.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.tile_terms import Term
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.runtime.resources import one_blas_thread

#: Exponentials of an entry that take about as long as reading it from memory for the first time.
_FEW_EXPONENTIALS = 4


class Tiles(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held, so that a matrix in memory is worth it.
    is_costly = True
    #: Products with less than double precision are quicker.
    has_rough_products = True

    def __init__(
        self, kernel: Kernel, left: Pairs, terms: list[Term], right: Pairs | None = None
    ) -> None:
        super().__init__(kernel, left, right)
        self._terms = terms

    @property
    def entries_are_cheap(self) -> bool:  # type: ignore[override]
        """Whether few exponentials make an entry."""
        return sum(term.n_exponentials for term in self._terms) <= _FEW_EXPONENTIALS

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
        with one_blas_thread():
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
        with one_blas_thread():
            if self.right is not self.left or 2 * len(used) <= len(vector):
                for term in self._terms:
                    out += term.product(slice(None), used, weights, dtype)
                return out
            others = np.flatnonzero(vector == 0.0)
            for term in self._terms:
                out[used] += term.square_product(used, weights, dtype)
                out[others] += term.product(others, used, weights, dtype)
        return out
