"""Newton's method for the smooth convex functions of one or two variables that are met here."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Convex", "minimise"]

Vector = NDArray[np.float64]

_MOST_STEPS, _MOST_HALVINGS = 100, 60
#: The search ends when a step promises less than this part of the objective.
_PROMISE = 1e-15
#: A step must bring this share of what its slope promises.
_SUFFICIENT = 1e-4


class Convex(Protocol):
    """A convex function with two derivatives; infinite where it is not defined."""

    def value(self, at: Vector) -> float:
        """Value."""

    def gradient(self, at: Vector) -> Vector:
        """First derivatives."""

    def curvature(self, at: Vector) -> Vector:
        """Matrix of second derivatives."""


def minimise(problem: Convex, at: Vector) -> Vector:
    """The point of least value, by Newton steps that are halved until they bring enough."""
    value = problem.value(at)
    for _ in range(_MOST_STEPS):
        gradient = problem.gradient(at)
        # where two variables do the same the matrix is singular: the smallest step will do
        step = np.linalg.lstsq(problem.curvature(at), -gradient, rcond=None)[0]
        promised = -float(gradient @ step)
        if promised <= _PROMISE * abs(value):
            return at
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            moved = at + length * step
            reached = problem.value(moved)
            if reached <= value - _SUFFICIENT * length * promised:
                break
            length *= 0.5
        else:
            return at  # what is left to gain is lost in rounding
        at, value = moved, reached
    return at
