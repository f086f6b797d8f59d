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
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import brentq

from pairity.losses.loss import Logistic, PiecewiseLinear, Vector
from pairity.operators.modes import leading_modes
from pairity.runtime.resources import Budget, run_in_ranges, stop_if_abandoned
from pairity.solvers.problem import AnyProblem, balanced

#: Features, as few as are worth it, the share of the memory for them, and their tables in it.
_FEATURES, _FEWEST_FEATURES, _SHARE, _TABLES = 400, 20, 0.25, 1.5
#: Width that is added to all, relative to the diagonal and to the targets, over the bounds.
_WIDTH, _WIDEST = 0.05, 0.2
#: Steps of Newton's method, decrease in units of the objective that ends them, shortest step.
_MOST_STEPS, _ENOUGH, _SHORTEST = 25, 1e-4, 1e-6
#: Rows for each feature that a first guess of the weights takes.
_SAMPLE = 8
#: How exactly the bias is found, in units of the targets, and how far it is looked for.
_BIAS_ACCURACY, _MOST_DOUBLINGS = 1e-3, 20
#: Numbers of a table of features that one range of work covers.
_ENTRIES_PER_RANGE = 2_000_000

SmoothableProblem: TypeAlias = AnyProblem[PiecewiseLinear] | AnyProblem[Logistic]


def rough_start(problem: SmoothableProblem, budget: Budget) -> Vector:
    """Feasible dual variables near the optimum; zeros where memory is short of features."""
    share = budget.share(_SHARE)
    n_features = int(min(_FEATURES, share.columns(len(problem), copies=_TABLES, itemsize=4)))
    if n_features < _FEWEST_FEATURES:
        return np.zeros(len(problem))
    table = problem.operator.principal_features(n_features)
    if table is None:
        table = leading_modes(problem.operator, n_features, share).table()
    envelope = _Envelope.of(problem, table, problem.operator.diagonal())
    point = envelope.minimised(envelope.first_weights())
    return balanced(problem, point.theta)


def _unit(loss: PiecewiseLinear | Logistic) -> float:
    """Size of decisions that matter."""
    return loss.scale if isinstance(loss, PiecewiseLinear) else loss.unit


@dataclass(frozen=True)
class _Point:
    """Weights of the features, and what follows from them."""

    weights: Vector
    values: Vector  # z w + bias
    theta: Vector
    objective: float


@dataclass(frozen=True)
class _Envelope:
    """The smooth objective in the weights of the features."""

    loss: PiecewiseLinear | Logistic
    has_bias: bool
    table: NDArray[np.float32]  # (n, p)
    widths: Vector  # q

    @classmethod
    def of(
        cls, problem: SmoothableProblem, table: NDArray[np.float32], diagonal: Vector
    ) -> _Envelope:
        left = np.maximum(diagonal - np.einsum("np,np->n", table, table), 0.0)
        loss = problem.loss
        bounds = loss.room(np.zeros(len(loss)), 1.0) + loss.room(np.zeros(len(loss)), -1.0)
        bound = float(np.median(bounds[loss.counted])) if loss.counted.any() else 1.0
        rho = min(_WIDEST * _unit(loss) / bound, 0.5 * _WIDTH * float(diagonal.mean()))
        widths = left + max(rho, 1e-12 * float(diagonal.max(initial=1.0)))
        return cls(loss, problem.has_bias, table, widths)

    def first_weights(self) -> Vector:
        """Weights that suit some of the rows, each of which counts for as many as there are."""
        n = len(self.table)
        size = max(_SAMPLE * self.table.shape[1], n // 8)
        weights = np.zeros(self.table.shape[1])
        if size >= n:
            return weights
        rows = np.sort(np.random.default_rng(0).permutation(n)[:size])
        factor = n / size
        loss = self.loss.take(rows).times(factor)
        some = _Envelope(loss, self.has_bias, self.table[rows], self.widths[rows] / factor)
        return some.minimised(weights).weights

    def at(self, weights: Vector) -> _Point:
        """Dual variables and objective, at the best bias where there is one."""
        values = self._times(weights)
        if self.has_bias:
            values += self._bias(values)
        theta, loss = self._theta(values), self.loss
        terms = loss.conjugate(theta) + theta * (0.5 * self.widths * theta + values)
        return _Point(weights, values, theta, 0.5 * float(weights @ weights) - float(terms.sum()))

    def _theta(self, values: Vector) -> Vector:
        return self.loss.prox(-values / self.widths, 1.0 / self.widths)

    def _bias(self, values: Vector) -> float:
        """Where the sum of the dual variables, which falls with the bias, is 0."""

        def surplus(bias: float) -> float:
            return float(self._theta(values + bias).sum())

        at_zero, unit = surplus(0.0), _unit(self.loss)
        direction = unit if at_zero > 0.0 else -unit
        for doublings in range(_MOST_DOUBLINGS):
            far = direction * 2.0**doublings
            if surplus(far) * at_zero < 0.0:
                return float(brentq(surplus, 0.0, far, xtol=_BIAS_ACCURACY * unit))
        return 0.0

    def _times(self, weights: Vector) -> Vector:
        narrow, out = weights.astype(np.float32), np.empty(len(self.table))

        def multiply(start: int, stop: int) -> None:
            out[start:stop] = self.table[start:stop] @ narrow

        run_in_ranges(multiply, len(out), self._rows_per_range)
        return out

    @property
    def _rows_per_range(self) -> int:
        return max(1, _ENTRIES_PER_RANGE // max(1, self.table.shape[1]))

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
        n_features, step = self.table.shape[1], self._rows_per_range
        slopes = self._slopes(point)
        free = np.flatnonzero(slopes)
        narrow = point.theta.astype(np.float32)
        roots = np.sqrt(slopes[free]).astype(np.float32)
        pulls = np.zeros((-(-len(narrow) // step), n_features))
        squares = np.zeros((-(-len(free) // step), n_features + 1, n_features + 1))

        def pull(start: int, stop: int) -> None:
            pulls[start // step] = narrow[start:stop] @ self.table[start:stop]

        def square(start: int, stop: int) -> None:
            rows = np.ones((stop - start, n_features + 1), dtype=np.float32)
            rows[:, :-1] = self.table[free[start:stop]]
            rows *= roots[start:stop, np.newaxis]
            squares[start // step] = rows.T @ rows

        run_in_ranges(pull, len(narrow), step)
        run_in_ranges(square, len(free), step)
        bordered = squares.sum(axis=0)
        curvature, border, corner = bordered[:-1, :-1], bordered[:-1, -1], bordered[-1, -1]
        if self.has_bias and corner > 0.0:
            curvature = curvature - np.outer(border, border) / corner
        return point.weights - pulls.sum(axis=0), curvature + np.eye(n_features)

    def _slopes(self, point: _Point) -> Vector:
        """By how much each dual variable falls when its value rises."""
        if isinstance(self.loss, PiecewiseLinear):
            return np.where(self.loss.is_free(point.theta), 1.0 / self.widths, 0.0)
        curvature = self.loss.curvature(point.values + self.widths * point.theta)
        return curvature / (1.0 + self.widths * curvature)

    def _shortened(self, point: _Point, step: Vector, slope: float) -> _Point | None:
        length = 1.0
        while length > _SHORTEST:
            following = self.at(point.weights + length * step)
            if following.objective <= point.objective + 1e-4 * length * slope:
                return following
            length *= 0.5
        return None
