"""Triangles of the graph of comparisons: three objects that were all compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.ranking.flow import Places, PreferenceFlow, Vector

__all__ = ["Triangles", "triangles_of"]

#: Entries of adjacency rows that are looked at together.
_ENTRIES_AT_A_TIME = 500_000


@dataclass(frozen=True, eq=False)
class Triangles:
    """Triangles ``i < j < k`` by the numbers of their three edges."""

    ij: Places
    jk: Places
    ik: Places

    def curls(self, values: Vector) -> Vector:
        """``Y_ij + Y_jk + Y_ki`` around each triangle: 0 where scores explain the flow."""
        return values[self.ij] + values[self.jk] - values[self.ik]


def triangles_of(flow: PreferenceFlow) -> Iterator[Triangles]:
    """All triangles, some at a time.

    The third corners over an edge (i, j), i < j, are the later neighbours that i and j have in
    common: the entries of the entrywise product of rows i and j of the upper adjacency matrix.
    """
    edges = np.arange(len(flow), dtype=np.int64)
    shape = (flow.n_objects, flow.n_objects)
    numbered = sp.csr_array((edges + 1, (flow.first, flow.second)), shape=shape)
    plain = sp.csr_array((np.ones_like(edges), (flow.first, flow.second)), shape=shape)
    later = np.diff(plain.indptr)
    entries = np.cumsum(later[flow.first] + later[flow.second])
    chunk = entries // _ENTRIES_AT_A_TIME
    for start, stop in _runs(chunk):
        left, right = flow.first[start:stop], flow.second[start:stop]
        ik = (numbered[left] * plain[right]).tocoo()
        jk = (plain[left] * numbered[right]).tocoo()
        yield Triangles(ij=start + ik.row.astype(np.intp), jk=jk.data - 1, ik=ik.data - 1)


def _runs(chunk: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Start and stop of each run of equal numbers."""
    if len(chunk):
        cuts = np.flatnonzero(np.diff(chunk)) + 1
        yield from zip([0, *cuts.tolist()], [*cuts.tolist(), len(chunk)], strict=True)
