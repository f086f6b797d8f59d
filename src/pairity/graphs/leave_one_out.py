"""Means over all entries of a group but one, the same bits in whatever order the entries come.

Each group is summed in an order that depends on the content of its rows alone, forwards and
backwards.  Leaving an entry out joins what comes before it with what comes after it, so nothing
is subtracted and one large entry spoils no other; a group of d entries costs O(d), not O(d^2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.distinct import distinct_rows

__all__ = ["GroupedRows"]

Table = NDArray[np.float64]
Places = NDArray[np.intp]


@dataclass(frozen=True)
class GroupedRows:
    """Rows sorted into groups, each group in the order of content.

    ``group[i]`` is the group of row i, between 0 and ``n_groups - 1``.
    """

    values: Table  # (n, columns)
    group: Places  # (n,)
    n_groups: int

    def means_without(self, group: Places, left_out: Places) -> Table:
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


def _running_sums(values: Table, start: Places) -> Table:
    """Sums of the first 0, 1, 2, ... rows of each group, shape (n + n_groups, columns).

    Group g is ``values[start[g]:start[g + 1]]`` and its sums begin at row ``start[g] + g``.
    """
    sums = np.zeros((len(values) + len(start) - 1, values.shape[1]))
    for group in np.flatnonzero(np.diff(start)):
        rows = slice(start[group], start[group + 1])
        target = sums[rows.start + group + 1 : rows.stop + group + 1]
        np.add.accumulate(values[rows], axis=0, out=target)
    return sums
