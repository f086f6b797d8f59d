"""Which solver for which problem, and within which memory.

==========  =================================================================================
smo         steps of one or two pairs; every iterate can be watched
chunking    working sets of thousands of pairs, products through objects: the general choice
splitting   many pairs per object and a tensor kernel: rounds on the grid, finished by chunking
==========  =================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pairity.memory import Budget, megabytes_of
from pairity.operators.restricted import beside, in_memory
from pairity.operators.spectral import TensorStructure
from pairity.solvers.chunking import LARGEST_SET, solve_chunking
from pairity.solvers.problem import AnyProblem, Problem, Solution, SolverOptions, Vector
from pairity.solvers.smo import solve_smo
from pairity.solvers.splitting import solve_splitting

__all__ = ["SOLVERS", "Plan", "needed_by_all", "plan", "solve"]

SOLVERS = ("auto", "smo", "chunking", "splitting")
#: Share of all pairs of objects above which the grid is worth its size.
_DENSE_ENOUGH = 0.12
#: C times a typical kernel value from which on there are few support pairs, and splitting is slow.
_STRONG = 1e6
#: Pairs below which one resident Gram matrix is quickest whatever the density.
_FEW_PAIRS = 2500
#: Matrices of the size of the grid that splitting holds, in units of double precision.
_GRID_MATRICES = 22.0
#: Vectors over all pairs that a solver holds, and squares of the working set: its Gram block and a
#: polish of it.
_VECTORS, _SQUARES = 12.0, 3.0


@dataclass(frozen=True)
class Plan:
    """What will be done, and why."""

    solver: str
    reason: str
    largest_set: int = LARGEST_SET
    structure: TensorStructure | None = None


def plan(problem: Problem, solver: str, options: SolverOptions) -> Plan:
    """Choose a solver, or check the one that was asked for, within the memory limit."""
    n, m = len(problem), problem.operator.left.n_objects
    budget = options.budget
    base = needed_by_all(problem)
    if base > budget.megabytes:
        budget.refuse(
            f"{n} pairs of {m} objects",
            base,
            "a smaller problem, a larger memory_limit, or few features of objects in place of their"
            " Gram matrix: kernel=Nystroem(kernel, 256)",
        )
    largest_set = _fitting_set(n, beside(problem.operator, budget.without(base)))
    structure = problem.operator.structure
    if solver == "splitting" and structure is None:
        raise ValueError(
            f"got solver='splitting' with {problem.operator.kernel!r}; expected a kernel whose"
            " projection is k1(a,c) k1(b,d) +- k1(a,d) k1(b,c), such as Gaussian, Product or"
            " Tensor without group features: use solver='auto'."
        )
    if solver in ("smo", "chunking"):
        return Plan(solver, "as asked", largest_set)
    grid_fits = budget.without(base).holds(m, m, copies=_GRID_MATRICES)
    if solver == "splitting":
        return Plan("splitting", "as asked", largest_set, structure)
    if options.callback is not None:
        return Plan("smo", "a callback watches every step")
    density = n / max(1.0, m * (m - 1) / 2.0)
    facts = f"{n} pairs of {m} objects, {100 * min(density, 1.0):.0f} % of all pairs"
    if structure is not None and density >= _DENSE_ENOUGH and n > _FEW_PAIRS:
        if _strength(problem, structure) > _STRONG:
            return Plan("chunking", f"{facts}, large C: few support pairs", largest_set)
        if grid_fits:
            return Plan("splitting", f"{facts}, tensor kernel", largest_set, structure)
        facts += f", too large for the grid in {budget.megabytes:.0f} MB"
    return Plan("chunking", facts, largest_set)


def _strength(problem: Problem, structure: TensorStructure) -> float:
    """C times a typical kernel value: how far the margins may be bought down."""
    typical = structure.weight * float(structure.gram.diagonal().mean()) ** 2 / 2.0
    loss = problem.loss
    return float(np.median(np.maximum(loss.high, -loss.low))) * typical / loss.scale


def needed_by_all(problem: AnyProblem[Any]) -> float:
    """Megabytes that any solver takes: vectors over the pairs, products through objects."""
    return megabytes_of(len(problem), copies=_VECTORS) + problem.operator.object_megabytes


def _fitting_set(n_pairs: int, budget: Budget) -> int:
    return int(max(2, min(LARGEST_SET, n_pairs, budget.side(copies=_SQUARES))))


def solve(
    problem: Problem, solver: str, options: SolverOptions, start: Vector | None = None
) -> Solution:
    """Plan and solve."""
    chosen = plan(problem, solver, options)
    if options.say is not None:
        options.say(f"solver {chosen.solver}: {chosen.reason}")
    if chosen.solver == "smo":
        return solve_smo(problem, options, start)
    if chosen.solver == "chunking" or chosen.structure is None:
        held = replace(problem, operator=in_memory(problem.operator, options.budget))
        return solve_chunking(held, options, start, plan(held, "chunking", options).largest_set)
    rough = solve_splitting(problem, chosen.structure, options)
    start = rough.theta if rough.converged else None
    finished = solve_chunking(problem, options, start, chosen.largest_set)
    return Solution(
        finished.theta, rough.n_iter + finished.n_iter, finished.converged, finished.reason
    )
