"""A tuned random forest in the place of the automatic model: same features, labels and threshold."""

from __future__ import annotations

import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from pairity import Pairs
from pairity.matching import PrecisionRecall, match
from pairity.matching.precision_recall import best_threshold

#: Leaves and columns of a split that are tried; trees; features, the last, that whole tables tell.
_LEAVES, _COLUMNS, _TREES, _FROM_TABLES = (1, 3, 8), (0.2, 0.5), 200, 3


class TunedForest(ClassifierMixin, BaseEstimator):
    """Leaves and columns of a split by F1 in five folds; features of whole tables only if asked for."""

    def __init__(self, whole_tables: bool = True) -> None:
        self.whole_tables = whole_tables

    def fit(self, X: Pairs, y: np.ndarray) -> TunedForest:
        """Tune, then learn from all pairs; decisions of the folds are kept."""
        rows, true, best = self._rows(X), np.asarray(y) == 1, -1.0
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        self.classes_, self.held_out_rows_ = np.unique(y), np.arange(len(rows))
        for leaf, columns in product(_LEAVES, _COLUMNS):
            forest = RandomForestClassifier(
                _TREES, min_samples_leaf=leaf, max_features=columns, random_state=0, n_jobs=2
            )
            chances = cross_val_predict(forest, rows, y, cv=folds, method="predict_proba")
            held = _log_odds(chances[:, 1])
            score = PrecisionRecall.of(held > best_threshold(held, true), true).f1.value
            if score > best:
                best, self.forest_, self.held_out_decisions_ = score, forest, held
        self.forest_.fit(rows, y)
        return self

    def decision_function(self, X: Pairs) -> np.ndarray:
        """Log-odds of a match."""
        return _log_odds(self.forest_.predict_proba(self._rows(X))[:, 1])

    def _rows(self, X: Pairs) -> np.ndarray:
        return X.symmetric if self.whole_tables else X.symmetric[:, :-_FROM_TABLES]


def _log_odds(chance: np.ndarray) -> np.ndarray:
    return logit(np.clip(chance, 1e-4, 1.0 - 1e-4))


def forest_scores(folder: Path, tables: tuple[str, ...], labels: str, test: str) -> dict[str, Any]:
    """F1 on the test pairs with all features, and with those of the two records alone."""
    read = [pd.read_csv(folder / name, dtype=str) for name in tables]
    labelled, held_out = (
        tuple(column.tolist() for _, column in pd.read_csv(folder / name, dtype=str).items())
        for name in (labels, test)
    )
    found = {}
    for name, whole_tables in (("all features", True), ("the two records", False)):
        start = time.process_time()
        model = TunedForest(whole_tables)
        matches = match(*read, labels=labelled, model=model)
        scores = {key: matches.evaluate(held_out)[key].to_dict() for key in ("pairs", "matches")}
        chosen = matches.model.forest_
        found[name] = {
            "held-out pairs": scores["pairs"],
            "held-out pairs, by the matches": scores["matches"],
            "labelled pairs held out in turn": matches.quality.to_dict(),
            "min_samples_leaf": chosen.min_samples_leaf,
            "max_features": chosen.max_features,
            "processor seconds": round(time.process_time() - start, 1),
        }
    return found
