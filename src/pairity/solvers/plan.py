"""Which solver for which problem, and within which memory: all choices are made here.

A series of weights is solved roughly, each problem started from the one before: validation needs
a decision to a few hundredths of the margin, and the fit that is kept is exact and certified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairity.kernels.classes import is_approximated
from pairity.kernels.standardized import as_kernel
from pairity.losses.loss import PiecewiseLinear, Squared, Vector
from pairity.operators.restricted import beside, in_memory
from pairity.operators.spectral import GridStructure
from pairity.pairs.parity import Parity
from pairity.runtime.resources import megabytes_of
from pairity.solvers.choices import SMO, Chunking, LowRank, Primal, Solver, SolverLike, as_solver
from pairity.solvers.chunking import LARGEST_SET, solve_chunking
from pairity.solvers.problem import (
    DRIFT,
    SLOW,
    AnyProblem,
    Problem,
    Solution,
    SolverOptions,
    SomeLoss,
)

if TYPE_CHECKING:
    from pairity.solvers.linear_system import ShiftedSystems

#: Pairs up to which the whole Gram matrix is factored, if memory allows, and where products are as
#: costly as a factorisation is.
MOST_DENSE_PAIRS, _MOST_DENSE_COSTLY = 5000, 10_000
#: Pairs up to which Newton's method factors it: few, since its first steps may be rough, but for
#: tolerances next to rounding, and where C times a typical kernel value is so large that conjugate
#: gradients take long; of rough fits, which begin near their ends, a larger one.
_FEW_TO_FACTOR, _STRONG_FOR_GRADIENTS, _STRONG_IF_ROUGH = 600, 2000.0, 1e5
#: Square matrices that are held to solve once, and to decompose for many shifts.
_DENSE_MATRICES, _DECOMPOSED_MATRICES = 3.0, 6.0
#: Share of the cells of a grid above which it is worth its size; C times a typical kernel value from
#: which on a smaller share is, because more pairs are free, and the power with which it falls.
_DENSE_ENOUGH, _LARGE_C, _FALL = 0.12, 7.0, -0.37
#: Share of all pairs of objects below which no grid is looked for.
_LEAST_SHARE = 0.01
#: C times a typical kernel value from which on there are few support pairs, and splitting is slow.
_STRONG = 1e6
#: Pairs below which one resident Gram matrix is quickest whatever the density.
_FEW_PAIRS = 2500
#: Matrices of the size of the grid that splitting holds, in units of double precision, with those of
#: an additive part.
_GRID_MATRICES = 28.0
#: Vectors over all pairs that a solver holds, and squares of the working set in double precision:
#: its Gram block, in single precision where it is large, and a polish of its free variables.
_VECTORS, _SQUARES = 12.0, 2.0
#: Copies of features, vectors over all pairs, and squares of parameters that it holds.
_FEATURE_COPIES, _PRIMAL_VECTORS, _PRIMAL_SQUARES = 2.0, 20.0, 10.0


@dataclass(frozen=True)
class Plan:
    """What will be done, and why."""

    solver: str
    reason: str
    largest_set: int = LARGEST_SET


def takes_parameters(problem: AnyProblem[Any], solver: str, options: SolverOptions) -> bool:
    """Whether to solve for parameters of explicit features: asked for, or fewer than the pairs."""
    asked = solver == Primal.name
    if not asked and (solver != "auto" or options.callback is not None):
        return False
    n, features = len(problem), problem.operator.features
    if features is None:
        if asked:
            raise ValueError(
                f"got solver='primal' with {problem.operator.kernel!r}; expected a kernel that is an"
                " inner product of few features, such as Linear, Identity or Additive(Linear()): use"
                " solver='auto'."
            )
        return False
    from pairity.solvers.primal_design import MOST_FACTORED, takes_factorisations

    needed = _FEATURE_COPIES * features.megabytes + megabytes_of(n, copies=_PRIMAL_VECTORS)
    side = features.n_columns + 1
    if side <= MOST_FACTORED:
        needed += megabytes_of(side, side, copies=_PRIMAL_SQUARES)
    fits = needed <= options.budget.megabytes
    if asked and not fits:
        options.budget.refuse(
            f"{n} pairs with {features.n_columns} features",
            needed,
            "a smaller problem, a larger memory_limit, or solver='auto'",
        )
    easier = features.are_fewer_than_pairs
    if features.is_sparse and isinstance(problem.loss, PiecewiseLinear):
        # by coordinates, without a bias, or by Newton's method
        easier = not problem.has_bias or (easier and takes_factorisations(n, side))
    return fits and (asked or easier)


def plan(problem: Problem, solver: str, options: SolverOptions) -> Plan:
    """Choose a solver, or check the one that was asked for, within the memory limit."""
    if takes_parameters(problem, solver, options):
        features: Any = problem.operator.features
        return Plan("primal", f"{len(problem)} pairs, {features.n_columns} features")
    n, m = len(problem), problem.operator.left.n_objects
    budget, share = options.budget, n / max(1.0, m * (m - 1) / 2.0)
    may_be_dense = solver == "auto" and n > _FEW_PAIRS and share >= _LEAST_SHARE
    wants_grid = solver == "splitting" or may_be_dense
    structure = problem.operator.grid_structure if wants_grid else None
    # what any solver takes: vectors over the pairs, products through objects
    base = megabytes_of(n, copies=_VECTORS) + problem.operator.object_megabytes
    if base > budget.megabytes:
        budget.refuse(
            f"{n} pairs of {m} objects",
            base,
            "a smaller problem, a larger memory_limit, or few features of objects in place of their"
            " Gram matrix: kernel=Nystroem(kernel, 256)",
        )
    left = budget.without(base)
    side = beside(problem.operator, left).side(copies=_SQUARES)
    largest_set = int(max(2, min(LARGEST_SET, n, side)))
    if solver == "splitting" and structure is None:
        raise ValueError(
            f"got solver='splitting' with {problem.operator.kernel!r}; expected a kernel whose"
            " projection is k1(a,c) k1(b,d) +- k1(a,d) k1(b,c), such as Gaussian, Product or"
            " Tensor, without group features or with few distinct ones, or MetricLearning: use"
            " solver='auto'."
        )
    if solver != "auto":
        return Plan(solver, "as asked", largest_set)
    if options.callback is not None:
        return Plan("smo", "a callback watches every step")
    facts = f"{n} pairs of {m} objects, {100 * min(share, 1.0):.0f} % of all pairs"
    if structure is None:
        return Plan("chunking", facts, largest_set)
    strength, n_states = _strength(problem, structure), len(structure.states)
    if share / n_states >= _DENSE_ENOUGH * max(1.0, strength / _LARGE_C) ** _FALL:
        if strength > _STRONG:
            return Plan("chunking", f"{facts}, large C: few support pairs", largest_set)
        if left.holds(n_states, m, m, copies=_GRID_MATRICES):
            return Plan("splitting", f"{facts}, tensor kernel", largest_set)
        facts += f", too large for the grid in {budget.megabytes:.0f} MB"
    return Plan("chunking", facts, largest_set)


def _strength(problem: Problem, structure: GridStructure) -> float:
    """C times a typical kernel value: how far the margins may be bought down."""
    loss = problem.loss
    bound = float(np.median(np.maximum(loss.high, -loss.low)))
    return bound * structure.typical_value / loss.scale


def plan_ridge(
    problem: AnyProblem[Squared], solver: str, options: SolverOptions, *, decomposed: bool = False
) -> str:
    """Choose a way, or check the one that was asked for; ``decomposed`` is for many shifts."""
    from pairity.operators.complete import is_complete  # ridge regression alone asks

    n, weights = len(problem), problem.loss.weights
    if not decomposed and takes_parameters(problem, solver, options):
        return "primal"
    budget = options.budget.without(problem.operator.object_megabytes)
    copies = _DECOMPOSED_MATRICES if decomposed else _DENSE_MATRICES
    fits = budget.holds(n, n, copies=copies)
    spectral = (
        problem.operator.structure is not None
        and bool((weights == weights[0]).all())
        and is_complete(problem.operator.left)
    )
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


def shifted_systems(
    problem: AnyProblem[Any], options: SolverOptions, most: int | None = None
) -> ShiftedSystems:
    """Linear systems of a problem, its matrix in memory where that pays, factored where it fits."""
    often = problem.takes_many_products
    n, operator = len(problem), in_memory(problem.operator, options.budget, often=often)
    budget = beside(operator, options.budget.without(operator.object_megabytes))
    if most is None:
        most = _MOST_DENSE_COSTLY if operator.is_costly else MOST_DENSE_PAIRS
    dense = n <= most and budget.holds(n, n, copies=_DENSE_MATRICES)
    from pairity.solvers.linear_system import ShiftedSystems

    return ShiftedSystems(operator, dense, budget)


def solve(
    problem: AnyProblem[Any],
    solver: SolverLike,
    options: SolverOptions,
    start: Vector | None = None,
) -> Solution:
    """Plan and solve, whatever the loss; "low_rank", which has no problem in the dual, aside.

    A fit needs one of the solvers: the others are not loaded.
    """
    if isinstance(solver, Solver):
        options, solver = solver.applied_to(options), solver.name
    if isinstance(problem.loss, PiecewiseLinear):
        return _solve_support_vectors(problem, solver, options, start)
    if not isinstance(problem.loss, Squared):
        if takes_parameters(problem, solver, options):
            return _solve_for_parameters(problem, options, start)
        from pairity.solvers.newton import solve_newton

        most = None if _is_factored(problem, options) else _FEW_TO_FACTOR
        return solve_newton(problem, shifted_systems(problem, options, most), options, start)
    way = plan_ridge(problem, solver, options)
    if options.say is not None:
        options.say(f"solver {way}: {len(problem)} pairs")
    if way == "primal":
        return _solve_for_parameters(problem, options, start)
    from pairity.solvers.linear_system import solve_by_gradients, solve_exactly

    if way != "cg":
        return solve_exactly(problem, way)
    return solve_by_gradients(problem, shifted_systems(problem, options, most=0), options)


def _is_factored(problem: AnyProblem[Any], options: SolverOptions) -> bool:
    """Whether Newton's method is better off with a factorisation, as far as there is memory."""
    if len(problem) <= _FEW_TO_FACTOR or options.tol < DRIFT:
        return True
    return problem.strength > (_STRONG_IF_ROUGH if options.rough else _STRONG_FOR_GRADIENTS)


