"""Unordered pairs of objects, and those that are the nodes of the auxiliary graph (Section 7.4).

One of the two orders of a pair stands for the node, as in the paper; which one depends on the
features of the objects alone.  A pair is recognised by the features of its two objects, in either
order, and comes with the sign +1 if it is written like its node and -1 if it is written the other
way.  Nothing computed on the nodes can then depend on how, or in which order, they were given.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.pairs.arrays import Places, Vector, unordered, unordered_keys
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.distinct import distinct_rows, joined
from pairity.runtime.memory import available_megabytes

#: Bytes that one edge of the auxiliary graph takes while its matrix is made.
_BYTES_PER_EDGE = 60.0
#: Object tables whose places are remembered.
_REMEMBERED = 4


class ArcSet:
    """Distinct unordered pairs of distinct objects, in the order of their content.

    Arcs come in either order; one may be there twice if its group features agree.  ``pairs`` are the
    nodes, each in the order that stands for it.
    """

    def __init__(self, arcs: Pairs) -> None:
        alone = arcs.first == arcs.second
        if alone.any() or not len(arcs):
            loop = f"arc {int(np.argmax(alone)) if len(arcs) else 0} from an object to itself"
            raise KernelError(
                f"got {loop if len(arcs) else 'no arcs'}; expected pairs of two different objects as"
                " nodes of the auxiliary graph: drop the others."
            )
        arcs = arcs.without_unused_objects()
        _refuse_equal_objects(arcs)
        self.pairs = _each_once(arcs.compact())
        self._keys = unordered_keys(self.pairs.first, self.pairs.second, self.pairs.n_objects)
        self._known: deque[tuple[ObjectTable, Places]] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self.pairs)

    def locate(self, pairs: Pairs) -> tuple[Places, Vector]:
        """Node of each pair, and +1.0 or -1.0 for its order; pairs that are no nodes are refused."""
        places = self._object_places(pairs.objects)
        first, second = places[pairs.first], places[pairs.second]
        key = unordered_keys(first, second, self.pairs.n_objects)
        key[(first < 0) | (second < 0)] = -1
        node = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        absent = self._keys[node] != key
        if absent.any():
            raise KernelError(
                f"got {np.count_nonzero(absent)} pair(s) that are no nodes of the auxiliary graph,"
                f" the first in row {int(np.argmax(absent))}; expected pairs of the arcs that the"
                " kernel was made with: a diffusion kernel is transductive, so make it with the test"
                " arcs too (they need no labels)."
            )
        return node, np.where(first < second, 1.0, -1.0)

    def _object_places(self, objects: ObjectTable) -> Places:
        """Row of each object among those of the nodes; -1 for one that is not there."""
        for table, places in tuple(self._known):
            if table is objects:
                return places
        mine = self.pairs.objects
        if objects.shape[1] != mine.shape[1]:
            raise KernelError(
                f"got objects with {objects.shape[1]} features for a diffusion kernel on arcs of"
                f" objects with {mine.shape[1]}; expected the same features: pairs are recognised by"
                " them."
            )
        codes = distinct_rows(joined([mine, objects], 0)).inverse
        place_of_code = np.full(codes.max(initial=-1) + 1, -1, dtype=np.intp)
        place_of_code[codes[: mine.shape[0]]] = np.arange(mine.shape[0])
        places = place_of_code[codes[mine.shape[0] :]]
        self._known.append((objects, places))
        return places

    def sharing(self) -> tuple[Places, Places]:
        """Nodes i < j that share an object: the edges of the auxiliary graph."""
        n, m = len(self.pairs), self.pairs.n_objects
        ends = np.concatenate([self.pairs.first, self.pairs.second])
        degree = np.bincount(ends, minlength=m).astype(np.float64)
        needed = 1e-6 * _BYTES_PER_EDGE * float((degree**2).sum())
        if needed > available_megabytes():
            raise MemoryError(
                f"got {n} arcs with up to {int(degree.max())} at one object, whose auxiliary graph"
                f" needs about {needed:.0f} MB; expected fewer arcs at one object: leave some out."
            )
        incidence = sp.csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), ends)), shape=(n, m))
        shared = sp.coo_array(sp.triu(incidence @ incidence.T, 1))
        return shared.coords[0].astype(np.intp), shared.coords[1].astype(np.intp)


def _each_once(arcs: Pairs) -> Pairs:
    """Pairs with their objects in ascending order, sorted, none twice."""
    arcs = arcs.with_swapped(unordered(arcs.first, arcs.second)[2])
    arcs = arcs[np.lexsort((arcs.second, arcs.first))]
    repeated = np.zeros(len(arcs), dtype=np.bool_)
    repeated[1:] = (arcs.first[1:] == arcs.first[:-1]) & (arcs.second[1:] == arcs.second[:-1])
    features = np.hstack([arcs.symmetric, arcs.antisymmetric])
    if (features[1:] != features[:-1])[repeated[1:]].any():
        raise KernelError(
            "got a pair of objects twice with different group features; expected one node for each"
            " unordered pair: keep one of its rows, or average them."
        )
    return arcs[~repeated]


def _refuse_equal_objects(arcs: Pairs) -> None:
    """Two objects with the same features would be taken for one."""
    found = distinct_rows(arcs.objects)
    if len(found.representative) == arcs.n_objects:
        return
    seen = found.representative[found.inverse]
    twin = int(np.argmax(seen != np.arange(arcs.n_objects)))
    names = np.arange(arcs.n_objects) if arcs.ids is None else arcs.ids
    raise KernelError(
        f"got objects {names[[seen[twin]]].tolist()[0]!r} and {names[[twin]].tolist()[0]!r} with the"
        " same features; expected every object to have its own, since pairs are recognised by them:"
        " use row numbers as the one feature and Precomputed(...) in the base kernel."
    )
