"""Time-ordered splits: train on the past, test on what came next."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from pairity.selection.identity import Codes, Ends, Mask
from pairity.selection.splitter import PairSplitter, check_count
from pairity.selection.units import as_labels

__all__ = ["TimeSplit"]


class TimeSplit(PairSplitter):
    """Train on all pairs before a moment, test on the block of pairs after it.

    The times are cut into ``n_splits + 1`` consecutive blocks with about equally many pairs;
    split k trains on the blocks before block k and tests on block k.  Pairs of the same time are
    in the same block.  A pair that met before may meet again: that is no leak, the past is known.

    Parameters
    ----------
    n_splits : int
        Number of splits.
    gap : int
        Number of distinct times just before the test block that are not trained on, for answers
        that become known late.
    new : int or several of them
        Numbers of objects of a test pair that may be new, that is not met in training: by default
        all.  ``new=0`` tests on newcomers never, ``new=(1, 2)`` on games of newcomers only.
    identity : {"auto", "ids", "content", "rows"}
        Which rows are the same object; see :mod:`pairity.selection.identity`.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, for wide rows.

    Notes
    -----
    ``groups`` given to ``split``, ``cross_val_score(..., groups=times)`` or
    ``GridSearchCV.fit(..., groups=times)`` are the times, any values that have an order.  Without
    them the rows are taken to be in the order of time.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.selection import TimeSplit
    >>> games = Pairs(np.eye(3), first=[0, 1, 2, 0, 1, 2], second=[1, 2, 0, 1, 2, 0])
    >>> days = [1, 1, 2, 2, 3, 3]
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSplit(2).split(games, groups=days)]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        gap: int = 0,
        new: int | Collection[int] = (0, 1, 2),
        identity: str = "auto",
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
    ) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.new = new
        self.identity = identity
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        check_count(gap, "gap", 0)
        self._check()

    def _apart(self, ends: Ends, groups: Any) -> list[Codes]:
        return []  # the past is known, and groups are times

    def _masks(
        self, ends: Ends, table_rows: int | None, y: Any, groups: Any
    ) -> Iterator[tuple[Mask, Mask]]:
        n_pairs = len(ends)
        moments = (
            np.arange(n_pairs)
            if groups is None
            else as_labels(groups, "groups", n_pairs, "pair, its time")
        )
        counts = np.bincount(moments)
        before = np.cumsum(counts) - counts  # pairs earlier than each moment
        block = before * (self.n_splits + 1) // max(1, n_pairs)  # (number of moments,)
        if len(np.unique(block)) <= self.n_splits:
            raise ValueError(
                f"got {len(counts)} different times with too many pairs at one of them for"
                f" {self.n_splits} splits; expected more: use fewer splits or finer times."
            )
        for number in range(1, self.n_splits + 1):
            start = int(np.searchsorted(block, number))
            yield moments < start - self.gap, block[moments] == number