def _solve_for_parameters(
    problem: AnyProblem[Any], options: SolverOptions, start: Vector | None
) -> Solution:
    from pairity.solvers.primal import solve_primal

    return solve_primal(problem, options, start)


def _solve_support_vectors(
    problem: Problem, solver: str, options: SolverOptions, start: Vector | None
) -> Solution:
    chosen = plan(problem, solver, options)
    if options.say is not None:
        options.say(f"solver {chosen.solver}: {chosen.reason}")
    if chosen.solver == "primal":
        rough = _solve_for_parameters(problem, options, start)
        is_final = options.tol >= DRIFT and rough.reason != SLOW
        if rough.converged or solver != "auto" or is_final:
            return rough
        # tolerances next to rounding, or features on scales far apart: others go on from there
        finished = _solve_support_vectors(problem, "chunking", options, rough.theta)
        return replace(finished, n_iter=rough.n_iter + finished.n_iter)
    if chosen.solver == "smo":
        from pairity.solvers.smo import solve_smo

        return solve_smo(problem, options, start)
    if chosen.solver == "chunking":
        operator = in_memory(problem.operator, options.budget, often=False)
        held = replace(problem, operator=operator)
        return solve_chunking(held, options, start, plan(held, "chunking", options).largest_set)
    from pairity.solvers.splitting import solve_splitting

    rough = solve_splitting(problem, options)
    start = rough.theta if rough.converged else None
    finished = solve_chunking(problem, options, start, chosen.largest_set)
    return replace(finished, n_iter=rough.n_iter + finished.n_iter)


