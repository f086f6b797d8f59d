"""Neighbour means (48)-(55): pairs seen together with the edges around them.

Section 7.3 describes the pair (a, b) by ``(U, X_ab, W)`` with

    U = mean of X_na over the neighbours n of a other than b,
    W = mean of X_bn over the neighbours n of b other than a,

zeros where there are none.  A swap turns it into ``(W T, X_ab T, U T)``, formula (50).  With
``V = W T``, the mean of X_nb, a swap just exchanges U and V, so that

    (U + V) / sqrt 2   is a symmetric      group feature of the pair,
    (U - V) / sqrt 2   is an antisymmetric group feature of the pair,

and T being orthogonal, inner products and distances of the pairs with these features are those of
``(U, X_ab, W)``.  Every kernel on the concatenated features is thereby a multiple-pairs kernel
(55), and its projections (6), (7) are those of Remark 9: nothing else in the library has to know.

Each mean is summed in an order that depends on the content of its rows alone, forwards and
backwards.  Leaving an entry out joins what comes before it with what comes after it, so nothing
is subtracted and one large entry spoils no other; a group of d entries costs O(d), not O(d^2).
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.pairs.arrays import Matrix, Places, as_dense, distinct_rows, places_of
from pairity.pairs.data import Pairs
from pairity.runtime.resources import available_megabytes


@dataclass(frozen=True)
class GroupedRows:
    """Rows sorted into groups, each group in the order of content.

    ``group[i]`` is the group of row i, between 0 and ``n_groups - 1``.
    """

    values: Matrix  # (n, columns)
    group: Places  # (n,)
    n_groups: int

    def means_without(self, group: Places, left_out: Places) -> Matrix:
        """Mean of each group asked for without one of its rows (-1: of all); 0 where none is left.

        ``left_out[k]`` is a row of ``values`` that belongs to ``group[k]``.
        """
        order, rank = self._content_order()
        counts = np.bincount(self.group, minlength=self.n_groups)
        start = np.concatenate([[0], np.cumsum(counts)])
        before = _running_sums(self.values[order], start)
        after = _running_sums(self.values[order[::-1]], len(order) - start[::-1])[::-1]
        first = start[group] + group  # running sums have one row more than a group has entries
        place = np.where(left_out < 0, counts[group], rank[left_out] if len(rank) else 0)
        sums = before[first + place]
        sums += after[first + np.minimum(place + 1, counts[group])]
        sums /= np.maximum(self.sizes_without(group, left_out), 1)[:, np.newaxis]
        return sums

    def sizes_without(self, group: Places, left_out: Places) -> Places:
        """Number of rows that each mean is over."""
        counts = np.bincount(self.group, minlength=self.n_groups)
        return counts[group] - (left_out >= 0)

    def _content_order(self) -> tuple[Places, Places]:
        """Rows group by group, equal ones side by side; and the place of each in its group.

        Equal rows all get the first of their places: leaving out either gives the same bits.
        """
        content = distinct_rows(self.values).inverse
        order = np.lexsort((content, self.group))
        group, content = self.group[order], content[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (group[1:] != group[:-1]) | (content[1:] != content[:-1])
        first_alike = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
        start = np.searchsorted(group, group)
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = first_alike - start
        return order, rank


def _running_sums(values: Matrix, start: Places) -> Matrix:
    """Sums of the first 0, 1, 2, ... rows of each group, shape (n + n_groups, columns).

    Group g is ``values[start[g]:start[g + 1]]`` and its sums begin at row ``start[g] + g``.
    """
    sums = np.zeros((len(values) + len(start) - 1, values.shape[1]))
    for group in np.flatnonzero(np.diff(start)):
        rows = slice(start[group], start[group + 1])
        target = sums[rows.start + group + 1 : rows.stop + group + 1]
        np.add.accumulate(values[rows], axis=0, out=target)
    return sums


#: Tables of the size of the half-edges, or of the result, that are held at a time.
_TABLES = 5.0


def with_neighbour_means(pairs: Pairs, graph: Pairs, *, hops: int = 1) -> Pairs:
    """Pairs with the means over the edges around them as further group features.

    Parameters
    ----------
    pairs : Pairs
        Pairs to describe; they need not be edges of the graph.
    graph : Pairs
        The edges that count as known, over the same objects; directions do not matter.  Give
        training edges alone where others are held out: what is not in here cannot leak.  An
        edge in several rows counts once, with the mean of its group features.  Labels are no such
        features: means of labels of the training pairs give the label of each of them away.
    hops : int
        How far to look.  The second hop averages, over the neighbours n of a other than b, the
        means around n without a, and so on; each hop adds its own features.

    Returns
    -------
    Pairs
        The same pairs; for each hop ``2 n1 + n2 + n3`` symmetric and as many antisymmetric
        features more, with n1, n2, n3 the numbers of features of the graph's edges.

    Examples
    --------
    >>> from pairity import Pairs
    >>> from pairity.kernels import with_neighbour_means
    >>> path = Pairs([[1.0], [2.0], [4.0]], first=[0, 1], second=[1, 2])
    >>> with_neighbour_means(path, path).shape
    (2, 6)
    """
    _check(pairs, graph, hops)
    for side in (pairs, graph):
        side.refuse_large()
    _refuse_too_large(pairs, graph, hops)
    edges = _HalfEdges.of(graph)
    ends = np.concatenate([pairs.first, pairs.second])
    partners = np.concatenate([pairs.second, pairs.first])
    symmetric, antisymmetric = [pairs.symmetric], [pairs.antisymmetric]
    for means in edges.means_around(ends, partners, hops):
        u, v = means[: len(pairs)], means[len(pairs) :]
        symmetric.append((u + v) * np.sqrt(0.5))
        antisymmetric.append((u - v) * np.sqrt(0.5))
    group = np.hstack(symmetric), np.hstack(antisymmetric)
    named = {"ids": pairs.ids, "time": pairs.time}
    return Pairs(pairs.objects, pairs.first, pairs.second, *group, **named)


@dataclass(frozen=True)
class _HalfEdges:
    """Both directions of every edge, seen from ``end`` to its neighbour ``other``.

    ``rows`` is ``(x_n, x_nu, x~_nu)`` for the neighbour n of u, all of X_nu but ``x_u``.
    """

    end: Places  # (2 E,)
    other: Places  # (2 E,)
    rows: Matrix  # (2 E, n1 + n2 + n3)
    objects: Matrix  # (m, n1)

    @classmethod
    def of(cls, graph: Pairs) -> _HalfEdges:
        """The half-edges of a graph, sorted by (end, other), each once."""
        both = _merged(graph).with_mirrored()
        both = both[np.argsort(both.second * graph.n_objects + both.first)]
        objects = as_dense(graph.objects)
        rows = np.hstack([objects[both.first], both.symmetric, both.antisymmetric])
        return cls(both.second, both.first, rows, objects)

    def means_around(self, end: Places, partner: Places, hops: int) -> Iterator[Matrix]:
        """Mean of X_nu over the neighbours n of u = end other than its partner, hop by hop."""
        around = GroupedRows(self.rows, self.end, len(self.objects))
        left_out = self.find(end, partner)
        yield self._with_end(around, end, left_out)
        if hops == 1:
            return
        # what n knows without u is what the half-edge (u, n) carries on
        back = self.find(self.other, self.end)
        carried = self._with_end(around, self.other, back)
        for _ in range(2, hops + 1):
            around = GroupedRows(carried, self.end, len(self.objects))
            yield around.means_without(end, left_out)
            carried = around.means_without(self.other, back)

    def _with_end(self, around: GroupedRows, end: Places, left_out: Places) -> Matrix:
        """Means of the first hop, with ``x_u`` itself, which needs no averaging, put back."""
        alone = around.sizes_without(end, left_out) == 0
        own = np.where(alone[:, np.newaxis], 0.0, self.objects[end])
        return np.hstack([around.means_without(end, left_out), own])

    def find(self, end: Places, other: Places) -> Places:
        """Row of each half-edge; -1 where the graph has no such edge."""
        keys = self.end * len(self.objects) + self.other
        return places_of(end * len(self.objects) + other, keys)


def _merged(graph: Pairs) -> Pairs:
    """Each edge once, low number first, with the mean of the group features of its rows."""
    graph = graph.with_swapped(graph.first > graph.second)
    first, second = graph.first, graph.second
    features = np.hstack([graph.symmetric, graph.antisymmetric])
    keys = first * graph.n_objects + second
    if len(np.unique(keys)) < len(keys):
        order = np.lexsort((distinct_rows(features).inverse, keys))
        _, start, count = np.unique(keys[order], return_index=True, return_counts=True)
        features = np.add.reduceat(features[order], start, axis=0) / count[:, np.newaxis]
        first, second = first[order][start], second[order][start]
    n2 = graph.n_symmetric
    return Pairs(graph.objects, first, second, features[:, :n2], features[:, n2:])


def _check(pairs: Pairs, graph: Any, hops: Any) -> None:
    if not isinstance(graph, Pairs):
        raise ValueError(
            f"got a graph of type {type(graph).__name__}; expected Pairs, the edges that count as"
            " known: Pairs.from_graph makes them."
        )
    if graph.objects is not pairs.objects and not _same_table(graph.objects, pairs.objects):
        raise ValueError(
            f"got a graph of {graph.n_objects} objects and pairs of {pairs.n_objects}, or with other"
            " features; expected the same table of objects: take both from one Pairs by slicing."
        )
    if not isinstance(hops, numbers.Integral) or isinstance(hops, bool) or hops < 1:
        raise ValueError(f"got hops={hops!r}; expected a whole number of at least 1.")
    loops = graph.first == graph.second
    if loops.any():
        raise ValueError(
            f"got edge {int(np.argmax(loops))} of the graph from an object to itself; expected edges"
            " between two objects: drop it, no object is its own neighbour."
        )


def _same_table(left: Any, right: Any) -> bool:
    if left.shape != right.shape:
        return False
    different = left != right
    return not (different.nnz if hasattr(different, "nnz") else different.any())


def _refuse_too_large(pairs: Pairs, graph: Pairs, hops: int) -> None:
    width = graph.shape[1]
    needed = 8e-6 * width * (2.0 * _TABLES * len(graph) + (_TABLES + 4.0 * hops) * len(pairs))
    if needed > available_megabytes():
        raise MemoryError(
            f"got {len(pairs)} pairs and {len(graph)} edges with {width} features, which need about"
            f" {needed:.0f} MB of neighbour means; expected fewer features: give nodes a few features"
            " instead of one indicator each."
        )
