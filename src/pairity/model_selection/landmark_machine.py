"""The kernel member of the automatic model for many pairs: expanded in some of them, the landmarks.

Weights of the families are found on a sample; then the sum is fitted to all pairs as a ridge
regression of the labels on its values at the landmarks, ``n r^2`` operations, group features and all.
On thousands of pairs its calibrated held-out log-loss is that of the exact logistic machine to a few
ten-thousandths, for a small part of the time.  An exact machine with the same kernel, fitted to a
sample, is kept for explanations.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pairity.exceptions import PairityWarning
from pairity.kernels.classes import project
from pairity.model_selection.combination import choose_combination
from pairity.model_selection.folds import TrainingFolds
from pairity.model_selection.landmark_ridge import (
    SHIFTS,
    LandmarkRidge,
    kernel_columns,
    plan_landmarks,
)
from pairity.model_selection.members import Learnt, Setting, some_rows
from pairity.model_selection.sampled import drawn, folds_of
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget, default_limit, give_back
from pairity.training.model import PairModel
from pairity.training.read import TrainingData

#: Pairs on which families are weighed, and landmarks of the model that is kept.
_WEIGHED_ON, _LANDMARKS = 4000, 600
#: Pairs that the exact machine for explanations is fitted to.
_EXPLAINED_BY = 1000


def learn_landmarks(folds: TrainingFolds, setting: Setting, machine: Any) -> Learnt:
    """Weigh families on a sample, fit their sum to all pairs; ``machine`` is for explanations."""
    data, parity = folds.data, folds.data.parity
    budget = Budget(default_limit(setting.memory_limit))
    some, _ = folds_of(folds, drawn(len(data), _WEIGHED_ON, setting.random_state))
    found = choose_combination(
        some.data.pairs,
        some.data.targets,
        some.data.weights,
        parity,
        some.splits,
        setting.criterion,
        random_state=setting.random_state,
        budget=budget,
        say=setting.say,
        deadline=setting.deadline,
    )
    give_back()
    expanded = _expanded(data, setting, found.kernel, folds.splits)
    with threadpool_limits(1):
        best = expanded.ridge.evaluate(np.ones(1))
        shift = SHIFTS[best.shift]
        model = expanded.fitted(shift)
    setting.say(f"kernels: held-out loss {best.loss:.4f} with {len(expanded.basis)} landmarks")
    machine = _explaining(folds, setting, machine, found.kernel, 2.0 / shift)
    chosen = {"families": found.weights, "scale": found.scale, "shift": shift}
    return Learnt(model, best.decisions, chosen, machine)


def fit_landmarks(data: TrainingData, setting: Setting, kernel: Any, shift: float) -> PairModel:
    """A model with a kernel and a shift that were chosen before, fitted to training pairs."""
    with threadpool_limits(1):
        return _expanded(data, setting, kernel, ()).fitted(shift)


@dataclass(frozen=True, eq=False)
class _Expanded:
    """A kernel between training pairs and landmarks among them."""

    kernel: Any
    parity: Parity | None
    basis: Pairs
    ridge: LandmarkRidge

    def fitted(self, shift: float) -> PairModel:
        """Fitted to all rows."""
        coefficients, bias = self.ridge.fitted(np.ones(1), shift)
        return PairModel(self.kernel, self.basis, coefficients, bias, self.parity)


def _expanded(data: TrainingData, setting: Setting, kernel: Any, splits: Any) -> _Expanded:
    room = plan_landmarks(len(data), 1, _LANDMARKS, Budget(default_limit(setting.memory_limit)))
    landmarks = drawn(len(data), room.n_landmarks, setting.random_state + 1)
    basis = data.pairs[landmarks].without_unused_objects()
    projected = project(kernel, data.parity, data.pairs)
    columns: Any = kernel_columns(projected, data.pairs, basis, 1.0, room.dtype)
    ridge = LandmarkRidge(
        [columns],
        landmarks,
        data.targets,
        data.weights,
        splits,
        setting.criterion,
        has_bias=data.parity is not Parity.ODD,
    )
    return _Expanded(kernel, data.parity, basis, ridge)


def _explaining(
    folds: TrainingFolds, setting: Setting, machine: Any, kernel: Any, strength: float
) -> Any:
    """An exact machine with this kernel on a sample; its support rows are those of all pairs."""
    rows = drawn(len(folds.data), _EXPLAINED_BY, setting.random_state + 2)
    data = some_rows(folds.data, rows)
    name = "C" if hasattr(machine, "C") else "alpha"
    machine.set_params(kernel=kernel, **{name: strength if name == "C" else 1.0 / strength})
    labels = data.targets if data.classes is None else np.where(data.targets > 0, 1, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PairityWarning)
        machine.fit(data.pairs, labels, data.weights)
    machine.support_ = folds.data.rows[rows[machine.support_]]
    return machine
