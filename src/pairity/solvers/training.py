"""From a training set to dual variables: which problem is solved, and how iterates stay mirrored.

On the full set I three ways keep or drop the symmetry (29) of the iterates:

``mirrored``  Theorem 3: solve the halved problem and lift, ``alpha_ab = alpha_ba = beta / 2``
              (34).  For antisymmetric labels that *is* SMO on (13) with the reversed pair as
              partner.
``averaged``  Remark 6: SMO on (13), every step averaged with its mirror image.
``free``      SMO on (13) as it comes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeAlias

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.losses.piecewise import PiecewiseLinear
from pairity.memory import Budget
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choice import solve
from pairity.solvers.problem import (
    AnyProblem,
    Iterate,
    Solution,
    SolverOptions,
    SomeLoss,
    Vector,
    full_problem,
    halved_problem,
    settled,
)
from pairity.solvers.smo import solve_smo

__all__ = ["TrainingSet", "solved_and_certified", "train", "train_halved"]

#: What solves a problem with options and a start.
Solve: TypeAlias = Callable[[AnyProblem[SomeLoss], SolverOptions, Vector | None], Solution]

#: How often the tolerance is lowered where the duality gap is still wide.
_MOST_REFINEMENTS = 4
#: Why a solution whose violation is small may not be good enough.
_WIDE = "the KKT conditions hold to it, but the duality gap is wider"


@dataclass(frozen=True)
class TrainingSet(Generic[SomeLoss]):
    """Rows of a training set, their losses with weights C, and the kernel before and after (6), (7)."""

    pairs: Pairs
    loss: SomeLoss
    parity: Parity | None
    kernel: Kernel  # order-invariant, for I
    projected: Kernel  # balanced or skew-balanced, for J
    with_bias: bool = True  # where the parity allows one
    budget: Budget = field(default_factory=Budget)

    def halved(self) -> AnyProblem[SomeLoss]:
        """Problem on J, or on the rows as given without a symmetry."""
        return halved_problem(
            self.projected,
            self.pairs,
            self.loss,
            self.parity,
            with_bias=self.with_bias,
            budget=self.budget,
        )

    def full(self) -> AnyProblem[SomeLoss]:
        """Problem on I."""
        if self.parity is None:
            return self.halved()
        return full_problem(
            self.kernel,
            self.pairs,
            self.loss,
            self.parity,
            with_bias=self.with_bias,
            budget=self.budget,
        )


def train(
    data: TrainingSet[PiecewiseLinear],
    *,
    full: bool,
    solver: str,
    iterates: str,
    options: SolverOptions,
    start: Vector | None = None,
) -> tuple[Solution, Certificate]:
    """Solve on I (``full``) or J and certify the solution on the same set."""
    if full and data.parity is not None and iterates != "mirrored":
        problem = data.full()
        sign = data.parity.sign if iterates == "averaged" else 0.0
        options = replace(options, mirror_sign=sign)
        return solved_and_certified(problem, solve_smo, options, start)

    def solve_halved(
        problem: AnyProblem[PiecewiseLinear], options: SolverOptions, start: Vector | None
    ) -> Solution:
        return solve(problem, solver, options, start)

    return train_halved(data, solve_halved, full=full, options=options, start=start)


def train_halved(
    data: TrainingSet[SomeLoss],
    solve_halved: Solve[SomeLoss],
    *,
    full: bool,
    options: SolverOptions,
    start: Vector | None = None,
) -> tuple[Solution, Certificate]:
    """Solve on J; for the full set lift the solution, (34), and certify it on I."""
    problem = data.halved()
    if not full or data.parity is None:
        return solved_and_certified(problem, solve_halved, options, start)
    sign = data.parity.sign
    if start is not None:
        start = start[: len(problem)] + sign * start[len(problem) :]
    # one halved violation is two violations on I: the reversed pair violates as well
    tol = options.tol / 2.0 if data.parity is Parity.ODD else options.tol
    lifted = replace(options, tol=tol, callback=_lifted(options.callback, sign))
    whole = data.full()
    solution, certificate = solved_and_certified(
        problem,
        solve_halved,
        lifted,
        start,
        certified=lambda theta: certify(whole, _lift(theta, sign), options.tol),
    )
    return replace(solution, theta=_lift(solution.theta, sign)), certificate


def solved_and_certified(
    problem: AnyProblem[SomeLoss],
    solve_once: Solve[SomeLoss],
    options: SolverOptions,
    start: Vector | None = None,
    certified: Callable[[Vector], Certificate] | None = None,
) -> tuple[Solution, Certificate]:
    """Solve to a small violation, and on to a narrow gap where C makes one of the other.

    At a large C a pair off its margin by the tolerance may cost more than the whole objective.
    """
    if certified is None:
        asked_for = options.tol

        def certified(theta: Vector) -> Certificate:
            return certify(problem, theta, asked_for)

    solution = _settled(problem, solve_once(problem, options, start))
    certificate, tol = certified(solution.theta), options.tol
    for _ in range(_MOST_REFINEMENTS):
        steps_left = options.max_iter - solution.n_iter
        done = certificate.gap_is_narrow or not certificate.is_at_rest
        if done or options.rough or not solution.converged or steps_left < 1:
            break
        share = 0.5 * certificate.tol / certificate.relative_gap
        tol = (min(tol, certificate.violation) or tol) * min(max(share, 1e-3), 0.1)
        finer = replace(options, tol=tol, max_iter=steps_left)
        again = _settled(problem, solve_once(problem, finer, solution.theta))
        nearer = certified(again.theta)
        n_iter = solution.n_iter + again.n_iter
        if nearer.relative_gap < certificate.relative_gap:
            solution, certificate = again, nearer
        solution = replace(solution, n_iter=n_iter, reason=_WIDE)
    return solution, certificate


def _settled(problem: AnyProblem[SomeLoss], solution: Solution) -> Solution:
    return replace(solution, theta=settled(problem, solution.theta))


def _lift(theta: Vector, sign: float) -> Vector:
    """Formula (34): ``theta_ab = sign theta_ba = theta_J / 2``."""
    return np.concatenate([theta, sign * theta]) / 2.0


def _lifted(
    callback: Callable[[Iterate], object] | None, sign: float
) -> Callable[[Iterate], object] | None:
    if callback is None:
        return None
    return lambda iterate: callback(replace(iterate, theta=_lift(iterate.theta, sign)))
