"""Graphs of similar pairs, their Laplacians on even or odd functions, and kernels bent by them.

The nodes are the ordered pairs I: rows and their mirror images.  Mirroring both ends of an edge
gives an edge, so even and odd functions stay what they are under the Laplacian L_I.  On one order
per pair (J) with ``f_I = E f_J``, ``E = [1; +-1]``, it is ``L_J = E' L_I E / 2``: edges between
pairs written in opposite orders count with the sign of the parity,

    f_I' L_I f_I = 2 f_J' L_J f_J = sum over edges of w (f_ab - f_cd)^2.

Adding ``1/2 f' M f`` over all pairs A (labelled or not) to the norm of f turns the kernel K into

    K~(x, z) = K(x, z) - K(x, A) (I + M K_AA)^-1 M K(A, z)

(Sindhwani, Niyogi and Belkin 2005), so that machines on the labelled pairs need nothing new.  A
function ``sum_L theta_i K~(x, i)`` is ``sum_A c_i K(x, i)`` with ``c = theta - (I + M K)^-1 M K_AL
theta``.

Where M K is large, c has few digits, and both the bent matrix and the model are off.  Of the model
that c *is*, with ``f = K c`` and ``r = theta - c - M f`` (0 without rounding), the norm is
``theta' f - r' f`` and the bent one of theta ``theta' f + r' f + r' K~ r``: the duality gap grows by
``1/2 r' K~ r``, which is at most ``1/2 r' K r``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from pairity.operators.operator import KernelOperator, Rows, make_symmetric, whole_matrix
from pairity.pairs.arrays import Matrix, Places, Vector, as_dense, distinct_rows, places_of
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity

#: Distances that differ by less than this share of them are equal but for rounding.
_EQUALLY_NEAR = 1e-9
#: Kernel values that are worth recomputing in extended precision.
_PRECISE_ENTRIES = 300_000


def pair_laplacian(
    pairs: Pairs, parity: Parity | None, graph: Any, n_neighbors: int
) -> sp.csr_array:
    """Normalised graph Laplacian over the rows of ``pairs``, for functions of a parity: L_J."""
    laplacian = full_laplacian(pairs, parity, graph, n_neighbors)
    if parity is None:
        return laplacian
    one = sp.eye_array(len(pairs), format="csr")
    lift = sp.vstack([one, parity.sign * one], format="csr")
    return sp.csr_array(0.5 * (lift.T @ laplacian @ lift))


def full_laplacian(
    pairs: Pairs, parity: Parity | None, graph: Any, n_neighbors: int
) -> sp.csr_array:
    """The same over the rows and their mirror images, L_I; over the rows without a parity.

    ``graph`` is "pairs" (neighbours by all features of a pair), "objects" (pairs that share an
    object and whose other objects are neighbours), or a symmetric (n, n) matrix of weights
    between rows.
    """
    n = len(pairs)
    both = pairs if parity is None else pairs.with_mirrored()
    asked = graph if isinstance(graph, str) else None
    if asked == "pairs":
        weights = _nearest(as_dense(both.to_rows()), n_neighbors)
    elif asked == "objects":
        weights = _through_objects(both, n_neighbors)
    else:
        weights = _given(graph, n)
        if parity is not None:
            weights = sp.block_diag([weights, weights], format="csr")
    if parity is not None:  # equal weights between mirror images, where ties broke them
        mirror = np.concatenate([np.arange(n, 2 * n), np.arange(n)])
        weights = sp.csr_array(weights.maximum(weights[mirror][:, mirror]))
    return _normalised(weights)


def _spread(nodes: sp.csr_array, place: Places) -> sp.csr_array:
    """Weights between observations, from those between the nodes that they are of."""
    n = len(place)
    rows = sp.csr_array((np.ones(n), (np.arange(n), place)), shape=(n, nodes.shape[0]))
    return sp.csr_array(rows @ nodes @ rows.T)


def _nearest(features: Matrix, n_neighbors: int) -> sp.csr_array:
    """1 between each row and its nearest ones, either way; all of those that are equally near.

    Which of equally near ones came first would depend on the order of rows.  Equal rows are the
    nearest to each other.
    """
    found = distinct_rows(features)
    nodes = features[found.representative]
    edges = _between(nodes, np.bincount(found.inverse), min(n_neighbors, len(features) - 1))
    weights = _spread(edges.maximum(edges.T), found.inverse)
    return sp.csr_array(weights - sp.diags_array(weights.diagonal()))


def _between(nodes: Matrix, copies: Places, n_neighbors: int) -> sp.csr_array:
    """1 from each distinct row to itself, if it has copies, and to those near it, of any number."""
    n, others = len(nodes), len(nodes) - 1
    own = sp.diags_array((copies > 1).astype(np.float64), format="csr")
    wanted = n_neighbors - (copies - 1)
    if not others or not (wanted > 0).any():
        return own
    search, asked = NearestNeighbors().fit(nodes), n_neighbors
    while True:
        asked = min(2 * asked, others)
        distance, other = search.kneighbors(n_neighbors=asked)
        enough = np.cumsum(copies[other], axis=1) >= wanted[:, np.newaxis]
        last = np.where(enough.any(axis=1), enough.argmax(axis=1), asked - 1)
        reach = np.take_along_axis(distance, last[:, np.newaxis], axis=1) * (1.0 + _EQUALLY_NEAR)
        near = (distance <= reach) & (wanted > 0)[:, np.newaxis]
        if asked == others or not near[:, -1].any():
            break
    row = np.broadcast_to(np.arange(n)[:, np.newaxis], other.shape)
    return own + sp.csr_array((np.ones(int(near.sum())), (row[near], other[near])), shape=(n, n))


def _through_objects(pairs: Pairs, n_neighbors: int) -> sp.csr_array:
    """(a, b) and (c, b) where a and c are neighbours; likewise for the second object."""
    m = pairs.n_objects
    objects = _nearest(as_dense(pairs.objects), n_neighbors)
    cells, node = np.unique(pairs.first * m + pairs.second, return_inverse=True)
    total = sp.csr_array((len(cells), len(cells)))
    for place, factor in ((cells // m, m), (cells % m, 1)):
        edges = objects[place].tocoo()
        wanted = cells[edges.row] + (edges.col - place[edges.row]) * factor
        found = places_of(wanted, cells)
        there = found >= 0
        entries = (edges.data[there], (edges.row[there], found[there]))
        total = total + sp.csr_array(entries, shape=total.shape)
    return _spread(total, node)


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


def _normalised(weights: sp.csr_array) -> sp.csr_array:
    """``1 - D^-1/2 W D^-1/2``; 0 for nodes without an edge."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    linked = degrees > 0
    root = np.where(linked, 1.0 / np.sqrt(np.where(linked, degrees, 1.0)), 0.0)
    scale = sp.diags_array(root, format="csr")
    return sp.csr_array(sp.diags_array(linked.astype(np.float64)) - scale @ weights @ scale)


