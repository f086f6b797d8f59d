"""Inner products and squared distances of feature rows, dense or CSR.

Each comes in two forms: every left row with every right row, and row by row ("paired").
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

__all__ = [
    "Features",
    "NamedObjects",
    "beside",
    "inner_products",
    "paired_inner_products",
    "paired_squared_distances",
    "squared_distances",
]

Features: TypeAlias = NDArray[np.float64] | sp.csr_array
Matrix: TypeAlias = NDArray[np.float64]


class NamedObjects(NamedTuple):
    """Objects as kernels see them: features, and numbers that stand for ids, if any."""

    features: Features
    codes: Matrix | None


#: Up to this many columns distances are summed difference by difference: exact for near rows
#: far from the origin.  Above it, matrix products on centred columns are much faster.
_DIRECT_DISTANCE_COLUMNS = 64


def beside(tables: Sequence[Features]) -> Features:
    """Columns of several tables with the same rows; sparse if one of them is."""
    if any(map(sp.issparse, tables)):
        return sp.csr_array(sp.hstack(tables, format="csr"))
    return np.hstack(tables)


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
