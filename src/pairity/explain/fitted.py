"""From what users hold (a model, a pipeline, a search) to the function that was fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from pairity.estimators.base import PairMachine
from pairity.estimators.intake import read_pairs
from pairity.lowrank.model import LowRankModel
from pairity.model import PairModel
from pairity.pairs import Pairs

__all__ = ["fitted_function", "values_of"]


def fitted_function(model: Any, X: Any) -> tuple[PairMachine, PairModel, Pairs]:
    """The learner inside a pipeline, search or calibration, its function, the pairs it sees."""
    while True:
        if isinstance(model, Pipeline):
            X = model[:-1].transform(X) if len(model) > 1 else X
            model = model[-1]
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "estimator_"):
            model = model.estimator_
        else:
            break
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


def values_of(model: Any, pairs: Any) -> NDArray[np.float64]:
    """Decision values of a classifier, predictions of a regressor."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(pairs), dtype=np.float64)
    if hasattr(model, "predict") and not hasattr(model, "classes_"):
        return np.asarray(model.predict(pairs), dtype=np.float64)
    raise ValueError(
        f"got {model!r} without decision values; expected a model with decision_function, or a"
        " regressor with predict."
    )
