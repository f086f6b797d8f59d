"""Past rates: what the pairs of an object said on average, as columns for any estimator.

An estimator of plain rows cannot use names.  It can use how often an object won (antisymmetric), or
how often its pairs were positive (symmetric), drawn towards the mean of all objects,

    rate = (sum of targets + PRIOR mean) / (number of pairs + PRIOR),

and the logarithm of one more than that number.  Of training pairs the rates come from the other
pairs alone, all observations of two objects being in one fold: no label describes itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pairity.pairs.arrays import Features, Matrix, Places, Vector, distinct_rows, joined, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered_keys

#: Pairs of mean target that every object counts as having had.
PRIOR = 5.0
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class PastRates:
    """Rate and logarithm of the count of each object that was seen, and the mean for all others."""

    names: Features  # ids as numbers, or features: what objects are recognised by
    rates: Matrix  # (objects, 2)
    mean: float
    by_ids: bool

    @classmethod
    def of(cls, pairs: Pairs, targets: Vector, weights: Vector, parity: Parity | None) -> Self:
        """Rates of the objects of training pairs."""
        pairs = pairs.without_unused_objects()
        by_ids = pairs.ids is not None
        names = _names(pairs, by_ids)
        distinct = distinct_rows(names)
        size = len(distinct.representative)
        odd = parity is Parity.ODD
        mean = 0.0 if odd else float(np.average(targets, weights=weights))
        total, count = np.zeros(size), np.zeros(size)
        for end, sign in ((pairs.first, 1.0), (pairs.second, -1.0 if odd else 1.0)):
            place = distinct.inverse[end]
            total += sums_at(place, sign * weights * targets, size)
            count += sums_at(place, weights, size)
        rates = np.column_stack([(total + PRIOR * mean) / (count + PRIOR), np.log1p(count)])
        return cls(names[distinct.representative], rates, mean, by_ids)

    def apply(self, pairs: Pairs) -> tuple[Matrix, Matrix]:
        """Columns of the first and of the second objects, each of shape (n, 2)."""
        place = self._places(pairs)
        table = np.vstack([self.rates, [[self.mean, 0.0]]])  # -1 is the last row: never seen
        return table[place[pairs.first]], table[place[pairs.second]]

    def _places(self, pairs: Pairs) -> Places:
        """Place of each row of the table of objects among those that were seen, or -1."""
        if self.by_ids and pairs.ids is None:  # nobody says who they are
            return np.full(pairs.n_objects, -1)
        known = self.names.shape[0]
        same = distinct_rows(joined([self.names, _names(pairs, self.by_ids)], 0)).inverse
        number = np.full(int(same.max(initial=-1)) + 1, -1)
        number[same[:known]] = np.arange(known)
        return number[same[known:]]


def out_of_fold(
    pairs: Pairs, targets: Vector, weights: Vector, parity: Parity | None, seed: int
) -> tuple[Matrix, Matrix]:
    """Columns for training pairs, each from pairs of other objects or of these with others."""
    place = distinct_rows(_names(pairs, pairs.ids is not None)).inverse
    keys = unordered_keys(place[pairs.first], place[pairs.second], pairs.n_objects)
    unit = np.unique(keys, return_inverse=True)[1].reshape(-1)
    fold = np.random.default_rng(seed).integers(_FOLDS, size=int(unit.max()) + 1)[unit]
    sides = np.zeros((len(pairs), 2)), np.zeros((len(pairs), 2))
    for number in np.unique(fold).tolist():
        held, others = fold == number, fold != number
        if not others.any():  # one pair alone: nothing is known of it
            continue
        seen = PastRates.of(pairs[others], targets[others], weights[others], parity)
        for side, found in zip(sides, seen.apply(pairs[held]), strict=True):
            side[held] = found
    return sides


def _names(pairs: Pairs, by_ids: bool) -> Features:
    """What objects are recognised by: ids as numbers, or features."""
    codes = pairs.id_codes if by_ids else None
    return pairs.objects if codes is None else codes[:, np.newaxis]
