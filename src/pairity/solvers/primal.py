"""Newton's method on the parameters of a kernel with few explicit features.

With rows ``z_i`` of features, ``K = Z Z'``, every problem is

    minimise  1/2 |w|^2 + sum_i loss_i(z_i w + bias)

in as many unknowns as there are features, and ``theta_i = -loss_i'(z_i w + bias)`` are dual
variables with ``Z' theta = w`` at the optimum.  Steps solve ``(1 + Z' D Z) d = -gradient`` with D the
second derivatives of the losses; columns are brought to one scale before the matrix is factored, so
that units of features do not matter.

Hinge and epsilon-insensitive losses are rounded over a width (:mod:`pairity.losses.smoothed`) that
falls to a share of the tolerance: a variable between its bounds is then off its margin by the width
at most, and all others are where they belong.  On each width the objective is piecewise quadratic,
and the method ends after finitely many steps.  Below a thousandth of the margin, where rounding
would be lost in that of numbers, the width stays and the rounding is centred about the dual
variables instead, again and again (the method of multipliers): they are off their margins by the
width times what they still move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pairity.losses.loss import Logistic, PiecewiseLinear, Vector
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers._newton_loops import BALANCED, newton_on_logistic
from pairity.solvers.certificate import middle_of
from pairity.solvers.low_rank.minimise import step_length
from pairity.solvers.primal_design import Design, grouped, takes_factorisations
from pairity.solvers.primal_losses import RowLosses, State
from pairity.solvers.problem import (
    LOST,
    REACHED,
    SLOW,
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
)

#: Width of the rounding to start with and at least, in units of decisions that matter; the factor
#: by which it falls, and what it falls to, as a share of the tolerance.
_FIRST_WIDTH, _LEAST_WIDTH, _FINER, _LAST_WIDTH = 2.0, 1e-3, 0.2, 0.4
#: A width is left when the next step promises less than this share of what rounding costs, a centre
#: when decisions are off by less than this share of what it costs.
_LEFT, _NEARLY = 0.1, 0.3
#: Steps on one width at most, but the last.
_MOST_STEPS = 30
#: Share of the tolerance that smooth losses may violate it by at the end: steps square it.
_FINALLY = 0.01
#: Steps in a row without a better point after which rounding of numbers is all that is left.
_PATIENCE_SMOOTH, _PATIENCE = 25, 40
#: Rows from which on some are solved for first; which share of them, and how many per parameter.
_MANY_ROWS, _SAMPLE_SHARE, _SAMPLE_PER_PARAMETER = 50_000, 16, 50
#: Parameters, and products of two entries of a sparse and of a dense row, which BLAS multiplies
#: quicker, up to which all steps are one compiled call.
_MOST_AT_ONCE, _PRODUCTS_AT_ONCE, _DENSE_AT_ONCE = 200, 200_000, 4_000_000
#: Residual of conjugate gradients, over the gradient.
_RESIDUAL, _EXACT = 0.05, 1e-10


def solve_primal(
    problem: AnyProblem[Any], options: SolverOptions, start: Vector | None = None
) -> Solution:
    """Minimise to a KKT violation of at most ``options.tol``; theta has one entry per row."""
    features = problem.operator.features
    assert features is not None
    together = grouped(features.rows, problem.loss, with_signs=not problem.has_bias)
    rows, loss = features.rows, problem.loss
    if together is not None:
        rows, loss = together.rows, together.loss
        start = together.gathered(start)
    design, n_iter = Design(rows, problem.has_bias), 0
    spread = _as_they_are if together is None else together.spread
    if design.is_sparse and isinstance(loss, PiecewiseLinear) and not problem.has_bias:
        from pairity.solvers.coordinates import solve_by_coordinates  # few fits come here

        found = solve_by_coordinates(problem, design, loss, options, start, spread)
        if found.reason != SLOW or not takes_factorisations(len(loss), design.n_parameters):
            return replace(found, theta=spread(found.theta))
        start, n_iter = found.theta, found.n_iter
    if start is None and _is_short(design, loss, options):
        pull = np.empty(len(loss))
        given = design.all_rows, loss.targets, loss.weights, design.penalty
        n_iter = newton_on_logistic(*given, _FINALLY * options.tol, options.max_iter, pull)
        if n_iter:
            return Solution(spread(pull), n_iter, True, REACHED)
    run = _Run(problem, design, loss, options, spread)
    reason = run.iterate(start)
    return Solution(run.theta(run.best), n_iter + run.n_iter, reason == REACHED, reason)


def _as_they_are(theta: Vector) -> Vector:
    return theta


def _is_short(design: Design, loss: Any, options: SolverOptions) -> bool:
    """Whether calls of Python would take longer than the work: few logistic rows, nobody watching."""
    watched = options.report is not None or options.callback is not None
    if watched or not isinstance(loss, Logistic) or not 0 < design.n_parameters <= _MOST_AT_ONCE:
        return False
    return design.n_products <= (_PRODUCTS_AT_ONCE if design.is_sparse else _DENSE_AT_ONCE)


class _Run:
    """State of the iteration."""

    def __init__(
        self,
        problem: AnyProblem[Any],
        design: Design,
        loss: Any,
        options: SolverOptions,
        spread: Callable[[Vector], Vector],
    ) -> None:
        self.problem, self.design, self.loss, self.options = problem, design, loss, options
        self.spread, self.penalty = spread, design.penalty
        self.n_iter = self.steps_here = 0  # in all, and on the present width
        self.losses = RowLosses(loss)
        self.is_rounded = self.losses.is_rounded
        self.width = _FIRST_WIDTH * loss.scale if self.is_rounded else 1.0
        self.last_width = self.width
        if self.is_rounded:
            smallest = max(_LAST_WIDTH * options.tol, _LEAST_WIDTH * loss.scale)
            self.last_width = min(self.width, smallest)

    def theta(self, state: State) -> Vector:
        """Dual variables of all rows."""
        return self.spread(state.passed.pull)

    def _at(self, parameters: Vector, decisions: Vector | None = None) -> State:
        return self.losses.state(self.design, parameters, decisions, self.width)

    def _started(self, start: Vector | None) -> State:
        """At 0, or at the parameters of dual variables, on a width that suits them."""
        design = self.design
        if start is None or not start.any():
            return self._at(self._rough_parameters(), None)
        parameters = self.penalty * design.transposed(start)
        values = design.times(parameters)
        if design.has_bias:
            parameters[-1] = middle_of(*self.loss.bias_interval(start, values))
            values = values + parameters[-1]
        if self.is_rounded:
            violation = self.loss.violation(start, values)
            self.width = float(np.clip(2.0 * violation, self.last_width, self.width))
        return self._at(parameters, values)

    def _rough_parameters(self) -> Vector:
        """Those of some of very many rows with smooth losses: nearly all steps are taken there."""
        design, n = self.design, len(self.loss)
        some = max(n // _SAMPLE_SHARE, _SAMPLE_PER_PARAMETER * design.n_parameters)
        if self.is_rounded or n < _MANY_ROWS or 4 * some > n or self.options.callback is not None:
            return np.zeros(design.n_parameters)
        chosen = np.sort(np.random.default_rng(0).choice(n, some, replace=False))
        loss = self.loss.take(chosen).times(n / some)
        options = replace(self.options, tol=1e-2, report=None)
        rows = Design(design.rows[chosen], design.has_bias)
        sample = _Run(self.problem, rows, loss, options, _as_they_are)
        sample.iterate(None)
        return sample.best.parameters

    def iterate(self, start: Vector | None) -> str:
        """Newton steps, on one width after another, until the tolerance is reached."""
        self.state = self.best = self._started(start)
        watched = self.options.report is not None or self.options.callback is not None
        smallest, waited = np.inf, 0
        while True:
            stop_if_abandoned()
            matters = self._is_last and (self.n_iter > 0 or start is not None)
            error = self._error() if matters or watched else np.inf
            off = self.state.passed.off
            if self._shown(error + off):
                return "stopped by the callback"
            if matters:
                waited = 0 if error + off < 0.9 * smallest else waited + 1
                if error + off < smallest:
                    self.best, smallest = self.state, error + off
                if smallest <= self._goal:
                    return REACHED
                if waited >= (_PATIENCE if self.is_rounded else _PATIENCE_SMOOTH):
                    return REACHED if smallest <= 0.5 * self.options.tol else LOST
            if self.n_iter >= self.options.max_iter:
                self.best = self.best if np.isfinite(smallest) else self.state
                return f"max_iter={self.options.max_iter} steps used up"
            if self._is_last and self.is_rounded and error <= _NEARLY * off:
                self.losses.centre = self.state.passed.pull
                self.state = self._at(self.state.parameters, self.state.decisions)
            self._step()
            self.n_iter += 1

    @property
    def _is_last(self) -> bool:
        """Whether the width is the last one; that of smooth losses has no meaning."""
        return self.width <= self.last_width

    @property
    def _goal(self) -> float:
        """Error at which all is done; two variables with a bias may each be off by theirs."""
        return (_LAST_WIDTH * 1.01 if self.is_rounded else _FINALLY) * self.options.tol

    def _error(self) -> float:
        """How far dual variables are from the decisions that they define."""
        state = self.state
        error = self.losses.error(self.design, state, self.options.tol)
        if self.design.has_bias:
            surplus = abs(float(state.gradient[-1]))
            if surplus > BALANCED * float(np.abs(state.passed.pull).sum()):
                error = max(error, self.options.tol)
        return error

    def _shown(self, violation: float) -> bool:
        """Report the step; true where a callback wants an end."""
        options = self.options
        if options.report is not None:
            options.report(f"Newton on parameters, step {self.n_iter}", violation)
        if options.callback is None or self.n_iter == 0:
            return False
        theta = self.theta(self.state)
        objective = self.problem.objective(theta, self.problem.operator.product(theta))
        bias = float(self.state.parameters[-1]) if self.design.has_bias else 0.0
        self.best = self.state
        return bool(options.callback(Iterate(self.n_iter, theta, objective, violation, bias)))

    def _step(self) -> None:
        """One Newton step, on a finer width where this one is done."""
        state, is_last = self.state, self._is_last
        passed = state.passed
        tol = _EXACT if is_last else _RESIDUAL
        inverse = self.design.solver(passed.curvature, tol)
        step = -inverse(state.gradient)
        left = -0.5 * float(np.dot(state.gradient, step))
        self.steps_here += 1
        done = left <= _LEFT * passed.price or self.steps_here >= _MOST_STEPS
        if not is_last and done:
            self.steps_here = 0
            # along the path of optima: theta of a curved row goes with 1 / width
            factor = max(self.last_width / self.width, _FINER)
            free = np.where(passed.curvature > 0.0, passed.pull, 0.0)
            step += (1.0 - factor) * inverse(self.design.transposed(free))
            self.width = max(self.last_width, factor * self.width)
            self.state = self._at(state.parameters, state.decisions)
        self._move(step)

    def _move(self, step: Vector) -> None:
        """Go along a step as far as the slope says; as a rule that is the whole of it."""
        state = self.state
        at_start = float(np.dot(state.gradient, step))
        if at_start >= 0.0:
            return
        whole = self._at(state.parameters + step)
        at_end = float(np.dot(whole.gradient, step))

        def slope(length: float) -> float:
            if length == 1.0:
                return at_end
            change = whole.decisions - state.decisions
            pulled = self.losses.slope(state.decisions, change, length, self.width)
            there = self.penalty * (state.parameters + length * step)
            return float(np.dot(there, step)) - pulled

        length = step_length(slope, at_start)
        self.state = whole if length == 1.0 else self._at(state.parameters + length * step)
