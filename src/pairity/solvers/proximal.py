"""The solution on a block of pairs by proximal Newton steps: for stiff kernels and large C.

Steps of SMO move one variable or two, and need very many of them where the kernel has a direction
that is far stiffer than others: a column on a large scale, a large C.  Here the dual with a proximal
term about a centre t is minimised,

    1/2 theta' K theta + theta' outside + sum_i h_i(theta_i) + rho/2 |theta - t|^2,

the centre then moves to the solution, and rho falls.  Its primal is smooth and has one unknown for
each pair, ``f = K a + outside + bias``, with ``theta(f) = argmin_t`` of the dual at f: a Newton step
has ``a = theta(f)`` where that is fixed on a bound, and solves

    (K_FF + rho) a_F = rho t_F + rest_F - outside_F - K_FN a_N - bias

for the free ones, which rest at the decisions ``rest``.  The slope along it tells how far to go.  A
solution is off its margins by ``rho |theta - t|``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from pairity.losses.loss import Vector
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers.certificate import middle_of
from pairity.solvers.low_rank.minimise import step_length
from pairity.solvers.polish import Block, Index, factored, times
from pairity.solvers.problem import with_sum

#: First rho: a share of the diagonal, and what moves decisions by so many margins at a bound.
_SHARE_OF_DIAGONAL, _MARGINS = 0.06, 2.0
#: Least rho, over the diagonal: what rounding leaves of it in double and in single precision.
_LEAST, _LEAST_SINGLE = 1e-13, 1e-7
#: Newton steps of a centre up to which rho falls by these factors; it stays after more of them.
_FALLS = ((3, 0.1), (7, 0.3), (12, 0.7))
#: A centre is left when decisions are off by this share of what the next one will move them by, or
#: of the tolerance.
_SHARE_OF_MOVE, _SHARE_OF_TOL = 0.3, 0.1
#: Steps at most, and free variables up to which systems are factored.
_MOST_STEPS, MOST_FREE = 150, 6000


@dataclass(frozen=True, eq=False)
class _Point:
    """Coefficients, the decisions that they define without the bias, and the bias."""

    coefficients: Vector
    values: Vector
    bias: float


def settle(block: Block, theta: Vector, tol: float) -> Vector:
    """Dual variables of the block, to a KKT violation of ``tol`` or as near as can be."""
    run = _Run(block, theta, tol)
    with suppress(LinAlgError):  # of a matrix that rounding made indefinite: the best so far
        run.iterate()
    return run.best


class _Run:
    """State of the iteration."""

    def __init__(self, block: Block, theta: Vector, tol: float) -> None:
        self.block, self.loss, self.tol = block, block.loss, tol
        self.best, self.least = theta, np.inf
        self.centre, self.n_steps = theta, 0
        mean = max(float(block.gram.diagonal().mean()), 1e-300)
        bound = max(float(np.median(self.loss.weights)), 1e-300)
        self.rho = min(_SHARE_OF_DIAGONAL * mean, _MARGINS * self.loss.scale / bound)
        self.least_rho = mean * (_LEAST_SINGLE if block.gram.dtype == np.float32 else _LEAST)
        self.rho = max(self.rho, self.least_rho)

    def iterate(self) -> None:
        """One centre after the other, until the tolerance is reached or rounding is in the way."""
        point = self._at(self.centre)
        while self.n_steps < _MOST_STEPS:
            started = self.n_steps
            theta = self._minimised(point)
            if self.block.total is not None:  # a step that was cut short leaves the sum off
                theta = with_sum(self.loss, theta, self.block.total)
            point = self._at(theta)
            violation = self._violation(point)
            if violation < self.least:
                self.best, self.least = theta, violation
            if violation <= self.tol:
                return
            taken = self.n_steps - started
            factor = next((fall for most, fall in _FALLS if taken <= most), 1.0)
            if factor * self.rho < self.least_rho and violation > 0.5 * self.least:
                return
            self.centre, self.rho = theta, max(factor * self.rho, self.least_rho)

    def _at(self, theta: Vector) -> _Point:
        values = times(self.block.gram, theta) + self.block.outside
        bias = 0.0
        if self.block.total is not None:
            bias = middle_of(*self.loss.bias_interval(theta, values))
        return _Point(theta, values, bias)

    def _violation(self, point: _Point) -> float:
        low, high = self.loss.bias_interval(point.coefficients, point.values)
        return max(0.0, low - high) if self.block.total is not None else max(0.0, low, -high)

    def _pull(self, decisions: Vector) -> Vector:
        """``theta(f)``."""
        return self.loss.prox(self.centre - decisions / self.rho, 1.0 / self.rho)

    def _minimised(self, point: _Point) -> Vector:
        """Feasible dual variables of the present centre and rho."""
        pull = self._pull(point.values + point.bias)
        while True:
            stop_if_abandoned()
            following = self._step(point, pull)
            self.n_steps += 1
            if following is None:
                return pull
            point = following
            pull = self._pull(point.values + point.bias)
            theta = np.clip(point.coefficients, self.loss.low, self.loss.high)
            if self.n_steps >= _MOST_STEPS or self._is_done(point, pull, theta):
                return theta

    def _is_done(self, point: _Point, pull: Vector, theta: Vector) -> bool:
        """Whether feasible variables are those of their own decisions, nearly enough."""
        move = self.rho * float(np.abs(theta - self.centre).max(initial=0.0))
        enough = max(_SHARE_OF_MOVE * move, _SHARE_OF_TOL * self.tol)
        off = self.rho * np.abs(theta - pull)
        if float(off.max(initial=0.0)) > enough:
            return False
        cut = theta - point.coefficients
        return not cut.any() or float(np.abs(times(self.block.gram, cut)).max()) <= enough

    def _step(self, point: _Point, pull: Vector) -> _Point | None:
        """The Newton step as far as the slope says; None where it leads nowhere."""
        target, bias = self._solved(point, pull)
        change, shift = target - point.coefficients, bias - point.bias
        moved = times(self.block.gram, change)
        slow = float(change @ (point.values - self.block.outside))
        fast, total = float(change @ moved), self.block.total or 0.0

        def slope(length: float) -> float:
            decisions = point.values + point.bias + length * (moved + shift)
            pulled = float(self._pull(decisions) @ (moved + shift))
            return slow + length * fast - pulled + total * shift

        at_start = slope(0.0)
        if not at_start < 0.0:
            return None
        length = step_length(slope, at_start)
        return _Point(
            target if length == 1.0 else point.coefficients + length * change,
            point.values + length * moved,
            point.bias + length * shift,
        )

    def _solved(self, point: _Point, pull: Vector) -> tuple[Vector, float]:
        """Coefficients and bias of a whole step."""
        block, loss = self.block, self.loss
        free: Index = np.flatnonzero(loss.is_free(pull))
        target = pull.copy()
        target[free] = 0.0
        if not len(free):
            return target, point.bias
        rest = np.where(pull < 0.0, loss.below, loss.above)
        right = (self.rho * self.centre + rest - block.outside - times(block.gram, target))[free]
        factor = factored(block.gram, free, self.rho)
        if block.total is None:
            target[free] = cho_solve(factor, right, check_finite=False)
            return target, 0.0
        both = np.column_stack([right, np.ones(len(free))])
        plain, border = cho_solve(factor, both, check_finite=False).T
        bias = float((plain.sum() + target.sum() - block.total) / border.sum())
        target[free] = plain - bias * border
        return target, bias
