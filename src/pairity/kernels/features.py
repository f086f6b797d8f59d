"""Inner products, squared distances and whole powers of feature rows, dense or CSR.

Products and distances come in two forms: every left row with every right row, and row by row
("paired").  Powers are products: ``np.power`` is a vendor's vector function on some processors
(AVX-512), and there ``(-x) ** 3 == -(x ** 3)`` fails in the last place, whereas IEEE products of
numbers with opposite signs are exact opposites on every processor.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import combinations_with_replacement, repeat
from math import comb, factorial, prod
from operator import mul
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from pairity.pairs.arrays import Features, Matrix


class NamedObjects(NamedTuple):
    """Objects as kernels see them: features, and numbers that stand for ids, if any."""

    features: Features
    codes: Matrix | None


#: Up to this many columns distances are summed difference by difference: exact for near rows
#: far from the origin.  Above it, matrix products on centred columns are much faster.
_DIRECT_DISTANCE_COLUMNS = 64


def inner_products(left: Features, right: Features) -> Matrix:
    """``<x_i, z_j>`` for all i and j."""
    product: Any = left @ right.T
    return product.toarray() if sp.issparse(product) else np.asarray(product)


def paired_inner_products(left: Features, right: Features) -> Matrix:
    """``<x_i, z_i>`` for all i."""
    if sp.issparse(left) or sp.issparse(right):
        return np.asarray(sp.csr_array(left).multiply(sp.csr_array(right)).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", left, right)


def squared_distances(left: Features, right: Features) -> Matrix:
    """``|x_i - z_j|^2`` for all i and j."""
    if sp.issparse(left) or sp.issparse(right):
        return _expanded_distances(left, right)
    if np.longdouble in (left.dtype, right.dtype):
        return _summed_distances(left, right)
    if left.shape[1] <= _DIRECT_DISTANCE_COLUMNS:
        return cdist(left, right, "sqeuclidean")
    centre = right.mean(axis=0)
    centred = right - centre
    return _expanded_distances(centred if left is right else left - centre, centred)


def _summed_distances(left: Matrix, right: Matrix) -> Matrix:
    """Squares added column by column, in the precision of the features."""
    distances = np.zeros((len(left), len(right)), dtype=left.dtype)
    for column in range(left.shape[1]):
        difference = left[:, column, np.newaxis] - right[:, column]
        difference *= difference
        distances += difference
    return distances


def _expanded_distances(left: Features, right: Features) -> Matrix:
    """``|x|^2 + |z|^2 - 2 <x, z>``, with the rounding below zero cut off."""
    distances = inner_products(left, right)
    distances *= -2.0
    distances += paired_inner_products(left, left)[:, np.newaxis]
    distances += paired_inner_products(right, right)[np.newaxis, :]
    np.maximum(distances, 0.0, out=distances)
    if left is right:
        np.fill_diagonal(distances, 0.0)
    return distances


def paired_squared_distances(left: Features, right: Features) -> Matrix:
    """``|x_i - z_i|^2`` for all i."""
    difference = left - right
    return paired_inner_products(difference, difference)


Value = TypeVar("Value")


def whole_power(base: Value, exponent: int) -> Value:
    """``base * ... * base`` for an exponent of at least 1; arrays, or anything else with ``*``."""
    return reduce(mul, repeat(base, int(exponent)))


# Monomials of feature columns -------------------------------------------------------------------

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
    # roots of the numbers of orders in which the columns can be written
    counts = (prod(map(factorial, Counter(names).values())) for names in chosen)
    roots = [float(factorial(degree) // count) ** 0.5 for count in counts]
    monomials = np.tile(roots, (features.shape[0], 1))
    for place in range(degree):
        monomials *= features[:, columns[:, place]]
    return monomials


def is_long_power(n_terms: int, degree: int) -> bool:
    """Whether a sum of so many terms to this power is too long to be multiplied out."""
    return degree > _HIGHEST_DEGREE or comb(degree + n_terms - 1, degree) > _LONGEST_SUM
