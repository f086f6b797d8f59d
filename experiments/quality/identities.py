"""Who it is, as columns: indicators for linear models, past rates for trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pairity import Pairs

#: Pairs that an object counts as having had at the mean rate, before any was seen.
PRIOR = 5.0
FOLDS = 5


def _codes(pairs: Pairs, place: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the two objects of each pair, -1 for those without one."""
    used = np.full(pairs.n_objects, -1)
    rows = np.unique(np.concatenate([pairs.first, pairs.second]))
    names = rows.tolist() if pairs.ids is None else pairs.ids[rows].tolist()
    used[rows] = [place.get(name, -1) for name in names]
    return used[pairs.first], used[pairs.second]


def _places(pairs: Pairs) -> dict[Any, int]:
    rows = np.unique(np.concatenate([pairs.first, pairs.second]))
    names = rows.tolist() if pairs.ids is None else pairs.ids[rows].tolist()
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


@dataclass(frozen=True, eq=False)
class Indicators:
    """One column an object of the training pairs: e_a - e_b (odd) or e_a + e_b (even)."""

    place: dict[Any, int]
    odd: bool

    @classmethod
    def of(cls, pairs: Pairs, odd: bool) -> Indicators:
        """Columns for the objects of these pairs; all others get none."""
        return cls(_places(pairs), odd)

    def columns(self, pairs: Pairs) -> sp.csr_array:
        """Shape (n, objects of the training pairs)."""
        sides = zip(_codes(pairs, self.place), (1.0, -1.0 if self.odd else 1.0), strict=True)
        parts = []
        for codes, sign in sides:
            rows = np.flatnonzero(codes >= 0)
            where = rows, codes[rows]
            parts.append(
                sp.csr_array((np.full(len(rows), sign), where), shape=(len(pairs), len(self.place)))
            )
        return parts[0] + parts[1]


@dataclass(frozen=True, eq=False)
class Rates:
    """Rate of wins (odd) or of links (even) of each object, drawn towards the mean, and log count."""

    place: dict[Any, int]
    rate: np.ndarray
    count: np.ndarray
    mean: float

    @classmethod
    def of(cls, pairs: Pairs, y: np.ndarray, odd: bool) -> Rates:
        """From labelled pairs."""
        place = _places(pairs)
        left, right = _codes(pairs, place)
        won = (y > 0).astype(float)
        mean = 0.5 if odd else float(won.mean())
        count = np.bincount(left, minlength=len(place)) + np.bincount(right, minlength=len(place))
        wins = np.bincount(left, won, len(place))
        wins += np.bincount(right, 1.0 - won if odd else won, len(place))
        return cls(place, (wins + PRIOR * mean) / (count + PRIOR), np.log1p(count), mean)

    def sides(self, pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
        """Rate and log count of the first and of the second object, each of shape (n, 2)."""
        table = np.column_stack([np.append(self.rate, self.mean), np.append(self.count, 0.0)])
        left, right = _codes(pairs, self.place)
        return table[left], table[right]  # -1 is the last row: nothing known


def out_of_fold_sides(
    pairs: Pairs, y: np.ndarray, odd: bool, one_new: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Rates for training pairs from the other pairs, so that no label describes itself.

    All observations of two objects are in one fold.  Where test pairs will have one new object,
    one side of each pair, drawn at random, is shown as new too.
    """
    rng = np.random.default_rng(0)
    left, right = _codes(pairs, _places(pairs))
    unordered = np.stack([np.minimum(left, right), np.maximum(left, right)], axis=1)
    unit = np.unique(unordered, axis=0, return_inverse=True)[1].reshape(-1)
    fold = rng.integers(FOLDS, size=unit.max() + 1)[unit]
    sides = np.zeros((len(pairs), 2)), np.zeros((len(pairs), 2))
    for number in range(FOLDS):
        held = fold == number
        if held.any():
            rates = Rates.of(pairs[~held], y[~held], odd)
            for side, found in zip(sides, rates.sides(pairs[held]), strict=True):
                side[held] = found
    if one_new:
        hidden = rng.integers(2, size=len(pairs)).astype(bool)
        mean = 0.5 if odd else float(np.mean(y > 0))
        sides[0][hidden] = sides[1][~hidden] = mean, 0.0
    return sides
