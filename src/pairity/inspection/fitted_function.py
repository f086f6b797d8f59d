"""What inspections share: the function inside a model, its values, names and tables of results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from pairity.estimators.machine import PairMachine
from pairity.estimators.unwrap import direction, layers
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.solvers.low_rank.function import LowRankModel
from pairity.training.model import PairModel
from pairity.training.read import read_pairs

#: Kinds of features, in the order in which users list them.
KINDS = ("objects", "symmetric", "antisymmetric")
#: Probabilities are kept this far from 0 and 1, so that log-odds stay finite.
_LEAST_PROBABILITY = 1e-12
#: The swap law is tried on this many pairs, and may be off by this part of the largest value.
_TRIED, _TOLERANCE = 200, 1e-6


def fitted_function(model: Any, X: Any) -> tuple[PairMachine, PairModel, Pairs]:
    """The learner inside a pipeline, search or calibration, its function, the pairs it sees."""
    for layer in layers(model):
        if isinstance(layer, Pipeline) and len(layer) > 1:
            X = layer[:-1].transform(X)
    model = layer
    function = getattr(model, "_model", None)
    if isinstance(function, LowRankModel):
        raise ValueError(
            f"got {type(model).__name__} with a low-rank model, which keeps parameters of features and"
            " no training pairs; expected a model with support pairs: fit it with another solver, or"
            " ask permutation_importance, which takes any model."
        )
    if not isinstance(model, PairMachine) or not isinstance(function, PairModel):
        raise ValueError(
            f"got {model!r}, which holds no fitted function of pairs; expected a fitted PairSVC or"
            " another learner of pairs, or a pipeline, search or calibration around one: call fit"
            " first."
        )
    return model, function, read_pairs(model, X, reset=False)


def values_of(model: Any, pairs: Any) -> Vector:
    """Decision values of a classifier, predictions of a regressor."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(pairs), dtype=np.float64)
    if hasattr(model, "predict") and not hasattr(model, "classes_"):
        return np.asarray(model.predict(pairs), dtype=np.float64)
    raise ValueError(
        f"got {model!r} without decision values; expected a model with decision_function, or a"
        " regressor with predict."
    )


def margins(model: Any, pairs: Pairs, parity: Parity) -> Vector:
    """``f(a, b)`` of a model with ``f(b, a) = +-f(a, b)``, or a sentence saying it has not.

    Above 0 where the first object is ahead, or the two are alike, by the label that says so.
    """
    values, tried = _margins(model, pairs), pairs[:_TRIED]
    miss = np.abs(_margins(model, tried.swap()) - parity.sign * _margins(model, tried))
    if len(tried) and miss.max() > _TOLERANCE * float(np.abs(values).max()):
        sign, name = ("-", "antisymmetric") if parity is Parity.ODD else ("", "symmetric")
        raise ValueError(
            f"got a model that misses f(b, a) = {sign}f(a, b) by {miss.max():.2g}; expected that law to"
            f" hold: fit it with symmetry={name!r}."
        )
    return direction(model, parity) * values


def _margins(model: Any, pairs: Pairs) -> Vector:
    """Decision values; log-odds of the last class; or predictions of a regressor."""
    if hasattr(model, "decision_function"):
        values = model.decision_function(pairs)
    elif hasattr(model, "predict_proba"):
        chance = np.clip(model.predict_proba(pairs)[:, -1], _LEAST_PROBABILITY, None)
        values = np.log(chance) - np.log(np.clip(1.0 - chance, _LEAST_PROBABILITY, None))
    elif hasattr(model, "predict"):
        values = model.predict(pairs)
    else:
        raise ValueError(
            f"got {type(model).__name__}; expected a fitted model with decision_function,"
            " predict_proba or predict on Pairs."
        )
    return np.asarray(values, dtype=np.float64).reshape(len(pairs))


def require_pairs(pairs: Any, why: str = "") -> None:
    """Refuse anything but Pairs."""
    if not isinstance(pairs, Pairs):
        raise ValueError(
            f"got {type(pairs).__name__}; expected Pairs{why}: use Pairs.from_rows(rows, n_symmetric,"
            " n_antisymmetric)."
        )


def is_pairs_with_targets(given: Any) -> bool:
    """Whether this is a tuple (pairs, y)."""
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Pairs)


def object_names(ids: ArrayLike | None, n_objects: int) -> NDArray[Any]:
    """Names of objects; row numbers where there are none."""
    names = np.arange(n_objects) if ids is None else np.asarray(ids)
    if len(names) != n_objects:
        raise ValueError(f"got {len(names)} ids for {n_objects} objects; expected one per object.")
    return names


def as_frame(columns: Mapping[str, Any]) -> Any:
    """A pandas table of the columns that there are."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "got no pandas; expected it for tables: pip install pandas, or use the arrays."
        ) from None
    return pd.DataFrame({name: column for name, column in columns.items() if column is not None})
