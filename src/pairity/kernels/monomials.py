"""Monomials of feature columns: the homogeneous polynomial kernel as an inner product."""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
import scipy.sparse as sp

from pairity.kernels.features import Features

__all__ = ["is_long_power", "monomial_features"]

#: More monomials than this are no longer few.
_MOST_MONOMIALS = 1024
#: Factors in all of them together.
_MOST_FACTORS = 1_000_000
#: Powers beyond this, or with more monomials than this, take too long to be multiplied out.
_HIGHEST_DEGREE, _LONGEST_SUM = 32, 512


def monomial_features(features: Features, degree: int) -> Features | None:
    """``sqrt(p! / (e_1! ... e_d!)) x_1^e_1 ... x_d^e_d`` for all exponents that add up to p.

    Inner products of these rows are ``<x, z>^p`` with p the degree, by the multinomial theorem.
    None for more than 1024 monomials, degrees above 32, and sparse tables of a degree above 1.
    """
    if degree == 1:
        return features
    n_columns = features.shape[1]
    if sp.issparse(features) or degree > _HIGHEST_DEGREE:
        return None
    n_monomials = comb(n_columns + degree - 1, degree)
    if n_monomials > _MOST_MONOMIALS or n_monomials * degree > _MOST_FACTORS:
        return None
    chosen = list(combinations_with_replacement(range(n_columns), degree))
    columns = np.asarray(chosen, dtype=np.intp).reshape(len(chosen), degree)
    monomials = np.tile([_root_of_ways(names) for names in chosen], (features.shape[0], 1))
    for place in range(degree):
        monomials *= features[:, columns[:, place]]
    return monomials


def is_long_power(n_terms: int, degree: int) -> bool:
    """Whether a sum of so many terms to this power is too long to be multiplied out."""
    return degree > _HIGHEST_DEGREE or comb(degree + n_terms - 1, degree) > _LONGEST_SUM


def _root_of_ways(chosen: tuple[int, ...]) -> float:
    """Root of the number of orders in which the columns chosen can be written."""
    orders = factorial(len(chosen)) // prod(map(factorial, Counter(chosen).values()))
    return float(orders) ** 0.5
