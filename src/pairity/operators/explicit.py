"""Bilinear kernels through their features: ``K v = X P (Z' v)``, linear in the number of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.constructions import Bilinear
from pairity.kernels.expansion import Expansion
from pairity.pairs import Pairs
from pairity.validation import as_dense

__all__ = ["BilinearTerm", "bilinear_product", "bilinear_terms"]


@dataclass(frozen=True)
class BilinearTerm:
    """``weight * X_left P X_right'``, with the swaps applied to either side."""

    weight: float
    P: NDArray[np.float64]
    left_swapped: bool
    right_swapped: bool


def bilinear_terms(expansion: Expansion) -> list[BilinearTerm] | None:
    """Return the terms of an expansion in bilinear kernels alone (37), (38); None otherwise."""
    terms = []
    for monomial, weight in expansion.terms.items():
        if any(monomial.edges) or len(monomial.factors) != 1:
            return None
        factor = monomial.factors[0]
        if factor.role != "rows" or not isinstance(factor.kernel, Bilinear):
            return None
        matrix = factor.kernel.matrix
        terms.append(BilinearTerm(weight, matrix, factor.left_swapped, factor.right_swapped))
    return terms or None


def bilinear_product(
    terms: list[BilinearTerm], left: Pairs, right: Pairs, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``sum_j K(left_i, right_j) weights_j``, never forming K."""
    sides = {
        (name, swapped): as_dense((pairs.swap() if swapped else pairs).to_rows())
        for name, pairs in (("left", left), ("right", right))
        for swapped in {getattr(term, f"{name}_swapped") for term in terms}
    }
    total = np.zeros(len(left))
    for term in terms:
        direction = term.P @ (sides["right", term.right_swapped].T @ weights)
        total += term.weight * (sides["left", term.left_swapped] @ direction)
    return total
