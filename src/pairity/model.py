"""A fitted function of pairs: support pairs, coefficients, bias, and the parity it obeys."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.pair_operator import PairOperator
from pairity.pairs import Pairs
from pairity.parity import Parity, impose

__all__ = ["PairModel"]

#: Pairs evaluated at a time: bounds the object Gram matrix between new and support objects.
_BATCH = 16_384


@dataclass(frozen=True)
class PairModel:
    """``f(a, b) = sum_j coefficients_j K(ab, j) + bias``, projected to ``parity``.

    ``kernel`` is the order-invariant kernel before projection: imposing the parity on the sum is
    the same as projecting the kernel, and makes the swap law exact (see
    :func:`pairity.parity.impose`).
    """

    kernel: Kernel
    support: Pairs
    coefficients: NDArray[np.float64]
    bias: float
    parity: Parity | None

    def decisions(self, pairs: Pairs) -> NDArray[np.float64]:
        """Values of the function, shape (n,)."""
        parts = [
            self._decide(pairs[start : start + _BATCH]) for start in range(0, len(pairs), _BATCH)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _decide(self, pairs: Pairs) -> NDArray[np.float64]:
        pairs = pairs.compact()
        operator = PairOperator(self.kernel, pairs, self.support)
        if self.parity is None:
            return operator.product(self.coefficients) + self.bias
        value, mirrored = operator.products(self.coefficients, mirrored=True)
        return impose(self.parity, value, mirrored) + self.bias
