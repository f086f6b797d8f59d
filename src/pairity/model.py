"""A fitted function of pairs: support pairs, coefficients, bias, and the parity it obeys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.pair_operator import PairOperator
from pairity.orientation import Orientation
from pairity.pairs import Pairs
from pairity.parity import Parity, impose

__all__ = ["PairModel"]

#: Entries of the object Gram matrix between new and support objects that are held at a time.
_GRAM_ENTRIES = 40_000_000


@dataclass(frozen=True)
class PairModel:
    """``f(a, b) = sum_j coefficients_j K(ab, j) + bias``, projected to ``parity``.

    ``kernel`` is the order-invariant kernel before projection: imposing the parity on the sum is
    the same as projecting the kernel (:func:`pairity.parity.impose`).  Each pair is evaluated in
    one order alone, so that the swap law is exact (:mod:`pairity.orientation`).
    """

    kernel: Kernel
    support: Pairs
    coefficients: NDArray[np.float64]
    bias: float
    parity: Parity | None

    def decisions(self, pairs: Pairs) -> NDArray[np.float64]:
        """Values of the function, shape (n,)."""
        step = self._pairs_at_a_time(pairs)
        parts = [self._decide(pairs[start : start + step]) for start in range(0, len(pairs), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _pairs_at_a_time(self, pairs: Pairs) -> int:
        """All of them if their objects allow it; the same for pairs and for swapped pairs."""
        objects = max(2, _GRAM_ENTRIES // max(1, self.support.n_objects))
        return max(1, len(pairs) if pairs.n_objects <= objects else objects // 2)

    def _decide(self, pairs: Pairs) -> NDArray[np.float64]:
        pairs = pairs.compact()
        if self.parity is None:
            operator = PairOperator(self.kernel, pairs, self.support)
            return operator.product(self.coefficients) + self.bias
        order = Orientation.of_compact(pairs)
        operator = PairOperator(self.kernel, pairs.with_swapped(order.turned), self.support)
        value, mirrored = operator.products(self.coefficients, mirrored=True)
        return order.restored(self.parity, impose(self.parity, value, mirrored)) + self.bias
