"""Kernels of time: how alike an object is to itself at another time.

A kernel of time compares the times of two pairs.  Multiplied with a kernel of objects it lets what is
learned of them drift, ``k((a, t), (c, u)) = k_objects(a, c) k_time(t, u)``: with
:class:`~pairity.kernels.Identity` every object has a strength that is a function of time.

Some of these are kernels of Markov processes, and declare it: between moments in the order of time
t_1 <= t_2 <= ... they are

    k(t_i, t_j) = out_i' A_i A_(i-1) ... A_(j+1) into_j        for i >= j

with a state of one or two numbers, so that sums over the past are carried from moment to moment, and
products with the matrix, or with its inverse, take one pass (:mod:`pairity.operators.chains`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.pairs.arrays import Features, Matrix, Vector
from pairity.runtime.validation import check_choice, check_strength

if TYPE_CHECKING:
    from pairity.kernels.atoms import Atoms

KINDS = ("exponential", "matern", "wiener", "gaussian", "periodic")


@dataclass(frozen=True)
class States:
    """A state of few numbers for each moment of a list: what a Markov kernel declares.

    The transition to moment i multiplies all states by ``decay`` after state j has got
    ``coupling`` times state j - 1.  Arrays have shape (number of moments, number of states).
    """

    decay: Matrix
    coupling: Matrix
    into: Matrix  # what a unit at the moment adds to the state
    out: Matrix  # what the value at the moment takes from it


@dataclass(eq=False, repr=False)
class Drift(Kernel):
    """Kernel of the times of two pairs: how fast what is learned of objects drifts away.

    =============  =========================================  ===================================
    kind           k(t, u), d = \\|t - u\\| / lengthscale        paths
    =============  =========================================  ===================================
    "exponential"  ``exp(-d)``                                rough, return to the mean
    "matern"       ``(1 + sqrt(3) d) exp(-sqrt(3) d)``        smooth, return to the mean
    "wiener"       ``1 + min(t, u) / lengthscale``, times     rough, never return: a variance of
                   counted from the origin                    1 at the origin, 1 more each
                                                              lengthscale
    "gaussian"     ``exp(-d^2 / 2)``                          very smooth
    "periodic"     the same with d the chord of a circle of   come again every period
                   circumference ``period``
    =============  =========================================  ===================================

    Parameters
    ----------
    lengthscale : float
        In the unit of the times: days where they were dates.
    kind : {"exponential", "matern", "wiener", "gaussian", "periodic"}
        The first three are kernels of Markov processes: with :class:`~pairity.kernels.Identity` they
        take time and memory in proportion to the number of pairs.
    period : float, optional
        For "periodic", in the unit of the times.
    origin : float, optional
        For "wiener": before it nothing moves.  By default the earliest time of the training pairs.

    Examples
    --------
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.kernels import Drift, Identity
    >>> games = Pairs([[0.0], [1.0]], first=[0, 0, 0], second=[1, 1, 1], time=[0.0, 1.0, 10.0])
    >>> model = PairLogistic("antisymmetric", kernel=Identity() * Drift(5.0))
    >>> model = model.fit(games, [1, 1, -1])
    >>> float(model.predict_proba(games[:1].at([2.0]))[0, 1].round(2))
    0.67
    """

    lengthscale: float
    kind: str = "exponential"
    period: float | None = None
    origin: float | None = None

    of_time = True

    def check(self) -> None:
        """Refuse lengths that are not finite numbers above 0, and an unknown kind."""
        check_choice(self.kind, "kind", KINDS)
        check_strength(self.lengthscale, "lengthscale", largest=1e150)
        if (self.kind == "periodic") != (self.period is not None):
            raise KernelError(
                f"got kind={self.kind!r} with period={self.period!r}; expected a period, in the unit of"
                " the times, with kind='periodic' and with no other."
            )
        if self.period is not None:
            check_strength(self.period, "period", largest=1e150)

    def formula(self, atoms: Atoms) -> Any:
        """Of the times of the two pairs."""
        return atoms.time(self)

    def fitted_to_times(self, times: Vector) -> Kernel:
        """With the earliest time as origin, where one is needed."""
        if self.kind != "wiener" or self.origin is not None or not len(times):
            return self
        return replace(self, origin=float(times.min()))

    def on_features(self, left: Features, right: Features) -> Matrix:
        """``k(t_i, u_j)`` of columns of times."""
        return self._values(np.asarray(left), np.asarray(right).T)

    def paired(self, left: Features, right: Features) -> Matrix:
        """``k(t_i, u_i)`` of columns of times."""
        return self._values(np.asarray(left)[:, 0], np.asarray(right)[:, 0])

    def _values(self, left: Matrix, right: Matrix) -> Matrix:
        if self.kind == "wiener":
            return 1.0 + np.minimum(self._since(left), self._since(right))
        apart = np.abs(left - right) / float(self.lengthscale)
        if self.kind == "exponential":
            return np.exp(-apart)
        if self.kind == "matern":
            apart *= np.sqrt(apart.dtype.type(3.0))
            return (1.0 + apart) * np.exp(-apart)
        if self.period is not None:
            turn = np.pi * float(self.lengthscale) / float(self.period)
            apart = np.sin(turn * apart) / turn
        return np.exp(-0.5 * apart * apart)

    def _since(self, times: Matrix) -> Matrix:
        """Time since the origin, in lengthscales."""
        if self.origin is None:
            raise KernelError(
                "got values of Drift(kind='wiener') before its origin is known; expected a number:"
                " estimators take the earliest time in fit, Drift(..., origin=time) says it by hand."
            )
        return np.maximum(times - float(self.origin), 0.0) / float(self.lengthscale)

    def states(self, times: Vector, gaps: Vector) -> States | None:
        """States at moments with the gap of each to the one before it; None for no Markov process."""
        ones, zeros = np.ones((len(times), 1)), np.zeros((len(times), 1))
        if self.kind == "wiener":
            return States(ones, zeros, 1.0 + self._since(times)[:, np.newaxis], ones)
        steps = gaps[:, np.newaxis] / float(self.lengthscale)
        if self.kind == "exponential":
            return States(np.exp(-steps), zeros, ones, ones)
        if self.kind == "matern":
            steps = steps * np.sqrt(3.0)
            decay, both = np.repeat(np.exp(-steps), 2, axis=1), np.hstack([ones, ones])
            return States(decay, np.hstack([zeros, steps]), np.hstack([ones, zeros]), both)
        return None
