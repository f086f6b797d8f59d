"""Losses with a second derivative: of kernel logistic regression and kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from pairity.losses.loss import Loss, Vector
from pairity.pairs.arrays import Mask

_BISECTIONS = 100
#: A decision of this size has a loss below rounding.
_CERTAIN = 40.0


@dataclass(frozen=True)
class _Weighted(Loss):
    """Losses of targets y (labels -1 and +1, or numbers) with weights c."""

    targets: Vector
    weights: Vector

    @property
    def per_weight(self) -> list[Vector]:
        """What the losses of rows have in common that are one loss with the sum of the weights."""
        return [self.targets]

    @property
    def counted(self) -> Mask:
        return self.weights > 0

    def times(self, factor: float | Vector) -> Self:
        return type(self)(self.targets, factor * self.weights)

    def signed(self, signs: Vector) -> Self:
        """Losses of the decisions ``sign * f``, for signs +1 and -1."""
        return type(self)(signs * self.targets, self.weights)

    def mirrored(self, sign: float) -> Self:
        return type(self)(sign * self.targets, self.weights)


class Logistic(_Weighted):
    """``c log(1 + exp(-y f))``; dual term ``c (u log u + (1-u) log(1-u))``, ``u = y t / c`` in [0, 1].

    At the optimum ``u_i`` is the probability that the model gives to the *other* label.  Violations
    are differences of probabilities, which differ less than decisions do.
    """

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        return self.weights * np.logaddexp(0.0, -self.targets * decisions)

    def conjugate(self, theta: Vector) -> Vector:
        """Negative entropy of ``u``, weighted."""
        share = self._share(theta)
        return self.weights * (xlogy(share, share) + xlogy(1.0 - share, 1.0 - share))

    def _share(self, theta: Vector) -> Vector:
        weights = np.where(self.weights > 0, self.weights, 1.0)
        return np.clip(self.targets * theta / weights, 0.0, 1.0)

    def feasible(self, theta: Vector) -> Vector:
        """Dual variables with ``u`` clipped to [0, 1]."""
        return self.targets * self.weights * self._share(theta)

    snapped = feasible

    def pull(self, decisions: Vector) -> Vector:
        """``-d loss / d f = c y expit(-y f)``: what theta is at the optimum."""
        return self.weights * self.targets * expit(-self.targets * decisions)

    def curvature(self, decisions: Vector) -> Vector:
        """``d^2 loss / d f^2 = c p (1 - p)``."""
        return self.weights * expit(decisions) * expit(-decisions)

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of the dual term plus ``(t - point)^2 / (2 step)``.

        With f the decision at which it rests, ``t = point + step f`` (Moreau): a bisection
        between bounds that hold f, safe where Newton's method is not.
        """
        low, high = -point / step, (self.targets * self.weights - point) / step
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
        sides = self.targets > 0, self.targets < 0
        positive, negative = (float(self.weights[side].sum()) for side in sides)
        lowest, highest = float(values.min()), float(values.max())
        if not (positive > 0 and negative > 0):
            far = _CERTAIN - lowest if positive > 0 else -_CERTAIN - highest
            return far, far
        odds = float(np.log(positive / negative))
        bias = float(
            brentq(
                lambda bias: float(self.pull(values + bias).sum()),
                odds - highest - 1.0,
                odds - lowest + 1.0,
                xtol=1e-14,
                rtol=4.0 * np.finfo(float).eps,
                maxiter=500,
            )
        )
        return bias, bias

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Largest difference between ``u_i`` and the probability of the other label."""
        wrong = expit(-self.targets * decisions)
        return float(np.max(np.abs(wrong - self._share(theta))[self.counted], initial=0.0))

    def room(self, theta: Vector, direction: float) -> Vector:
        """Distance from the upper, or the lower bound."""
        bound = self.targets * self.weights
        return np.maximum(bound, 0.0) - theta if direction > 0 else theta - np.minimum(bound, 0.0)


class Squared(_Weighted):
    """``c/2 (y - f)^2``; its dual term ``-y t + t^2 / (2c)`` makes the dual a linear system.

    The optimum solves ``(K + diag(1/c)) theta = y - bias``: with ``c = 1/alpha`` that is ridge
    regression with penalty alpha on the training set, and ``alpha / 2`` on the halved one.
    """

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        return 0.5 * self.weights * (self.targets - decisions) ** 2

    def conjugate(self, theta: Vector) -> Vector:
        """``-y theta + theta^2 / (2c)``."""
        return theta * (0.5 * theta / self.weights - self.targets)

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of the dual term plus ``(t - point)^2 / (2 step)``."""
        return (point + step * self.targets) / (1.0 + step / self.weights)

    def pull(self, decisions: Vector) -> Vector:
        """``-d loss / d f = c (y - f)``: what theta is at the optimum."""
        return self.weights * (self.targets - decisions)

    def curvature(self, decisions: Vector) -> Vector:
        """``d^2 loss / d f^2 = c``."""
        return self.weights

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """The weighted mean residual, twice."""
        best = float(np.average(self.targets - values, weights=self.weights))
        return best, best

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Residual of the linear system over the size of the targets, in the 2-norm."""
        residual = self.targets - theta / self.weights - decisions
        size = float(np.linalg.norm(self.targets))
        return float(np.linalg.norm(residual)) / (size if size > 0.0 else 1.0)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """Root of the mean square of the targets."""
        size = float(np.sqrt(np.mean(self.targets**2))) if len(self) else 0.0
        return size if size > 0.0 else 1.0

    def is_free(self, theta: Vector) -> Mask:
        """All of them: there are no bounds."""
        return np.ones(len(theta), dtype=np.bool_)
