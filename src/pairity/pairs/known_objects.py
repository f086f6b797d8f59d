"""Objects that were seen in training, recognised in other pairs by their ids or features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pairity.pairs.arrays import Features, Places, distinct_rows, joined
from pairity.pairs.data import Pairs


@dataclass(frozen=True, eq=False)
class KnownObjects:
    """One row for each object: its id as a number, or its features where pairs have no ids."""

    names: Features
    by_ids: bool

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        """The distinct objects of pairs, ordered by content."""
        by_ids = pairs.ids is not None
        names = _names(pairs.without_unused_objects(), by_ids)
        return cls(names[distinct_rows(names).representative], by_ids)

    def __len__(self) -> int:
        return int(self.names.shape[0])

    def places(self, pairs: Pairs) -> Places:
        """Place of each row of the table of objects among those that are known, or -1."""
        if self.by_ids and pairs.ids is None:  # nobody says who they are
            return np.full(pairs.n_objects, -1)
        same = distinct_rows(joined([self.names, _names(pairs, self.by_ids)], 0)).inverse
        number = np.full(int(same.max(initial=-1)) + 1, -1)
        number[same[: len(self)]] = np.arange(len(self))
        return number[same[len(self) :]]


def _names(pairs: Pairs, by_ids: bool) -> Features:
    codes = pairs.id_codes if by_ids else None
    return pairs.objects if codes is None else codes[:, np.newaxis]
