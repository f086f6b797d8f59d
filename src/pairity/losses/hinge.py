"""Hinge loss of the l1-soft margin machine, formula (12)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hinge", "HingeCells"]


class Hinge:
    """``max(0, 1 - y f)``.

    With ``theta = y * beta`` and box ``0 <= beta <= c`` the scaled loss ``c * hinge`` has the
    conjugate ``-beta`` (so that the dual of the paper is ``1/2 theta' K theta - sum beta``).
    """

    def value(
        self, labels: NDArray[np.float64], decisions: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Loss of each decision."""
        return np.maximum(0.0, 1.0 - labels * decisions)

    def conjugate(self, beta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Conjugate at ``-theta`` for beta inside the box: ``-beta``."""
        return -beta


@dataclass(frozen=True)
class HingeCells:
    """All observations of each pair together: weight ``positive`` of +1 and ``negative`` of -1.

    The loss of a decision f is ``positive * max(0, 1 - f) + negative * max(0, 1 + f)``; its dual
    term in ``theta`` lives on ``[-negative, positive]`` and is linear with slope -1 up to
    ``bend = positive - negative`` and +1 from there.
    """

    positive: NDArray[np.floating]
    negative: NDArray[np.floating]

    @property
    def low(self) -> NDArray[np.floating]:
        """Lower bound of theta."""
        return -self.negative

    @property
    def high(self) -> NDArray[np.floating]:
        """Upper bound of theta."""
        return self.positive

    @property
    def bend(self) -> NDArray[np.floating]:
        """Where the slope of the dual term changes sign."""
        return self.positive - self.negative

    def prox(self, point: NDArray[np.floating], step: float) -> NDArray[np.floating]:
        """Minimiser of the dual term plus ``|theta - point|^2 / (2 step)``."""
        bend = self.bend
        moved = np.where(
            point + step <= bend, point + step, np.where(point - step >= bend, point - step, bend)
        )
        return np.clip(moved, self.low, self.high)

    def split(
        self, theta: NDArray[np.floating]
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Dual variables of the observations of +1 and of -1, ``theta = plus - minus``."""
        minus = np.clip(np.minimum(self.negative, self.positive - theta), 0.0, None)
        return np.clip(theta + minus, 0.0, self.positive), minus
