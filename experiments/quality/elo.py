"""Elo: strengths that move with each result, in the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from experiments.quality.measures import log_loss
from experiments.quality.method import Labels, Problem, Vector, sigmoid
from experiments.quality.task import Task
from pairity import Pairs

STEPS, ADVANTAGES = (8.0, 20.0, 50.0, 120.0), (0.0, 60.0, 120.0)
#: Elo's scale: 400 points are odds of 10 to 1.
POINTS = 400.0 / np.log(10.0)


@dataclass(eq=False)
class EloModel:
    """Ratings at the end of training; an object never seen has 0."""

    advantage: float
    ratings: dict[Any, float] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)

    def probability(self, pairs: Pairs) -> Vector:
        """Probability that the first wins."""
        left, right = _names(pairs)
        apart = np.array(
            [
                self.ratings.get(a, 0.0) - self.ratings.get(b, 0.0)
                for a, b in zip(left, right, strict=True)
            ]
        )
        return sigmoid((apart + self.advantage * _home(pairs)) / POINTS)


def _names(pairs: Pairs) -> tuple[list, list]:
    if pairs.ids is None:
        return pairs.first.tolist(), pairs.second.tolist()
    return pairs.ids[pairs.first].tolist(), pairs.ids[pairs.second].tolist()


def _home(pairs: Pairs) -> np.ndarray:
    return pairs.antisymmetric[:, 0] if pairs.n_antisymmetric else np.zeros(len(pairs))


def fit_elo(pairs: Pairs, y: Labels, step: float, advantage: float) -> EloModel:
    """One pass over the rows."""
    model = EloModel(advantage)
    ratings = model.ratings
    home = advantage * _home(pairs)
    for a, b, extra, label in zip(*_names(pairs), home, y, strict=True):
        left, right = ratings.get(a, 0.0), ratings.get(b, 0.0)
        expected = 1.0 / (1.0 + np.exp(-(left - right + extra) / POINTS))
        gain = step * ((label > 0) - expected)
        ratings[a], ratings[b] = left + gain, right - gain
    return model


class Elo:
    """Elo ratings with a tuned step and home advantage."""

    name = "elo"

    def describe(self) -> str:
        """Name and version."""
        return "elo 2"

    def applies(self, task: Task) -> bool:
        """Where objects come back and the stronger wins."""
        return task.identities and task.symmetry == "antisymmetric"

    def fit(self, problem: Problem) -> EloModel:
        """Tune and fit."""
        settings = list(product(STEPS, ADVANTAGES))[: problem.n_settings]
        losses = [
            np.mean(
                [
                    log_loss(
                        fit_elo(*problem.part(fit), *setting).probability(problem.pairs[held]),
                        problem.y[held] > 0,
                    )
                    for fit, held in problem.inner
                ]
            )
            for setting in settings
        ]
        step, advantage = settings[int(np.argmin(losses))]
        model = fit_elo(problem.pairs, problem.y, step, advantage)
        model.chosen = {"step": step, "advantage": advantage, "inner log-loss": float(min(losses))}
        return model
