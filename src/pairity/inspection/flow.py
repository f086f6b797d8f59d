"""Preferences as a flow on the graph of comparisons: one number per compared pair of objects.

The part of a flow that circulates in triangles (three objects that were all compared) is its
projection onto sums of triangle loops.  With C the matrix that takes a flow to its curls (one row
per triangle, entries +1, +1, -1), these are ``W^-1 C' z`` (adjoint of C in the product weighted by
W), and the projection of a flow R is the one with ``z`` least squares (Jiang, Lim, Yao and Ye,
"Statistical ranking and combinatorial Hodge theory", Mathematical Programming 127, 2011):

    minimise  | W^1/2 R - W^-1/2 C' z |.

Where all pairs of a connected part are compared every loop is a sum of triangles, so nothing has
to be solved.  Where there are very many triangles, ``z = C x`` with x on edges spans the same
flows, and ``C' C x`` needs no list of triangles: for the skew matrix X of x and adjacency A

    (C' C x)_ij = (A^2)_ij x_ij - (A X)_ij + (A X)_ji.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, lsqr
from threadpoolctl import threadpool_limits

from pairity.inspection.fitted_function import margins
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered
from pairity.pairs.same_objects import connected_parts
from pairity.runtime.validation import refuse_extreme_weights, refuse_large_targets, refuse_lossy

#: Largest ratio of two weights.
_WIDEST = 1e12
#: Entries of adjacency rows that are looked at together.
_ENTRIES_AT_A_TIME = 500_000
#: Triangles listed at most; beyond that m x m matrices are used, for at most that many objects.
_TRIANGLES_LISTED, _OBJECTS_IN_MATRIX = 4_000_000, 6_000
#: Steps of the least-squares iteration at most, and size up to which vectors are short.
_STEPS, _SHORT = 100_000, 5_000


@dataclass(frozen=True, eq=False)
class PreferenceFlow:
    """``Y_ij``: by how much object i is ahead of object j, for the pairs ``i < j`` compared.

    ``Y_ji = -Y_ij`` is not stored.  ``weights`` say how much each comparison counts.  Inner
    products of flows are ``<X, Y> = sum_e w_e X_e Y_e``.
    """

    first: Places  # (n_edges,), first < second
    second: Places
    values: Vector
    weights: Vector  # above 0
    n_objects: int

    def __len__(self) -> int:
        return len(self.values)

    def some_edges(self, kept: Places) -> PreferenceFlow:
        """The flow on some of the edges."""
        ends = self.first[kept], self.second[kept]
        return PreferenceFlow(*ends, self.values[kept], self.weights[kept], self.n_objects)

    def gradient(self) -> sp.csr_array:
        """The matrix that takes scores to the flow ``s_i - s_j``, shape (n_edges, n_objects)."""
        return differences(self.first, self.second, self.n_objects)

    def components(self) -> Places:
        """Number of the connected part of each object; scores compare within one only."""
        return connected_parts(self.first, self.second, self.n_objects)

    def per_object(self, edge_values: Vector, sign: float) -> Vector:
        """Sum over the comparisons of each object, those where it is second times ``sign``."""
        as_first = np.bincount(self.first, edge_values, self.n_objects)
        return as_first + sign * np.bincount(self.second, edge_values, self.n_objects)


def differences(first: Places, second: Places, n_objects: int) -> sp.csr_array:
    """The matrix that takes a number of each object to ``s_i - s_j`` of each pair."""
    n_pairs = len(first)
    rows, entries = np.tile(np.arange(n_pairs), 2), np.repeat([1.0, -1.0], n_pairs)
    places = rows, np.concatenate([first, second])
    return sp.csr_array((entries, places), shape=(n_pairs, n_objects))


def observed_flow(
    pairs: Pairs, y: ArrayLike, sample_weight: ArrayLike | None = None
) -> PreferenceFlow:
    """Flow of observed outcomes: weighted means over all observations of a pair, either order.

    ``y`` above 0 means that the first object is ahead (+1 and -1, or margins), 0 is a tie.  The
    objects are the rows of ``pairs.objects``; group features are not looked at.
    """
    outcome, weight = _finite(y, "y", len(pairs)), np.ones(len(pairs))
    if sample_weight is not None:
        weight = _finite(sample_weight, "sample_weight", len(pairs))
    if (weight < 0).any():
        raise ValueError("got negative sample weights; expected weights of at least 0.")
    refuse_large_targets(outcome)
    refuse_extreme_weights(weight, "sample weights")
    keep = weight > 0
    lightest, heaviest = weight[keep].min(initial=np.inf), weight.max(initial=0.0)
    if heaviest > _WIDEST * lightest:  # the small ones would be lost beside the large ones
        raise ValueError(
            f"got sample weights from {lightest:.1e} to {heaviest:.1e}; expected them within"
            f" a factor of {_WIDEST:.0e}: give the small ones the weight 0."
        )
    alone = pairs.first == pairs.second
    if alone.any():
        raise ValueError(
            f"got row {int(np.argmax(alone))} that compares an object with itself; expected two"
            " objects: drop such rows."
        )
    low, high, swapped = unordered(pairs.first, pairs.second)
    outcome = np.where(swapped, -outcome, outcome)
    codes = low * pairs.n_objects + high
    if keep.all() and (codes[1:] > codes[:-1]).all():  # each pair once, in order
        return PreferenceFlow(low, high, outcome, weight, pairs.n_objects)
    codes, edge = np.unique(codes[keep], return_inverse=True)
    total: Vector = np.bincount(edge, weight[keep]).astype(np.float64)
    values = np.bincount(edge, (weight * outcome)[keep]) / total
    return PreferenceFlow(*np.divmod(codes, pairs.n_objects), values, total, pairs.n_objects)


def model_flow(model: Any, objects: Any) -> PreferenceFlow:
    """Flow of an antisymmetric model on all pairs of a table of objects, or on the pairs given."""
    pairs = objects if isinstance(objects, Pairs) else Pairs.complete(objects)
    return observed_flow(pairs, margins(model, pairs, Parity.ODD))


def _finite(values: ArrayLike, name: str, expected: int) -> Vector:
    refuse_lossy(values, name)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"got {name} that is not numbers; expected outcomes such as +1 and -1, above 0 where the"
            " first object is ahead: encode them first."
        ) from None
    if array.shape != (expected,) or not np.isfinite(array).all():
        raise ValueError(
            f"got {name} of shape {array.shape}; expected ({expected},) finite numbers, one per pair."
        )
    return array


def triangles_of(flow: PreferenceFlow) -> Iterator[Places]:
    """All triangles ``i < j < k``, some at a time: numbers of their edges ij, jk, ik, shape (3, t).

    The third corners over an edge (i, j), i < j, are the later neighbours that i and j have in
    common: the entries of the entrywise product of rows i and j of the upper adjacency matrix.
    """
    edges = np.arange(len(flow), dtype=np.int64)
    shape = (flow.n_objects, flow.n_objects)
    numbered = sp.csr_array((edges + 1, (flow.first, flow.second)), shape=shape)
    plain = sp.csr_array((np.ones_like(edges), (flow.first, flow.second)), shape=shape)
    later = np.diff(plain.indptr)
    entries = np.cumsum(later[flow.first] + later[flow.second])
    cuts = np.flatnonzero(np.diff(entries // _ENTRIES_AT_A_TIME, prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(cuts):
        left, right = flow.first[start:stop], flow.second[start:stop]
        ik = (numbered[left] * plain[right]).tocoo()
        jk = (plain[left] * numbered[right]).tocoo()
        yield np.stack([start + ik.row.astype(np.intp), jk.data - 1, ik.data - 1])


def solve_least_squares(matrix: sp.csr_array | LinearOperator, target: Vector) -> Vector:
    """Solution of least norm, to the last digits that an iteration reaches."""
    # on long vectors alone threads wait for each other; on short ones they are not used
    one_thread = sp.issparse(matrix) and max(matrix.shape) > _SHORT
    with threadpool_limits(1, "blas") if one_thread else nullcontext():
        steps = min(_STEPS, 1000 + 100 * min(matrix.shape))  # without rounding: min(shape) steps
        scale = float(np.abs(target).max(initial=0.0)) or 1.0  # squares of tiny values are 0
        found = lsqr(matrix, target / scale, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=steps)[0]
    return np.asarray(found) * scale


def curl_part(flow: PreferenceFlow, values: Vector) -> Vector:
    """Projection of ``values`` on the edges of ``flow``; they must have no gradient part."""
    if compares_all(flow):
        return values
    root, curls = np.sqrt(flow.weights), _curl_matrix(flow)
    if curls is None:
        loops = _loops_by_matrices(flow)
    else:
        loops = sp.csr_array(sp.diags_array(1.0 / root) @ curls.T)
    return loops @ solve_least_squares(loops, root * values) / root


def compares_all(flow: PreferenceFlow) -> bool:
    """Whether all pairs of objects of each connected part are compared."""
    sizes = np.bincount(flow.components())
    return len(flow) == int(np.sum(sizes * (sizes - 1)) // 2)


def _curl_matrix(flow: PreferenceFlow) -> sp.csr_array | None:
    """C: one row per triangle, +1 on ij and jk, -1 on ik; ``None`` if there are too many."""
    parts, number = [np.zeros((3, 0), dtype=np.intp)], 0
    for part in triangles_of(flow):
        parts.append(part)
        number += part.shape[1]
        if number > _TRIANGLES_LISTED:
            return None
    rows, entries = np.tile(np.arange(number), 3), np.repeat([1.0, 1.0, -1.0], number)
    columns = np.concatenate(parts, axis=1).ravel()
    return sp.csr_array((entries, (rows, columns)), shape=(number, len(flow)))


def _loops_by_matrices(flow: PreferenceFlow) -> LinearOperator:
    """``W^-1/2 C' C W^-1/2`` as an operator on edges."""
    if flow.n_objects > _OBJECTS_IN_MATRIX:
        raise ValueError(
            f"got more than {_TRIANGLES_LISTED} triangles among {flow.n_objects} objects; expected"
            " fewer to tell curl and harmonic parts apart: pass curl=False."
        )
    i, j = flow.first, flow.second
    adjacency = np.zeros((flow.n_objects, flow.n_objects))
    adjacency[i, j] = adjacency[j, i] = 1.0
    common = (adjacency @ adjacency)[i, j]
    root = np.sqrt(flow.weights)

    def product(values: Vector) -> Vector:
        x = values.reshape(-1) / root
        skew = np.zeros_like(adjacency)
        skew[i, j], skew[j, i] = x, -x
        carried = adjacency @ skew
        return (common * x - carried[i, j] + carried[j, i]) / root

    shape = (len(flow), len(flow))
    return LinearOperator(shape, matvec=product, rmatvec=product, dtype=np.float64)
