"""One problem for a series of weights: rough solutions, each started from the one before.

For validation a decision is needed to a few hundredths of the margin, not to the last digit: the
fit that is kept afterwards is exact and certified, whatever was rough on the way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pairity.losses.piecewise import PiecewiseLinear
from pairity.solvers.choice import plan
from pairity.solvers.chunking import solve_chunking
from pairity.solvers.problem import AnyProblem, Problem, Solution, SolverOptions, SomeLoss, Vector
from pairity.solvers.splitting import solve_splitting

__all__ = ["path_of", "solve_roughly"]

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
    for factor in factors:
        scaled = replace(problem, loss=problem.loss.times(float(factor)))
        if start is not None:
            start = _stretched(problem.loss, start, last, float(factor))
        solution = solve(scaled, options, start)
        yield scaled, solution
        start, last = solution.theta, float(factor)


def _stretched(loss: SomeLoss, theta: Vector, last: float, factor: float) -> Vector:
    """Variables between bounds stay; those on a bound move with it."""
    if not isinstance(loss, PiecewiseLinear):
        return theta * min(1.0, factor / last)
    bound = np.where(theta > 0, loss.high, -loss.low) * last
    return np.where(np.abs(theta) >= _AT_BOUND * bound, theta * (factor / last), theta)


def solve_roughly(
    problem: Problem, options: SolverOptions, start: Vector | None = None
) -> Solution:
    """Solve to ``options.tol`` without a finish: rounds on the grid where it is dense, or chunking."""
    chosen = plan(problem, "auto", options)
    if chosen.structure is not None:
        return solve_splitting(problem, chosen.structure, options)
    return solve_chunking(problem, options, start, chosen.largest_set)
