"""Losses of very many pairs: targets stored small, losses made for some pairs at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.losses.base import Loss, Vector
from pairity.losses.logistic import Logistic
from pairity.losses.piecewise import epsilon_insensitive, hinge
from pairity.losses.squared import Squared

__all__ = ["CompactLosses", "LossRecipe"]


@dataclass(frozen=True)
class LossRecipe:
    """Which loss, and how much it counts: ``strength`` is C (2C on the halved set, Theorem 2)."""

    kind: str  # "hinge", "logistic", "squared" or "epsilon"
    strength: float
    epsilon: float = 0.0

    def of(self, targets: Vector, weights: Vector) -> Loss:
        """Losses of these targets (signs of labels, or numbers)."""
        strengths = self.strength * weights
        if self.kind == "hinge":
            return hinge(targets, strengths)
        if self.kind == "logistic":
            return Logistic(targets, strengths)
        if self.kind == "squared":
            return Squared(targets, strengths)
        return epsilon_insensitive(targets, strengths, self.epsilon)


@dataclass(frozen=True)
class CompactLosses:
    """Targets as they are stored, and weights where they differ."""

    recipe: LossRecipe
    targets: NDArray[Any]
    weights: NDArray[Any] | None

    def take(self, index: Any) -> Loss:
        """Losses of some pairs, by position or slice."""
        targets = self.targets[index].astype(np.float64)
        weights = np.ones(len(targets)) if self.weights is None else self.weights[index]
        return self.recipe.of(targets, weights)
