"""A kernel between two sets of pairs, as something that yields rows and products."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import ObjectGrams, PairedAtoms, dense_gram
from pairity.kernels.expansion import expand
from pairity.operators._gather_loops import dot_rows, gather_products, gather_rows
from pairity.operators.terms import compile_terms
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
        expansion = expand(kernel, self.left.n_symmetric, self.left.n_antisymmetric)
        self._terms = compile_terms(expansion, self.grams)

    def with_left(self, left: Pairs) -> PairOperator:
        """The operator of other left pairs over the same object table."""
        operator = copy(self)
        operator.left = left
        return operator

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of left and right pairs."""
        return len(self.left), len(self.right)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows ``K(left_i, .)`` for i in ``index``, shape (len(index), n_right)."""
        left = self.left[index]
        if self._terms is None:
            return dense_gram(self.kernel, left, self.right, self.grams)
        terms = self._terms
        out = np.empty((len(left), len(self.right)))

        def fill(start: int, stop: int) -> None:
            gather_rows(
                out[start:stop],
                left.first[start:stop],
                left.second[start:stop],
                self.right.first,
                self.right.second,
                terms.grams,
                terms.weights,
                terms.edge_gram,
            )

        run_in_ranges(fill, len(left), self._rows_per_range())
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K vector``, shape (n_left,); only columns with a nonzero entry are touched."""
        used = np.flatnonzero(vector)
        right, weights = self.right[used], np.ascontiguousarray(vector[used])
        out = np.zeros(len(self.left))
        if not len(used):
            return out
        terms = self._terms

        def multiply(start: int, stop: int) -> None:
            if terms is None:
                block = dense_gram(self.kernel, self.left[start:stop], right, self.grams)
                dot_rows(out[start:stop], block, weights)
                return
            gather_products(
                out[start:stop],
                np.empty(len(right)),
                self.left.first[start:stop],
                self.left.second[start:stop],
                right.first,
                right.second,
                terms.grams,
                terms.weights,
                terms.edge_gram,
                weights,
            )

        run_in_ranges(multiply, len(self.left), self._rows_per_range())
        return out

    def diagonal(self) -> NDArray[np.float64]:
        """``K(left_i, right_i)`` for all i."""
        return np.asarray(self.kernel.formula(PairedAtoms(self.left, self.right)))

    def _rows_per_range(self) -> int:
        return max(1, _ENTRIES_PER_RANGE // max(1, len(self.right)))
