"""What every loss offers: the primal value, its conjugate in the dual, and where a variable rests.

A loss here is that of *all* observations of a training set, weights included.  With decision
values f and dual variables theta (``f = K theta + bias``) the two problems are

    primal   1/2 theta' K theta + sum_i loss_i(f_i)
    dual     1/2 theta' K theta + sum_i h_i(theta_i),    h_i(t) = loss_i*(-t),

and their sum is the duality gap: 0 exactly where ``-f_i`` is a subgradient of ``h_i`` at theta_i.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

import numpy as np

from pairity.pairs.arrays import Mask, Places, Vector


class Loss:
    """Weighted losses of the observations of a training set: a dataclass of one row each."""

    #: What :meth:`violation` measures decisions in.
    unit: float = 1.0

    def _parts(self) -> list[Vector]:
        this: Any = self
        return [getattr(self, field.name) for field in fields(this)]

    def __len__(self) -> int:
        return len(self._parts()[0])

    @property
    def counted(self) -> Mask:
        """Which observations have a weight above 0."""
        raise NotImplementedError

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        raise NotImplementedError

    def conjugate(self, theta: Vector) -> Vector:
        """Dual term ``h_i`` of each variable inside its bounds."""
        raise NotImplementedError

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of ``h_i(t) + (t - point_i)^2 / (2 step)``."""
        raise NotImplementedError

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """Ends of the biases that suit ``values = K theta``; low > high if none does."""
        raise NotImplementedError

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """How far the worst variable is from resting at these decisions (bias included)."""
        raise NotImplementedError

    def snapped(self, theta: Vector) -> Vector:
        """Variables inside their bounds, and on a bound where only rounding keeps them off it."""
        return theta

    def room(self, theta: Vector, direction: float) -> Vector:
        """How far each variable may move in a direction (a signed distance) inside its bounds."""
        return np.full(len(theta), abs(direction))

    def is_free(self, theta: Vector) -> Mask:
        """Which variables are inside their bounds, and so at rest at one decision only."""
        return self.counted

    def support(self, theta: Vector) -> tuple[int, int]:
        """How many variables are nonzero, and how many sit on an outer bound."""
        return int(np.count_nonzero(theta)), 0

    def times(self, factor: float | Vector) -> Self:
        """The same losses with all weights multiplied: 2 for the halved set J (Theorem 2)."""
        raise NotImplementedError

    def take(self, index: Places) -> Self:
        """Losses of some rows."""
        return type(self)(*(part[index] for part in self._parts()))

    def mirrored(self, sign: float) -> Self:
        """Losses of the mirror images, targets times ``sign``."""
        raise NotImplementedError

    def with_mirrored(self, sign: float) -> Self:
        """Losses of the rows followed by those of their mirror images."""
        both = zip(self._parts(), self.mirrored(sign)._parts(), strict=True)
        return type(self)(*map(np.concatenate, both))
