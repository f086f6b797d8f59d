"""Logistic regression on odd or even columns, and Bradley-Terry: swap-exact peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from experiments.quality.columns import (
    Scale,
    alike_columns,
    differences,
    even_columns,
    likeness_columns,
    odd_interactions,
)
from experiments.quality.identities import Indicators
from experiments.quality.measures import log_loss
from experiments.quality.method import Labels, Problem, Vector, sigmoid
from experiments.quality.task import Task
from pairity import Pairs

Columns = Callable[[Pairs], np.ndarray]


def _nothing(pairs: Pairs) -> np.ndarray:
    """No features of objects: the antisymmetric features of the pair alone, such as home."""
    return pairs.antisymmetric


COLUMNS: dict[str, Columns] = {
    "differences": differences,
    "with interactions": odd_interactions,
    "group": alike_columns,
    "likeness": likeness_columns,
    "sums, differences, products": even_columns,
    "identity": _nothing,
}


@dataclass(frozen=True)
class Setting:
    """Columns of features, whether objects have their own effects, inverse penalty."""

    columns: str
    indicators: bool
    C: float


@dataclass(eq=False)
class LinearModel:
    """Logistic regression on scaled columns; antisymmetric ones without intercept."""

    scale: Scale
    setting: Setting
    indicators: Indicators | None
    spread: np.ndarray
    centre: np.ndarray
    coef: np.ndarray
    intercept: float
    chosen: dict[str, Any] = field(default_factory=dict)

    def decision(self, pairs: Pairs) -> Vector:
        """Log-odds of +1."""
        rows = _rows(
            self.scale.apply(pairs), self.setting, self.indicators, self.centre, self.spread
        )
        return np.asarray(rows @ self.coef).reshape(-1) + self.intercept

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1."""
        return sigmoid(self.decision(pairs))


def _rows(
    scaled: Pairs,
    setting: Setting,
    indicators: Indicators | None,
    centre: np.ndarray,
    spread: np.ndarray,
) -> Any:
    dense = (COLUMNS[setting.columns](scaled) - centre) / spread
    if indicators is None:
        return dense
    return sp.csr_array(sp.hstack([sp.csr_array(dense), indicators.columns(scaled)]))


def fit_linear(problem: Problem, pairs: Pairs, y: Labels, setting: Setting) -> LinearModel:
    """One logistic regression."""
    scale = Scale.of(pairs, problem.common_scale)
    scaled = scale.apply(pairs)
    columns = COLUMNS[setting.columns](scaled)
    centre = np.zeros(columns.shape[1]) if problem.odd else columns.mean(axis=0)
    spread = np.sqrt(np.mean((columns - centre) ** 2, axis=0))
    spread = np.where(spread > 0.0, spread, 1.0)
    indicators = Indicators.of(pairs, problem.odd) if setting.indicators else None
    rows = _rows(scaled, setting, indicators, centre, spread)
    target = y
    if problem.odd:  # odd columns and no intercept: a mirrored row would only count twice
        flip = np.where(np.arange(len(y)) % 2 == 0, 1, -1)  # so that both classes are there
        signs = sp.diags_array(flip.astype(float))
        rows, target = signs @ rows, y * flip
    model = LogisticRegression(
        C=setting.C, fit_intercept=not problem.odd, max_iter=2000, tol=1e-6
    ).fit(rows, target)
    intercept = 0.0 if problem.odd else float(model.intercept_[0])
    return LinearModel(scale, setting, indicators, spread, centre, model.coef_[0], intercept)


def tune_linear(problem: Problem, settings: list[Setting]) -> LinearModel:
    """The setting of least log-loss on the inner splits, fitted on all training pairs."""
    losses = np.zeros(len(settings))
    for fit, held in problem.inner:
        for number, setting in enumerate(settings):
            model = fit_linear(problem, *problem.part(fit), setting)
            pairs, y = problem.part(held)
            losses[number] += log_loss(model.probability(pairs), y > 0) / len(problem.inner)
    best = settings[int(np.argmin(losses))]
    model = fit_linear(problem, problem.pairs, problem.y, best)
    model.chosen = {**vars(best), "inner log-loss": float(losses.min())}
    return model


class Logistic:
    """Logistic regression on differences, or on sums, absolute differences and products."""

    name = "logistic"

    def describe(self) -> str:
        """Name and version."""
        return "logistic 3"

    def applies(self, task: Task) -> bool:
        """Always."""
        return True

    def settings(self, problem: Problem) -> list[Setting]:
        """Two or three sets of columns, with and without effects of objects, and penalties.

        They cost so little that there are more of them than the others may try.
        """
        names = ["differences", "with interactions"]
        if not problem.odd:
            names = ["group", "likeness", "sums, differences, products"]
        own = (False, True) if problem.identities else (False,)
        penalties = np.logspace(-3.0, 2.0, max(2, problem.n_settings // 2))
        return [Setting(name, flag, float(C)) for name, flag, C in product(names, own, penalties)]

    def fit(self, problem: Problem) -> LinearModel:
        """Tune and fit."""
        return tune_linear(problem, self.settings(problem))


class BradleyTerry:
    """A strength for each object, and the antisymmetric features (home, white); no other features."""

    name = "bradley-terry"

    def describe(self) -> str:
        """Name and version."""
        return "bradley-terry 2"

    def applies(self, task: Task) -> bool:
        """Where objects come back and the stronger wins."""
        return task.identities and task.symmetry == "antisymmetric"

    def fit(self, problem: Problem) -> LinearModel:
        """Tune the penalty and fit."""
        penalties = np.logspace(-3.0, 1.5, problem.n_settings)
        return tune_linear(problem, [Setting("identity", True, float(C)) for C in penalties])