def near(solver: Solver) -> Solver:
    """The solver for a start that is nearly the solution: one that can use it."""
    return solver if isinstance(solver, SMO) else Chunking()


def resolved(
    solver: SolverLike,
    suitable: tuple[type[Solver], ...],
    kernel: Any,
    parity: Parity | None,
    *,
    watched: bool,
) -> Solver:
    """The solver asked for; "auto" stands for a low-rank model where a Nystroem kernel asks for it."""
    asked = as_solver(solver, suitable)
    suits = LowRank in suitable and parity is not None and not watched
    if type(asked) is Solver and suits and is_approximated(as_kernel(kernel)):
        return LowRank()
    return asked


# One problem for a series of weights ------------------------------------------------------------

Solve = Callable[[AnyProblem[SomeLoss], SolverOptions, Vector | None], Solution]
#: Share of a bound from which on a variable is taken to sit on it.
_AT_BOUND = 1.0 - 1e-6


def path_of(
    problem: AnyProblem[SomeLoss],
    factors: Sequence[float],
    options: SolverOptions,
    solve: Solve[SomeLoss],
) -> Iterator[tuple[AnyProblem[SomeLoss], Solution]]:
    """The problem with all weights times each factor, and its solution; factors should ascend."""
    start, last = None, 0.0
    for factor in map(float, factors):
        scaled = replace(problem, loss=problem.loss.times(factor))
        if start is not None:
            start = _stretched(problem.loss, start, last, factor)
        solution = solve(scaled, options, start)
        yield scaled, solution
        start, last = solution.theta, factor


def _stretched(loss: SomeLoss, theta: Vector, last: float, factor: float) -> Vector:
    """Variables between bounds stay; those on a bound move with it."""
    if not isinstance(loss, PiecewiseLinear):
        return theta * min(1.0, factor / last)
    bound = np.where(theta > 0, loss.high, -loss.low) * last
    return np.where(np.abs(theta) >= _AT_BOUND * bound, theta * (factor / last), theta)


def solve_roughly(
    problem: AnyProblem[Any], options: SolverOptions, start: Vector | None = None
) -> Solution:
    """Solve to ``options.tol`` without a finish: on the grid where it is dense."""
    if not isinstance(problem.loss, PiecewiseLinear):
        return solve(problem, "auto", options, start)
    chosen = plan(problem, "auto", options)
    if chosen.solver == "primal":
        return _solve_for_parameters(problem, options, start)
    if chosen.solver != "splitting":
        return solve_chunking(problem, options, start, chosen.largest_set)
    from pairity.solvers.splitting import solve_splitting

    return solve_splitting(problem, options)
