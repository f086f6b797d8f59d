"""Values of a fitted model on pairs, whatever the model calls them, and the law they must obey."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["antisymmetric_margins", "symmetric_margins"]

Vector = NDArray[np.float64]

#: Probabilities are kept this far from 0 and 1, so that log-odds stay finite.
_LEAST_PROBABILITY = 1e-12
#: The swap law is tried on this many pairs, and may be off by this part of the largest value.
_TRIED, _TOLERANCE = 200, 1e-6


def antisymmetric_margins(model: Any, pairs: Pairs) -> Vector:
    """``f(a, b)`` of a model with ``f(b, a) = -f(a, b)``, or a sentence saying it has not."""
    return _margins_of_parity(model, pairs, Parity.ODD)


def symmetric_margins(model: Any, pairs: Pairs) -> Vector:
    """``f(a, b)`` of a model with ``f(b, a) = f(a, b)``, or a sentence saying it has not."""
    return _margins_of_parity(model, pairs, Parity.EVEN)


def _margins_of_parity(model: Any, pairs: Pairs, parity: Parity) -> Vector:
    values = _margins(model, pairs)
    tried = pairs[:_TRIED]
    miss = np.abs(_margins(model, tried.swap()) - parity.sign * _margins(model, tried))
    if len(tried) and miss.max() > _TOLERANCE * float(np.abs(values).max()):
        law = "f(b, a) = -f(a, b)" if parity is Parity.ODD else "f(b, a) = f(a, b)"
        name = "antisymmetric" if parity is Parity.ODD else "symmetric"
        raise ValueError(
            f"got a model that misses {law} by {miss.max():.2g}; expected that law to hold: fit it"
            f" with symmetry={name!r}."
        )
    return values


def _margins(model: Any, pairs: Pairs) -> Vector:
    """Decision values; log-odds of the last class; or predictions of a regressor."""
    if hasattr(model, "decision_function"):
        values = model.decision_function(pairs)
    elif hasattr(model, "predict_proba"):
        chance = np.clip(model.predict_proba(pairs)[:, -1], _LEAST_PROBABILITY, None)
        against = np.clip(1.0 - chance, _LEAST_PROBABILITY, None)
        values = np.log(chance) - np.log(against)
    elif hasattr(model, "predict"):
        values = model.predict(pairs)
    else:
        raise ValueError(
            f"got {type(model).__name__}; expected a fitted model with decision_function,"
            " predict_proba or predict on Pairs."
        )
    return np.asarray(values, dtype=np.float64).reshape(len(pairs))
