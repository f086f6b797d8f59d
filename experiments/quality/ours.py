"""Automatic models of the library, as they come: the one file that knows how they are called."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from experiments.quality.method import Problem, Vector
from experiments.quality.task import Task
from pairity import PairClassifierCV, PairLogisticCV, Pairs, __version__
from pairity.exceptions import PairityWarning


@dataclass(eq=False)
class OurModel:
    """A fitted estimator with ``predict_proba``."""

    estimator: Any
    chosen: dict[str, Any] = field(default_factory=dict)

    def probability(self, pairs: Pairs) -> Vector:
        """Probability of +1."""
        positive = self.estimator.classes_.tolist().index(1)
        return self.estimator.predict_proba(pairs)[:, positive]


class Automatic:
    """``PairClassifierCV`` with its defaults: told the symmetry and how to split, nothing else."""

    name = "pairity"

    def describe(self) -> str:
        """Name and version of the library; ``--again pairity`` measures it anew after a change."""
        return f"pairity {__version__}, PairClassifierCV"

    def applies(self, task: Task) -> bool:
        """Always."""
        return True

    def fit(self, problem: Problem) -> OurModel:
        """Tune on the inner splits that the peers have too, and fit."""
        machine = PairClassifierCV(problem.symmetry, cv=problem.splitter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PairityWarning)
            machine.fit(problem.pairs, problem.y, groups=problem.groups)
        return OurModel(machine, {"weights": dict(machine.weights_)})


class KernelMachine(Automatic):
    """``PairLogisticCV`` with its defaults: the automatic kernel machine alone."""

    name = "kernels"

    def describe(self) -> str:
        """Name and version of the library."""
        return f"pairity {__version__}, PairLogisticCV"

    def fit(self, problem: Problem) -> OurModel:
        """Tune on the inner splits that the peers have too, and fit."""
        machine = PairLogisticCV(problem.symmetry, cv=problem.splitter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PairityWarning)
            machine.fit(problem.pairs, problem.y, groups=problem.groups)
        return OurModel(machine, {"C": machine.best_params_["C"]})
