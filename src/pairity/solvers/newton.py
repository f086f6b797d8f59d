"""Newton's method for smooth losses: every step is a ridge regression with its own weights.

At decisions ``f = K theta + bias`` with pull ``u = -d loss/d f`` and curvature ``w`` of the losses,
the step solves

    (K + diag(1/w)) delta + step of the bias = (u - theta) / w,      sum(delta) = -sum(theta)

(iteratively reweighted least squares), shortened until the primal objective falls enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pairity.losses.logistic import Logistic
from pairity.operators.restricted import beside, in_memory
from pairity.solvers.linear_system import MOST_DENSE_PAIRS, ShiftedSystems
from pairity.solvers.problem import (
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
    Vector,
)
from pairity.threads import stop_if_abandoned

__all__ = ["solve_newton"]

#: Curvature below this share of a weight is taken as that: it bounds the condition of the system.
_LEAST_CURVATURE = 1e-9
#: A step must bring this share of the decrease that its slope promises.
_SUFFICIENT = 1e-4
_MOST_HALVINGS = 40
#: Linear systems are solved to this residual far from the optimum, and more exactly near it.
_ROUGH, _EXACT = 0.1, 1e-12
_MOST_INNER_ITERATIONS = 2000
#: Pairs up to which the matrix is factored where products are as costly as a factorisation is.
_MOST_DENSE_COSTLY = 10_000
#: Square matrices that this holds: the Gram matrix, its factor, and one on the way.
_DENSE_MATRICES = 3.0


@dataclass
class _State:
    theta: Vector
    values: Vector  # K theta
    bias: float

    @property
    def decisions(self) -> Vector:
        return self.values + self.bias


def solve_newton(
    problem: AnyProblem[Logistic], options: SolverOptions, start: Vector | None = None
) -> Solution:
    """Minimise primal and dual together to a violation of at most ``options.tol``."""
    problem = replace(problem, operator=in_memory(problem.operator, options.budget))
    run = _Run(problem, options, np.zeros(len(problem)))
    if start is not None:
        warm = _Run(problem, options, problem.loss.feasible(start))
        run = warm if warm.primal(warm.state) < run.primal(run.state) else run
    reason = run.iterate()
    theta = problem.loss.feasible(run.state.theta)
    return Solution(theta, run.n_iter, reason == "tolerance reached", reason)


class _Run:
    """State of the iteration."""

    def __init__(
        self, problem: AnyProblem[Logistic], options: SolverOptions, theta: Vector
    ) -> None:
        self.problem, self.options = problem, options
        self.n_iter = self.inner_iterations = 0
        n, operator = len(problem), problem.operator
        budget = beside(operator, options.budget.without(operator.object_megabytes))
        fits = budget.holds(n, n, copies=_DENSE_MATRICES)
        most = _MOST_DENSE_COSTLY if operator.is_costly else MOST_DENSE_PAIRS
        self.systems = ShiftedSystems(operator, dense=n <= most and fits, budget=budget)
        values = problem.operator.product(theta) if theta.any() else np.zeros(len(theta))
        bias = problem.loss.bias_interval(theta, values)[0] if problem.has_bias else 0.0
        self.state = _State(theta, values, bias)

    def iterate(self) -> str:
        """Newton steps until the tolerance is reached, or a reason why not."""
        options = self.options
        while True:
            stop_if_abandoned()
            violation = self.problem.loss.violation(self.state.theta, self.state.decisions)
            if options.report is not None:
                options.report(f"Newton, step {self.n_iter}", violation)
            watched = self.n_iter > 0 and options.callback is not None
            if watched and options.callback(self._iterate(violation)):  # type: ignore[misc]
                return "stopped by the callback"
            # a step squares the violation: half of the tolerance leaves room for the last clipping
            if violation <= 0.5 * options.tol and self._is_settled():
                return "tolerance reached"
            if self.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if not self._step(violation):
                return "steps are lost in rounding: tol is below what float64 can reach here"
            self.n_iter += 1

    def _is_settled(self) -> bool:
        """Whether the violation stays small at the decisions of the clipped variables.

        Clipping by a small share of a large weight can move decisions by much.
        """
        loss = self.problem.loss
        theta = loss.feasible(self.state.theta)
        values = self.problem.operator.product(theta)
        bias = loss.bias_interval(theta, values)[0] if self.problem.has_bias else 0.0
        return loss.violation(theta, values + bias) <= self.options.tol

    def _step(self, violation: float) -> bool:
        """One Newton step; False if no length of it lowers the objective."""
        loss, state = self.problem.loss, self.state
        least = _LEAST_CURVATURE * np.maximum(loss.weights, 1e-300)
        curvature = np.maximum(loss.curvature(state.decisions), least)
        system = self.systems.with_shift(1.0 / curvature)
        tol = max(min(_ROUGH, 0.1 * violation), _EXACT)
        right = (loss.pull(state.decisions) - state.theta) / curvature
        found = system.solve(right, tol, _MOST_INNER_ITERATIONS)
        delta, self.inner_iterations = found.solution, self.inner_iterations + found.n_iter
        bias_step = 0.0
        if self.problem.has_bias:
            border = system.solve(np.ones(len(right)), 0.01 * tol, _MOST_INNER_ITERATIONS).solution
            excess = float(delta.sum()) + float(state.theta.sum())
            bias_step = excess / float(border.sum())
            delta = delta - bias_step * border
        return self._search(delta, self.problem.operator.product(delta), bias_step)

    def _search(self, delta: Vector, change: Vector, bias_step: float) -> bool:
        """Shorten the step until the primal objective falls enough."""
        state = self.state
        before = self.primal(state)
        pull = self.problem.loss.pull(state.decisions)
        slope = float(np.dot(state.theta, change)) - float(np.dot(pull, change + bias_step))
        length = 1.0
        for _ in range(_MOST_HALVINGS):
            moved = _State(
                state.theta + length * delta,
                state.values + length * change,
                state.bias + length * bias_step,
            )
            slack = 1e-14 * abs(before)
            if self.primal(moved) <= before + _SUFFICIENT * length * slope + slack:
                self.state = moved
                return True
            length *= 0.5
        return False

    def primal(self, state: _State) -> float:
        """Primal objective."""
        risk = float(np.sum(self.problem.loss.value(state.decisions)))
        return 0.5 * float(np.dot(state.theta, state.values)) + risk

    def _iterate(self, violation: float) -> Iterate:
        state = self.state
        theta = self.problem.loss.feasible(state.theta)
        objective = self.problem.objective(theta, state.values)
        return Iterate(self.n_iter, theta, objective, violation, state.bias)
