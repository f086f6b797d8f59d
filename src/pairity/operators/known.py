"""Kernels that know their pairs: one action on the whole set serves all products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.diffusion import Diffusion
from pairity.kernels.expansion import Expansion
from pairity.pairs import Pairs

__all__ = ["KnownTerm", "known_term"]


@dataclass(frozen=True)
class KnownTerm:
    """``weight * K`` with a kernel that is defined between pairs of a fixed set."""

    weight: float
    kernel: Diffusion

    def products(
        self, lefts: list[Pairs], right: Pairs, weights: NDArray[np.float64]
    ) -> list[NDArray[np.float64]]:
        """``sum_j weight K(left_i, right_j) weights_j`` for each list of left pairs."""
        return [self.weight * part for part in self.kernel.products(lefts, right, weights)]


def known_term(expansion: Expansion) -> KnownTerm | None:
    """Return an expansion that is a single such kernel; None for any other."""
    if len(expansion.terms) != 1:
        return None
    ((monomial, weight),) = expansion.terms.items()
    if any(monomial.edges) or len(monomial.factors) != 1:
        return None
    kernel = monomial.factors[0].kernel
    return KnownTerm(weight, kernel) if isinstance(kernel, Diffusion) else None
