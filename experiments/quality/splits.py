"""Some of the splits of a splitter, with the share of matches kept where holding out changes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


class Splits(BaseCrossValidator):
    """The first or the latest ``number`` splits of a splitter of :mod:`pairity.model_selection`.

    With ``same_share`` the class that is too many among test pairs is thinned at random until
    they have the share of positive labels of what is split (of the training pairs, where those
    are not thinned too).
    """

    def __init__(
        self,
        splitter: Any,
        number: int,
        latest: bool = False,
        same_share: bool = False,
        thin_training: bool = False,
    ) -> None:
        self.splitter = splitter
        self.number = number
        self.latest = latest
        self.same_share = same_share
        self.thin_training = thin_training

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, as far as the splitter has them."""
        return min(self.number, int(self.splitter.get_n_splits(X, y, groups)))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Row numbers of training and test pairs."""
        found = list(self.splitter.split(X, y, groups))
        for train, test in found[-self.number :] if self.latest else found[: self.number]:
            if not self.same_share:
                yield train, test
            elif self.thin_training:
                share = float(np.mean(np.asarray(y) > 0))
                yield thinned(y, train, share), thinned(y, test, share)
            else:
                yield train, thinned(y, test, float(np.mean(np.asarray(y)[train] > 0)))


def thinned(y: Any, rows: Rows, share: float) -> Rows:
    """As many of the rows as have this share of positive labels."""
    labels = np.asarray(y)[rows]
    sides = (rows[labels > 0], share), (rows[labels <= 0], 1.0 - share)
    most = min(len(side) / part for side, part in sides)
    rng = np.random.default_rng(len(rows))
    kept = [rng.choice(side, max(1, int(part * most)), replace=False) for side, part in sides]
    return np.sort(np.concatenate(kept))


class FewPairs(BaseCrossValidator):
    """So few training pairs, drawn anew for each split; test pairs have nothing in common with them.

    With groups the training pairs are those of some groups, and test pairs are other pairs of other
    groups.  Without, objects are halved: some pairs of one half train, those of the other test.
    """

    def __init__(self, number: int, n_train: int, n_objects: int = 40) -> None:
        self.number = number
        self.n_train = n_train
        self.n_objects = n_objects

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.number

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Row numbers of training and test pairs."""
        for seed in range(self.number):
            rng = np.random.default_rng(seed)
            yield self._of_objects(X, rng) if groups is None else self._of_groups(X, groups, rng)

    def _of_objects(self, pairs: Any, rng: np.random.Generator) -> Split:
        known = np.zeros(pairs.n_objects, dtype=bool)
        known[rng.permutation(pairs.n_objects)[: self.n_objects]] = True
        inside = known[np.stack([pairs.first, pairs.second])]
        train = rng.permutation(np.flatnonzero(inside.all(axis=0)))[: self.n_train]
        return np.sort(train), np.flatnonzero(~inside.any(axis=0))

    def _of_groups(self, pairs: Any, groups: Any, rng: np.random.Generator) -> Split:
        names, group = np.unique(groups, return_inverse=True)
        place = rng.permutation(len(names))[group.reshape(-1)]
        train = np.argsort(place, kind="stable")[: self.n_train]
        keys = pairs.n_objects * np.minimum(pairs.first, pairs.second)
        keys = keys + np.maximum(pairs.first, pairs.second)
        met = np.isin(keys, keys[train]) | np.isin(place, place[train])
        return np.sort(train), np.flatnonzero(~met)
