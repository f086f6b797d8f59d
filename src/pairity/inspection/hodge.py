"""HodgeRank: the scores that explain a flow best, and what no scores can explain.

Every flow splits into three parts, orthogonal in ``<X, Y> = sum_e w_e X_e Y_e`` (the discrete
Hodge decomposition; Jiang, Lim, Yao and Ye, "Statistical ranking and combinatorial Hodge theory",
Mathematical Programming 127, 2011):

    Y = gradient + curl + harmonic,    |Y|^2 = |gradient|^2 + |curl|^2 + |harmonic|^2.

The gradient part is ``s_i - s_j`` with the scores s of weighted least squares; the curl part
circulates in triangles (local inconsistency, rock-paper-scissors); the harmonic part circulates
in longer loops that no triangles fill (it is 0 where all pairs are compared).

What goes round in triangles is also listed: a ahead of b, b ahead of c, c ahead of a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pairity.inspection.flow import (
    PreferenceFlow,
    compares_all,
    curl_part,
    observed_flow,
    solve_least_squares,
    triangles_of,
)
from pairity.pairs.arrays import Mask, Places, Vector
from pairity.pairs.data import Pairs

#: Up to this many objects, matrices tell which edges are in a cycle at all.
_OBJECTS_IN_MATRIX = 6_000
#: Strongest edges that are searched first; four times as many in every further round.
_EDGES_AT_FIRST = 20_000


@dataclass(frozen=True, eq=False)
class HodgeParts:
    """A flow and its three parts.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        Least-squares scores, of mean 0 in each connected part.
    components : ndarray of shape (m,)
        Connected part of each object; scores of different parts do not compare.
    gradient, curl, harmonic : ndarray of shape (n_edges,)
        The parts, adding up to ``flow.values``; the last two are ``None`` if not asked for.
    """

    flow: PreferenceFlow
    scores: Vector
    components: Places
    gradient: Vector
    curl: Vector | None
    harmonic: Vector | None

    @property
    def n_components(self) -> int:
        """Number of connected parts."""
        return int(self.components.max(initial=-1)) + 1

    @property
    def gradient_share(self) -> float:
        """Part of ``|Y|^2`` that the scores explain; 1 for a flow that is all ties."""
        return self._share(self.gradient, of_ties=1.0)

    @property
    def cyclic_share(self) -> float:
        """Part of ``|Y|^2`` that no ranking can explain: curl and harmonic together."""
        return self._share(self.flow.values - self.gradient)

    @property
    def curl_share(self) -> float:
        """Part of ``|Y|^2`` that circulates in triangles."""
        return np.nan if self.curl is None else self._share(self.curl)

    @property
    def harmonic_share(self) -> float:
        """Part of ``|Y|^2`` that circulates in longer loops only."""
        return np.nan if self.harmonic is None else self._share(self.harmonic)

    def _share(self, values: Vector, of_ties: float = 0.0) -> float:
        part, total = (float(np.sum(self.flow.weights * v**2)) for v in (values, self.flow.values))
        return part / total if total > 0 else of_ties

    def __str__(self) -> str:
        several = f"; {self.n_components} parts without comparisons between them"
        parts = several if self.n_components > 1 else ""
        return (
            f"{len(self.flow)} comparisons of {self.flow.n_objects} objects{parts}:"
            f" {self.gradient_share:.1%} explained by scores, {self.curl_share:.1%} cyclic in"
            f" triangles, {self.harmonic_share:.1%} in longer loops"
        )


def least_squares_scores(flow: PreferenceFlow) -> Vector:
    """Scores that minimise ``sum_ij w_ij (s_i - s_j - Y_ij)^2``, of mean 0 in each part.

    Where all objects of a part are compared with equal weights they are ``sum_j Y_ij / m``.
    """
    components = flow.components()
    sizes = np.bincount(components)
    if len(flow) and np.ptp(flow.weights) == 0.0 and compares_all(flow):
        return flow.per_object(flow.values, -1.0) / sizes[components]
    root = np.sqrt(flow.weights)
    scaled = sp.csr_array(sp.diags_array(root) @ flow.gradient())
    scores = solve_least_squares(scaled, root * flow.values)
    return np.asarray(scores - (np.bincount(components, scores) / sizes)[components])


def decompose(flow: PreferenceFlow, *, curl: bool = True) -> HodgeParts:
    """Split a flow into its parts; ``curl=False`` leaves the cyclic remainder in one piece."""
    scores = least_squares_scores(flow)
    gradient = scores[flow.first] - scores[flow.second]
    rest = flow.values - gradient
    around = curl_part(flow, rest) if curl else None
    harmonic = None if around is None else rest - around
    return HodgeParts(flow, scores, flow.components(), gradient, around, harmonic)


def hodge_rank(
    pairs: Pairs, y: ArrayLike, sample_weight: ArrayLike | None = None, *, curl: bool = True
) -> HodgeParts:
    """HodgeRank of observed outcomes, without any model.

    Parameters
    ----------
    pairs : Pairs
        Who was compared with whom; the rows of ``pairs.objects`` are the objects.
    y : array-like of shape (n,)
        Outcomes: above 0 where the first object is ahead, 0 for a tie.  Several observations of
        a pair are averaged.
    sample_weight : array-like of shape (n,), optional
        How much each observation counts.
    curl : bool
        Tell curl and harmonic parts apart.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.inspection import hodge_rank
    >>> game = Pairs(np.eye(3), first=[0, 1, 2], second=[1, 2, 0])  # rock, scissors, paper
    >>> round(hodge_rank(game, [1, 1, 1]).gradient_share, 12)
    0.0
    """
    return decompose(observed_flow(pairs, y, sample_weight), curl=curl)


@dataclass(frozen=True)
class Cycle:
    """Three objects, each ahead of the next and the last ahead of the first.

    ``strength`` is the smallest of the three margins, ``total`` their sum (the curl).
    """

    objects: tuple[int, int, int]
    strength: float
    total: float


@dataclass(frozen=True)
class CycleSearch:
    """The strongest cycles, strongest first, and how many triangles and cycles there are."""

    cycles: tuple[Cycle, ...] = ()
    n_triangles: int = 0
    n_cyclic: int = 0


def strongest_cycles(flow: PreferenceFlow, number: int = 10) -> CycleSearch:
    """The triangles that go round, by their weakest link.

    A cycle is as believable as its weakest preference, so that is its strength.  Hence the
    strongest cycles are found among the strongest edges: as soon as those hold enough cycles, no
    other edge can make a stronger one.
    """
    if flow.n_objects > _OBJECTS_IN_MATRIX:
        return _search(flow, number)
    n_triangles, n_cyclic, in_cycle = _count(flow)
    candidates = np.flatnonzero(in_cycle)
    order = candidates[np.argsort(-np.abs(flow.values[candidates]), kind="stable")]
    n_edges, found = _EDGES_AT_FIRST, CycleSearch()
    while len(found.cycles) < min(number, n_cyclic):
        found = _search(flow.some_edges(np.sort(order[:n_edges])), number)
        n_edges *= 4
    return CycleSearch(found.cycles, n_triangles, n_cyclic)


def _count(flow: PreferenceFlow) -> tuple[int, int, Mask]:
    """Numbers of triangles and of cycles, and which edges are in a cycle.

    With A the adjacency matrix and P the matrix of "is ahead of", triangles over the edge (i, j)
    are ``(A A)_ij`` and cycles through i -> j are ``(P P)_ji``; each is met from three edges.
    """
    shape = (flow.n_objects, flow.n_objects)
    adjacent = np.zeros(shape, dtype=np.float32)  # counts below 2^24 are exact
    adjacent[flow.first, flow.second] = adjacent[flow.second, flow.first] = 1.0
    triangles = (adjacent @ adjacent)[flow.first, flow.second]
    ahead = np.zeros(shape, dtype=np.float32)
    winner = np.where(flow.values > 0, flow.first, flow.second)
    loser = np.where(flow.values > 0, flow.second, flow.first)
    decided = flow.values != 0
    ahead[winner[decided], loser[decided]] = 1.0
    cycles = np.where(decided, (ahead @ ahead)[loser, winner], 0.0)
    n_triangles, n_cyclic = (int(v.sum(dtype=np.float64)) // 3 for v in (triangles, cycles))
    return n_triangles, n_cyclic, cycles > 0


def _search(flow: PreferenceFlow, number: int) -> CycleSearch:
    """Look at every triangle; rows are (i, j, k, strength, total) in the direction of the cycle."""
    best, n_triangles, n_cyclic = np.zeros((0, 5)), 0, 0
    for ij, jk, ik in triangles_of(flow):
        links = np.stack([flow.values[ij], flow.values[jk], -flow.values[ik]])
        cyclic = np.abs(np.sign(links).sum(axis=0)) == 3.0
        n_triangles, n_cyclic = n_triangles + len(ij), n_cyclic + int(cyclic.sum())
        corners = (flow.first[ij], flow.second[ij], flow.second[jk])
        (i, j, k), links = (corner[cyclic] for corner in corners), links[:, cyclic]
        forth, sizes = links[0] > 0, np.abs(links)
        around = [i, np.where(forth, j, k), np.where(forth, k, j)]
        rows = np.stack([*around, sizes.min(axis=0), np.abs(links.sum(axis=0))], axis=1)
        best = np.concatenate([best, rows])
        i, j, k, strength, total = best.T
        best = best[np.lexsort((k, j, i, -total, -strength))[:number]]
    cycles = tuple(Cycle((int(i), int(j), int(k)), s, t) for i, j, k, s, t in best.tolist())
    return CycleSearch(cycles, n_triangles, n_cyclic)
