"""An expansion compiled to arrays: Gram matrices of objects, weights, edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import mul

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import ObjectGrams
from pairity.kernels.elementary import Linear
from pairity.kernels.expansion import Expansion, Monomial

__all__ = ["TermTable", "compile_terms"]

#: Expansions longer than this are evaluated by the formula instead.
_MOST_TERMS = 64


@dataclass(frozen=True)
class TermTable:
    """Monomials as arrays: ``edge_gram[t, e]`` is a row of ``grams``, or -1 for no kernel."""

    grams: NDArray[np.float64]  # (n_grams, m_left, m_right)
    weights: NDArray[np.float64]  # (n_terms,)
    edge_gram: NDArray[np.int64]  # (n_terms, 4)
    factors: tuple[tuple[NDArray[np.float64], NDArray[np.float64]] | None, ...] = ()
    """``grams[g] = factors[g][0] @ factors[g][1].T`` where the rank is known to be low."""


def compile_terms(expansion: Expansion, grams: ObjectGrams) -> TermTable | None:
    """Return the table of an expansion in object kernels alone; None if there is more in it."""
    monomials = sorted(expansion.terms, key=_edges_present, reverse=True)
    if not monomials or len(monomials) > _MOST_TERMS:
        return None
    if any(monomial.factors for monomial in monomials):
        return None
    places: dict[tuple[Kernel, ...], int] = {}
    edge_gram = np.full((len(monomials), 4), -1, dtype=np.int64)
    for term, monomial in enumerate(monomials):
        for edge, kernels in enumerate(monomial.edges):
            if kernels:
                edge_gram[term, edge] = places.setdefault(kernels, len(places))
    matrices = [reduce(mul, (grams[kernel] for kernel in kernels)) for kernels in places]
    stacked = matrices[0][np.newaxis] if len(matrices) == 1 else np.stack(matrices)
    return TermTable(
        np.ascontiguousarray(stacked),
        np.array([expansion.terms[monomial] for monomial in monomials]),
        edge_gram,
        tuple(_low_rank_factor(kernels, grams) for kernels in places),
    )


def _edges_present(monomial: Monomial) -> tuple[bool, ...]:
    return tuple(bool(kernels) for kernels in monomial.edges)


def _low_rank_factor(
    kernels: tuple[Kernel, ...], grams: ObjectGrams
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The features themselves, for a linear kernel of fewer columns than half the objects."""
    smaller = min(grams.left.shape[0], grams.right.shape[0])
    if kernels != (Linear(),) or sp.issparse(grams.left) or 2 * grams.left.shape[1] > smaller:
        return None
    return grams.left, grams.right
