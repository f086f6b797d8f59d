"""What was learned, and the pairs of today, without starting from nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from pairity.pairs.same_objects import one_after_another
from pairity.training.labels import one_per_pair
from pairity.training.read import Observations, half_life_weights, read, read_pairs, read_weights


def updated(machine: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """The machine fitted to what it had seen and to new pairs, from its last solution on."""
    machine._check_parameters()
    pairs = read_pairs(machine, X, reset=False)
    seen = _seen_by(machine)
    targets = one_per_pair(y, len(pairs), "label" if is_classifier(machine) else "target")
    given = seen.weights
    if machine.decay is not None:  # they fade anew, from the latest time of all
        given = given / half_life_weights(seen.pairs.clock[:, 0], machine.decay)
    weights = np.concatenate([given, read_weights(sample_weight, len(pairs))])
    both = one_after_another(seen.pairs, pairs)
    labels = np.concatenate([_as_given(machine, seen.targets), targets])
    data = read(machine, both, labels, weights)
    if machine.training_set == "full" and data.parity is not None:
        return machine._fit(data)
    loss = machine._recipe().of(data.targets, data.weights)
    start = np.concatenate([machine._dual, np.zeros(len(data) - len(machine._dual))])
    return machine.fit_loss(data, loss, start=start)


def _seen_by(machine: Any) -> Observations:
    """What a machine was fitted to, as it stands."""
    seen: Observations | None = getattr(machine, "observed_", None)
    if seen is None or getattr(machine, "class_weight", None) is not None:
        raise ValueError(
            f"got a {type(machine).__name__} that cannot be updated (it keeps no training pairs, or has"
            " class weights, which new pairs would change); expected a fitted one of another kind: fit"
            " it to all pairs."
        )
    return seen


def _as_given(machine: Any, targets: NDArray[np.float64]) -> NDArray[Any]:
    """Labels of signs, as users write them; numbers as they are."""
    if not is_classifier(machine):
        return targets
    return np.asarray(machine.classes_[(targets > 0.0).astype(np.intp)])
