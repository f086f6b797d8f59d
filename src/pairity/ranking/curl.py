"""The part of a flow that circulates in triangles: projection onto sums of triangle loops.

With C the matrix that takes a flow to its curls (one row per triangle, entries +1, +1, -1), the
flows made of triangle loops are ``W^-1 C' z`` (adjoint of C in the product weighted by W).  The
projection of a flow R is the one with ``z`` least squares (Jiang, Lim, Yao and Ye,
"Statistical ranking and combinatorial Hodge theory", Mathematical Programming 127, 2011):

    minimise  | W^1/2 R - W^-1/2 C' z |.

Where all pairs of a connected part are compared every loop is a sum of triangles, so nothing has
to be solved.  Where there are very many triangles, ``z = C x`` with x on edges spans the same
flows, and ``C' C x`` needs no list of triangles: for the skew matrix X of x and adjacency A

    (C' C x)_ij = (A^2)_ij x_ij - (A X)_ij + (A X)_ji.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, lsqr
from threadpoolctl import threadpool_limits

from pairity.ranking.flow import PreferenceFlow, Vector
from pairity.ranking.triangles import Triangles, triangles_of

__all__ = ["compares_all", "curl_part", "solve_least_squares"]

#: Triangles listed at most; beyond that m x m matrices are used, for at most that many objects.
_TRIANGLES_LISTED = 4_000_000
_OBJECTS_IN_MATRIX = 6_000
#: Steps of the least-squares iteration at most.
_STEPS = 100_000
_SHORT = 5_000


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
    listed = _list_triangles(flow)
    root = np.sqrt(flow.weights)
    if listed is not None:
        loops = sp.csr_array(sp.diags_array(1.0 / root) @ _curl_matrix(flow, listed).T)
    else:
        loops = _loops_by_matrices(flow)
    return loops @ solve_least_squares(loops, root * values) / root


def compares_all(flow: PreferenceFlow) -> bool:
    """Whether all pairs of objects of each connected part are compared."""
    sizes = np.bincount(flow.components())
    return len(flow) == int(np.sum(sizes * (sizes - 1)) // 2)


def _list_triangles(flow: PreferenceFlow) -> Triangles | None:
    """All triangles, or ``None`` if there are too many to list."""
    parts: list[Triangles] = []
    for part in triangles_of(flow):
        parts.append(part)
        if sum(len(part.ij) for part in parts) > _TRIANGLES_LISTED:
            return None
    empty = np.zeros(0, dtype=np.intp)
    return Triangles(
        *(
            np.concatenate([empty, *(getattr(p, name) for p in parts)])
            for name in ("ij", "jk", "ik")
        )
    )


def _curl_matrix(flow: PreferenceFlow, listed: Triangles) -> sp.csr_array:
    """C: one row per triangle, +1 on ij and jk, -1 on ik."""
    row = np.tile(np.arange(len(listed.ij)), 3)
    entries = np.repeat([1.0, 1.0, -1.0], len(listed.ij))
    columns = np.concatenate([listed.ij, listed.jk, listed.ik])
    return sp.csr_array((entries, (row, columns)), shape=(len(listed.ij), len(flow)))


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
