"""The learners, so that a test of what all of them promise is written once: one line for each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cases
from pairity import (
    LaplacianPairSVC,
    PairLogistic,
    PairRidge,
    PairSVC,
    PairSVR,
    TransductivePairSVC,
)


@dataclass(frozen=True)
class Learner:
    """An estimator, targets that suit it, and the method whose values obey the swap law."""

    estimator: type
    targets: Callable[[int, int], Any]  # of a seed and a number of pairs
    values: str
    supervised: bool = True  # others refuse the fully labelled rows of scikit-learn's checks

    def __repr__(self):
        return self.estimator.__name__

    def fit(self, pairs, seed, symmetry, kernel="gaussian", **options):
        """A model of these pairs and random targets."""
        machine = self.estimator(symmetry, kernel=kernel, **options)
        return machine.fit(pairs, self.targets(seed, len(pairs)))

    def of(self, model, pairs):
        """Values of a model."""
        return getattr(model, self.values)(pairs)


LEARNERS = [
    Learner(PairSVC, cases.random_labels, "decision_function"),
    Learner(PairSVR, cases.random_targets, "predict"),
    Learner(PairRidge, cases.random_targets, "predict"),
    Learner(PairLogistic, cases.random_labels, "decision_function"),
    Learner(TransductivePairSVC, cases.some_labels, "decision_function", supervised=False),
    Learner(LaplacianPairSVC, cases.some_labels, "decision_function", supervised=False),
]
