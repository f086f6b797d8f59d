"""Logistic loss of kernel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from pairity.losses.base import Vector

__all__ = ["Logistic"]

_BISECTIONS = 100
#: A decision of this size has a loss below rounding.
_CERTAIN = 40.0


@dataclass(frozen=True)
class Logistic:
    """``c log(1 + exp(-y f))``; dual term ``c (u log u + (1-u) log(1-u))``, ``u = y t / c`` in [0, 1].

    At the optimum ``u_i`` is the probability that the model gives to the *other* label.
    """

    labels: Vector
    weights: Vector

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which observations have a weight above 0."""
        return self.weights > 0

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        return self.weights * np.logaddexp(0.0, -self.labels * decisions)

    def conjugate(self, theta: Vector) -> Vector:
        """Negative entropy of ``u``, weighted."""
        share = self._share(theta)
        return self.weights * (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share))

    def _share(self, theta: Vector) -> Vector:
        weights = np.where(self.weights > 0, self.weights, 1.0)
        return np.clip(self.labels * theta / weights, 0.0, 1.0)

    def feasible(self, theta: Vector) -> Vector:
        """Dual variables with ``u`` clipped to [0, 1]."""
        return self.labels * self.weights * self._share(theta)

    def pull(self, decisions: Vector) -> Vector:
        """``-d loss / d f = c y expit(-y f)``: what theta is at the optimum."""
        return self.weights * self.labels * expit(-self.labels * decisions)

    def curvature(self, decisions: Vector) -> Vector:
        """``d^2 loss / d f^2 = c p (1 - p)``."""
        return self.weights * expit(decisions) * expit(-decisions)

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of the dual term plus ``(t - point)^2 / (2 step)``.

        With f the decision at which it rests, ``t = point + step f`` (Moreau): a bisection
        between bounds that hold f, safe where Newton's method is not.
        """
        low, high = -point / step, (self.labels * self.weights - point) / step
        low, high = np.minimum(low, high), np.maximum(low, high)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            too_large = point + step * middle > self.pull(middle)
            low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
        return self.pull(0.5 * (low + high))

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """The bias that minimises the loss of ``values + bias``, twice.

        All decisions below the log odds of the weights call for a larger bias, all above for a
        smaller one, which brackets it.  Where one label alone has weight there is none: then the
        bias from which on every loss is below rounding.
        """
        positive, negative = (
            float(self.weights[side].sum()) for side in (self.labels > 0, self.labels < 0)
        )
        if not (positive > 0 and negative > 0):
            far = (
                _CERTAIN - float(values.min()) if positive > 0 else -_CERTAIN - float(values.max())
            )
            return far, far
        odds = float(np.log(positive / negative))
        bias = float(
            brentq(
                lambda bias: float(self.pull(values + bias).sum()),
                odds - float(values.max()) - 1.0,
                odds - float(values.min()) + 1.0,
                xtol=1e-14,
                rtol=4.0 * np.finfo(float).eps,
                maxiter=500,
            )
        )
        return bias, bias

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Largest difference between ``u_i`` and the probability of the other label."""
        wrong = expit(-self.labels * decisions)
        counted = self.weights > 0
        return float(np.max(np.abs(wrong - self._share(theta))[counted], initial=0.0))

    #: Violations are differences of probabilities, which differ less than decisions do.
    unit = 1.0

    def room(self, theta: Vector, direction: float) -> Vector:
        """Distance from the upper, or the lower bound."""
        bound = self.labels * self.weights
        return np.maximum(bound, 0.0) - theta if direction > 0 else theta - np.minimum(bound, 0.0)

    def snapped(self, theta: Vector) -> Vector:
        """The same as :meth:`feasible`."""
        return self.feasible(theta)

    def is_free(self, theta: Vector) -> NDArray[np.bool_]:
        """All that count."""
        return self.counted

    def support(self, theta: Vector) -> tuple[int, int]:
        """Nonzero variables; no bound is ever reached."""
        return int(np.count_nonzero(theta)), 0

    def times(self, factor: float) -> Self:
        """All weights multiplied."""
        return type(self)(self.labels, factor * self.weights)

    def with_mirrored(self, sign: float) -> Self:
        """Rows followed by mirror images."""
        return type(self)(
            np.concatenate([self.labels, sign * self.labels]),
            np.concatenate([self.weights, self.weights]),
        )

    def take(self, index: NDArray[np.intp]) -> Self:
        """Losses of some rows."""
        return type(self)(self.labels[index], self.weights[index])
