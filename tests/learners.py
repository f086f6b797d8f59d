"""The learners, so that a test of what all of them promise is written once: one line for each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cases
from pairity import PairLogistic, PairRidge, PairSVC, PairSVR


@dataclass(frozen=True)
class Learner:
    """An estimator, targets that suit it, and the method whose values obey the swap law."""

    estimator: type
    targets: Callable[[int, int], Any]  # of a seed and a number of pairs
    values: str

    def __repr__(self):
        return self.estimator.__name__

    def fit(self, pairs, seed, *arguments, **options):
        """A model of these pairs and random targets."""
        return self.estimator(*arguments, **options).fit(pairs, self.targets(seed, len(pairs)))

    def of(self, model, pairs):
        """Values of a model."""
        return getattr(model, self.values)(pairs)


LEARNERS = [
    Learner(PairSVC, cases.random_labels, "decision_function"),
    Learner(PairSVR, cases.random_targets, "predict"),
    Learner(PairRidge, cases.random_targets, "predict"),
    Learner(PairLogistic, cases.random_labels, "decision_function"),
]
