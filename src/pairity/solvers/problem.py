"""The quadratic problems of the paper, and what a solver returns.

One form serves all of them: with ``theta = y * beta``

    minimise   1/2 theta' K theta - sum(beta)
    subject to 0 <= beta <= upper,   and   sum(theta) = 0 if there is a bias.

========  =====================  ===========  ======  =======
problem   pairs                  kernel       upper   bias
========  =====================  ===========  ======  =======
(13)      I: rows and mirrored   K^o          C       yes
(20)      J: rows as given       balanced     2C      yes
(22)      J: rows as given       skew         2C      no (0)
none      rows as given          K            C       yes
========  =====================  ===========  ======  =======
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.pair_operator import PairOperator
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = [
    "INTERRUPTED",
    "Iterate",
    "Problem",
    "Solution",
    "SolverOptions",
    "full_problem",
    "halved_problem",
]

#: Why a solver stopped, when the user asked it to.
INTERRUPTED = "interrupted"


Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """A box-constrained dual with or without the equality constraint of a bias."""

    operator: PairOperator
    labels: Vector  # (n,), -1.0 or +1.0
    upper: Vector  # (n,)
    has_bias: bool

    def __len__(self) -> int:
        return len(self.labels)

    def objective(self, beta: Vector, gradient: Vector) -> float:
        """Dual value from the gradient ``y * (K theta) - 1``: half of ``sum beta (gradient - 1)``."""
        return 0.5 * float(np.dot(beta, gradient - 1.0))


@dataclass(frozen=True)
class Iterate:
    """What a callback sees after a step: dual variables of the training set, and how good.

    ``alpha`` are the dual variables (over I for the full set, over J for the halved one),
    ``objective`` the dual value as the paper writes it, ``violation`` the largest KKT violation
    and ``bias`` the one determined at this step.
    """

    iteration: int
    alpha: Vector
    objective: float
    violation: float
    bias: float


@dataclass(frozen=True)
class SolverOptions:
    """How to run a solver; set by the parameters of an estimator."""

    tol: float = 1e-3
    max_iter: int = 10_000_000
    second_order: bool = True
    shrinking: bool = True
    cache_size: float = 200.0  # megabytes of kernel rows
    mirror_sign: float = 0.0  # Remark 6 on a full set: the sign of mirrored labels, else 0
    single_precision: bool = True  # where a solver in double precision finishes
    memory_limit: float = float("inf")  # megabytes
    callback: Callable[[Iterate], object] | None = None
    report: Callable[[str, float], None] | None = None  # where it is, and the violation
    say: Callable[[str], None] | None = None  # what was chosen, and why


@dataclass(frozen=True)
class Solution:
    """Dual variables found by a solver; how good they are is for the certificate to say."""

    beta: Vector
    n_iter: int
    converged: bool
    reason: str


def halved_problem(
    kernel: Kernel, pairs: Pairs, labels: Vector, box: Vector, parity: Parity | None
) -> Problem:
    """(20) for EVEN, (22) for ODD; with no parity the ordinary machine on the rows as given.

    ``box`` is C times the weight of each row; it is doubled on the halved set (Theorem 2).
    """
    factor = 1.0 if parity is None else 2.0
    return Problem(PairOperator(kernel, pairs), labels, factor * box, parity is not Parity.ODD)


def full_problem(
    kernel: Kernel, pairs: Pairs, labels: Vector, box: Vector, parity: Parity
) -> Problem:
    """(13) on the rows followed by their mirror images."""
    mirrored = np.concatenate([labels, parity.sign * labels])
    return Problem(
        PairOperator(kernel, pairs.with_mirrored()), mirrored, np.concatenate([box, box]), True
    )
