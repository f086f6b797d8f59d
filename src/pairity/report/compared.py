"""Which objects a report compares with one another, and what the model says of their pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.pairs import Pairs
from pairity.report.subject import Subject
from pairity.selection.identity import Ends, ends_of

__all__ = ["Compared", "choose_objects", "names_of"]

Rows = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs among some objects, and how those objects were chosen."""

    pairs: Pairs  # over a table of just these objects
    names: tuple[str, ...]
    n_observed: Rows  # training pairs of each
    n_left_out: int
    complete: bool
    note: str


def names_of(pairs: Pairs) -> list[str]:
    """Names of the rows of the object table: ids, or numbers."""
    if pairs.ids is None:
        return [f"object {row}" for row in range(pairs.n_objects)]
    return [str(name) for name in pairs.ids.tolist()]


def choose_objects(subject: Subject, objects: Any, most: int) -> Compared:
    """The objects asked for, or those observed most often; all their pairs where that is possible.

    A model with symmetric group features knows nothing of pairs without them, so that the
    observed pairs alone are compared.  Antisymmetric group features are 0 on neutral ground.
    """
    if objects is not None:
        return _given(subject, objects, most)
    pairs, ends = subject.pairs, ends_of(subject.pairs)
    times = _times(ends)
    chosen = np.argsort(-times, kind="stable")[:most]
    left_out = ends.n_objects - len(chosen)
    note = "" if not left_out else f"Those in most pairs, {len(chosen)} of {ends.n_objects:,}."
    if pairs.n_symmetric:
        return _observed(pairs, ends, chosen, times, left_out, note)
    rows = _rows_of(ends, chosen)
    if pairs.n_antisymmetric:
        note += " On neutral ground: antisymmetric features of pairs are 0."
    complete = _complete(pairs, rows)
    names = names_of(pairs)
    return Compared(
        complete, tuple(names[row] for row in rows), times[chosen], left_out, True, note.strip()
    )


def _rows_of(ends: Ends, objects: Rows) -> Rows:
    """The first row of the table that is each object."""
    return ends.table_rows[np.unique(ends.table_objects, return_index=True)[1][objects]]


def _times(ends: Ends) -> Rows:
    """Number of pairs that each object is in."""
    proper = ends.first != ends.second
    times = np.bincount(ends.first, minlength=ends.n_objects)
    return times + np.bincount(ends.second[proper], minlength=ends.n_objects)


def _complete(pairs: Pairs, rows: Rows) -> Pairs:
    """All pairs of some rows of the table."""
    n = len(rows)
    neutral = np.zeros((n * (n - 1) // 2, pairs.n_antisymmetric))
    ids = None if pairs.ids is None else pairs.ids[rows]
    return Pairs.complete(pairs.objects[rows], antisymmetric=neutral, ids=ids)


def _all_of(objects: Any, n_antisymmetric: int) -> Pairs:
    """All pairs of a table, on neutral ground."""
    n = int(np.shape(objects)[0])
    return Pairs.complete(objects, antisymmetric=np.zeros((n * (n - 1) // 2, n_antisymmetric)))


def _observed(
    pairs: Pairs, ends: Ends, chosen: Rows, times: Rows, left_out: int, note: str
) -> Compared:
    """Observed pairs among the chosen objects, one row for each unordered pair."""
    place = np.full(ends.n_objects, -1, dtype=np.intp)
    place[chosen] = np.arange(len(chosen))
    first, second = place[ends.first], place[ends.second]
    kept = np.flatnonzero((first >= 0) & (second >= 0) & (first != second))
    _, where = np.unique(ends.unordered()[kept], return_index=True)
    kept = kept[np.sort(where)]
    rows = _rows_of(ends, chosen)
    ids = None if pairs.ids is None else pairs.ids[rows]
    among = Pairs(
        pairs.objects[rows],
        first[kept],
        second[kept],
        pairs.symmetric[kept],
        pairs.antisymmetric[kept],
        ids=ids,
    )
    names = names_of(pairs)
    note += " Observed pairs alone are compared: the model needs features of pairs."
    return Compared(
        among, tuple(names[row] for row in rows), times[chosen], left_out, False, note.strip()
    )


def _given(subject: Subject, objects: Any, most: int) -> Compared:
    if isinstance(objects, Pairs):
        kept = objects.first != objects.second
        pairs = objects[kept].without_unused_objects()
    else:
        pairs = _all_of(objects, subject.pairs.n_antisymmetric)
    if pairs.n_objects > most:
        raise ValueError(
            f"got {pairs.n_objects} objects to compare; expected at most {most}: raise"
            " Limits(objects=...), or pass fewer."
        )
    if pairs.n_objects < 2:
        raise ValueError("got fewer than 2 objects to compare; expected at least two.")
    n = pairs.n_objects
    unordered = np.unique(ends_of(pairs, "rows").unordered())
    times = np.zeros(n, dtype=np.intp)
    if pairs.ids is not None and subject.pairs.ids is not None:
        ends = ends_of(subject.pairs)
        seen = dict(
            zip(subject.pairs.ids[ends.table_rows].tolist(), ends.table_objects, strict=True)
        )
        counts = _times(ends)
        times = np.array([counts[seen[i]] if i in seen else 0 for i in pairs.ids.tolist()])
    return Compared(pairs, tuple(names_of(pairs)), times, 0, len(unordered) == n * (n - 1) // 2, "")
