"""Linear systems ``(K + diag(shift)) x = b``: what ridge regression and every Newton step solve.

Small systems are factored once (Cholesky); large ones go by conjugate gradients through operator
products, with the leading modes of the kernel taken out by a low-rank preconditioner

    (D + F F')^-1 = D^-1 - D^-1 F (I + F' D^-1 F)^-1 F' D^-1        (Woodbury),

so that the number of iterations hardly depends on how large the large eigenvalues are.

Ridge regression has closed forms too: "spectral" for all pairs of the objects, each once, and a
tensor kernel; "dense" by one factorisation, or one eigendecomposition for many shifts.  They also
give the diagonal of the inverse, and with it the residual of every pair by a model that was fitted
without that pair, ``theta_i / (K + shift)^-1_ii``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from pairity.exceptions import KernelError
from pairity.losses.loss import Squared, Vector
from pairity.operators.complete import CompletePairs
from pairity.operators.feature_table import FeatureTable
from pairity.operators.modes import Modes, leading_modes
from pairity.operators.operator import KernelOperator, whole_matrix
from pairity.runtime.resources import Budget, stop_if_abandoned
from pairity.solvers.problem import REACHED, AnyProblem, Iterate, Solution, SolverOptions

if TYPE_CHECKING:
    from pairity.solvers.chain_system import ChainSystem

#: Features of the preconditioner at most, those per pair, and their share of the memory.
_MOST_MODES, _MODES_SHARE, _BUDGET_SHARE = 4096, 1 / 64, 0.2
#: Features of a table: at most, those for the root of the number of objects, of which products
#: take as long as some with the table; their share of the memory, and the tables in it.
MOST_FEATURES, _FEATURES_PER_ROOT, _TABLE_SHARE, _TABLES = 400, 8.0, 0.25, 1.5
#: Share of the size of a matrix that every shift can be told apart from.
_ROUNDING = 1e-14
#: Share of the tolerance to which a residual is brought: what is left is for rounding, which the
#: certificate adds to it.
_SHARE_OF_TOL = 0.9
#: Iterations, or else a tolerance, from which on rounding may add up: the residual that the
#: iteration keeps is then computed anew before it is believed.
_MANY, _FINE = 50, 1e-6
#: Tolerances from which on single precision is enough.
_COARSE = 1e-4

#: Called with the iteration, the relative residual and the solution so far; true stops.
Watch = Callable[[int, float, Vector], bool]
RidgeProblem = AnyProblem[Squared]


@dataclass(frozen=True)
class Found:
    """A solution, how many iterations it took, and its residual over the right side."""

    solution: Vector
    n_iter: int
    relative_residual: float


@dataclass
class ShiftedSystems:
    """Systems of one operator for any shifts and right sides."""

    operator: KernelOperator
    dense: bool
    budget: Budget

    @cached_property
    def gram(self) -> NDArray[np.float64]:
        """The whole Gram matrix."""
        return whole_matrix(self.operator)

    @cached_property
    def modes(self) -> Modes:
        """Leading modes of the kernel."""
        wanted = max(1, min(_MOST_MODES, int(_MODES_SHARE * len(self.operator.left))))
        return leading_modes(self.operator, wanted, self.budget.share(_BUDGET_SHARE))

    @cached_property
    def features(self) -> FeatureTable:
        """Few features of the kernel as a table over the pairs."""
        n, share = len(self.operator.left), self.budget.share(_TABLE_SHARE)
        wanted = min(MOST_FEATURES, int(_FEATURES_PER_ROOT * self.operator.left.n_objects**0.5))
        fitting = share.columns(n, copies=_TABLES, itemsize=4)
        return FeatureTable.of(self.operator, int(max(1, min(wanted, n, fitting))), share)

    def by_states(
        self, shift: Vector, is_enough: Callable[[Vector], bool] | None = None
    ) -> ChainSystem | None:
        """The system of objects at times, whose matrix is not factored; None for any other."""
        if self.dense or not self.operator.has_chains:
            return None
        from pairity.solvers.chain_system import ChainSystem, has_chain_system

        usable = has_chain_system(self.operator)
        return ChainSystem(self.operator, shift, is_enough) if usable else None  # type: ignore[arg-type]

    def with_shift(self, shift: Vector) -> DirectSystem | ChainSystem | _Iterative:
        """Something with ``solve(right, tol, max_iter, report)``."""
        if self.dense:
            return DirectSystem(self.gram, shift)
        by_states = self.by_states(shift)
        if by_states is not None:
            return by_states
        return _Iterative(self.operator, shift, self.modes)


class DirectSystem:
    """One factorisation for all right sides; where rounding made the matrix indefinite, a nearby one."""

    def __init__(self, gram: NDArray[np.float64], shift: Vector) -> None:
        added, size = 0.0, float(np.linalg.norm(gram))
        while True:
            shifted = gram.copy()
            shifted[np.diag_indices(len(shift))] += shift + added * size
            try:
                self._factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
                return
            except LinAlgError:
                if not added < 1.0 or not np.isfinite(size):
                    raise KernelError(
                        "got a kernel with negative eigenvalues on the training pairs; expected a"
                        " positive semi-definite one: see pairity.testing.check_pair_kernel."
                    ) from None
                added = max(_ROUNDING, 100.0 * added)

    def solve(self, right: Vector, *limits: Any, **more: Any) -> Found:
        """Back substitution; nothing to iterate."""
        return Found(cho_solve(self._factor, right, check_finite=False), 1, 0.0)


def low_rank_inverse(shift: Vector, modes: Modes | FeatureTable) -> Callable[[Vector], Vector]:
    """``(D + F F')^-1`` as a function of vectors; ``D^-1`` where rounding spoils it."""
    inverse_shift = 1.0 / shift
    if not modes.n_modes:
        return lambda vector: inverse_shift * vector
    inside = modes.gram(inverse_shift)
    inside[np.diag_indices(len(inside))] += 1.0
    try:
        factor = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return lambda vector: inverse_shift * vector

    def apply(vector: Vector) -> Vector:
        scaled = inverse_shift * vector
        inner = cho_solve(factor, modes.reduce(scaled), check_finite=False)
        return scaled - inverse_shift * modes.expand(inner)

    return apply


def conjugate_gradients(
    apply: Callable[[Vector], Vector],
    precondition: Callable[[Vector], Vector],
    solution: Vector,
    residual: Vector,
) -> Iterator[tuple[Vector, Vector]]:
    """Solution and residual after each iteration, from first ones, without an end.

    Not SciPy's: its callback sees no residual and cannot stop.
    """
    direction = precondition(residual)
    merit = float(residual @ direction)
    while merit != 0.0:
        stop_if_abandoned()
        image = apply(direction)
        length = merit / float(direction @ image)
        solution, residual = solution + length * direction, residual - length * image
        yield solution, residual
        preconditioned = precondition(residual)
        previous, merit = merit, float(residual @ preconditioned)
        direction = preconditioned + (merit / previous) * direction


class _Iterative:
    """Preconditioned conjugate gradients.

    The residual that they keep is wrong after some hundred iterations, because of rounding.
    """

    def __init__(self, operator: KernelOperator, shift: Vector, modes: Modes) -> None:
        self._operator, self._shift = operator, shift
        self._precondition = low_rank_inverse(shift, modes)

    def _apply(self, vector: Vector, tol: float) -> Vector:
        """The matrix times a vector; roughly where no more is asked for."""
        operator = self._operator
        product = operator.rough_product if tol >= _COARSE else operator.product
        return product(vector) + self._shift * vector

    def solve(
        self,
        right: Vector,
        tol: float,
        max_iter: int,
        report: Watch | None = None,
        start: Vector | None = None,
    ) -> Found:
        """Iterate until the residual is ``tol`` times the right side, or ``report`` returns true."""
        size = float(np.linalg.norm(right))
        solution = np.zeros_like(right) if start is None else start.copy()
        residual = right.copy() if start is None else right - self._apply(solution, tol)
        relative = float(np.linalg.norm(residual)) / max(size, 1e-300)
        if size == 0.0 or relative <= tol:
            return Found(solution, 0, relative if size else 0.0)
        iterate = partial(conjugate_gradients, partial(self._apply, tol=tol), self._precondition)
        confirmed, steps = np.inf, iterate(solution, residual)
        for iteration in range(1, max_iter + 1):
            solution, residual = next(steps, (solution, residual))
            relative = float(np.linalg.norm(residual)) / size
            stop = report is not None and bool(report(iteration, relative, solution))
            done = stop or relative <= tol
            if done and not stop and (iteration > _MANY or tol < _FINE):
                # start again from the true one, as long as that helps
                residual = right - self._apply(solution, tol)
                relative = float(np.linalg.norm(residual)) / size
                done = not tol < relative <= 0.5 * confirmed
                confirmed, steps = relative, iterate(solution, residual)
            if done:
                return Found(solution, iteration, relative)
        return Found(solution, max_iter, relative)


# Ridge regression -------------------------------------------------------------------------------


def _exact_solver(
    problem: RidgeProblem, way: str
) -> Callable[[float], tuple[Vector, NDArray[np.float64]]]:
    """Theta, and the diagonal of the inverse, by the factor that multiplies all weights."""
    loss, ones = problem.loss, np.ones(len(problem))
    if way == "spectral":
        complete = _complete(problem)

        def inverse(factor: float) -> tuple[Callable[[Vector], Vector], Vector]:
            shift = 1.0 / float(factor * loss.weights[0])
            return partial(complete.solve, shift=shift), complete.inverse_diagonal(shift)

    else:
        # (K + D)^-1 = W^1/2 (W^1/2 K W^1/2 + 1)^-1 W^1/2 with W the weights
        root = np.sqrt(loss.weights)
        scaled = root[:, np.newaxis] * whole_matrix(problem.operator) * root
        values, vectors = eigh(scaled, check_finite=False, driver="evd")
        values = np.maximum(values, 0.0)

        def inverse(factor: float) -> tuple[Callable[[Vector], Vector], Vector]:
            shrunk = 1.0 / (values + 1.0 / factor)

            def times_inverse(right: Vector) -> Vector:
                return root * (vectors @ (shrunk * (vectors.T @ (root * right))))

            return times_inverse, root**2 * ((vectors**2) @ shrunk)

    def solve(factor: float) -> tuple[Vector, Vector]:
        times_inverse, diagonal = inverse(factor)
        solution = times_inverse(loss.targets)
        if not problem.has_bias:
            return solution, diagonal
        border = times_inverse(ones)
        return _centred(solution, border), diagonal - border**2 / _total(border)

    return solve


def _total(border: Vector) -> float:
    """``1' A^-1 1``; infinite where it is lost in rounding beside a huge kernel."""
    total = float(border.sum())
    return total if total > 0.0 else np.inf


def _centred(solution: Vector, border: Vector) -> Vector:
    """``sum(theta) = 0``: the bias takes the direction of ``border = A^-1 1`` out of the solution."""
    return solution - (float(solution.sum()) / _total(border)) * border


def _complete(problem: RidgeProblem) -> CompletePairs:
    grid = problem.operator.spectral_grid
    assert grid is not None
    return CompletePairs(grid, problem.operator.left)


def ridge_path(
    problem: RidgeProblem, way: str, factors: Vector
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Theta and leave-one-pair-out residuals, shapes (len(factors), n), for multiplied weights."""
    solutions = map(_exact_solver(problem, way), factors.tolist())
    thetas, inverses = map(np.array, zip(*solutions, strict=True))
    return thetas, thetas / inverses


def solve_exactly(problem: RidgeProblem, way: str) -> Solution:
    """Solve once in closed form: "spectral" or "dense"."""
    loss, ones = problem.loss, np.ones(len(problem))
    if way == "spectral":
        complete, shift = _complete(problem), 1.0 / float(loss.weights[0])
        solution = complete.solve(loss.targets, shift)
        border = complete.solve(ones, shift) if problem.has_bias else ones
    else:
        gram = whole_matrix(problem.operator)
        gram[np.diag_indices(len(gram))] += 1.0 / loss.weights
        try:
            factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:  # alpha is lost in rounding
            return Solution(_exact_solver(problem, way)(1.0)[0], 1, True, "closed form")
        right = np.column_stack([loss.targets, ones])
        solution, border = cho_solve(factor, right, check_finite=False).T
    theta = _centred(solution, border) if problem.has_bias else solution
    return Solution(np.ascontiguousarray(theta), 1, True, "closed form")


def solve_by_gradients(
    problem: RidgeProblem, systems: ShiftedSystems, options: SolverOptions
) -> Solution:
    """Conjugate gradients; every iteration is shown to the callback."""
    targets, most = problem.loss.targets, options.max_iter
    system = systems.with_shift(1.0 / problem.loss.weights)
    watch = _Watch(problem, options)
    if problem.has_bias:
        ones = np.ones(len(problem))
        watch.border = system.solve(ones, 0.1 * options.tol, most, watch).solution
    found = system.solve(targets, _SHARE_OF_TOL * options.tol, most, watch)
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
        reason = REACHED
    elif found.n_iter == most:
        reason = f"max_iter={most} iterations used up"
    else:
        reason = "the residual is lost in rounding: tol is below what float64 can reach here"
    return Solution(watch.theta, watch.n_iter, converged, reason)


class _Watch:
    """Reports progress, keeps the last iterate, and shows it to a callback; true stops."""

    def __init__(self, problem: RidgeProblem, options: SolverOptions) -> None:
        self._problem, self._options = problem, options
        self.border: Vector | None = None  # the solution for ones, where there is a bias
        self.theta, self.bias, self.bias_so_far = np.zeros(len(problem)), 0.0, 0.0
        self.n_iter, self.stopped = 0, False

    def __call__(self, iteration: int, relative: float, solution: Vector) -> bool:
        self.n_iter += 1
        if self._options.report is not None:
            self._options.report(f"conjugate gradients, iteration {self.n_iter}", relative)
        if self._problem.has_bias:  # sum(theta) = 0
            if self.border is None:  # which is being solved for: no theta yet
                return False
            share = float(solution.sum()) / float(self.border.sum())
            solution, self.bias = solution - share * self.border, self.bias_so_far + share
        self.theta = solution
        if self._options.callback is not None:
            theta = solution.copy()
            objective = self._problem.objective(theta, self._problem.operator.product(theta))
            iterate = Iterate(self.n_iter, theta, objective, relative, self.bias)
            self.stopped = bool(self._options.callback(iterate))
        return self.stopped
