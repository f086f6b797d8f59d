"""Two lists of pairs as one: rows of the second after those of the first."""

from __future__ import annotations

from typing import Any

import numpy as np

from pairity.exceptions import DataError
from pairity.pairs.arrays import joined
from pairity.pairs.data import Pairs


def together(one: Pairs, other: Pairs) -> Pairs:
    """Pairs of two tables as pairs of one, group features left out, to tell which objects they share."""
    named = one.ids is not None and other.ids is not None
    return Pairs(
        joined([one.objects, other.objects], 0),
        np.concatenate([one.first, one.n_objects + other.first]),
        np.concatenate([one.second, one.n_objects + other.second]),
        ids=np.concatenate([one.ids, other.ids]) if named else None,
    )


def one_after_another(one: Pairs, other: Pairs) -> Pairs:
    """Pairs of the same columns in one list; objects with equal ids, or features, are the same."""
    for name, what in (("ids", "ids"), ("time", "times")):
        if (getattr(one, name) is None) != (getattr(other, name) is None):
            raise DataError(
                f"got pairs with {what} and pairs without; expected {what} in both, or in neither:"
                f" pass {name}=... to Pairs."
            )

    def both(name: str) -> Any:
        return np.concatenate([getattr(side, name) for side in (one, other)])

    joint = together(one, other)
    joint = joint.with_features(joint.objects, both("symmetric"), both("antisymmetric"))
    return (joint if one.time is None else joint.at(both("time"))).compact()


def at_the_latest_time(pairs: Pairs, of: Pairs) -> Pairs:
    """Made-up pairs at the latest time of those they are made from, where these have times."""
    return pairs if of.time is None or not len(of) else pairs.at(float(of.time.max()))
