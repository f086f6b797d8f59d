"""A tuned random forest on the same features, beside the automatic model; threshold by held-out F1."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from pairity.matching import Labelled, PrecisionRecall, Records, nearest_records
from pairity.matching.pair_features import PairFeatures
from pairity.matching.precision_recall import best_threshold

#: Leaves and columns of a split that are tried; trees, and features that only whole tables tell.
_LEAVES, _COLUMNS, _TREES = (1, 3, 8), (0.2, 0.5), 200
FROM_TABLES = (
    "record: lead over rivals, less",
    "record: lead over rivals, more",
    "record: evidence",
)


def forest_scores(folder: Path) -> dict[str, Any]:
    """F1 on the test pairs with all features, and with those of the two records alone."""
    tables = [pd.read_csv(folder / name, dtype=str) for name in ("amazon.csv", "google.csv")]
    records = Records.read(*tables)
    features = PairFeatures(records, nearest_records(records, 10))
    alone = [name not in FROM_TABLES for name in features.names]
    sets = {"all features": np.ones(len(alone), dtype=bool), "the two records": np.array(alone)}
    train, test = (
        Labelled.read(pd.read_csv(folder / name), records) for name in ("labelled.csv", "test.csv")
    )
    train_features, test_features = (
        features.of(known.first, known.second) for known in (train, test)
    )
    return {
        name: _scored(train_features[:, chosen], train, test_features[:, chosen], test)
        for name, chosen in sets.items()
    }


def _scored(rows: np.ndarray, train: Labelled, new: np.ndarray, test: Labelled) -> dict[str, Any]:
    tried = []
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    for leaf, columns in product(_LEAVES, _COLUMNS):
        forest = RandomForestClassifier(
            _TREES, min_samples_leaf=leaf, max_features=columns, random_state=0, n_jobs=2
        )
        held = cross_val_predict(forest, rows, train.labels, cv=folds, method="predict_proba")[:, 1]
        cut = best_threshold(held, train.matches)
        tried.append((PrecisionRecall.of(held > cut, train.matches).f1.value, cut, forest))
    inner, cut, forest = max(tried, key=lambda one: one[0])
    said = forest.fit(rows, train.labels).predict_proba(new)[:, 1] > cut
    found = PrecisionRecall.of(said, test.matches)
    settings = {name: forest.get_params()[name] for name in ("min_samples_leaf", "max_features")}
    return {**found.to_dict(), "held-out F1 in training": round(inner, 4), **settings}
