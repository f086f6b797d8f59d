"""Decision values in extended precision, by the formula of the kernel: what certificates rest on.

Solvers work with Gram matrices in double precision, and a certificate from the same numbers would
share their rounding.  Here features are lifted to ``np.longdouble`` (64 bits of significand on x86,
113 on most others; where it is no more than a double, the formula is all that differs) before
anything is multiplied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import BlockAtoms, ObjectGrams
from pairity.kernels.features import Features
from pairity.pairs import Pairs

__all__ = ["precise_product"]

#: Kernel values held at a time.
_BLOCK_ENTRIES = 200_000


def precise_product(
    kernel: Kernel, left: Pairs, right: Pairs, weights: NDArray[np.float64]
) -> NDArray[np.longdouble]:
    """``sum_j K(left_i, right_j) weights_j``, entry by entry, in extended precision."""
    used = np.flatnonzero(weights)
    right, weights = right[used], weights[used]
    left = _lifted(left.without_unused_objects())
    total = np.zeros(len(left), dtype=np.longdouble)
    step = max(1, _BLOCK_ENTRIES // max(1, len(left)))
    for start in range(0, len(right), step):
        part = slice(start, start + step)
        block = _lifted(right[part].without_unused_objects())
        gram = kernel.formula(BlockAtoms(left, block, ObjectGrams(left, block)))
        total += np.asarray(gram, dtype=np.longdouble) @ weights[part].astype(np.longdouble)
    return total


def _lifted(pairs: Pairs) -> Pairs:
    """The same pairs with features of extended precision."""
    return pairs.with_features(
        *(_long(table) for table in (pairs.objects, pairs.symmetric, pairs.antisymmetric))
    )


def _long(table: Features) -> Any:
    return table.astype(np.longdouble)
