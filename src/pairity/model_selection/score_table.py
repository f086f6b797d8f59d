"""Scores of settings on folds as a table, and decisions by settings that other folds chose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pairity.model_selection.curves import Criterion
from pairity.model_selection.folds import TrainingFolds, Vector


@dataclass(eq=False)
class Trials:
    """Settings tried one after the other on the same folds: scores and decisions, fold by fold."""

    folds: TrainingFolds
    criterion: Criterion
    scores: list[Vector] = field(default_factory=list)
    decisions: list[list[Vector]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Targets and weights of the held-out rows, and how much each fold counts."""
        self._targets = [self.folds.data.targets[test] for _, test in self.folds.splits]
        self._weights = self.folds.shares
        totals = np.array([float(weights.sum()) for weights in self._weights])
        self._shares = totals / totals.sum()

    def loss_of(self, decisions: list[Vector]) -> float:
        """Mean held-out loss of one more setting, calibrated as the criterion does."""
        scores = self.criterion.negative_loss(decisions, self._targets, self._weights)
        if len(scores) > 1:
            self.scores.append(scores)
            self.decisions.append(decisions)
        return -float(scores @ self._shares)

    def nested(self) -> list[Vector] | None:
        """For each fold, decisions by the setting that the others chose; None of a single fold."""
        return nested_decisions(np.array(self.scores), self.decisions) if self.scores else None


def nested_decisions(scores: Vector, decisions: list[list[Vector]]) -> list[Vector]:
    """For each fold the decisions about all folds by the setting that is best on the *other* folds.

    The setting that is best on all folds is best partly by luck: its own score flatters.
    """
    found = []
    for fold in range(scores.shape[1]):
        others = means_of(np.delete(scores, fold, axis=1))
        others = means_of(scores) if np.isnan(others).all() else others
        found.append(np.concatenate(decisions[int(np.nanargmax(others))]))
    return found


def means_of(scores: Vector) -> Vector:
    """Mean over folds of each setting; NaN for what was not tried."""
    means = np.full(len(scores), np.nan)
    tried = ~np.isnan(scores).all(axis=1)
    means[tried] = np.nanmean(scores[tried], axis=1)
    return means


def results_table(
    settings: list[dict[str, Any]], scores: Vector, seconds: Vector
) -> dict[str, Any]:
    """``cv_results_``: names and ranks as in ``GridSearchCV``; NaN for what was not tried."""
    means, spreads = means_of(scores), np.full(len(settings), np.nan)
    tried = ~np.isnan(means)
    spreads[tried] = np.nanstd(scores[tried], axis=1)
    table: dict[str, Any] = {"params": settings}
    for name in settings[0]:
        column = np.empty(len(settings), dtype=object)
        column[:] = [setting[name] for setting in settings]
        table[f"param_{name}"] = column
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    return table | {
        "mean_test_score": means,
        "std_test_score": spreads,
        "rank_test_score": rankdata(np.where(tried, -means, np.inf), method="min").astype(np.int32),
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
    }
