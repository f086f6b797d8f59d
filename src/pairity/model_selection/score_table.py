"""Scores of settings on folds as a table, and decisions by settings that other folds chose."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from pairity.model_selection.folds import Vector


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
