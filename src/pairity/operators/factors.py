"""Group features as declared factors: kernels of them that are inner products of few features.

A monomial ``(object kernels) * <x_ab, x_cd> * <x~_ab, x~_cd>`` acts on coefficients v as
``sum_h phi_h o [object kernels](phi_h o v)``, with phi the products of columns (MATH, section 1:
"K_TL * k3, k3 linear", "polynomial with group").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.derived import derived_features
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import BlockAtoms, ObjectGrams
from pairity.kernels.elementary import Linear, Polynomial
from pairity.kernels.expansion import Factor
from pairity.kernels.standardized import OnRescaled
from pairity.pairs import Pairs
from pairity.validation import as_dense

__all__ = ["explicit_features", "factor_values", "swap_sign"]

#: More columns than this are not worth a product each.
_MOST_COLUMNS = 64


def explicit_features(factors: tuple[Factor, ...], pairs: Pairs) -> NDArray[np.float64] | None:
    """Columns phi, shape (n, h), whose inner products are the product of the factors; or None."""
    features = np.ones((len(pairs), 1))
    for factor in factors:
        power = _power(factor)
        if power is None:
            return None
        table = _table(factor, pairs)
        if features.shape[1] * table.shape[1] ** power > _MOST_COLUMNS:
            return None
        for _ in range(power):
            columns = features.shape[1] * table.shape[1]
            products = np.einsum("ni,nj->nij", features, table)
            features = products.reshape(len(pairs), columns)
    return np.ascontiguousarray(features)


def swap_sign(factors: tuple[Factor, ...]) -> float:
    """Sign by which the features of a swapped pair differ: -1.0 for an odd power of x~."""
    odd = sum(_power(factor) or 0 for factor in factors if factor.is_odd) % 2
    return -1.0 if odd else 1.0


def factor_values(factors: tuple[Factor, ...], left: Pairs, right: Pairs) -> NDArray[np.float64]:
    """Product of the factors between all left and right pairs, by their formulas."""
    product = np.ones((len(left), len(right)))
    for factor in factors:
        one = left.swap() if factor.left_swapped else left
        two = right.swap() if factor.right_swapped else right
        atoms = BlockAtoms(one, two, ObjectGrams(one, two))
        if factor.role == "derived":
            product *= atoms.derived(factor.kernel, factor.parts, factor.scaling)
        elif factor.role == "symmetric":
            product *= atoms.symmetric(factor.kernel)
        else:
            product *= atoms.antisymmetric(factor.kernel)
    return product


def _table(factor: Factor, pairs: Pairs) -> NDArray[np.float64]:
    """The features that a factor compares."""
    if factor.role == "derived":
        source = pairs if factor.scaling is None else factor.scaling.apply(pairs)
        table = derived_features(source, factor.parts)
    else:
        table = pairs.symmetric if factor.role == "symmetric" else pairs.antisymmetric
    if isinstance(factor.kernel, OnRescaled):
        return as_dense(factor.kernel.rescale(table))
    return table


def _power(factor: Factor) -> int | None:
    """Degree of a homogeneous polynomial factor; None for anything else."""
    if factor.role in ("rows", "known") or factor.left_swapped or factor.right_swapped:
        return None
    kernel: Kernel = factor.kernel
    if isinstance(kernel, OnRescaled):
        kernel = kernel.kernel
    if type(kernel) is Linear:
        return 1
    return int(kernel.degree) if type(kernel) is Polynomial else None
