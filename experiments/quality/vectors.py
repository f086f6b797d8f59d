"""scikit-learn's SVC with a Gaussian kernel on both orders of each pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC

from experiments.quality.method import Labels, Problem, Vector, sigmoid
from experiments.quality.plain import View
from experiments.quality.splits import Rows
from experiments.quality.task import Task
from pairity import Pairs

#: Penalties, and factors of gamma = 1 / (columns x variance).
PENALTIES, WIDTHS = (1.0, 10.0, 0.1), (0.5, 0.1)
#: Most pairs of a fit while tuning and in the end; more are left out at random.
TUNING_PAIRS, PAIRS = 1000, 4000


@dataclass(eq=False)
class VectorModel:
    """A support vector machine and the sigmoid of its decisions on inner splits."""

    view: View
    centre: np.ndarray
    spread: np.ndarray
    machine: SVC
    slope: float = 1.0
    offset: float = 0.0
    chosen: dict[str, Any] = field(default_factory=dict)

    def decision(self, pairs: Pairs) -> Vector:
        """Signed distance, of the pairs as they are written."""
        return self.machine.decision_function((self.view.rows(pairs) - self.centre) / self.spread)

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1."""
        return sigmoid(self.slope * self.decision(pairs) + self.offset)


def fit_machine(problem: Problem, pairs: Pairs, y: Labels, setting: dict) -> VectorModel:
    """One machine on scaled columns."""
    view = View.of(setting["view"], problem, pairs, y)
    rows, labels = view.training_rows(problem, pairs, y)
    centre = rows.mean(axis=0)
    spread = rows.std(axis=0)
    if problem.common_scale and "raw" in setting["view"] and not problem.pairs.n_symmetric:
        spread = np.full_like(spread, np.sqrt(np.mean(spread**2)))
    spread = np.where(spread > 0.0, spread, 1.0)
    gamma = setting["width"] / rows.shape[1]
    machine = SVC(C=setting["C"], gamma=gamma, cache_size=500).fit((rows - centre) / spread, labels)
    return VectorModel(view, centre, spread, machine)


class DoubledSVC:
    """SVC with a Gaussian kernel, raw or engineered columns, penalty and width tuned."""

    name = "svc"

    def describe(self) -> str:
        """Name and version."""
        return "svc 3"

    def applies(self, task: Task) -> bool:
        """Always."""
        return True

    def settings(self, problem: Problem) -> list[dict]:
        """Views, penalties, widths."""
        views = ["engineered, rates" if problem.identities else "raw", "engineered"]
        found = [
            {"view": view, "C": C, "width": width}
            for C, width, view in product(PENALTIES, WIDTHS, views)
        ]
        return found[: problem.n_settings]

    def fit(self, problem: Problem) -> VectorModel:
        """Tune by the area under the curve, fit, and put a sigmoid through inner decisions."""
        settings = self.settings(problem)
        decisions = [
            [_decided(problem, fit, held, setting) for fit, held in problem.inner]
            for setting in settings
        ]
        truth = [_both(problem, problem.y[held]) > 0 for _, held in problem.inner]
        areas = [
            np.mean([roc_auc_score(t, d) for t, d in zip(truth, found, strict=True)])
            for found in decisions
        ]
        best = int(np.argmax(areas))
        rows = some_rows(len(problem.y), PAIRS)
        model = fit_machine(problem, *problem.part(rows), settings[best])
        model.slope, model.offset = sigmoid_through(
            np.concatenate(decisions[best]), np.concatenate(truth), problem.odd
        )
        model.chosen = {
            **settings[best],
            "inner AUC": float(areas[best]),
            "pairs": len(rows),
            "of": len(problem.y),
        }
        return model


def _both(problem: Problem, y: np.ndarray) -> np.ndarray:
    return np.concatenate([y, -y if problem.odd else y])


def _decided(problem: Problem, fit: Rows, held: Rows, setting: dict) -> Vector:
    """Decisions on both orders of the held-out pairs."""
    fit = fit[some_rows(len(fit), TUNING_PAIRS)]
    model = fit_machine(problem, *problem.part(fit), setting)
    pairs = problem.pairs[held]
    return np.concatenate([model.decision(pairs), model.decision(pairs.swap())])


def some_rows(number: int, most: int) -> Rows:
    """All rows, or so many of them at random."""
    if number <= most:
        return np.arange(number)
    return np.sort(np.random.default_rng(0).permutation(number)[:most])


def sigmoid_through(decisions: Vector, truth: np.ndarray, odd: bool) -> tuple[float, float]:
    """Platt's slope, not below 0, and offset; no offset where labels are antisymmetric."""
    spread = float(np.std(decisions)) or 1.0
    model = LogisticRegression(C=1e4, fit_intercept=not odd)
    model.fit(decisions[:, np.newaxis] / spread, truth)
    offset = 0.0 if odd else float(model.intercept_[0])
    return max(0.0, float(model.coef_[0, 0]) / spread), offset
