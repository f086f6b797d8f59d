"""A kernel between two sets of pairs, as something that yields rows and products."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import ObjectGrams, PairedAtoms, dense_gram
from pairity.kernels.expansion import expand
from pairity.operators._gather_loops import dot_rows, gather_products, gather_rows
from pairity.operators.products import (
    CoefficientMatrix,
    products_cost,
    sample_pairs,
    sum_over_pairs,
    supports_products,
)
from pairity.operators.spectral import TensorStructure, tensor_structure
from pairity.operators.terms import TermTable, compile_terms
from pairity.pairs import Pairs
from pairity.threads import run_in_ranges

__all__ = ["PairOperator"]

#: Kernel entries that one range of work covers: small enough to balance, large enough to pay.
_ENTRIES_PER_RANGE = 500_000


class PairOperator:
    """The matrix ``K(left_i, right_j)``, never stored as a whole.

    Rows are gathered from object Gram matrices where the kernel's expansion allows it, and
    evaluated by its formula otherwise.

    Parameters
    ----------
    kernel : Kernel
        Kernel of pairs.
    left : Pairs
        Pairs of the rows.
    right : Pairs, optional
        Pairs of the columns; the same as ``left`` by default.
    """

    def __init__(self, kernel: Kernel, left: Pairs, right: Pairs | None = None) -> None:
        self.kernel = kernel
        self.left = left
        self.right = left if right is None else right
        self.grams = ObjectGrams(self.left.objects, self.right.objects)

    @cached_property
    def _terms(self) -> TermTable | None:
        """Object Gram matrices and monomials; computed when first needed."""
        expansion = expand(self.kernel, self.left.n_symmetric, self.left.n_antisymmetric)
        return compile_terms(expansion, self.grams)

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form of the kernel, if it has one."""
        return tensor_structure(self._terms)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of left and right pairs."""
        return len(self.left), len(self.right)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows ``K(left_i, .)`` for i in ``index``, shape (len(index), n_right)."""
        return self._block(self.left[index], self.right)

    def block(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """The entries of some rows and columns, shape (len(rows), len(columns))."""
        return self._block(self.left[rows], self.right[columns])

    def _block(self, left: Pairs, right: Pairs) -> NDArray[np.float64]:
        if self._terms is None:
            return dense_gram(self.kernel, left, right, self.grams)
        terms = self._terms
        out = np.empty((len(left), len(right)))

        def fill(start: int, stop: int) -> None:
            gather_rows(
                out[start:stop],
                left.first[start:stop],
                left.second[start:stop],
                right.first,
                right.second,
                terms.grams,
                terms.weights,
                terms.edge_gram,
            )

        run_in_ranges(fill, len(left), _rows_per_range(len(right)))
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K vector``, shape (n_left,)."""
        return self.products(vector, [self.left])[0]

    def products(
        self, vector: NDArray[np.float64], lefts: list[Pairs]
    ) -> list[NDArray[np.float64]]:
        """``sum_j K(., j) vector_j`` on several lists of pairs over the left object table."""
        used = np.flatnonzero(vector)
        right, weights = self.right[used], np.ascontiguousarray(vector[used])
        if not len(used):
            return [np.zeros(len(left)) for left in lefts]
        if self._through_objects(len(used), sum(map(len, lefts))):
            assert self._terms is not None
            matrix = CoefficientMatrix(right, weights, self.right.n_objects)
            sums = sum_over_pairs(self._terms, matrix)
            return [sample_pairs(sums, left) for left in lefts]
        return [self._gathered_product(left, right, weights) for left in lefts]

    def _through_objects(self, n_used: int, n_left: int) -> bool:
        """Whether products of object matrices are cheaper than touching every pair of pairs."""
        if self._terms is None or not supports_products(self._terms):
            return False
        pairwise = float(n_left) * n_used * len(self._terms.weights)
        return products_cost(self._terms, n_used, n_left) < pairwise

    def _gathered_product(
        self, left: Pairs, right: Pairs, weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.zeros(len(left))
        terms = self._terms

        def multiply(start: int, stop: int) -> None:
            if terms is None:
                block = dense_gram(self.kernel, left[start:stop], right, self.grams)
                dot_rows(out[start:stop], block, weights)
                return
            gather_products(
                out[start:stop],
                np.empty(len(right)),
                left.first[start:stop],
                left.second[start:stop],
                right.first,
                right.second,
                terms.grams,
                terms.weights,
                terms.edge_gram,
                weights,
            )

        run_in_ranges(multiply, len(left), _rows_per_range(len(right)))
        return out

    def diagonal(self) -> NDArray[np.float64]:
        """``K(left_i, right_i)`` for all i."""
        return np.asarray(self.kernel.formula(PairedAtoms(self.left, self.right)))


def _rows_per_range(n_columns: int) -> int:
    return max(1, _ENTRIES_PER_RANGE // max(1, n_columns))
