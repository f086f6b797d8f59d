"""Groups and one-to-one matches on sparse candidates: nothing of the size of all pairs is made.

A pair that is no candidate has a similarity of its own, ``absent``, below all others.  Average linkage
joins two groups only where the mean similarity between them is above the threshold, so one pair
between them is above it: groups lie within the connected parts of such pairs.
"""

from __future__ import annotations

import heapq

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from pairity.pairs.arrays import Mask, Places, Vector
from pairity.pairs.parity import unordered
from pairity.pairs.same_objects import connected_parts


def numbered_by_size(groups: Places) -> Places:
    """Groups as 0, 1, ... by size, then by their first object."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    by_size = np.lexsort((first, -np.bincount(group)))
    return np.argsort(by_size)[group]


def linked_parts(
    first: Places, second: Places, similarity: Vector, n_objects: int, threshold: float
) -> Places:
    """Objects connected by a chain of pairs above the threshold: single linkage."""
    above = similarity > threshold
    return numbered_by_size(connected_parts(first[above], second[above], n_objects))


def pairs_within(parts: Places, most: int) -> tuple[Places, Places]:
    """All pairs of objects of the same part, of the smallest parts on, at most so many."""
    members = np.argsort(parts, kind="stable")
    sizes = np.bincount(parts)
    ends = np.cumsum(sizes)
    by_size = np.argsort(sizes, kind="stable")
    numbers = sizes[by_size] * (sizes[by_size] - 1) // 2
    chosen = by_size[(np.cumsum(numbers) <= most) & (numbers > 0)]
    found = [np.zeros((2, 0), dtype=np.intp)]
    for size in np.unique(sizes[chosen]).tolist():
        starts = (ends - sizes)[chosen[sizes[chosen] == size]]
        first, second = np.triu_indices(size, 1)
        found.append(members[[np.add.outer(starts, end).ravel() for end in (first, second)]])
    first, second = np.concatenate(found, axis=1)
    return first, second


def average_groups(
    first: Places,
    second: Places,
    similarity: Vector,
    n_objects: int,
    threshold: float,
    absent: float,
) -> Places:
    """Average linkage, cut at a threshold; of a pair given several times the best counts."""
    part = linked_parts(first, second, similarity, n_objects, threshold)
    inside = (part[first] == part[second]) & (first != second)
    low, high, _ = unordered(first[inside], second[inside])
    clusters = _Clusters(n_objects, absent)
    for a, b, value in zip(low.tolist(), high.tolist(), similarity[inside].tolist(), strict=True):
        clusters.add(a, b, value)
    return numbered_by_size(clusters.joined(threshold))


class _Clusters:
    """Groups with the sums of similarities between them."""

    def __init__(self, n_objects: int, absent: float) -> None:
        self.absent = absent
        self.sizes = [1] * n_objects
        self.owner = list(range(n_objects))
        #: Of each group: the other group -> (sum of similarities, number of candidates) between them.
        self.links: list[dict[int, tuple[float, int]]] = [{} for _ in range(n_objects)]

    def add(self, a: int, b: int, value: float) -> None:
        value = max(value, self.links[a].get(b, (value, 1))[0])
        self.links[a][b] = self.links[b][a] = (value, 1)

    def mean(self, a: int, b: int) -> float:
        total, number = self.links[a][b]
        pairs = self.sizes[a] * self.sizes[b]
        return (total + (pairs - number) * self.absent) / pairs

    def joined(self, threshold: float) -> Places:
        """Join the two groups that are most alike until none are alike enough."""
        heap = [
            (-self.mean(a, b), a, b) for a, others in enumerate(self.links) for b in others if a < b
        ]
        heapq.heapify(heap)
        while heap:
            negative, a, b = heapq.heappop(heap)
            if -negative <= threshold:
                break
            if b not in self.links[a] or -negative != self.mean(a, b):
                continue  # one of them has grown since
            self._join(a, b)
            for other in self.links[a]:
                heapq.heappush(heap, (-self.mean(a, other), min(a, other), max(a, other)))
        for member, owner in enumerate(self.owner):  # owners come before what they own
            self.owner[member] = self.owner[owner]
        return np.array(self.owner, dtype=np.intp)

    def _join(self, a: int, b: int) -> None:
        """Group b becomes part of group a < b."""
        del self.links[a][b], self.links[b][a]
        for other, (total, number) in self.links[b].items():
            mine = self.links[a].get(other, (0.0, 0))
            self.links[a][other] = self.links[other][a] = (total + mine[0], number + mine[1])
            del self.links[other][b]
        self.links[b] = {}
        self.sizes[a] += self.sizes[b]
        self.owner[b] = a


#: Entries of a dense table of gains, at most.
_DENSE = 4_000_000


def one_to_one(first: Places, second: Places, similarity: Vector, threshold: float) -> Mask:
    """Which candidates to keep so that no object of either side has two, the gains being largest.

    The gain of a pair is its similarity less the threshold; pairs without a gain are left out.  An
    exact assignment, in one connected part of such pairs after the other.
    """
    kept = np.zeros(len(first), dtype=np.bool_)
    rows = np.flatnonzero(similarity > threshold)
    if not len(rows):
        return kept
    rows = rows[np.argsort(similarity[rows], kind="stable")]  # of repeated pairs the best is last
    left = np.unique(first[rows], return_inverse=True)[1].reshape(-1)
    right = np.unique(second[rows], return_inverse=True)[1].reshape(-1)
    n_left, n_right = int(left.max()) + 1, int(right.max()) + 1
    part = connected_parts(left, n_left + right, n_left + n_right)[left]
    order = np.argsort(part, kind="stable")
    for block in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
        if len(block) > 1:
            gains = similarity[rows[block]] - threshold
            block = block[_assigned(left[block], right[block], gains)]
        kept[rows[block]] = True
    return kept


def _assigned(left: Places, right: Places, gains: Vector) -> Places:
    """Places of the pairs of one part that are kept; every left object may also stay alone."""
    ends = [np.unique(end, return_inverse=True)[1].reshape(-1) for end in (left, right)]
    n_left, n_right = (int(end.max()) + 1 for end in ends)
    place = dict(
        zip(zip(*(end.tolist() for end in ends), strict=True), range(len(gains)), strict=True)
    )
    pairs, rows = np.array(list(place)), np.array(list(place.values()))
    if n_left * n_right <= _DENSE:
        table = np.zeros((n_left, n_right))
        table[pairs[:, 0], pairs[:, 1]] = gains[rows]
        matched = linear_sum_assignment(table, maximize=True)
    else:  # a weight of 0 would be none: all are larger by 1, and every left object has one
        table = sp.csr_array((1.0 + gains[rows], pairs.T), (n_left, n_right))
        weights = sp.csr_array(sp.hstack([table, sp.eye_array(n_left)]))
        matched = min_weight_full_bipartite_matching(weights, maximize=True)
    chosen = [place.get(pair) for pair in zip(*(end.tolist() for end in matched), strict=True)]
    return np.array([row for row in chosen if row is not None], dtype=np.intp)
