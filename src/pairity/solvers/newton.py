"""Newton's method for smooth losses: every step is a ridge regression with its own weights.

At decisions ``f = K theta + bias`` with pull ``u = -d loss/d f`` and curvature ``w`` of the losses,
the step solves

    (K + diag(1/w)) delta + step of the bias = (u - theta) / w,      sum(delta) = -sum(theta)

(iteratively reweighted least squares), shortened until the primal objective falls enough.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, replace

import numpy as np

from pairity.losses.loss import Logistic, Vector
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers.linear_system import ShiftedSystems
from pairity.solvers.problem import LOST, REACHED, AnyProblem, Iterate, Solution, SolverOptions

#: Curvature below this share of a weight is taken as that: it bounds the condition of the system.
_LEAST_CURVATURE = 1e-9
#: A step must bring this share of the decrease that its slope promises.
_SUFFICIENT, _MOST_HALVINGS = 1e-4, 40
#: Linear systems are solved to this residual far from the optimum, and more exactly near it.
_ROUGH, _EXACT, _MOST_INNER_ITERATIONS = 0.1, 1e-12, 2000


@dataclass
class _State:
    theta: Vector
    values: Vector  # K theta
    bias: float

    @property
    def decisions(self) -> Vector:
        return self.values + self.bias


def solve_newton(
    problem: AnyProblem[Logistic],
    systems: ShiftedSystems,
    options: SolverOptions,
    start: Vector | None = None,
) -> Solution:
    """Minimise primal and dual together to a violation of at most ``options.tol``."""
    problem = replace(problem, operator=systems.operator)
    starts = [np.zeros(len(problem))]
    if start is not None:
        starts.append(problem.loss.feasible(start))
    runs = [_Run(problem, systems, options, theta) for theta in starts]
    run = min(runs, key=lambda one: one.primal(one.state))
    reason = run.iterate()
    theta = problem.loss.feasible(run.state.theta)
    return Solution(theta, run.n_iter, reason == REACHED, reason)


@dataclass
class _Run:
    """State of the iteration."""

    problem: AnyProblem[Logistic]
    systems: ShiftedSystems
    options: SolverOptions
    start: InitVar[Vector]
    n_iter: int = 0

    def __post_init__(self, start: Vector) -> None:
        self.state = self._at(start)

    def _at(self, theta: Vector) -> _State:
        """With the decision values of these variables, and the bias that suits them."""
        problem = self.problem
        values = problem.operator.product(theta) if theta.any() else np.zeros(len(theta))
        bias = problem.loss.bias_interval(theta, values)[0] if problem.has_bias else 0.0
        return _State(theta, values, bias)

    def primal(self, state: _State) -> float:
        """Primal objective."""
        risk = float(np.sum(self.problem.loss.value(state.decisions)))
        return 0.5 * float(np.dot(state.theta, state.values)) + risk

    def iterate(self) -> str:
        """Newton steps until the tolerance is reached, or a reason why not."""
        options, loss = self.options, self.problem.loss
        while True:
            stop_if_abandoned()
            state = self.state
            violation = loss.violation(state.theta, state.decisions)
            if options.report is not None:
                options.report(f"Newton, step {self.n_iter}", violation)
            if options.callback is not None and self.n_iter > 0:
                theta = loss.feasible(state.theta)
                objective = self.problem.objective(theta, state.values)
                if options.callback(Iterate(self.n_iter, theta, objective, violation, state.bias)):
                    return "stopped by the callback"
            # a step squares the violation: half of the tolerance leaves room for the last clipping
            if violation <= 0.5 * options.tol:
                # clipping by a small share of a large weight can move decisions by much
                clipped = self._at(loss.feasible(state.theta))
                if loss.violation(clipped.theta, clipped.decisions) <= options.tol:
                    return REACHED
            if self.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if not self._step(violation):
                return LOST
            self.n_iter += 1

    def _step(self, violation: float) -> bool:
        """One Newton step; False if no length of it lowers the objective."""
        loss, state = self.problem.loss, self.state
        least = _LEAST_CURVATURE * np.maximum(loss.weights, 1e-300)
        curvature = np.maximum(loss.curvature(state.decisions), least)
        system = self.systems.with_shift(1.0 / curvature)
        tol = max(min(_ROUGH, 0.1 * violation), _EXACT)
        right = (loss.pull(state.decisions) - state.theta) / curvature
        delta, bias_step = system.solve(right, tol, _MOST_INNER_ITERATIONS).solution, 0.0
        if self.problem.has_bias:
            border = system.solve(np.ones(len(right)), 0.01 * tol, _MOST_INNER_ITERATIONS).solution
            excess = float(delta.sum()) + float(state.theta.sum())
            bias_step = excess / float(border.sum())
            delta = delta - bias_step * border
        return self._search(delta, self.problem.operator.product(delta), bias_step)

    def _search(self, delta: Vector, change: Vector, bias_step: float) -> bool:
        """Shorten the step until the primal objective falls enough."""
        state, before = self.state, self.primal(self.state)
        slack = 1e-14 * abs(before)
        pull = self.problem.loss.pull(state.decisions)
        slope = float(np.dot(state.theta, change)) - float(np.dot(pull, change + bias_step))
        for halvings in range(_MOST_HALVINGS):
            length = 0.5**halvings
            theta, values = state.theta + length * delta, state.values + length * change
            moved = _State(theta, values, state.bias + length * bias_step)
            if self.primal(moved) <= before + _SUFFICIENT * length * slope + slack:
                self.state = moved
                return True
        return False
