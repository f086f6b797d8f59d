"""The linear system of a Newton step, with its bias:

    (K + diag(1/w)) delta + bias = (u - theta) / w,      sum(delta) = -sum(theta)

A residual r of the first line leaves a violation of ``w r / c`` behind, c the weights of the losses:
the system is solved until the largest of these is as small as allowed, and no further.  Few systems
are factored; the others go by conjugate gradients among vectors of sum 0, preconditioned by few
features of the kernel and what they leave of its diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairity.losses.loss import Vector
from pairity.operators.feature_table import FeatureTable
from pairity.solvers.linear_system import (
    DirectSystem,
    conjugate_gradients,
    low_rank_inverse,
)

if TYPE_CHECKING:
    from pairity.solvers.chain_system import ChainSystem

#: Iterations of one step at most, and what may be left of the right side.
_MOST_ITERATIONS, _SHARE_OF_RIGHT = 2000, 0.1


@dataclass(frozen=True)
class NewtonSystem:
    """What a step solves."""

    curvature: Vector  # w
    pull: Vector  # u - theta
    surplus: float | None  # sum(theta); None where there is no bias

    @property
    def shift(self) -> Vector:
        """``1 / w``."""
        return 1.0 / self.curvature

    @property
    def right(self) -> Vector:
        """``(u - theta) / w``."""
        return self.pull / self.curvature

    def enough(self, weights: Vector, allowed: float) -> Callable[[Vector], bool]:
        """Whether a residual leaves violations of at most ``allowed``, and little of the right side.

        After an update few rows have a right side at all: what others get must be small beside it.
        """
        scale, root = self.curvature / weights, np.sqrt(self.curvature)
        most = _SHARE_OF_RIGHT * float(np.linalg.norm(root * self.right))

        def is_enough(residual: Vector) -> bool:
            if np.max(scale * np.abs(residual)) > allowed:
                return False
            return bool(np.linalg.norm(root * residual) <= most)

        return is_enough

    def bias_of(self, residual: Vector) -> float:
        """The bias that leaves the least of a residual."""
        if self.surplus is None:
            return 0.0
        return float(self.curvature @ residual) / float(self.curvature.sum())


@dataclass(frozen=True)
class Step:
    """A change of the dual variables, ``K delta`` where it is known, and a change of the bias."""

    delta: Vector
    values: Vector | None
    bias: float
    n_products: int


def direct_step(system: NewtonSystem, factored: DirectSystem | ChainSystem) -> Step:
    """By one factorisation, or states of moments; the bias by a second right side."""
    delta = factored.solve(system.right).solution
    if system.surplus is None:
        return Step(delta, None, 0.0, 0)
    border = factored.solve(np.ones(len(delta))).solution
    bias = (float(delta.sum()) + system.surplus) / float(border.sum())
    return Step(delta - bias * border, None, bias, 0)


def iterative_step(
    system: NewtonSystem,
    product: Callable[[Vector], Vector],
    features: FeatureTable,
    weights: Vector,
    allowed: float,
) -> Step:
    """By conjugate gradients, until ``w r / c`` is at most ``allowed``."""
    shift, right, scale = system.shift, system.right, system.curvature / weights
    precondition = low_rank_inverse(shift + features.left, features)
    start, n_products = np.zeros_like(right), 0
    residual = right
    if system.surplus is not None:
        precondition, border = _among_balanced(precondition, system)
        if system.surplus:
            start, n_products = -system.surplus * border, 1
            residual = right - product(start) - shift * start
    delta, bias = start, 0.0
    steps = conjugate_gradients(lambda v: product(v) + shift * v, precondition, start, residual)
    for found in steps:
        delta, residual = found
        n_products += 1
        bias = system.bias_of(residual)
        if np.max(scale * np.abs(residual - bias)) <= allowed or n_products >= _MOST_ITERATIONS:
            break
    # what is left of the right side is known, and so is K delta
    return Step(delta, right - residual - shift * delta, bias, n_products)


def _among_balanced(
    precondition: Callable[[Vector], Vector], system: NewtonSystem
) -> tuple[Callable[[Vector], Vector], Vector]:
    """The preconditioner with results of sum 0, and the direction of sum 1 that is taken out.

    It sees residuals without their bias, beside which single precision would lose the rest.
    """
    border = precondition(np.ones(len(system.pull)))
    border = border / float(border.sum())

    def apply(residual: Vector) -> Vector:
        plain = precondition(residual - system.bias_of(residual))
        return plain - float(plain.sum()) * border

    return apply, border
