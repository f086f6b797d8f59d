"""The strongest cycles: a ahead of b, b ahead of c, c ahead of a."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pairity.ranking.flow import PreferenceFlow, Vector
from pairity.ranking.triangles import Triangles, triangles_of

__all__ = ["Cycle", "CycleSearch", "strongest_cycles"]

#: Up to this many objects, matrices tell which edges are in a cycle at all.
_OBJECTS_IN_MATRIX = 6_000
#: Strongest edges that are searched first; four times as many in every further round.
_EDGES_AT_FIRST = 20_000


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

    cycles: tuple[Cycle, ...]
    n_triangles: int
    n_cyclic: int


def strongest_cycles(flow: PreferenceFlow, number: int = 10) -> CycleSearch:
    """The triangles that go round, by their weakest link.

    A cycle is as believable as its weakest preference, so that is its strength.  Hence the
    strongest cycles are found among the strongest edges: as soon as those hold enough cycles, no
    other edge can make a stronger one.
    """
    if flow.n_objects > _OBJECTS_IN_MATRIX:
        return _search(flow, number)
    n_triangles, n_cyclic, in_cycle = _count(flow)
    left = _some_edges(flow, np.flatnonzero(in_cycle))
    order = np.argsort(-np.abs(left.values), kind="stable")
    n_edges, found = _EDGES_AT_FIRST, CycleSearch((), 0, 0)
    while len(found.cycles) < min(number, n_cyclic):
        found = _search(_some_edges(left, np.sort(order[:n_edges])), number)
        n_edges *= 4
    return CycleSearch(found.cycles, n_triangles, n_cyclic)


def _some_edges(flow: PreferenceFlow, kept: NDArray[np.intp]) -> PreferenceFlow:
    return replace(
        flow,
        first=flow.first[kept],
        second=flow.second[kept],
        values=flow.values[kept],
        weights=flow.weights[kept],
    )


def _count(flow: PreferenceFlow) -> tuple[int, int, NDArray[np.bool_]]:
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
    """Look at every triangle."""
    best = np.zeros((0, 5))
    n_triangles = n_cyclic = 0
    for some in triangles_of(flow):
        links = np.stack([flow.values[some.ij], flow.values[some.jk], -flow.values[some.ik]])
        rows = _cycle_rows(flow, some, links)
        n_triangles, n_cyclic = n_triangles + len(some.ij), n_cyclic + len(rows)
        best = _strongest(np.concatenate([best, rows]), number)
    cycles = tuple(Cycle((int(i), int(j), int(k)), s, t) for i, j, k, s, t in best.tolist())
    return CycleSearch(cycles, n_triangles, n_cyclic)


def _cycle_rows(flow: PreferenceFlow, some: Triangles, links: Vector) -> Vector:
    """Rows (i, j, k, strength, total) of the triangles that go round, in their direction."""
    cyclic = np.abs(np.sign(links).sum(axis=0)) == 3.0
    i, j, k = (
        corner[cyclic]
        for corner in (flow.first[some.ij], flow.second[some.ij], flow.second[some.jk])
    )
    links = links[:, cyclic]
    forth = links[0] > 0
    rows = [i, np.where(forth, j, k), np.where(forth, k, j)]
    return np.stack([*rows, np.abs(links).min(axis=0), np.abs(links.sum(axis=0))], axis=1)


def _strongest(rows: Vector, number: int) -> Vector:
    i, j, k, strength, total = rows.T
    return rows[np.lexsort((k, j, i, -total, -strength))[:number]]
