"""Ridge regression: which way to the linear system ``(K + shift) theta = y``, and what it yields.

==========  ====================================================================================
spectral    all pairs of the objects, each once, and a tensor kernel: closed form for any shift
dense       few pairs: one factorisation, or one eigendecomposition for many shifts
cg          conjugate gradients through operator products, preconditioned
==========  ====================================================================================

The first two also give the diagonal of the inverse, and with it the residual of every pair by a
model that was fitted without that pair, ``theta_i / (K + shift)^-1_ii``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from pairity.losses.squared import Squared
from pairity.memory import megabytes_of
from pairity.operators.complete import CompletePairs, is_complete
from pairity.operators.restricted import beside, in_memory
from pairity.operators.whole import whole_matrix
from pairity.solvers.linear_system import MOST_DENSE_PAIRS, ShiftedSystems
from pairity.solvers.problem import (
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
    Vector,
)

__all__ = ["RIDGE_SOLVERS", "ExactRidge", "plan_ridge", "ridge_path", "solve_ridge"]

RIDGE_SOLVERS = ("auto", "spectral", "dense", "cg")
RidgeProblem = AnyProblem[Squared]
#: Square matrices that the dense way holds: to solve once, and to decompose for many shifts.
_DENSE_MATRICES, _DECOMPOSED_MATRICES = 3.0, 6.0


def plan_ridge(
    problem: RidgeProblem, solver: str, options: SolverOptions, *, decomposed: bool = False
) -> str:
    """Choose a way, or check the one that was asked for; ``decomposed`` is for many shifts."""
    n = len(problem)
    budget = options.budget.without(problem.operator.object_megabytes)
    copies = _DECOMPOSED_MATRICES if decomposed else _DENSE_MATRICES
    fits = budget.holds(n, n, copies=copies)
    spectral = _is_spectral(problem)
    if solver == "spectral" and not spectral:
        raise ValueError(
            "got solver='spectral' where it does not apply; expected a tensor kernel without group"
            " features, every pair of the objects exactly once and equal weights: use"
            " solver='auto'."
        )
    if solver == "dense" and not fits:
        budget.refuse(
            f"matrices of {n} pairs",
            megabytes_of(n, n, copies=copies),
            "fewer pairs, a larger memory_limit, or conjugate gradients: solver='cg'",
        )
    if solver != "auto":
        return solver
    if options.callback is not None:
        return "cg"
    if spectral:
        return "spectral"
    return "dense" if n <= MOST_DENSE_PAIRS and fits else "cg"


def _is_spectral(problem: RidgeProblem) -> bool:
    weights = problem.loss.weights
    return (
        problem.operator.structure is not None
        and bool((weights == weights[0]).all())
        and is_complete(problem.operator.left)
    )


class ExactRidge:
    """Solutions and diagonals of inverses for many shifts, from one decomposition."""

    def __init__(self, problem: RidgeProblem, way: str) -> None:
        self.problem = problem
        self._complete: CompletePairs | None = None
        if way == "spectral":
            self._complete = _complete(problem)
            return
        # (K + D)^-1 = W^1/2 (W^1/2 K W^1/2 + 1)^-1 W^1/2 with W the weights
        self._root = np.sqrt(problem.loss.weights)
        gram = whole_matrix(problem.operator)
        scaled = self._root[:, np.newaxis] * gram * self._root
        values, self._vectors = eigh(scaled, check_finite=False, driver="evd")
        self._values = np.maximum(values, 0.0)

    def solve(self, factor: float) -> tuple[Vector, Vector]:
        """Theta, and the diagonal of the inverse, with all weights multiplied by ``factor``."""
        loss = self.problem.loss.times(factor)
        targets = loss.targets
        if self._complete is not None:
            shift = 1.0 / float(loss.weights[0])
            inverse = self._complete.inverse_diagonal(shift)
            if not self.problem.has_bias:
                return self._complete.solve(targets, shift), inverse
            border = self._complete.solve(np.ones_like(targets), shift)
            return _with_bias(self._complete.solve(targets, shift), border, inverse)
        shrunk = 1.0 / (self._values + 1.0 / factor)
        inverse = self._root**2 * ((self._vectors**2) @ shrunk)
        solution = self._apply_inverse(shrunk, targets)
        if not self.problem.has_bias:
            return solution, inverse
        border = self._apply_inverse(shrunk, np.ones_like(targets))
        return _with_bias(solution, border, inverse)

    def _apply_inverse(self, shrunk: Vector, right: Vector) -> Vector:
        inside = self._vectors.T @ (self._root * right)
        return self._root * (self._vectors @ (shrunk * inside))


def _with_bias(solution: Vector, border: Vector, inverse: Vector) -> tuple[Vector, Vector]:
    """The same with ``sum(theta) = 0``: the bias takes one direction out of the inverse."""
    total = float(border.sum())
    if not total > 0.0:  # 1' A^-1 1, lost in rounding beside a huge kernel
        return solution, inverse
    theta = solution - (float(solution.sum()) / total) * border
    return theta, inverse - border**2 / total


def _complete(problem: RidgeProblem) -> CompletePairs:
    grid = problem.operator.spectral_grid
    assert grid is not None
    return CompletePairs(grid, problem.operator.left)


def ridge_path(
    problem: RidgeProblem, way: str, factors: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Theta and leave-one-pair-out residuals, shapes (len(factors), n), for multiplied weights."""
    exact = ExactRidge(problem, way)
    thetas, residuals = [], []
    for factor in factors:
        theta, inverse = exact.solve(float(factor))
        thetas.append(theta)
        residuals.append(theta / inverse)
    return np.array(thetas), np.array(residuals)


