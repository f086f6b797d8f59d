"""Hinge loss of the l1-soft margin machine, formula (12)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hinge"]


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
