"""Past rates: what the pairs of an object said on average, as columns for any estimator.

An estimator of plain rows cannot use names.  It can use how often an object won (antisymmetric), or
how often its pairs were positive (symmetric), drawn towards the mean of all objects,

    rate = (sum of targets + PRIOR mean) / (number of pairs + PRIOR),

and the logarithm of one more than that number.  Of training pairs the rates come from the other
pairs alone, all observations of two objects being in one fold: no label describes itself.  Where an
estimator will be asked about a known object and a new one, one end of each training pair, drawn at
random, is shown as new as well: otherwise it would never see what nothing known looks like.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pairity.pairs.arrays import Matrix, Vector, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered_keys
from pairity.pairs.same_objects import KnownObjects

#: Pairs of mean target that every object counts as having had.
PRIOR = 5.0
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class PastRates:
    """Rate and logarithm of the count of each object that was seen, and the mean for all others."""

    known: KnownObjects
    rates: Matrix  # (objects, 2)
    mean: float

    @classmethod
    def of(cls, pairs: Pairs, targets: Vector, weights: Vector, parity: Parity | None) -> Self:
        """Rates of the objects of training pairs."""
        known = KnownObjects.of(pairs)
        places, size, odd = known.places(pairs), len(known), parity is Parity.ODD
        mean = 0.0 if odd else float(np.average(targets, weights=weights))
        total, count = np.zeros(size), np.zeros(size)
        for end, sign in ((pairs.first, 1.0), (pairs.second, -1.0 if odd else 1.0)):
            total += sums_at(places[end], sign * weights * targets, size)
            count += sums_at(places[end], weights, size)
        rates = np.column_stack([(total + PRIOR * mean) / (count + PRIOR), np.log1p(count)])
        return cls(known, rates, mean)

    def apply(self, pairs: Pairs) -> tuple[Matrix, Matrix]:
        """Columns of the first and of the second objects, each of shape (n, 2)."""
        places = self.known.places(pairs)
        table = np.vstack([self.rates, [[self.mean, 0.0]]])  # -1 is the last row: never seen
        return table[places[pairs.first]], table[places[pairs.second]]


def out_of_fold(
    pairs: Pairs,
    targets: Vector,
    weights: Vector,
    parity: Parity | None,
    seed: int,
    *,
    one_new: bool = False,
) -> tuple[Matrix, Matrix]:
    """Columns for training pairs, each from pairs of other objects or of these with others.

    With ``one_new`` one end of each pair is shown as an object that was never seen.
    """
    places = KnownObjects.of(pairs).places(pairs)
    keys = unordered_keys(places[pairs.first], places[pairs.second], pairs.n_objects)
    unit = np.unique(keys, return_inverse=True)[1].reshape(-1)
    rng = np.random.default_rng(seed)
    fold = rng.integers(_FOLDS, size=int(unit.max()) + 1)[unit]
    sides = np.zeros((len(pairs), 2)), np.zeros((len(pairs), 2))
    for number in np.unique(fold).tolist():
        held, others = fold == number, fold != number
        if not others.any():  # one pair alone: nothing is known of it
            continue
        seen = PastRates.of(pairs[others], targets[others], weights[others], parity)
        for side, found in zip(sides, seen.apply(pairs[held]), strict=True):
            side[held] = found
    if one_new:
        mean = 0.0 if parity is Parity.ODD else float(np.average(targets, weights=weights))
        first = rng.random(len(pairs)) < 0.5
        sides[0][first] = sides[1][~first] = mean, 0.0
    return sides
