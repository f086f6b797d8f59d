"""What every loss offers: the primal value, its conjugate in the dual, and where a variable rests.

A loss here is that of *all* observations of a training set, weights included.  With decision
values f and dual variables theta (``f = K theta + bias``) the two problems are

    primal   1/2 theta' K theta + sum_i loss_i(f_i)
    dual     1/2 theta' K theta + sum_i h_i(theta_i),    h_i(t) = loss_i*(-t),

and their sum is the duality gap: 0 exactly where ``-f_i`` is a subgradient of ``h_i`` at theta_i.

The hinge (12) and the epsilon-insensitive loss (41) are piecewise linear.  Both have the dual term

    h(t) = -above * t   for 0 <= t <= high,
    h(t) = -below * t   for low <= t <= 0,       below >= above,

that is the primal loss ``high * max(0, above - f) - low * max(0, f - below)``.

===================  =======  =======  ========  ========
loss                 low      high     below     above
===================  =======  =======  ========  ========
hinge, y = +1        0        c        1         1
hinge, y = -1        -c       0        -1        -1
eps-insensitive      -c       c        y + eps   y - eps
===================  =======  =======  ========  ========
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from pairity.pairs.arrays import Mask, Places, Vector

#: Rounding, over the size of a bound or of the largest variable; a decision whose loss is below it.
_ROUNDING, _CERTAIN = 1e-13, 40.0
_BISECTIONS, _SETTLED, _TINY = 100, 1e-15, np.finfo(np.float64).tiny


class Loss:
    """Weighted losses of the observations of a training set: a dataclass of one row each."""

    #: What :meth:`violation` measures decisions in.
    unit: float = 1.0

    def _parts(self) -> list[Vector]:
        this: Any = self
        return [getattr(self, field.name) for field in fields(this)]

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def counted(self) -> Mask:
        """Which observations have a weight above 0."""
        raise NotImplementedError

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        raise NotImplementedError

    def at_zero(self) -> Vector:
        """Weighted losses of the function 0."""
        return self.value(np.zeros(len(self)))

    def conjugate(self, theta: Vector) -> Vector:
        """Dual term ``h_i`` of each variable inside its bounds."""
        raise NotImplementedError

    def sums(self, theta: Vector, decisions: Vector) -> Vector:
        """Loss of the decisions, loss of the function 0, and dual term, each over all rows."""
        terms = self.value(decisions), self.at_zero(), self.conjugate(theta)
        return np.array([term.sum() for term in terms])

    def prox(self, point: Vector, step: float | Vector) -> Vector:
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

    def take(self, index: Places | slice) -> Self:
        """Losses of some rows."""
        return type(self)(*(part[index] for part in self._parts()))

    def signed(self, signs: Vector) -> Self:
        """Losses of the decisions ``sign * f``, for signs +1 and -1."""
        raise NotImplementedError

    def with_mirrored(self, sign: float) -> Self:
        """Losses of the rows followed by those of their mirror images, targets times ``sign``."""
        mirrored = self.signed(np.full(len(self), sign))
        return type(self)(*map(np.concatenate, zip(self._parts(), mirrored._parts(), strict=True)))


@dataclass(frozen=True)
class PiecewiseLinear(Loss):
    """Bounds of each dual variable, and the decision at which each of its two pieces rests."""

    low: Vector
    high: Vector
    below: Vector
    above: Vector

    def __len__(self) -> int:
        return len(self.low)

    @property
    def scale(self) -> float:
        """Size of decisions that matter: 1 for the hinge, the mean size of targets otherwise."""
        sizes = np.abs(self.below) + np.abs(self.above)
        return float(np.mean(sizes)) / 2.0 if len(sizes) and sizes.any() else 1.0

    @property
    def weights(self) -> Vector:
        """Largest size of each dual variable: the weight of its observation."""
        return np.maximum(self.high, -self.low)

    @property
    def per_weight(self) -> list[Vector]:
        """What the losses of rows have in common that are one loss with the sum of the weights."""
        return [self.low / self.weights, self.high / self.weights, self.below, self.above]

    @property
    def counted(self) -> Mask:
        """Which observations have a weight above 0."""
        return self.high > self.low

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        short = np.maximum(0.0, self.above - decisions)
        over = np.maximum(0.0, decisions - self.below)
        return self.high * short - self.low * over

    def conjugate(self, theta: Vector) -> Vector:
        """``h(theta)`` inside the bounds."""
        return -np.where(theta > 0, self.above, self.below) * theta

    def prox(self, point: Vector, step: float | Vector) -> Vector:
        """Minimiser of ``h(t) + (t - point)^2 / (2 step)``."""
        up, down = point + step * self.above, point + step * self.below
        return np.clip(np.maximum(up, 0.0) + np.minimum(down, 0.0), self.low, self.high)

    def targets(self, theta: Vector) -> tuple[Vector, Vector]:
        """Decision up to which theta would rise, and down to which it would fall.

        -inf (+inf) where theta is at its upper (lower) bound: the sets of (26).
        """
        rise = np.where(theta < 0, self.below, self.above)
        fall = np.where(theta > 0, self.above, self.below)
        rising, falling = theta < self.high, theta > self.low
        return np.where(rising, rise, -np.inf), np.where(falling, fall, np.inf)

    def is_free(self, theta: Vector) -> Mask:
        """Which variables are inside a piece, and so at rest at one decision only."""
        inside = (theta > self.low) & (theta < self.high)
        return inside & ((theta != 0) | (self.below == self.above))

    def room(self, theta: Vector, direction: float) -> Vector:
        """Distance from the upper, or the lower bound."""
        return self.high - theta if direction > 0 else theta - self.low

    def snapped(self, theta: Vector) -> Vector:
        """Variables within rounding of 0 or of a bound are put on it."""
        largest = float(np.abs(theta).max(initial=0.0))
        theta = np.where(np.abs(theta) <= _ROUNDING * largest, 0.0, theta)
        theta = np.where(theta >= self.high - _ROUNDING * self.high, self.high, theta)
        return np.where(theta <= self.low - _ROUNDING * self.low, self.low, theta)

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """Formula (26): largest ``rise - g`` and smallest ``fall - g``; an empty end is infinite."""
        rise, fall = self.targets(theta)
        low, high = np.max(rise - values, initial=-np.inf), np.min(fall - values, initial=np.inf)
        return float(low), float(high)

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Largest distance of a decision from where its variable would rest."""
        low, high = self.bias_interval(theta, decisions)
        return max(0.0, low, -high)

    def support(self, theta: Vector) -> tuple[int, int]:
        """Nonzero variables, and those at an outer bound."""
        bounded = ((theta >= self.high) | (theta <= self.low)) & (theta != 0)
        return int(np.count_nonzero(theta)), int(np.count_nonzero(bounded))

    def times(self, factor: float | Vector) -> Self:
        """All weights multiplied."""
        return type(self)(factor * self.low, factor * self.high, self.below, self.above)

    def signed(self, signs: Vector) -> Self:
        """Losses of the decisions ``sign * f``, for signs +1 and -1."""
        turned = [-self.high, -self.low, -self.above, -self.below]
        both = zip(self._parts(), turned, strict=True)
        return type(self)(*(np.where(signs > 0, own, other) for own, other in both))


