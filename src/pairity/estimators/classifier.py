"""What classifiers of pairs share: two labels in, decisions, labels and accuracy out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.base import PairMachine
from pairity.estimators.intake import (
    class_factors,
    read_pairs,
    read_weights,
    refuse_self_pairs,
    warn_if_doubled,
)
from pairity.estimators.labels import read_labels
from pairity.estimators.two_labels import TwoLabels
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity

__all__ = ["PairClassifier"]

Vector = NDArray[np.float64]


class PairClassifier(TwoLabels, PairMachine):
    """Base of estimators of two labels; the parameters are stored by the subclass."""

    class_weight: Any

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Pairs, Vector, Vector, Parity | None]:
        """Pairs with compact objects, signs, weights and the parity; ``classes_`` is set."""
        self._check_parameters()
        parity = SYMMETRIES[self.symmetry]
        pairs = read_pairs(self, X, reset=True)
        labels = read_labels(y, len(pairs), parity)
        weights = read_weights(sample_weight, len(pairs))
        weights = weights * class_factors(self.class_weight, labels, parity)
        if not (weights > 0).any():
            raise ValueError(
                f"got class_weight {self.class_weight!r} that leaves no row with a weight above 0;"
                " expected some above 0."
            )
        if parity is Parity.ODD:
            refuse_self_pairs(pairs)
        pairs = pairs.compact()
        if parity is not None:
            warn_if_doubled(pairs, labels.signs, parity)
        self.classes_ = labels.classes
        return pairs, labels.signs, weights, parity

    def decision_function(self, X: Any) -> Vector:
        """Signed decision values, shape (n,): positive for ``classes_[1]``.

        The values of pairs and of swapped pairs are equal, or exact negatives, bit for bit.  The
        same pair in batches of different size may differ by rounding, a few units in the last
        place of the sum of absolute terms.
        """
        return self._decide(X)
