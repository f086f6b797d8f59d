"""The problems of the paper in one form, and what a solver returns.

With one signed dual variable theta per row (``y beta`` of a classifier, ``alpha_hat - alpha`` of a
regression) all of them are

    minimise   1/2 theta' K theta + sum_i h_i(theta_i)
    subject to sum(theta) = 0 if there is a bias,

where ``h_i`` is the dual term of a loss (:mod:`pairity.losses`) and holds the bounds.

===========  =====================  ===========  ==========  =======
problem      pairs                  kernel       weight      bias
===========  =====================  ===========  ==========  =======
(13), (42)   I: rows and mirrored   K^o          C           yes
(20)         J: rows as given       balanced     2C          yes
(22)         J: rows as given       skew         2C          no (0)
none         rows as given          K            C           yes
===========  =====================  ===========  ==========  =======
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.losses.loss import Logistic, Loss, PiecewiseLinear, Vector
from pairity.operators.blockwise import operator_within
from pairity.operators.operator import KernelOperator
from pairity.operators.restricted import has_few_parameters, held_for_products, held_if_few
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, halved_weight
from pairity.runtime.resources import Budget

#: Share of the sizes of dual variables that their sum may be off 0.
_NEGLIGIBLE = 1e-9

#: Weight times kernel value from which on systems of smooth losses take many rounds.
_STRONG = 10.0
#: Tolerances below this call for decision values free of the drift of many updates.
DRIFT = 1e-6
#: Why a solver ends.
REACHED = "tolerance reached"
SLOW = "features are on scales too far apart for single steps"
LOST = "steps are lost in rounding: tol is below what float64 can reach here"

SomeLoss = TypeVar("SomeLoss", bound=Loss)


@dataclass(frozen=True)
class AnyProblem(Generic[SomeLoss]):
    """A kernel operator, the losses of its rows, and whether there is a bias."""

    operator: KernelOperator
    loss: SomeLoss
    has_bias: bool

    def __len__(self) -> int:
        return len(self.loss)

    @property
    def strength(self) -> float:
        """A typical weight times a typical kernel value: how far margins may be bought down."""
        return float(np.median(self.loss.weights) * self.operator.diagonal().mean())  # type: ignore[attr-defined]

    @property
    def takes_many_products(self) -> bool:
        """Whether linear systems with its losses take many rounds of conjugate gradients."""
        return self.strength > _STRONG

    def objective(self, theta: Vector, values: Vector) -> float:
        """Dual value, from ``values = K theta``."""
        return 0.5 * float(np.dot(theta, values)) + float(np.sum(self.loss.conjugate(theta)))


#: A problem whose dual is a quadratic with bounds: hinge and epsilon-insensitive losses.
Problem = AnyProblem[PiecewiseLinear]


@dataclass(frozen=True)
class Iterate:
    """What a callback sees after a step: dual variables of the training set, and how good."""

    iteration: int
    theta: Vector  # signed dual variables, over I for the full set, over J for the halved one
    objective: float  # the dual value as the paper writes it
    violation: float  # the largest KKT violation
    bias: float  # as determined at this step

    @property
    def alpha(self) -> Vector:
        """Sizes of the dual variables: alpha of (13); alpha or alpha_hat of (42), by the sign."""
        return np.abs(self.theta)


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
    rough: bool = False  # good enough for validation: the gap may stay wide
    callback: Callable[[Iterate], object] | None = None
    report: Callable[[str, float], None] | None = None  # where it is, and the violation
    say: Callable[[str], None] | None = None  # what was chosen, and why

    @property
    def budget(self) -> Budget:
        """What every part of a solver asks before it makes large arrays."""
        return Budget(self.memory_limit)


@dataclass(frozen=True)
class Solution:
    """Dual variables found by a solver; how good they are is for the certificate to say."""

    theta: Vector
    n_iter: int
    converged: bool
    reason: str


def feasible_start(problem: Problem, start: Vector | None) -> Vector:
    """Dual variables inside their bounds, with ``sum(theta) = 0`` where there is a bias."""
    if start is None:
        return np.zeros(len(problem))
    start = np.asarray(start, dtype=np.float64)
    return balanced(problem, np.clip(start, problem.loss.low, problem.loss.high))


def merits(loss: PiecewiseLinear, theta: Vector, values: Vector, bias: float) -> Vector:
    """How far each decision is from where its variable rests: entries above 0 can be improved."""
    rise, fall = loss.targets(theta)
    return np.maximum(rise - values - bias, values + bias - fall)


def settled(problem: AnyProblem[Any], theta: Vector) -> Vector:
    """What a solver found, feasible: on its bounds where only rounding is between, and balanced."""
    return balanced(problem, problem.loss.snapped(theta))


def balanced(problem: AnyProblem[Any], theta: Vector) -> Vector:
    """``sum(theta) = 0`` where there is a bias."""
    return with_sum(problem.loss, theta, 0.0) if problem.has_bias else theta


def with_sum(loss: Loss, theta: Vector, total: float) -> Vector:
    """Variables of a given sum: free ones give way first, then all of them.

    Each in proportion to its room.  A sum next to rounding stays, and is counted with the duality
    gap: setting it right would move variables off their bounds.
    """
    theta = theta.copy()
    for group in (loss.is_free(theta), np.ones(len(theta), dtype=np.bool_)):
        surplus = float(theta.sum()) - total
        if abs(surplus) <= _NEGLIGIBLE * float(np.abs(theta).sum()):
            break
        room = loss.room(theta, -surplus)[group]
        whole = float(room.sum())
        if whole > 0.0:
            theta[group] -= np.sign(surplus) * min(abs(surplus) / whole, 1.0) * room
    return theta


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

    @property
    def halved_loss(self) -> SomeLoss:
        """Losses with the weights of J (Theorem 2)."""
        return self.loss.times(halved_weight(self.parity))

    @property
    def has_bias(self) -> bool:
        """Whether a function of this parity has one."""
        return self.with_bias and self.parity is not Parity.ODD

    def halved(self) -> AnyProblem[SomeLoss]:
        """(20) or (22) on J; without a parity the ordinary machine on the rows as given."""
        operator = operator_within(self.projected, self.pairs, self.budget)
        problem = AnyProblem(operator, self.halved_loss, self.has_bias)
        if has_few_parameters(operator):
            return problem
        held = held_if_few(operator, self.budget)
        if held is operator and isinstance(self.loss, Logistic):
            # solvers multiply by a costly matrix more than once, of more pairs too
            held = held_for_products(operator, self.budget, often=problem.takes_many_products)
        return replace(problem, operator=held)

    def full(self) -> AnyProblem[SomeLoss]:
        """(13) or (42) on I: the rows followed by their mirror images."""
        if self.parity is None:
            return self.halved()
        operator = operator_within(self.kernel, self.pairs.with_mirrored(), self.budget)
        return AnyProblem(operator, self.loss.with_mirrored(self.parity.sign), self.with_bias)
