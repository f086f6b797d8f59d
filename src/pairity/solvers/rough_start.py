"""A start for exact solvers: few features of the kernel, and what they leave of the diagonal.

With ``K ~ Z Z' + diag(delta)`` the dual of a machine has a primal in as many unknowns as Z has
columns, smooth because of the diagonal:

    minimise  1/2 |w|^2 + sum_i e_i(z_i w + bias),   e_i the envelope of loss i with width q_i,
    theta_i = argmin_t  h_i(t) + t (z_i w + bias) + q_i t^2 / 2,      q_i = delta_i + rho.

Newton's method takes some ten steps.  Leaving out delta would give weights to many directions at
once that the kernel keeps apart: the diagonal is what makes the start a good one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from pairity.losses.loss import PiecewiseLinear, Vector
from pairity.operators.feature_table import FeatureTable
from pairity.runtime.resources import Budget, stop_if_abandoned
from pairity.solvers.problem import Problem, balanced

#: Features, as few as are worth it, the share of the memory for them, and their tables in it.
_FEATURES, _FEWEST_FEATURES, _SHARE, _TABLES = 400, 20, 0.25, 1.5
#: Width that is added to all, relative to the diagonal and to the targets, over the bounds.
_WIDTH, _WIDEST = 0.05, 0.2
#: Steps of Newton's method, decrease in units of the objective that ends them, shortest step.
_MOST_STEPS, _ENOUGH, _SHORTEST = 25, 1e-4, 1e-6
#: Rows for each feature that the regression takes which the weights start from.
_SAMPLE = 8
#: How exactly the bias is found, in units of the targets, and how far it is looked for.
_BIAS_ACCURACY, _MOST_DOUBLINGS = 1e-3, 20


def rough_start(problem: Problem, budget: Budget) -> Vector:
    """Feasible dual variables near the optimum; zeros where memory is short of features."""
    share = budget.share(_SHARE)
    n_features = int(min(_FEATURES, share.columns(len(problem), copies=_TABLES, itemsize=4)))
    if n_features < _FEWEST_FEATURES:
        return np.zeros(len(problem))
    diagonal = problem.operator.diagonal()
    features = FeatureTable.of(problem.operator, n_features, share, diagonal)
    envelope = _Envelope.of(problem, features, diagonal)
    point = envelope.minimised(envelope.first_weights())
    return balanced(problem, point.theta)


@dataclass(frozen=True)
class _Point:
    """Weights of the features, and what follows from them."""

    weights: Vector
    theta: Vector
    objective: float


@dataclass(frozen=True)
class _Envelope:
    """The smooth objective in the weights of the features."""

    loss: PiecewiseLinear
    has_bias: bool
    features: FeatureTable
    widths: Vector  # q

    @classmethod
    def of(cls, problem: Problem, features: FeatureTable, diagonal: Vector) -> _Envelope:
        loss = problem.loss
        bounds = loss.room(np.zeros(len(loss)), 1.0) + loss.room(np.zeros(len(loss)), -1.0)
        bound = float(np.median(bounds[loss.counted])) if loss.counted.any() else 1.0
        rho = min(_WIDEST * loss.scale / bound, 0.5 * _WIDTH * float(diagonal.mean()))
        widths = features.left + max(rho, 1e-12 * float(diagonal.max(initial=1.0)))
        return cls(loss, problem.has_bias, features, widths)

    def first_weights(self) -> Vector:
        """Weights of a ridge regression on some rows, each of which counts for as many as there are.

        As if all variables were free: ``theta_i = (target_i - z_i w) / (q_i + unit / bound_i)``, which
        stays inside the bounds where decisions are off by a unit at most.
        """
        n, n_features = self.features.table.shape
        rows = np.sort(np.random.default_rng(0).permutation(n)[: _SAMPLE * n_features])
        loss, features = self.loss.take(rows), self.features.take(rows)
        bounds = np.maximum(np.maximum(loss.high, -loss.low), np.finfo(float).tiny)
        slopes = n / (len(rows) * (self.widths[rows] + loss.scale / bounds))
        targets = 0.5 * (loss.below + loss.above)
        curvature = features.gram(slopes)
        curvature[np.diag_indices(n_features)] += 1.0
        try:
            factor = cho_factor(curvature, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # weights beyond single precision
            return np.zeros(n_features)
        weights = cho_solve(factor, features.reduce(slopes * targets), check_finite=False)
        return weights if np.isfinite(weights).all() else np.zeros(n_features)

    def at(self, weights: Vector) -> _Point:
        """Dual variables and objective, at the best bias where there is one."""
        values = self.features.expand(weights)
        if self.has_bias:
            values += self._bias(values)
        theta, loss = self._theta(values), self.loss
        terms = loss.conjugate(theta) + theta * (0.5 * self.widths * theta + values)
        return _Point(weights, theta, 0.5 * float(weights @ weights) - float(terms.sum()))

    def _theta(self, values: Vector) -> Vector:
        return self.loss.prox(-values / self.widths, 1.0 / self.widths)

    def _bias(self, values: Vector) -> float:
        """Where the sum of the dual variables, which falls with the bias, is 0."""

        def surplus(bias: float) -> float:
            return float(self._theta(values + bias).sum())

        at_zero, unit = surplus(0.0), self.loss.scale
        direction = unit if at_zero > 0.0 else -unit
        for doublings in range(_MOST_DOUBLINGS):
            far = direction * 2.0**doublings
            if surplus(far) * at_zero < 0.0:
                return float(brentq(surplus, 0.0, far, xtol=_BIAS_ACCURACY * unit))
        return 0.0

    def minimised(self, weights: Vector) -> _Point:
        """The minimum from some weights on, by Newton's method with halved steps."""
        point = self.at(weights)
        for _ in range(_MOST_STEPS):
            stop_if_abandoned()
            gradient, curvature = self._derivatives(point)
            try:
                factor = cho_factor(curvature, lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                break
            step = -cho_solve(factor, gradient, check_finite=False)
            slope = float(gradient @ step)
            following = self._shortened(point, step, slope)
            if following is None:
                break
            point = following
            if not -slope > _ENOUGH * abs(point.objective):
                break
        return point

    def _derivatives(self, point: _Point) -> tuple[Vector, NDArray[np.float64]]:
        """Gradient ``w - Z' theta`` and Hessian ``1 + Z_F' diag(1/q) Z_F`` over free variables.

        A bias that follows the weights takes its share off the Hessian.
        """
        free = np.flatnonzero(self.loss.is_free(point.theta))
        features, slopes = self.features.take(free), 1.0 / self.widths[free]
        curvature = features.gram(slopes)
        if self.has_bias and len(free):
            border = features.reduce(slopes)
            curvature -= np.outer(border, border) / float(slopes.sum())
        curvature[np.diag_indices(len(curvature))] += 1.0
        return point.weights - self.features.reduce(point.theta), curvature

    def _shortened(self, point: _Point, step: Vector, slope: float) -> _Point | None:
        length = 1.0
        while length > _SHORTEST:
            following = self.at(point.weights + length * step)
            if following.objective <= point.objective + 1e-4 * length * slope:
                return following
            length *= 0.5
        return None
