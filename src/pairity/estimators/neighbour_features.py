"""NeighbourMeans: what the edges around a pair say, as a step of a pipeline."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from pairity.estimators.transformers import PairNames, PairTransformer
from pairity.pairs.arrays import joined
from pairity.pairs.data import Pairs
from pairity.pairs.neighbours import with_neighbour_means
from pairity.pairs.same_objects import KnownObjects
from pairity.runtime.validation import check_count
from pairity.training.read import read_pairs


@dataclass(eq=False, repr=False)
class NeighbourMeans(PairTransformer):
    """Append the neighbour means (48)-(55) of Section 7.3 to the group features of pairs.

    The graph is made of the pairs in ``fit``, so that in a pipeline the edges of training folds
    alone are known and nothing leaks; a pair is never among its own neighbours.  Objects are
    recognised by their ids, or by their features where pairs have no ids.

    Parameters
    ----------
    hops : int
        How far to look, as in :func:`~pairity.kernels.with_neighbour_means`.
    n_symmetric, n_antisymmetric : int
        Numbers of group features of wide rows, as in :class:`~pairity.PairSVC`.

    Attributes
    ----------
    graph_ : Pairs
        The edges, each once, over a table of their objects.

    Examples
    --------
    >>> from pairity import NeighbourMeans, Pairs
    >>> path = Pairs([[1.0], [2.0], [4.0]], first=[0, 1], second=[1, 2])
    >>> NeighbourMeans().fit(path).transform(path).shape
    (2, 6)
    """

    _: KW_ONLY
    hops: int = 1
    n_symmetric: int = 0
    n_antisymmetric: int = 0

    def fit(self, X: Any, y: Any = None) -> NeighbourMeans:
        """Keep the edges."""
        check_count(self.hops, "hops")
        pairs = read_pairs(self, X, reset=True)
        self.graph_ = pairs[pairs.first != pairs.second].without_unused_objects()
        return self

    def _transformed(self, pairs: Pairs) -> Pairs:
        graph = self.graph_
        known = KnownObjects.of(graph)
        table = joined([pairs.objects, graph.objects], 0)
        # an object of the graph that is among those of the pairs has its row there
        ours, theirs = known.places(pairs), known.places(graph)
        row = np.full(len(known), -1, dtype=np.intp)
        row[theirs] = pairs.n_objects + np.arange(graph.n_objects)
        seen = ours >= 0
        row[ours[seen]] = np.flatnonzero(seen)
        ends = row[theirs[graph.first]], row[theirs[graph.second]]
        edges = Pairs(table, *ends, graph.symmetric, graph.antisymmetric)
        place = np.where(seen, row[ours], np.arange(pairs.n_objects))  # known: where edges have it
        ends = place[pairs.first], place[pairs.second]
        asked = Pairs(table, *ends, pairs.symmetric, pairs.antisymmetric)
        described = with_neighbour_means(asked, edges, hops=int(self.hops))
        return pairs.with_features(pairs.objects, described.symmetric, described.antisymmetric)

    def _names_out(self, names: PairNames) -> PairNames:
        around = [f"{name} around" for name in names.wide()]
        hops = [f"{name}, hop {hop + 1}" for hop in range(int(self.hops)) for name in around]
        return PairNames(names.objects, (*names.symmetric, *hops), (*names.antisymmetric, *hops))
