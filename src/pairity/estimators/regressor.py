"""What regressors of pairs share: real targets in, values and R^2 out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from pairity.estimators.base import PairMachine
from pairity.estimators.column import one_per_pair
from pairity.estimators.intake import read_pairs, read_weights, warn_if_doubled
from pairity.pairs import Pairs
from pairity.parity import SYMMETRIES, Parity
from pairity.validation import refuse_large_targets

__all__ = ["PairRegressor"]

Vector = NDArray[np.float64]


class PairRegressor(RegressorMixin, PairMachine):
    """Base of estimators of a real value; the parameters are stored by the subclass."""

    def _read_training(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Pairs, Vector, Vector, Parity | None]:
        """Pairs with compact objects, targets, weights and the parity."""
        self._check_parameters()
        parity = SYMMETRIES[self.symmetry]
        pairs = read_pairs(self, X, reset=True)
        targets = _read_targets(y, len(pairs))
        weights = read_weights(sample_weight, len(pairs))
        if parity is Parity.ODD:
            _refuse_nonzero_at_self_pairs(pairs, targets)
        pairs = pairs.compact()
        if parity is not None:
            warn_if_doubled(pairs, targets, parity)
        return pairs, targets, weights, parity

    def predict(self, X: Any) -> Vector:
        """Values of the fitted function, shape (n,).

        The values of pairs and of swapped pairs are equal, or exact negatives, bit for bit.
        """
        return self._decide(X)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn: sparse rows welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _read_targets(y: Any, n_pairs: int) -> Vector:
    values = one_per_pair(y, n_pairs, "target")
    try:
        with np.errstate(over="ignore"):  # beyond float64 is infinite, and refused as that
            targets = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"got targets of type {values.dtype}; expected numbers: labels are for PairSVC."
        ) from None
    if not np.isfinite(targets).all():
        raise ValueError("got NaN or infinity in y; expected numbers: drop or fill those rows.")
    refuse_large_targets(targets)
    return targets


def _refuse_nonzero_at_self_pairs(pairs: Pairs, targets: Vector) -> None:
    """An odd function is 0 at (a, a): a target of 0 says nothing, any other cannot be met."""
    wrong = (pairs.first == pairs.second) & (targets != 0.0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"got target {targets[row]:g} in row {row}, which pairs an object with itself"
            f" ({int(np.count_nonzero(wrong))} such rows); expected 0 there, the only value of an"
            " antisymmetric function: correct or drop these rows."
        )
