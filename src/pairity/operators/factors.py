"""Group features as declared factors: kernels of them that are inner products of few features.

A monomial ``(object kernels) * <x_ab, x_cd> * <x~_ab, x~_cd>`` acts on coefficients v as
``sum_h phi_h o [object kernels](phi_h o v)``, with phi the products of columns (MATH, section 1:
"K_TL * k3, k3 linear", "polynomial with group").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.elementary import Linear, Polynomial
from pairity.kernels.expansion import Factor
from pairity.pairs import Pairs

__all__ = ["explicit_features", "swap_sign"]

#: More columns than this are not worth a product each.
_MOST_COLUMNS = 64


def explicit_features(factors: tuple[Factor, ...], pairs: Pairs) -> NDArray[np.float64] | None:
    """Columns phi, shape (n, h), whose inner products are the product of the factors; or None."""
    features = np.ones((len(pairs), 1))
    for factor in factors:
        table = pairs.symmetric if factor.role == "symmetric" else pairs.antisymmetric
        power = _power(factor)
        if power is None or features.shape[1] * table.shape[1] ** power > _MOST_COLUMNS:
            return None
        for _ in range(power):
            columns = features.shape[1] * table.shape[1]
            products = np.einsum("ni,nj->nij", features, table)
            features = products.reshape(len(pairs), columns)
    return np.ascontiguousarray(features)


def swap_sign(factors: tuple[Factor, ...]) -> float:
    """Sign by which the features of a swapped pair differ: -1.0 for an odd power of x~."""
    odd = sum(_power(factor) or 0 for factor in factors if factor.role == "antisymmetric") % 2
    return -1.0 if odd else 1.0


def _power(factor: Factor) -> int | None:
    """Degree of a homogeneous polynomial factor; None for anything else."""
    if factor.role == "rows" or factor.left_swapped or factor.right_swapped:
        return None
    if type(factor.kernel) is Linear:
        return 1
    return int(factor.kernel.degree) if type(factor.kernel) is Polynomial else None