# Deformed ---------------------------------------------------------------------------------------


class DeformedOperator(KernelOperator):
    """``K~`` between the chosen pairs of an operator, penalised by M over all of its pairs."""

    #: Its matrix is held already.
    is_costly = False

    def __init__(self, operator: KernelOperator, penalty: Any, chosen: Places) -> None:
        super().__init__(operator.kernel, operator.left[chosen])
        self._operator, self._penalty, self._chosen = operator, penalty, chosen
        gram = whole_matrix(operator)
        smoothed = np.asarray(penalty @ gram)
        size = float(np.abs(smoothed).max(initial=0.0))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
                self._correction = _correction(smoothed, chosen)
        except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            raise ValueError(
                f"got a penalty times {self.kernel!r} of size {size:.1e}, beside which the kernel is"
                " lost in rounding; expected a smaller one: lower manifold, or divide the features by"
                " a common factor."
            ) from None
        self.gram = gram[np.ix_(chosen, chosen)] - gram[chosen] @ self._correction
        make_symmetric(self.gram)

    def coefficients(self, theta: Vector) -> Vector:
        """Coefficients of the plain kernel at all pairs, for ``theta`` at the chosen ones."""
        plain = -(self._correction @ theta)
        plain[self._chosen] += theta
        return plain

    def lost(self, theta: NDArray[np.float64]) -> float:
        """By how much rounding of the coefficients widens the duality gap, at most: ``r' K r / 2``."""
        plain = self.coefficients(theta)
        rest = -plain - self._penalty @ self._plain_product(plain)
        rest[self._chosen] += theta
        rest = rest.astype(np.float64)
        return 0.5 * abs(float(np.dot(rest, self._plain_product(rest))))

    def _plain_product(self, vector: NDArray[np.float64]) -> NDArray[np.floating]:
        """The plain kernel at all pairs, in extended precision where that is cheap."""
        if len(vector) ** 2 > _PRECISE_ENTRIES:
            return self._operator.product(vector)
        return self._operator.precise_product(np.arange(len(vector)), vector)

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Entries of some rows and columns, into ``out``."""
        part = self.gram[rows][:, columns]
        if out is None:
            return part
        out[...] = part
        return out

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector."""
        return self.gram @ vector

    def precise_product(self, rows: Places, vector: Vector) -> NDArray[np.longdouble]:
        """Some entries of the product, through the plain kernel at all pairs."""
        return self._operator.precise_product(self._chosen[rows], self.coefficients(vector))

    def diagonal(self) -> Vector:
        """The diagonal."""
        return self.gram.diagonal().copy()


def _correction(smoothed: Matrix, chosen: Places) -> Matrix:
    """``(I + M K)^-1 M K_AL`` from ``M K``, which it overwrites: the transposed matrix is factored.

    LAPACK takes columns, so that a matrix stored by rows would be copied otherwise.
    """
    right = np.asfortranarray(smoothed[:, chosen])
    smoothed[np.diag_indices(len(smoothed))] += 1.0
    factor = scipy.linalg.lu_factor(smoothed.T, overwrite_a=True, check_finite=False)
    options = {"overwrite_b": True, "check_finite": False}
    return np.asarray(scipy.linalg.lu_solve(factor, right, trans=1, **options))
