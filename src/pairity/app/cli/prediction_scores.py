"""How good predictions are, where the table that was asked about has labels of the model's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import precision_recall_fscore_support, r2_score, roc_auc_score

from pairity.model_selection.metrics import brier_score, log_loss, ranked_probability_score
from pairity.pairs.from_tables import text_of


def scores_of_values(given: Any, values: NDArray[np.float64]) -> dict[str, Any]:
    """Mean errors of predicted numbers, over the rows that have a number."""
    truth = pd.to_numeric(given, errors="coerce").to_numpy(dtype=np.float64)
    known = np.isfinite(truth)
    if not known.any():
        return {}
    truth, values = truth[known], values[known]
    errors = truth - values
    scores = {
        "pairs with a value": int(known.sum()),
        "mean absolute error": float(np.abs(errors).mean()),
        "root mean square error": float(np.sqrt(np.mean(errors**2))),
    }
    return scores | ({"R^2": float(r2_score(truth, values))} if np.ptp(truth) > 0 else {})


def scores_of_labels(
    given: Any, results: dict[str, Any], names: list[Any], *, symmetric: bool
) -> dict[str, Any]:
    """Accuracy, and what else the results allow, over the rows with one of these labels.

    Of probabilities log-loss and Brier score, and of three of them the ranked probability score; of a
    symmetric model precision, recall and F1 of the last label, and the area under the ROC curve.
    """
    known_names = [text_of(name) for name in names]
    truth = given.map(text_of).to_numpy(dtype=object)
    known = np.isin(truth, known_names)
    if not known.any():
        return {}
    said = np.array([text_of(label) for label in results["label"].to_pylist()], dtype=object)
    truth, said = truth[known], said[known]
    scores: dict[str, Any] = {
        "pairs with a label": int(known.sum()),
        "agree with it": float((truth == said).mean()),
    }
    columns = [f"probability {name}" for name in known_names]
    if all(name in results for name in columns):
        chances = np.column_stack([results[name] for name in columns])[known]
        places = np.array([known_names.index(text) for text in truth])
        classes = np.arange(len(known_names))
        scores["log-loss"] = float(log_loss(places, chances, classes=classes))
        scores["Brier score"] = float(brier_score(places, chances, classes=classes))
        if len(classes) > 2:
            ranked = ranked_probability_score(places, chances, classes=classes)
            scores["ranked probability score"] = float(ranked)
    positive = truth == known_names[-1]
    if symmetric and len(known_names) == 2 and positive.any() and not positive.all():
        scores |= _scores_of_matches(positive, said == known_names[-1], results, known)
    return scores


def _scores_of_matches(
    truth: NDArray[np.bool_], said: NDArray[np.bool_], results: dict[str, Any], known: Any
) -> dict[str, float]:
    found = precision_recall_fscore_support(truth, said, average="binary", zero_division=0.0)
    scores = dict(zip(("precision", "recall", "F1"), map(float, found[:3]), strict=True))
    if "decision" in results:
        scores["AUC"] = float(roc_auc_score(truth, np.asarray(results["decision"])[known]))
    return scores