def solve_ridge(problem: RidgeProblem, way: str, options: SolverOptions) -> Solution:
    """Solve once, by the way that was planned."""
    loss = problem.loss
    if way == "spectral":
        complete = _complete(problem)
        shift = 1.0 / float(loss.weights[0])
        theta = complete.solve(loss.targets, shift)
        if problem.has_bias:
            border = complete.solve(np.ones(len(loss)), shift)
            theta = theta - (float(theta.sum()) / float(border.sum())) * border
        return Solution(theta, 1, True, "closed form")
    if way == "dense":
        return _solve_dense(problem)
    return _solve_by_gradients(problem, options)


def _solve_dense(problem: RidgeProblem) -> Solution:
    gram = whole_matrix(problem.operator)
    gram[np.diag_indices(len(gram))] += 1.0 / problem.loss.weights
    try:
        factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:  # alpha is lost in rounding
        return Solution(ExactRidge(problem, "dense").solve(1.0)[0], 1, True, "closed form")
    right = np.column_stack([problem.loss.targets, np.ones(len(gram))])
    solution, border = cho_solve(factor, right, check_finite=False).T
    if problem.has_bias:
        solution = solution - (float(solution.sum()) / float(border.sum())) * border
    return Solution(np.ascontiguousarray(solution), 1, True, "closed form")


def _solve_by_gradients(problem: RidgeProblem, options: SolverOptions) -> Solution:
    targets, most = problem.loss.targets, options.max_iter
    held = replace(problem, operator=in_memory(problem.operator, options.budget))
    budget = beside(held.operator, options.budget.without(held.operator.object_megabytes))
    systems = ShiftedSystems(held.operator, dense=False, budget=budget)
    system = systems.with_shift(1.0 / problem.loss.weights)
    watch = _Watch(problem, options)
    if problem.has_bias:
        ones = np.ones(len(problem))
        watch.border = system.solve(ones, 0.1 * options.tol, most, watch.report).solution
    found = system.solve(targets, options.tol, most, watch)
    if problem.has_bias and not watch.stopped:
        # two inexact solutions together may be less exact than asked for: go on from there
        watch.bias_so_far = watch.bias
        right = targets - watch.bias
        allowed = 0.5 * options.tol * float(np.linalg.norm(targets))
        tol = allowed / max(float(np.linalg.norm(right)), 1e-300)
        system.solve(right, tol, most, watch, start=watch.theta)
    converged = found.relative_residual <= options.tol
    if watch.stopped:
        reason = "stopped by the callback"
    elif converged:
        reason = "tolerance reached"
    elif found.n_iter == most:
        reason = f"max_iter={most} iterations used up"
    else:
        reason = "the residual is lost in rounding: tol is below what float64 can reach here"
    return Solution(watch.theta, watch.n_iter, converged, reason)


class _Watch:
    """Reports progress, keeps the last iterate, and shows it to a callback."""

    def __init__(self, problem: RidgeProblem, options: SolverOptions) -> None:
        self._problem, self._options = problem, options
        self.border: Vector | None = None  # the solution for ones, where there is a bias
        self.theta, self.bias, self.bias_so_far = np.zeros(len(problem)), 0.0, 0.0
        self.n_iter = 0
        self.stopped = False

    def report(self, iteration: int, relative: float, solution: Vector) -> bool:
        """Say how far it is."""
        self.n_iter += 1
        if self._options.report is not None:
            self._options.report(f"conjugate gradients, iteration {self.n_iter}", relative)
        return False

    def __call__(self, iteration: int, relative: float, solution: Vector) -> bool:
        """The same, and show theta; true stops."""
        self.report(iteration, relative, solution)
        self.theta = solution
        if self.border is not None:  # sum(theta) = 0
            share = float(solution.sum()) / float(self.border.sum())
            self.theta, self.bias = solution - share * self.border, self.bias_so_far + share
        if self._options.callback is None:
            return False
        theta = self.theta.copy()
        objective = self._problem.objective(theta, self._problem.operator.product(theta))
        self.stopped = bool(
            self._options.callback(Iterate(self.n_iter, theta, objective, relative, self.bias))
        )
        return self.stopped
