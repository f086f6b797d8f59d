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
from dataclasses import dataclass, replace

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.pairs import Pairs
from pairity.parity import Parity
from pairity.solvers.certificate import Certificate, certify
from pairity.solvers.choice import solve
from pairity.solvers.problem import (
    Iterate,
    Problem,
    Solution,
    SolverOptions,
    Vector,
    full_problem,
    halved_problem,
)
from pairity.solvers.smo import solve_smo

__all__ = ["TrainingSet", "train"]


@dataclass(frozen=True)
class TrainingSet:
    """Rows of a training set with signs, C times weight, and the kernel before and after (6), (7)."""

    pairs: Pairs
    signs: Vector
    box: Vector
    parity: Parity | None
    kernel: Kernel  # order-invariant, for I
    projected: Kernel  # balanced or skew-balanced, for J

    def halved(self) -> Problem:
        """Problem on J, or on the rows as given without a symmetry."""
        return halved_problem(self.projected, self.pairs, self.signs, self.box, self.parity)

    def full(self) -> Problem:
        """Problem (13) on I."""
        if self.parity is None:
            return self.halved()
        return full_problem(self.kernel, self.pairs, self.signs, self.box, self.parity)


def train(
    data: TrainingSet,
    *,
    full: bool,
    solver: str,
    iterates: str,
    options: SolverOptions,
    start: Vector | None = None,
) -> tuple[Solution, Certificate]:
    """Solve on I (``full``) or J and certify the solution on the same set."""
    if not full or data.parity is None:
        problem = data.halved()
        solution = solve(problem, solver, options, start)
    elif iterates == "mirrored":
        problem = data.full()
        solution = _solve_mirrored(data, solver, options, start)
    else:
        problem = data.full()
        sign = data.parity.sign if iterates == "averaged" else 0.0
        solution = solve_smo(problem, replace(options, mirror_sign=sign), start)
    return solution, certify(problem, solution.beta, options.tol)


def _solve_mirrored(
    data: TrainingSet, solver: str, options: SolverOptions, start: Vector | None
) -> Solution:
    n = len(data.signs)
    halved_start = None if start is None else start[:n] + start[n:]
    # one halved violation is two violations on I: the reversed pair violates as well
    tol = options.tol / 2.0 if data.parity is Parity.ODD else options.tol
    lifted = replace(options, tol=tol, callback=_lifted(options.callback))
    solution = solve(data.halved(), solver, lifted, halved_start)
    return replace(solution, beta=_lift(solution.beta))


def _lift(beta: Vector) -> Vector:
    """Formula (34)."""
    return np.concatenate([beta, beta]) / 2.0


def _lifted(callback: Callable[[Iterate], object] | None) -> Callable[[Iterate], object] | None:
    if callback is None:
        return None
    return lambda iterate: callback(replace(iterate, alpha=_lift(iterate.alpha)))
