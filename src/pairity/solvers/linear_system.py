"""Linear systems ``(K + diag(shift)) x = b``: what ridge regression and every Newton step solve.

Small systems are factored once (Cholesky); large ones go by conjugate gradients through operator
products, with the leading modes of the kernel taken out by a low-rank preconditioner

    (D + F F')^-1 = D^-1 - D^-1 F (I + F' D^-1 F)^-1 F' D^-1        (Woodbury),

so that the number of iterations hardly depends on how large the large eigenvalues are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairity.exceptions import KernelError
from pairity.losses.base import Vector
from pairity.memory import Budget
from pairity.operators.base import KernelOperator
from pairity.operators.modes import Modes, leading_modes
from pairity.operators.whole import whole_matrix
from pairity.threads import stop_if_abandoned

__all__ = ["MOST_DENSE_PAIRS", "Found", "ShiftedSystems", "Watch"]

#: Pairs up to which the whole Gram matrix is factored, if memory allows.
MOST_DENSE_PAIRS = 5000
#: Features of the preconditioner at most; fewer for fewer pairs.
_MOST_MODES = 4096
_MODES_SHARE = 1 / 64
#: Share of the memory for them.
_BUDGET_SHARE = 0.2
#: Share of the size of a matrix that every shift can be told apart from.
_ROUNDING = 1e-14
#: Iterations, or else a tolerance, from which on rounding may add up: the residual that the
#: iteration keeps is then computed anew before it is believed.
_MANY, _FINE = 50, 1e-6


#: Called with the iteration, the relative residual and the solution so far; true stops.
Watch = Callable[[int, float, Vector], bool]


@dataclass(frozen=True)
class Found:
    """A solution, how many iterations it took, and its residual over the right side."""

    solution: Vector
    n_iter: int
    relative_residual: float


class ShiftedSystems:
    """Systems of one operator for any shifts and right sides."""

    def __init__(self, operator: KernelOperator, *, dense: bool, budget: Budget) -> None:
        self.operator = operator
        self.dense = dense
        self._budget = budget.share(_BUDGET_SHARE)
        self._gram: NDArray[np.float64] | None = None
        self._modes: Modes | None = None

    @property
    def gram(self) -> NDArray[np.float64]:
        """The whole Gram matrix, computed once."""
        if self._gram is None:
            self._gram = whole_matrix(self.operator)
        return self._gram

    @property
    def modes(self) -> Modes:
        """Leading modes of the kernel, computed once."""
        if self._modes is None:
            n = len(self.operator.left)
            wanted = max(1, min(_MOST_MODES, int(_MODES_SHARE * n)))
            self._modes = leading_modes(self.operator, wanted, self._budget)
        return self._modes

    def with_shift(self, shift: Vector) -> _Direct | _Iterative:
        """Something with ``solve(right, tol, max_iter, report)``."""
        if self.dense:
            return _Direct(self.gram, shift)
        return _Iterative(self.operator, shift, self.modes)


class _Direct:
    """One factorisation for all right sides."""

    def __init__(self, gram: NDArray[np.float64], shift: Vector) -> None:
        self._factor = _factor_of_nearest(gram, shift)

    def solve(
        self,
        right: Vector,
        tol: float = 0.0,
        max_iter: int = 1,
        report: Watch | None = None,
        start: Vector | None = None,
    ) -> Found:
        """Back substitution; nothing to iterate."""
        return Found(cho_solve(self._factor, right, check_finite=False), 1, 0.0)


def _factor_of_nearest(
    gram: NDArray[np.float64], shift: Vector
) -> tuple[NDArray[np.float64], bool]:
    """Factor with the shift, or, where rounding made the matrix indefinite, the next that can be."""
    added, size = 0.0, float(np.linalg.norm(gram))
    while True:
        try:
            return _factor(gram, shift + added * size)
        except LinAlgError:
            if not added < 1.0 or not np.isfinite(size):
                raise KernelError(
                    "got a kernel with negative eigenvalues on the training pairs; expected a positive"
                    " semi-definite one: see pairity.testing.check_pair_kernel."
                ) from None
            added = max(_ROUNDING, 100.0 * added)


def _factor(gram: NDArray[np.float64], shift: Vector) -> tuple[NDArray[np.float64], bool]:
    shifted = gram.copy()
    shifted[np.diag_indices(len(shift))] += shift
    factor: tuple[NDArray[np.float64], bool] = cho_factor(
        shifted, lower=True, overwrite_a=True, check_finite=False
    )
    return factor


class _LowRankInverse:
    """``(D + F F')^-1`` applied to vectors."""

    def __init__(self, shift: Vector, modes: Modes) -> None:
        self._inverse_shift, self._modes = 1.0 / shift, modes
        inside = modes.gram(self._inverse_shift)
        inside[np.diag_indices(len(inside))] += 1.0
        self._factor = cho_factor(inside, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, vector: Vector) -> Vector:
        scaled = self._inverse_shift * vector
        inner = cho_solve(self._factor, self._modes.reduce(scaled), check_finite=False)
        return scaled - self._inverse_shift * self._modes.expand(inner)


class _Iterative:
    """Preconditioned conjugate gradients."""

    def __init__(self, operator: KernelOperator, shift: Vector, modes: Modes) -> None:
        self._operator, self._shift = operator, shift
        self._precondition: Callable[[Vector], Vector] = lambda vector: vector / shift
        if modes.n_modes:
            with suppress(LinAlgError):
                self._precondition = _LowRankInverse(shift, modes)

    def _apply(self, vector: Vector) -> Vector:
        return self._operator.product(vector) + self._shift * vector

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
        residual = right.copy() if start is None else right - self._apply(solution)
        relative = float(np.linalg.norm(residual)) / max(size, 1e-300)
        if size == 0.0 or relative <= tol:
            return Found(solution, 0, relative if size else 0.0)
        direction = self._precondition(residual)
        merit = float(residual @ direction)
        confirmed = np.inf
        for iteration in range(1, max_iter + 1):
            stop_if_abandoned()
            image = self._apply(direction)
            step = merit / float(direction @ image)
            solution += step * direction
            residual = residual - step * image
            relative = float(np.linalg.norm(residual)) / size
            stop = report is not None and bool(report(iteration, relative, solution))
            done, restart = stop or relative <= tol, False
            if done and not stop and (iteration > _MANY or tol < _FINE):
                # start again from the true one, as long as that helps
                residual = right - self._apply(solution)
                relative = float(np.linalg.norm(residual)) / size
                restart = tol < relative <= 0.5 * confirmed
                done, confirmed = not restart, relative
            if done:
                return Found(solution, iteration, relative)
            preconditioned = self._precondition(residual)
            previous, merit = merit, float(residual @ preconditioned)
            momentum = 0.0 if restart else merit / previous
            direction = preconditioned + momentum * direction
        return Found(solution, max_iter, relative)
