"""The automatic model of the library, as it comes: the one file that knows how it is called."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import pairity
from experiments.quality.columns import Scale
from experiments.quality.method import Problem, Vector
from experiments.quality.task import Task
from pairity import CalibratedPairClassifier, Pairs, PairSVC
from pairity.exceptions import PairityWarning
from pairity.kernels import Gaussian

#: Pairs of rows whose median distance is the width of the stand-in.
SAMPLE = 2000


@dataclass(eq=False)
class OurModel:
    """A fitted estimator with ``predict_proba``, of pairs that may be scaled first."""

    estimator: Any
    scale: Scale | None
    chosen: dict[str, Any] = field(default_factory=dict)

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1."""
        positive = self.estimator.classes_.tolist().index(1)
        scaled = pairs if self.scale is None else self.scale.apply(pairs)
        return self.estimator.predict_proba(scaled)[:, positive]


class Automatic:
    """``PairSVCCV(kernel="auto")`` with probabilities; a plain ``PairSVC`` as long as it is missing."""

    name = "pairity"

    @property
    def is_there(self) -> bool:
        """Whether the library has the automatic model."""
        return "PairSVCCV" in pairity.__all__

    def describe(self) -> str:
        """Which of the two it is."""
        return f"pairity {pairity.__version__}, {'automatic' if self.is_there else 'stand-in'}"

    def applies(self, task: Task) -> bool:
        """Always."""
        return True

    def fit(self, problem: Problem) -> OurModel:
        """Fit as a user would, who tells the symmetry and how to split, and nothing else."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PairityWarning)
            return fit_automatic(problem) if self.is_there else fit_stand_in(problem)


def fit_automatic(problem: Problem) -> OurModel:
    """The default automatic model, tuned on the inner splits that the peers have too.

    Probabilities are its own, or a sigmoid through decisions of the chosen machine on the same
    inner splits, as the peer ``svc`` has them.
    """
    machine = pairity.PairSVCCV(symmetry=problem.symmetry, kernel="auto", cv=problem.splitter)
    machine.fit(problem.pairs, problem.y, groups=problem.groups)
    if hasattr(machine, "predict_proba"):
        return OurModel(machine, None, {"model": "automatic"})
    model = CalibratedPairClassifier(machine.best_estimator_, cv=problem.inner)
    return OurModel(model.fit(problem.pairs, problem.y), None, {"model": "automatic"})


def fit_stand_in(problem: Problem) -> OurModel:
    """One Gaussian of median width, C = 1, untuned."""
    scale = Scale.of(problem.pairs, problem.common_scale)
    scaled = scale.apply(problem.pairs)
    width = median_width(scaled)
    machine = PairSVC(problem.symmetry, Gaussian(width))
    model = CalibratedPairClassifier(machine, cv=problem.inner).fit(scaled, problem.y)
    return OurModel(model, scale, {"model": "stand-in", "width": width})


def median_width(pairs: Pairs) -> float:
    """Median distance between wide rows drawn at random."""
    rows = np.asarray(pairs.to_rows())
    one, two = np.random.default_rng(0).integers(len(rows), size=(2, SAMPLE))
    distances = np.linalg.norm(rows[one] - rows[two], axis=1)
    return float(np.median(distances[distances > 0.0]))
