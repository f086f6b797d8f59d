"""Boosted trees as plain arrays: what a model file keeps of scikit-learn's histogram boosting.

A tree sends a row left where its column is at most a threshold.  The sum over trees is formed in the
order of boosting, from the same numbers: its bits are those of the ensemble that was saved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from pairity.losses.probabilities import two_probabilities
from pairity.pairs.arrays import Matrix, Places, Vector

#: Losses whose raw sums are what is predicted, or log-odds.
_PLAIN = ("squared_error", "absolute_error", "quantile", "log_loss")


@dataclass(frozen=True, eq=False)
class StoredTrees:
    """Nodes of all trees one after the other; leaves point to themselves."""

    roots: Places  # (trees,)
    features: Places  # of each node: the column it looks at
    thresholds: Vector
    left: Places  # nodes that follow, numbered over all trees
    right: Places
    values: Vector  # of leaves
    baseline: float
    n_columns: int
    classes: NDArray[Any] | None = None

    @staticmethod
    def stand_for(value: Any) -> bool:
        """Whether a value is an ensemble that :meth:`of` takes, and fitted."""
        boosted = HistGradientBoostingClassifier | HistGradientBoostingRegressor
        return isinstance(value, boosted) and hasattr(value, "_predictors")

    @classmethod
    def of(cls, boosted: Any) -> Self:
        """From a fitted ``HistGradientBoostingClassifier`` of two labels, or regressor."""
        if boosted.loss not in _PLAIN or boosted.n_trees_per_iteration_ != 1:
            raise ValueError(
                f"got {boosted!r} of another loss or of more than two classes; expected one of"
                f" {', '.join(_PLAIN)}."
            )
        tables = [trees[0].nodes for trees in boosted._predictors]
        sizes = np.array([len(table) for table in tables], dtype=np.intp)
        nodes, starts = np.concatenate(tables), np.concatenate([[0], np.cumsum(sizes)[:-1]])
        if nodes["is_categorical"].any():
            raise ValueError(
                f"got {boosted!r} with categorical columns; expected numbers: encode categories as"
                " indicator columns."
            )
        shift, own = np.repeat(starts, sizes), np.arange(len(nodes))
        left, right = (
            np.where(nodes["is_leaf"], own, nodes[side].astype(np.intp) + shift)
            for side in ("left", "right")
        )
        return cls(
            starts.astype(np.intp),
            nodes["feature_idx"].astype(np.intp),
            nodes["num_threshold"].astype(np.float64),
            left,
            right,
            nodes["value"].astype(np.float64),
            float(boosted._baseline_prediction.reshape(-1)[0]),
            int(boosted.n_features_in_),
            getattr(boosted, "classes_", None),
        )

    def decision_function(self, rows: Matrix) -> Vector:
        """Sums over all trees: log-odds of a classifier."""
        total, every = np.full(len(rows), self.baseline), np.arange(len(rows))
        for root in self.roots.tolist():
            node = np.full(len(rows), root)
            while True:
                smaller = rows[every, self.features[node]] <= self.thresholds[node]
                following = np.where(smaller, self.left[node], self.right[node])
                if np.array_equal(following, node):
                    break
                node = following
            total += self.values[node]
        return total

    def predict_proba(self, rows: Matrix) -> Vector:
        """Probabilities of the two classes, shape (n, 2)."""
        return two_probabilities(self.decision_function(rows))

    def predict(self, rows: Matrix) -> NDArray[Any]:
        """Values; labels of a classifier."""
        values = self.decision_function(rows)
        if self.classes is None:
            return values
        return self.classes[(values > 0.0).astype(np.intp)]
