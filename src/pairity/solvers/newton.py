"""Newton's method for smooth losses: every step is a ridge regression with its own weights.

At decisions ``f = K theta + bias`` with pull ``u = -d loss/d f`` and curvature ``w`` of the losses,
the step solves

    (K + diag(1/w)) delta + step of the bias = (u - theta) / w,      sum(delta) = -sum(theta)

(iteratively reweighted least squares), shortened until the primal objective falls enough.

A residual r of the first line leaves a violation of ``w r / c`` behind, c the weights of the losses:
the system is solved until the largest of these is as small as allowed, and no further.  Few systems
are factored; the others go by conjugate gradients among vectors of sum 0, preconditioned by few
features of the kernel and what they leave of its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pairity.losses.loss import Logistic, Vector
from pairity.operators.feature_table import FeatureModel, FeatureTable
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers.linear_system import (
    DirectSystem,
    ShiftedSystems,
    conjugate_gradients,
    low_rank_inverse,
)
from pairity.solvers.problem import (
    LOST,
    REACHED,
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
    settled,
)

if TYPE_CHECKING:
    from pairity.solvers.chain_system import ChainSystem

#: Curvature below this share of a weight is taken as that: it bounds the condition of the system.
_LEAST_CURVATURE = 1e-9
#: A step must bring this share of the decrease that its slope promises, but for rounding of the
#: objective in double and in single precision.
_SUFFICIENT, _MOST_HALVINGS, _ROUNDING, _ROUGH_ROUNDING = 1e-4, 40, 1e-14, 1e-7
#: A step squares the violation v: systems are solved to v^2, to this share of v far from the
#: optimum, and to this share of the tolerance at least.
_SHARE_OF_VIOLATION, _SHARE_OF_TOL = 0.5, 0.4
#: Tolerances below which products are in double precision, and a violation is reached only where
#: half of it is left for the last clipping.
_FINE, _ENOUGH, _ENOUGH_IF_FINE = 1e-4, 0.9, 0.5
#: Violation of the solution for a model that a start is, steps to it, and objects from which on
#: products take so long that it pays.
_START_TOL, _MOST_START_STEPS, _MANY_OBJECTS = 0.02, 10, 500
#: Decision values that are evaluated again before rough ones are believed, and by how much of the
#: tolerance they may differ.
_ROWS_TO_CHECK, _NEGLIGIBLE = 64, 0.02
#: Iterations of one step at most, and what may be left of the right side.
_MOST_ITERATIONS, _SHARE_OF_RIGHT = 2000, 0.1


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
    elif not (systems.dense or systems.operator.has_chains) and (
        problem.operator.left.n_objects >= _MANY_OBJECTS
    ):
        starts.append(_start(problem, systems, options))
    runs = [_Run(problem, systems, options, theta) for theta in starts]
    run = min(runs, key=lambda one: one.primal(one.state))
    reason = run.iterate()
    theta = problem.loss.feasible(run.state.theta)
    return Solution(theta, run.n_iter, reason == REACHED, reason)


def _start(
    problem: AnyProblem[Logistic], systems: ShiftedSystems, options: SolverOptions
) -> Vector:
    """The solution for a model of the kernel whose systems the preconditioner solves at once."""
    model = FeatureModel(problem.operator, systems.features)
    rough = replace(options, tol=_START_TOL, max_iter=_MOST_START_STEPS, callback=None, report=None)
    zeros = np.zeros(len(problem))
    run = _Run(replace(problem, operator=model), systems, rough, zeros)
    run.iterate()
    return problem.loss.feasible(run.state.theta)


@dataclass
class _Run:
    """State of the iteration."""

    problem: AnyProblem[Logistic]
    systems: ShiftedSystems
    options: SolverOptions
    start: InitVar[Vector]
    n_iter: int = 0

    def __post_init__(self, start: Vector) -> None:
        self.fine = self.systems.dense or self.options.tol < _FINE
        self.fresh = self.fine or not self.problem.operator.has_rough_products
        self.state = self._at(start)

    def _product(self, vector: Vector) -> Vector:
        operator = self.problem.operator
        return operator.product(vector) if self.fine else operator.rough_product(vector)

    def _at(self, theta: Vector) -> _State:
        """With the decision values of these variables, and the bias that suits them."""
        return self._with_bias(theta, self._product(theta) if theta.any() else np.zeros(len(theta)))

    def _with_bias(self, theta: Vector, values: Vector) -> _State:
        problem = self.problem
        bias = problem.loss.bias_interval(theta, values)[0] if problem.has_bias else 0.0
        return _State(theta, values, bias)

    def primal(self, state: _State) -> float:
        """Primal objective."""
        risk = float(np.sum(self.problem.loss.value(state.decisions)))
        return 0.5 * float(np.dot(state.theta, state.values)) + risk

    def iterate(self) -> str:
        """Newton steps until the tolerance is reached, or a reason why not."""
        options, loss = self.options, self.problem.loss
        enough = (_ENOUGH_IF_FINE if self.fine else _ENOUGH) * options.tol
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
            if violation <= enough:
                if not self._is_exact():
                    self._refresh()
                    continue
                if self._clipped_violation() <= options.tol:
                    return REACHED
            if self.n_iter >= options.max_iter:
                return f"max_iter={options.max_iter} steps used up"
            if not self._search(self._step(violation)):
                if self.fine:
                    return LOST
                self._refresh()
            self.n_iter += 1

    def _clipped_violation(self) -> float:
        """That of variables as they will be kept: feasible, and of sum 0 where there is a bias.

        A small share of a large weight can move decisions by much, and so can a sum that shortened
        steps have left.
        """
        state, loss = self.state, self.problem.loss
        theta = settled(self.problem, state.theta)
        moved = theta - state.theta
        # as precise as the values that it is added to
        values = state.values + self._product(moved) if moved.any() else state.values
        clipped = self._with_bias(theta, values)
        return loss.violation(clipped.theta, clipped.decisions)

    def _is_exact(self) -> bool:
        """Whether some of the decision values, evaluated again, are what they are taken to be."""
        if self.fresh:
            return True
        theta, operator = self.state.theta, self.problem.operator
        used = np.flatnonzero(theta)
        rows = np.random.default_rng(self.n_iter).permutation(len(theta))[:_ROWS_TO_CHECK]
        values = operator.block(rows, used) @ theta[used]
        off = float(np.abs(values - self.state.values[rows]).max(initial=0.0))
        return off <= _NEGLIGIBLE * self.options.tol

    def _refresh(self) -> None:
        """Decision values in double precision, now and from now on."""
        self.fine = self.fresh = True
        self.state = self._at(self.state.theta)

    def _step(self, violation: float) -> Step:
        """One Newton step of full length."""
        loss, state = self.problem.loss, self.state
        least = _LEAST_CURVATURE * np.maximum(loss.weights, 1e-300)
        curvature = np.maximum(loss.curvature(state.decisions), least)
        surplus = float(state.theta.sum()) if self.problem.has_bias else None
        system = NewtonSystem(curvature, loss.pull(state.decisions) - state.theta, surplus)
        if self.systems.dense:
            return direct_step(system, DirectSystem(self.systems.gram, system.shift))
        wanted = min(_SHARE_OF_VIOLATION * violation, violation**2)
        allowed = max(wanted, _SHARE_OF_TOL * self.options.tol)
        by_states = self.systems.by_states(system.shift, system.enough(loss.weights, allowed))
        if by_states is not None:
            return direct_step(system, by_states)
        return iterative_step(system, self._product, self.systems.features, loss.weights, allowed)

    def _search(self, step: Step) -> bool:
        """Shorten the step until the primal objective falls enough; False if no length does."""
        state, before, change = self.state, self.primal(self.state), step.values
        if change is None or self.fine:  # what is known from the residual drifts
            change = self._product(step.delta)
        slack = (_ROUNDING if self.fine else _ROUGH_ROUNDING) * abs(before)
        pull = self.problem.loss.pull(state.decisions)
        slope = float(np.dot(state.theta, change)) - float(np.dot(pull, change + step.bias))
        for halvings in range(_MOST_HALVINGS):
            length = 0.5**halvings
            theta, values = state.theta + length * step.delta, state.values + length * change
            moved = _State(theta, values, state.bias + length * step.bias)
            if self.primal(moved) <= before + _SUFFICIENT * length * slope + slack:
                self.state = moved
                return True
        return False


# The linear system of a step ----------------------------------------------------------------------


@dataclass(frozen=True)
class NewtonSystem:
    """What a step solves."""

    curvature: Vector  # w
    pull: Vector  # u - theta
    surplus: float | None  # sum(theta); None where there is no bias

    @property
    def shift(self) -> Vector:
        """``1 / w``."""
        return 1.0 / self.curvature

    @property
    def right(self) -> Vector:
        """``(u - theta) / w``."""
        return self.pull / self.curvature

    def enough(self, weights: Vector, allowed: float) -> Callable[[Vector], bool]:
        """Whether a residual leaves violations of at most ``allowed``, and little of the right side.

        After an update few rows have a right side at all: what others get must be small beside it.
        """
        scale, root = self.curvature / weights, np.sqrt(self.curvature)
        most = _SHARE_OF_RIGHT * float(np.linalg.norm(root * self.right))

        def is_enough(residual: Vector) -> bool:
            if np.max(scale * np.abs(residual)) > allowed:
                return False
            return bool(np.linalg.norm(root * residual) <= most)

        return is_enough

    def bias_of(self, residual: Vector) -> float:
        """The bias that leaves the least of a residual."""
        if self.surplus is None:
            return 0.0
        return float(self.curvature @ residual) / float(self.curvature.sum())


@dataclass(frozen=True)
class Step:
    """A change of the dual variables, ``K delta`` where it is known, and a change of the bias."""

    delta: Vector
    values: Vector | None
    bias: float
    n_products: int


def direct_step(system: NewtonSystem, factored: DirectSystem | ChainSystem) -> Step:
    """By one factorisation, or states of moments; the bias by a second right side."""
    delta = factored.solve(system.right).solution
    if system.surplus is None:
        return Step(delta, None, 0.0, 0)
    border = factored.solve(np.ones(len(delta))).solution
    bias = (float(delta.sum()) + system.surplus) / float(border.sum())
    return Step(delta - bias * border, None, bias, 0)


def iterative_step(
    system: NewtonSystem,
    product: Callable[[Vector], Vector],
    features: FeatureTable,
    weights: Vector,
    allowed: float,
) -> Step:
    """By conjugate gradients, until ``w r / c`` is at most ``allowed``."""
    shift, right, scale = system.shift, system.right, system.curvature / weights
    precondition = low_rank_inverse(shift + features.left, features)
    start, n_products = np.zeros_like(right), 0
    residual = right
    if system.surplus is not None:
        precondition, border = _among_balanced(precondition, system)
        if system.surplus:
            start, n_products = -system.surplus * border, 1
            residual = right - product(start) - shift * start
    delta, bias = start, 0.0
    steps = conjugate_gradients(lambda v: product(v) + shift * v, precondition, start, residual)
    for found in steps:
        delta, residual = found
        n_products += 1
        bias = system.bias_of(residual)
        if np.max(scale * np.abs(residual - bias)) <= allowed or n_products >= _MOST_ITERATIONS:
            break
    # what is left of the right side is known, and so is K delta
    return Step(delta, right - residual - shift * delta, bias, n_products)


def _among_balanced(
    precondition: Callable[[Vector], Vector], system: NewtonSystem
) -> tuple[Callable[[Vector], Vector], Vector]:
    """The preconditioner with results of sum 0, and the direction of sum 1 that is taken out.

    It sees residuals without their bias, beside which single precision would lose the rest.
    """
    border = precondition(np.ones(len(system.pull)))
    border = border / float(border.sum())

    def apply(residual: Vector) -> Vector:
        plain = precondition(residual - system.bias_of(residual))
        return plain - float(plain.sum()) * border

    return apply, border
