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
from pairity.kernels.expansion import Expansion, Factor, Monomial, expand
from pairity.memory import megabytes_of
from pairity.operators.factors import explicit_features, swap_sign
from pairity.pairs import Pairs

__all__ = ["TermGroup", "TermTable", "compile_groups", "gram_megabytes"]

#: Expansions longer than this are evaluated by the formula instead.
_MOST_TERMS = 64
#: Matrices between objects that a product makes beside the Gram matrices.
_IN_PRODUCTS = 4
#: Factors that stand for a whole kernel of pairs.
_BEYOND = ("rows", "known")


@dataclass(frozen=True)
class TermTable:
    """Monomials as arrays: ``edge_gram[t, e]`` is a row of ``grams``, or -1 for no kernel."""

    grams: NDArray[np.float64]  # (n_grams, m_left, m_right)
    weights: NDArray[np.float64]  # (n_terms,)
    edge_gram: NDArray[np.int64]  # (n_terms, 4)
    factors: tuple[tuple[NDArray[np.float64], NDArray[np.float64]] | None, ...] = ()
    """``grams[g] = factors[g][0] @ factors[g][1].T`` where the rank is known to be low."""


@dataclass(frozen=True)
class TermGroup:
    """Monomials that share their group features: ``sum_h left[:, h] right[:, h] * table``.

    ``left`` and ``right`` are None where there are no group features, or where a kernel of them
    is no sum of few products; ``opaque`` then holds the factors to evaluate entry by entry.
    """

    table: TermTable
    left: NDArray[np.float64] | None
    right: NDArray[np.float64] | None
    swap_sign: float = 1.0
    """What a swap of the left pair does to its features: odd powers of x~ change sign."""
    opaque: tuple[Factor, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of products that one product with the group takes."""
        return 1 if self.left is None else self.left.shape[1]


def compile_groups(
    expansion: Expansion, grams: ObjectGrams, left: Pairs, right: Pairs
) -> list[TermGroup] | None:
    """Return an expansion as groups of terms; None for kernels of whole rows or known pairs."""
    if not expansion.terms or len(expansion.terms) > _MOST_TERMS:
        return None
    if any(factor.role in _BEYOND for term in expansion.terms for factor in term.factors):
        return None
    by_factors: dict[tuple[Factor, ...], dict[Monomial, float]] = {}
    for monomial, weight in expansion.terms.items():
        stripped = Monomial(monomial.edges)
        by_factors.setdefault(monomial.factors, {})[stripped] = weight
    groups = []
    for factors, terms in by_factors.items():
        if not factors:
            groups.append(TermGroup(_compile(terms, grams), None, None))
            continue
        left_features = explicit_features(factors, left)
        right_features = left_features if right is left else explicit_features(factors, right)
        if left_features is None or right_features is None:
            groups.append(TermGroup(_compile(terms, grams), None, None, opaque=factors))
            continue
        sign = swap_sign(factors)
        groups.append(TermGroup(_compile(terms, grams), left_features, right_features, sign))
    return groups


def gram_megabytes(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> float:
    """Megabytes that products through the object Gram matrices of a kernel take."""
    right = left if right is None else right
    groups: dict[object, set[tuple[Kernel, ...]]] = {}
    for monomial in expand(kernel, left.n_symmetric, left.n_antisymmetric).terms:
        groups.setdefault(monomial.factors, set()).update(filter(None, monomial.edges))
    known = {kernel for edges in groups.values() for kernels in edges for kernel in kernels}
    if not known:
        return 0.0
    stacked = sum(len(edges) for edges in groups.values() if len(edges) > 1)
    copies = len(known) + stacked + _IN_PRODUCTS
    return megabytes_of(left.n_objects, right.n_objects, copies=copies)


def _compile(terms: dict[Monomial, float], grams: ObjectGrams) -> TermTable:
    monomials = sorted(terms, key=_edges_present, reverse=True)
    places: dict[tuple[Kernel, ...], int] = {}
    edge_gram = np.full((len(monomials), 4), -1, dtype=np.int64)
    for term, monomial in enumerate(monomials):
        for edge, kernels in enumerate(monomial.edges):
            if kernels:
                edge_gram[term, edge] = places.setdefault(kernels, len(places))
    return TermTable(
        _stack([reduce(mul, (grams[kernel] for kernel in kernels)) for kernels in places], grams),
        np.array([terms[monomial] for monomial in monomials]),
        edge_gram,
        tuple(_low_rank_factor(kernels, grams) for kernels in places),
    )


def _stack(matrices: list[NDArray[np.float64]], grams: ObjectGrams) -> NDArray[np.float64]:
    """Matrices in one array, without a copy where there is only one."""
    if not matrices:
        return np.zeros((0, grams.left.shape[0], grams.right.shape[0]))
    if len(matrices) == 1:
        return np.ascontiguousarray(matrices[0])[np.newaxis]
    return np.stack(matrices)


def _edges_present(monomial: Monomial) -> tuple[bool, ...]:
    return tuple(bool(kernels) for kernels in monomial.edges)


def _low_rank_factor(
    kernels: tuple[Kernel, ...], grams: ObjectGrams
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Explicit features of a kernel that has fewer of them than half the objects."""
    if len(kernels) != 1:
        return None
    kernel = kernels[0]
    smaller = min(grams.left.shape[0], grams.right.shape[0])
    sample = kernel.explicit(grams.left[:1])  # how many there are
    if sample is None or sp.issparse(sample) or 2 * sample.shape[1] > smaller:
        return None
    left = np.asarray(kernel.explicit(grams.left))
    same = grams.right is grams.left
    return left, left if same else np.asarray(kernel.explicit(grams.right))
