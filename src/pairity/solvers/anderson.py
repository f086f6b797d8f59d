"""Anderson acceleration: a fixed-point iteration extrapolated from its last few steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["AndersonAcceleration"]


class AndersonAcceleration:
    """Type-II acceleration of ``w -> T(w)`` with a memory of a few steps and a safeguard.

    The next point is ``T(w) - sum_i gamma_i (T(w_i+1) - T(w_i))`` with gamma minimising the
    residual ``T(w) - w`` combined in the same way.  A residual that more than doubles the best one
    is taken back: the last plain step is resumed and the memory cleared.
    """

    def __init__(self, memory: int = 6, regularisation: float = 1e-10) -> None:
        self.memory = memory
        self.regularisation = regularisation
        self.reset()

    def reset(self) -> None:
        """Forget the past, for a new map."""
        self._residual_changes: list[NDArray[np.floating]] = []
        self._image_changes: list[NDArray[np.floating]] = []
        self._gram = np.zeros((0, 0))
        self._last: tuple[NDArray[np.floating], NDArray[np.floating]] | None = None
        self._fallback: NDArray[np.floating] | None = None
        self._best = np.inf

    def next_point(
        self, image: NDArray[np.floating], residual: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """Next point from ``image = T(w)`` and ``residual = T(w) - w``."""
        size = float(np.linalg.norm(residual))
        if self._fallback is not None and size > 2.0 * self._best:
            fallback = self._fallback
            self.reset()
            return fallback
        self._best = min(self._best, size)
        if self._last is not None:
            self._remember(residual - self._last[1], image - self._last[0])
        self._last = (image, residual)
        if not self._residual_changes:
            return image
        self._fallback = image
        pull = np.array([_dot(change, residual) for change in self._residual_changes])
        ridge = self.regularisation * np.trace(self._gram) * np.eye(len(pull))
        gamma = np.linalg.solve(self._gram + ridge, pull)
        point = image.copy()
        for weight, change in zip(gamma, self._image_changes, strict=True):
            point -= image.dtype.type(weight) * change
        return point

    def _remember(
        self, residual_change: NDArray[np.floating], image_change: NDArray[np.floating]
    ) -> None:
        if len(self._residual_changes) == self.memory:
            self._residual_changes.pop(0)
            self._image_changes.pop(0)
            self._gram = self._gram[1:, 1:]
        self._residual_changes.append(residual_change)
        self._image_changes.append(image_change)
        column = [_dot(change, residual_change) for change in self._residual_changes]
        size = len(column)
        grown = np.zeros((size, size))
        grown[:-1, :-1] = self._gram
        grown[-1, :] = grown[:, -1] = column
        self._gram = grown


def _dot(one: NDArray[np.floating], two: NDArray[np.floating]) -> float:
    return float(np.vdot(one, two))
