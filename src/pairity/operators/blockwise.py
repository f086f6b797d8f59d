"""A kernel matrix between pairs of too many objects: every block from the objects of its own pairs.

Object Gram matrices take 8 m^2 bytes each.  Where objects appear once or twice there are more
entries in them than in the kernel matrix of the pairs; entries are then evaluated a square of
pairs at a time, with Gram matrices of the few objects in it, whenever they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import PairedAtoms
from pairity.memory import Budget
from pairity.operators.base import KernelOperator
from pairity.operators.pair_operator import PairOperator
from pairity.operators.precise import precise_product
from pairity.operators.terms import gram_megabytes
from pairity.pairs import Pairs

__all__ = ["Blockwise", "operator_within"]

#: Share of a budget for Gram matrices, and for those of one square of pairs.
_GRAMS_SHARE, _SQUARE_SHARE = 0.5, 0.1
#: Pairs of a square, at least and at most.
_FEWEST, _MOST = 64, 1024
#: Pairs beyond which every product would take minutes.
_MOST_PAIRS = 20_000


def operator_within(
    kernel: Kernel, left: Pairs, budget: Budget, right: Pairs | None = None
) -> KernelOperator:
    """The kernel between pairs, through all objects at once where that fits."""
    needed = gram_megabytes(kernel, left, right)
    if needed <= budget.share(_GRAMS_SHARE).megabytes:
        return PairOperator(kernel, left, right)
    n = max(len(left), 0 if right is None else len(right))
    if n > _MOST_PAIRS:
        budget.refuse(
            f"{n} pairs of {left.n_objects} objects",
            needed / _GRAMS_SHARE,
            "a smaller problem, a larger memory_limit, or few features of objects in place of their"
            " Gram matrix: kernel=Nystroem(kernel, 256)",
        )
    return Blockwise(kernel, left, budget, right)


class Blockwise:
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: There is no tensor form on all objects.
    structure = None
    spectral_grid = None
    #: Nothing is held between objects, so that a matrix in memory is worth it.
    is_costly = True
    object_megabytes = 0.0

    def __init__(
        self, kernel: Kernel, left: Pairs, budget: Budget, right: Pairs | None = None
    ) -> None:
        self.kernel, self.left = kernel, left
        self.right = left if right is None else right
        self.shape = len(left), len(self.right)
        # the objects of two squares of pairs, up to two for each pair
        one_pair = gram_megabytes(kernel, left[:1].without_unused_objects())
        fitting = (budget.share(_SQUARE_SHARE).megabytes / max(one_pair, 1e-12)) ** 0.5
        self._step = int(min(_MOST, max(_FEWEST, fitting)))

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""
        return self.block(index, slice(None))

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Entries of some rows and columns, into ``out``."""
        left, right = self.left[rows], self.right[columns]
        if out is None:
            out = np.empty((len(left), len(right)))
        for down in self._parts(len(left)):
            some = left[down].without_unused_objects()
            for across in self._parts(len(right)):
                self._entries(some, right[across], out[down, across])
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector; of a symmetric matrix every square serves twice."""
        used = np.flatnonzero(vector)
        if self.right is not self.left or 2 * len(used) < len(vector):
            return self._plain_product(self.right[used], vector[used])
        total = np.zeros(len(self.left))
        parts = list(self._parts(len(self.left)))
        for place, down in enumerate(parts):
            some = self.left[down].without_unused_objects()
            for across in parts[place:]:
                square = self._entries(some, self.left[across])
                total[down] += square @ vector[across]
                if across is not down:
                    total[across] += vector[down] @ square
        return total

    def _plain_product(self, right: Pairs, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.zeros(len(self.left))
        for across in self._parts(len(right)):
            some, some_weights = right[across].without_unused_objects(), weights[across]
            for down in self._parts(len(self.left)):
                total[down] += self._entries(self.left[down], some) @ some_weights
        return total

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of the product, in extended precision."""
        return precise_product(self.kernel, self.left[rows], self.right, vector)

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return np.asarray(self.kernel.formula(PairedAtoms(self.left, self.right)))

    def _parts(self, n_pairs: int) -> Iterator[slice]:
        for start in range(0, n_pairs, self._step):
            yield slice(start, min(start + self._step, n_pairs))

    def _entries(
        self, left: Pairs, right: Pairs, out: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Entries of a square, through the objects in it."""
        few = (side.without_unused_objects() for side in (left, right))
        return PairOperator(self.kernel, *few).block(slice(None), slice(None), out)
