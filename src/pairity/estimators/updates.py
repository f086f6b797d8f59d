"""``update``: what was learned, and the pairs of today, without starting from nothing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from pairity.training.observed import Observations
from pairity.training.read import (
    half_life_weights,
    one_per_pair,
    read,
    read_pairs,
    read_weights,
)


class Updatable:
    """Machines that keep what they were fitted to: :class:`~pairity.PairRidge`, ``PairLogistic``."""

    observed_: Observations

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to all pairs that were seen before and to new ones, from the last solution on.

        The result is that of a fit to all of them, to the tolerance, and has its certificate; dual
        variables of new pairs start from 0, where the last model is.  Rows are counted from the first
        pair ever seen.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            New pairs, of the columns that the model was fitted to.
        y : array-like of shape (n,)
            Their labels or targets.
        sample_weight : array-like of shape (n,), optional
            Factors on their loss.
        """
        from pairity.pairs.joining import one_after_another  # few models are updated

        machine: Any = self
        machine._check_parameters()
        pairs = read_pairs(self, X, reset=False)
        seen = self._seen()
        targets = one_per_pair(y, len(pairs), "label" if is_classifier(self) else "target")
        given = seen.weights
        if machine.decay is not None:  # they fade anew, from the latest time of all
            given = given / half_life_weights(seen.pairs.clock[:, 0], machine.decay)
        weights = np.concatenate([given, read_weights(sample_weight, len(pairs))])
        known = self._as_given(seen.targets)
        both = one_after_another(seen.pairs, pairs)
        data = read(self, both, np.concatenate([known, targets]), weights)
        if machine.training_set == "full" and data.parity is not None:
            return machine._fit(data)
        loss = machine._recipe().of(data.targets, data.weights)
        start = np.concatenate([machine._dual, np.zeros(len(data) - len(machine._dual))])
        return machine.fit_loss(data, loss, start=start)

    def _seen(self) -> Observations:
        """What the model was fitted to, as it stands."""
        machine: Any = self
        seen = getattr(self, "observed_", None)
        if seen is None or getattr(machine, "class_weight", None) is not None:
            raise ValueError(
                f"got a {type(self).__name__} that cannot be updated (it keeps no training pairs, or"
                " has class weights, which new pairs would change); expected a fitted one of another"
                " kind: fit it to all pairs."
            )
        return seen

    def _as_given(self, targets: NDArray[np.float64]) -> NDArray[Any]:
        """Labels of signs, as users write them; numbers as they are."""
        machine: Any = self
        if not is_classifier(self):
            return targets
        return np.asarray(machine.classes_[(targets > 0.0).astype(np.intp)])
