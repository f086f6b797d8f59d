"""Win counts and soft labels as rows with weights, which every estimator takes.

``k`` wins of the first object in ``n`` comparisons are two observations of the pair: one that it is
ahead, of weight k, and one that it is not, of weight ``n - k``.  Losses add up to what all n rows
would cost, so that a model of counts is that of the single votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pairity.pairs.arrays import Places, Vector
from pairity.pairs.data import Pairs


@dataclass(frozen=True, eq=False)
class Votes:
    """What an estimator is fitted to: ``model.fit(votes.pairs, votes.y, votes.sample_weight)``."""

    pairs: Pairs
    y: NDArray[np.int64]  # +1: the first object is ahead; -1: it is not
    sample_weight: Vector
    rows: Places  # of the pairs given


def votes_of_counts(pairs: Pairs, wins: ArrayLike, totals: ArrayLike | None = None) -> Votes:
    """Votes from numbers of wins, or from probabilities (soft labels).

    Parameters
    ----------
    pairs : Pairs
        Who was compared.
    wins : array-like of shape (n,)
        How often the first object was ahead, ties one half; without ``totals`` the share or
        probability of it, from 0 to 1.
    totals : array-like of shape (n,), optional
        Number of comparisons of each pair; 1 by default.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.pairs import votes_of_counts
    >>> pairs = Pairs(np.eye(3), first=[0, 1], second=[1, 2])
    >>> votes = votes_of_counts(pairs, wins=[7, 5], totals=[10, 5])
    >>> votes.y.tolist(), votes.sample_weight.tolist()
    ([1, 1, -1], [7.0, 5.0, 3.0])
    >>> model = PairLogistic("antisymmetric", kernel="linear")
    >>> model.fit(votes.pairs, votes.y, votes.sample_weight).classes_.tolist()
    [-1, 1]
    """
    won = np.asarray(wins, dtype=np.float64)
    number = np.ones(len(pairs)) if totals is None else np.asarray(totals, dtype=np.float64)
    for name, values in (("wins", won), ("totals", number)):
        if values.shape != (len(pairs),) or not np.isfinite(values).all():
            raise ValueError(
                f"got {name} of shape {values.shape}; expected ({len(pairs)},) finite numbers, one per"
                " pair."
            )
    wrong = (won < 0.0) | (won > number)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"got {won[row]:g} wins of {number[row]:g} in row {row}; expected from 0 to all of them:"
            " without totals wins are shares from 0 to 1."
        )
    rows = np.tile(np.arange(len(pairs)), 2)
    weights = np.concatenate([won, number - won])
    signs = np.repeat(np.array([1, -1], dtype=np.int64), len(pairs))
    kept = weights > 0.0
    return Votes(pairs[rows[kept]], signs[kept], weights[kept], rows[kept])
