"""Graphs of similar pairs, and their Laplacians on even or odd functions.

The nodes are the ordered pairs I: rows and their mirror images.  Mirroring both ends of an edge
gives an edge, so even and odd functions stay what they are under the Laplacian L_I.  On one order
per pair (J) with ``f_I = E f_J``, ``E = [1; +-1]``, it is ``L_J = E' L_I E / 2``: edges between
pairs written in opposite orders count with the sign of the parity,

    f_I' L_I f_I = 2 f_J' L_J f_J = sum over edges of w (f_ab - f_cd)^2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.validation import as_dense

__all__ = ["pair_laplacian"]


def pair_laplacian(
    pairs: Pairs, parity: Parity | None, graph: Any, n_neighbors: int
) -> sp.csr_array:
    """Normalised graph Laplacian over the rows of ``pairs``, for functions of a parity.

    ``graph`` is "pairs" (neighbours by all features of a pair), "objects" (pairs that share an
    object and whose other objects are neighbours), or a symmetric (n, n) matrix of weights
    between rows.
    """
    n = len(pairs)
    both = pairs if parity is None else pairs.with_mirrored()
    if isinstance(graph, str) and graph == "pairs":
        weights = _nearest(as_dense(both.to_rows()), n_neighbors)
    elif isinstance(graph, str) and graph == "objects":
        weights = _through_objects(both, n_neighbors)
    else:
        weights = _given(graph, n)
        if parity is not None:
            weights = sp.block_diag([weights, weights], format="csr")
    laplacian = _normalised(_swap_symmetric(weights, n) if parity is not None else weights)
    if parity is None:
        return laplacian
    one = sp.eye_array(n, format="csr")
    lift = sp.vstack([one, parity.sign * one], format="csr")
    return sp.csr_array(0.5 * (lift.T @ laplacian @ lift))


def _nearest(features: NDArray[np.float64], n_neighbors: int) -> sp.csr_array:
    """1 between each row and its nearest ones, either way."""
    count = min(n_neighbors, len(features) - 1)
    if count < 1:
        return sp.csr_array((len(features), len(features)))
    search = NearestNeighbors(n_neighbors=count).fit(features)
    return _either_way(sp.csr_array(search.kneighbors_graph(mode="connectivity")))


def _either_way(weights: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(weights.maximum(weights.T))


def _through_objects(pairs: Pairs, n_neighbors: int) -> sp.csr_array:
    """(a, b) and (c, b) where a and c are neighbours; likewise for the second object."""
    m, n = pairs.n_objects, len(pairs)
    objects = _nearest(as_dense(pairs.objects), n_neighbors)
    cells, node = np.unique(pairs.first * m + pairs.second, return_inverse=True)
    total = sp.csr_array((len(cells), len(cells)))
    for place, factor in ((cells // m, m), (cells % m, 1)):
        edges = objects[place].tocoo()
        wanted = cells[edges.row] + (edges.col - place[edges.row]) * factor
        found = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        there = cells[found] == wanted
        entries = (edges.data[there], (edges.row[there], found[there]))
        total = total + sp.csr_array(entries, shape=total.shape)
    rows = sp.csr_array((np.ones(n), (np.arange(n), node)), shape=(n, len(cells)))
    return sp.csr_array(rows @ total @ rows.T)


def _given(graph: Any, n: int) -> sp.csr_array:
    try:
        weights = sp.csr_array(graph, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"got a graph of type {type(graph).__name__} that is no matrix of numbers; expected"
            f" 'pairs', 'objects', or weights of shape ({n}, {n})."
        ) from None
    if weights.shape != (n, n):
        raise ValueError(
            f"got a graph of shape {weights.shape} for {n} pairs; expected ({n}, {n}): one row and"
            " column per pair, labelled or not."
        )
    if not np.isfinite(weights.data).all() or (weights.data < 0).any():
        raise ValueError("got negative or non-finite weights in the graph; expected finite, >= 0.")
    if abs(weights - weights.T).max() > 1e-10 * max(1.0, abs(weights).max()):
        raise ValueError(
            "got a graph that is not symmetric; expected weights[i, j] = weights[j, i]: use"
            " (weights + weights.T) / 2."
        )
    return weights


def _swap_symmetric(weights: sp.csr_array, n: int) -> sp.csr_array:
    """Equal weights for an edge and the edge between the mirror images, where ties broke it."""
    mirror = np.concatenate([np.arange(n, 2 * n), np.arange(n)])
    return sp.csr_array(weights.maximum(weights[mirror][:, mirror]))


def _normalised(weights: sp.csr_array) -> sp.csr_array:
    """``1 - D^-1/2 W D^-1/2``; 0 for nodes without an edge."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    linked = degrees > 0
    root = np.where(linked, 1.0 / np.sqrt(np.where(linked, degrees, 1.0)), 0.0)
    scale = sp.diags_array(root, format="csr")
    return sp.csr_array(sp.diags_array(linked.astype(np.float64)) - scale @ weights @ scale)
