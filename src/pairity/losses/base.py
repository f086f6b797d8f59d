"""What every loss offers: the primal value, its conjugate in the dual, and where a variable rests.

A loss here is that of *all* observations of a training set, weights included.  With decision
values f and dual variables theta (``f = K theta + bias``) the two problems are

    primal   1/2 theta' K theta + sum_i loss_i(f_i)
    dual     1/2 theta' K theta + sum_i h_i(theta_i),    h_i(t) = loss_i*(-t),

and their sum is the duality gap: 0 exactly where ``-f_i`` is a subgradient of ``h_i`` at theta_i.
"""

from __future__ import annotations

from typing import Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Loss", "Vector"]

Vector: TypeAlias = NDArray[np.float64]


class Loss(Protocol):
    """Weighted losses of the observations of a training set."""

    def __len__(self) -> int: ...

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which observations have a weight above 0."""

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""

    def conjugate(self, theta: Vector) -> Vector:
        """Dual term ``h_i`` of each variable inside its bounds."""

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of ``h_i(t) + (t - point_i)^2 / (2 step)``."""

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """Ends of the biases that suit ``values = K theta``; low > high if none does."""

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """How far the worst variable is from resting at these decisions (bias included)."""

    @property
    def unit(self) -> float:
        """What :meth:`violation` measures decisions in."""

    def snapped(self, theta: Vector) -> Vector:
        """Variables inside their bounds, and on a bound where only rounding keeps them off it."""

    def room(self, theta: Vector, direction: float) -> Vector:
        """How far each variable may move in a direction (a signed distance) inside its bounds."""

    def is_free(self, theta: Vector) -> NDArray[np.bool_]:
        """Which variables are inside their bounds, and so at rest at one decision only."""

    def support(self, theta: Vector) -> tuple[int, int]:
        """How many variables are nonzero, and how many sit on an outer bound."""

    def times(self, factor: float) -> Self:
        """The same losses with all weights multiplied: 2 for the halved set J (Theorem 2)."""

    def take(self, index: NDArray[np.intp]) -> Self:
        """Losses of some rows."""

    def with_mirrored(self, sign: float) -> Self:
        """Losses of the rows followed by those of their mirror images, targets times ``sign``."""
