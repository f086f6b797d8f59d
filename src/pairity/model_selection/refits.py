"""Members of the automatic model fitted once more, to other pairs, with settings that were chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from pairity.estimators.object_effects import Effects
from pairity.model_selection.boosted import MeanOfTrees
from pairity.model_selection.landmark_machine import fit_landmarks
from pairity.model_selection.members import Setting, fit_effects
from pairity.model_selection.search import PairSearch
from pairity.training.model import PairModel
from pairity.training.read import TrainingData


def refit(model: Any, chosen: dict[str, Any], data: TrainingData, setting: Setting) -> Any:
    """A model like a fitted one, of other training pairs, each in its one order."""
    if isinstance(model, Effects):
        weights = model.object_weight, model.pair_weight
        return fit_effects(data, setting, model.columns.parts, model.C, *weights)
    if isinstance(model, PairModel):
        return fit_landmarks(data, setting, model.kernel, chosen["shift"])
    if isinstance(model, MeanOfTrees):
        return model.refitted(data.pairs, labels_of(data), *weights_of(data))
    learner: Any = model.best_estimator_ if isinstance(model, PairSearch) else model
    return clone(learner).fit(data.pairs, labels_of(data), *weights_of(data))


def labels_of(data: TrainingData) -> Any:
    """Labels -1 and 1, or targets of a regression."""
    return data.targets if data.classes is None else np.where(data.targets > 0, 1, -1)


def weights_of(data: TrainingData) -> tuple[Any, ...]:
    """Weights to hand on, unless all are alike: not every estimator takes some."""
    return () if (data.weights == 1.0).all() else (data.weights,)
