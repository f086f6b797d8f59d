"""Fit a task and measure: accuracy on held-out pairs, certificate, swap law."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pairity.demo.tasks import Task
from pairity.solvers.certificate import Certificate
from pairity.tuning import PairSVCCV

__all__ = ["Outcome", "accuracy_of", "evaluate"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted task: figures for the summary, decisions for the files."""

    task: Task
    model: PairSVCCV
    decisions: Vector  # on the held-out pairs
    accuracy: float
    standard_error: float
    baselines: dict[str, float]
    swap_law_holds: bool  # with ==, on every held-out pair
    fit_seconds: float
    predict_seconds: float

    @property
    def certificate(self) -> Certificate:
        """How far from optimal the fit is."""
        return self.model.certificate_

    @property
    def best_c(self) -> float:
        """The C that was chosen."""
        return float(self.model.best_params_["C"])

    @property
    def n_support(self) -> int:
        """Number of support pairs."""
        return len(self.model.support_)


def evaluate(task: Task) -> Outcome:
    """Fit on the training pairs, measure on the held-out ones."""
    model = clone(task.estimator)
    start = time.perf_counter()
    model.fit(task.train, task.train_labels, groups=task.groups)
    fitted = time.perf_counter()
    decisions = model.decision_function(task.test)
    predicted = time.perf_counter()
    accuracy = accuracy_of(decisions, task.test_labels)
    return Outcome(
        task=task,
        model=model,
        decisions=decisions,
        accuracy=accuracy,
        standard_error=float(np.sqrt(accuracy * (1.0 - accuracy) / len(task.test))),
        baselines={
            name: accuracy_of(values, task.test_labels) for name, values in task.baselines.items()
        },
        swap_law_holds=_obeys_swap_law(task, decisions, model.decision_function(task.test.swap())),
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
    )


def accuracy_of(decisions: Vector, labels: NDArray[np.int64]) -> float:
    """Share of decisions with the sign of the label; a decision of exactly 0 counts one half."""
    return float(np.mean(np.where(decisions == 0.0, 0.5, (decisions > 0) == (labels > 0))))


def _obeys_swap_law(task: Task, decisions: Vector, swapped: Vector) -> bool:
    sign = -1.0 if task.symmetry == "antisymmetric" else 1.0
    return bool(np.all(swapped == sign * decisions))
