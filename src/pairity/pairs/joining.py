"""Two lists of pairs as one: rows of the second after those of the first, equal objects recognised."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.exceptions import DataError
from pairity.pairs.arrays import joined
from pairity.pairs.data import Pairs


def one_after_another(one: Pairs, other: Pairs) -> Pairs:
    """Pairs of the same columns in one list; objects with equal ids, or features, are the same."""
    for name, what in (("ids", "ids"), ("time", "times")):
        if (getattr(one, name) is None) != (getattr(other, name) is None):
            raise DataError(
                f"got pairs with {what} and pairs without; expected {what} in both, or in neither:"
                f" pass {name}=... to Pairs."
            )

    def both(name: str) -> Any:
        parts = [getattr(side, name) for side in (one, other)]
        return None if parts[0] is None else np.concatenate(parts)

    ends = [
        np.concatenate([getattr(one, end), one.n_objects + getattr(other, end)])
        for end in ("first", "second")
    ]
    objects = joined([one.objects, other.objects], 0)
    named = {name: both(name) for name in ("symmetric", "antisymmetric", "ids", "time")}
    return Pairs(objects, *ends, **named).compact()


def at_the_latest_time(pairs: Pairs, of: Pairs) -> Pairs:
    """Made-up pairs at the latest time of those they are made from, where these have times."""
    return pairs if of.time is None or not len(of) else pairs.at(float(of.time.max()))
