"""What any classifier of two labels offers once it has decisions: labels, accuracy, probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from pairity.estimators.labels import label_decisions, score_decisions
from pairity.probabilities import two_log_probabilities, two_probabilities

__all__ = ["TwoLabels", "TwoProbabilities"]

Vector = NDArray[np.float64]


class TwoLabels(ClassifierMixin):
    """Labels by the sign of a decision."""

    classes_: NDArray[Any]
    tie_label: Any

    def decision_function(self, X: Any) -> Vector:
        """Positive for ``classes_[1]``, shape (n,)."""
        raise NotImplementedError

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels; ``tie_label`` where the decision is exactly 0 (two equal objects, say)."""
        return label_decisions(self.decision_function(X), self.classes_, self.tie_label)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Mean accuracy; a decision of exactly 0 counts one half."""
        return score_decisions(self.decision_function(X), y, self.classes_, sample_weight)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: two classes only, sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


class TwoProbabilities(TwoLabels):
    """Decisions that are log-odds, and so probabilities."""

    def predict_proba(self, X: Any) -> Vector:
        """Probabilities of ``classes_``, shape (n, 2); rows add up to 1 exactly.

        Antisymmetric: the two columns change places when a pair is swapped.
        """
        return two_probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Vector:
        """Logarithms of the probabilities, exact for tiny ones too."""
        return two_log_probabilities(self.decision_function(X))
