"""Scores of held-out decisions, and the table that ``GridSearchCV`` would give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pairity.tuning.criteria import Criterion, CrossEntropy

__all__ = ["FoldScores", "Scoring", "accuracy", "auc", "negative_loss", "results_table"]

Vector = NDArray[np.float64]
#: A score of each fold, larger is better: of decisions, targets and weights, fold by fold.
Scoring = Callable[[Sequence[Vector], Sequence[Vector], Sequence[Vector]], Vector]


def negative_loss(criterion: Criterion) -> Scoring:
    """Minus the mean loss; one sigmoid, where there is one, serves all folds."""

    def score(
        decisions: Sequence[Vector], targets: Sequence[Vector], weights: Sequence[Vector]
    ) -> Vector:
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        losses = np.split(criterion.losses(*whole), np.cumsum([len(part) for part in targets])[:-1])
        pairs = zip(losses, weights, strict=True)
        return -np.array([np.average(loss, weights=weight) for loss, weight in pairs])

    return score


def accuracy(criterion: CrossEntropy) -> Scoring:
    """Share of pairs whose likelier label is right; a tie counts one half."""

    def score(
        decisions: Sequence[Vector], targets: Sequence[Vector], weights: Sequence[Vector]
    ) -> Vector:
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        sigmoid = criterion.calibrate(*whole)
        odds = decisions if sigmoid.is_flat else [sigmoid.log_odds(fold) for fold in decisions]
        return np.array(
            [
                np.average(0.5 * (1.0 + np.sign(f) * y), weights=w)
                for f, y, w in zip(odds, targets, weights, strict=True)
            ]
        )

    return score


def auc(
    decisions: Sequence[Vector], targets: Sequence[Vector], weights: Sequence[Vector]
) -> Vector:
    """Chance that a positive pair is above a negative one; NaN in a fold of one class."""
    return np.array([_auc(f, y, w) for f, y, w in zip(decisions, targets, weights, strict=True)])


def _auc(decisions: Vector, targets: Vector, weights: Vector) -> float:
    from sklearn.metrics import roc_auc_score

    if len(np.unique(targets)) < 2:
        return np.nan
    return float(roc_auc_score(targets, decisions, sample_weight=weights))


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores and times of one setting."""

    params: dict[str, Any]
    scores: Vector  # of each fold
    seconds: Vector


def results_table(settings: Sequence[FoldScores], extra: dict[str, Vector]) -> dict[str, Any]:
    """``cv_results_``: names and ranks as in ``GridSearchCV``; NaN for what was not tried."""
    scores = np.array([setting.scores for setting in settings])
    seconds = np.array([setting.seconds for setting in settings])
    tried = ~np.isnan(scores).all(axis=1)
    means, spreads = np.full(len(settings), np.nan), np.full(len(settings), np.nan)
    means[tried], spreads[tried] = (
        np.nanmean(scores[tried], axis=1),
        np.nanstd(scores[tried], axis=1),
    )
    table: dict[str, Any] = {"params": [setting.params for setting in settings]}
    for name in settings[0].params:
        column = np.empty(len(settings), dtype=object)
        column[:] = [setting.params[name] for setting in settings]
        table[f"param_{name}"] = column
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    table["mean_test_score"], table["std_test_score"] = means, spreads
    ranked = np.where(tried, -means, np.inf)
    table["rank_test_score"] = rankdata(ranked, method="min").astype(np.int32)
    table["mean_fit_time"], table["std_fit_time"] = seconds.mean(axis=1), seconds.std(axis=1)
    return table | extra