def hinge(labels: Vector, weights: Vector) -> PiecewiseLinear:
    """``c max(0, 1 - y f)`` with labels -1 and +1 and weights c; ``y theta`` is alpha of (13)."""
    low, high = np.where(labels > 0, 0.0, -weights), np.where(labels > 0, weights, 0.0)
    return PiecewiseLinear(low, high, labels, labels)


def epsilon_insensitive(targets: Vector, weights: Vector, epsilon: float) -> PiecewiseLinear:
    """``c max(0, |y - f| - epsilon)`` of (41); ``theta = alpha_hat - alpha`` of (42)."""
    return PiecewiseLinear(-weights, weights.copy(), targets + epsilon, targets - epsilon)


@dataclass(frozen=True)
class _Weighted(Loss):
    """Losses of targets y, labels -1 and +1 or numbers, with weights c."""

    targets: Vector
    weights: Vector

    def __len__(self) -> int:
        return len(self.targets)

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


class Logistic(_Weighted):
    """``c log(1 + exp(-y f))``; dual term ``c (u log u + (1-u) log(1-u))``, ``u = y t / c`` in [0, 1].

    At the optimum ``u_i`` is the probability of the *other* label; violations are differences of such.
    """

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        margins = self.targets * decisions  # np.logaddexp takes five times as long
        return self.weights * (np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0.0))

    def conjugate(self, theta: Vector) -> Vector:
        """Negative entropy of ``u``, weighted."""
        share = self._share(theta)
        return self.weights * sum(u * np.log(np.maximum(u, _TINY)) for u in (share, 1.0 - share))

    def sums(self, theta: Vector, decisions: Vector) -> Vector:
        """Those of the three methods above, in one compiled pass."""
        from pairity.losses._logistic_loops import sum_logistic  # fits alone compile

        return np.array(sum_logistic(self.targets, self.weights, theta, decisions))

    def _share(self, theta: Vector) -> Vector:
        weights = np.where(self.weights > 0, self.weights, 1.0)
        return np.minimum(np.maximum(self.targets * theta / weights, 0.0), 1.0)

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

    def prox(self, point: Vector, step: float | Vector) -> Vector:
        """Minimiser of the dual term plus ``(t - point)^2 / (2 step)``.

        It is ``point + step f`` (Moreau), f by Newton's method, by bisection where that leaves bounds.
        """
        low, high = -point / step, (self.targets * self.weights - point) / step
        low, high = np.minimum(low, high), np.maximum(low, high)
        decisions = 0.5 * (low + high)
        for _ in range(_BISECTIONS):
            excess = point + step * decisions - self.pull(decisions)
            low, high = np.where(excess > 0, low, decisions), np.where(excess > 0, decisions, high)
            moved = decisions - excess / (step + self.curvature(decisions))
            inside = (moved > low) & (moved < high)
            moved = np.where(inside, moved, 0.5 * (low + high))
            settled = np.abs(moved - decisions) <= _SETTLED * (1.0 + np.abs(decisions))
            decisions = moved
            if settled.all():
                break
        return self.pull(decisions)

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """The bias that minimises the loss of ``values + bias``, twice.

        All decisions below the log odds of the weights call for a larger one, all above for a smaller
        one.  Where one label alone has weight: from which on every loss is below rounding.
        """
        positive, negative = (float(self.weights[s * self.targets > 0].sum()) for s in (1, -1))
        lowest, highest = float(values.min()), float(values.max())
        if not (positive > 0 and negative > 0):
            far = _CERTAIN - lowest if positive > 0 else -_CERTAIN - highest
            return far, far
        odds = float(np.log(positive / negative))

        def pull(bias: float) -> float:
            return float(self.pull(values + bias).sum())

        ends, eps = (odds - highest - 1.0, odds - lowest + 1.0), np.finfo(float).eps
        bias = float(brentq(pull, *ends, xtol=1e-14, rtol=4.0 * eps, maxiter=500))
        return bias, bias

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Largest difference between ``u_i`` and the probability of the other label."""
        from pairity.losses._logistic_loops import worst_share  # compiled code, for fits alone

        return float(worst_share(self.targets, self.weights, theta, decisions))

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

    def prox(self, point: Vector, step: float | Vector) -> Vector:
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
        return (float(np.average(self.targets - values, weights=self.weights)),) * 2

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Residual of the linear system over the size of the targets, in the 2-norm."""
        residual = self.targets - theta / self.weights - decisions
        return float(np.linalg.norm(residual)) / (float(np.linalg.norm(self.targets)) or 1.0)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """Root of the mean square of the targets."""
        size = float(np.sqrt(np.mean(self.targets**2))) if len(self) else 0.0
        return size or 1.0

    def is_free(self, theta: Vector) -> Mask:
        """All: there are no bounds."""
        return np.ones(len(theta), dtype=np.bool_)
