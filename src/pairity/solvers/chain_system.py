"""Linear systems ``(K + diag(shift)) x = b`` of objects at times, by the states of their moments.

With A the signed incidence of pairs and moments, Z the explicit features of what knows no time, S the
kernel between moments and W = 1 / shift, K = T G T' for T = (A, Z) and G = blocks S and 1.  Then

    x = W (b - T G alpha),        (1 + T'W T G) alpha = T'W b ,

where G-inner products make the matrix symmetric.  Conjugate gradients in them are preconditioned by the
same matrix with T'W T cut down to its diagonal d at the moments, and to its block of the features:

    (1 + d S)^-1 r = (1/d + S)^-1 r/d  =: z,        S z = (r - z) / d ,

one pass of Kalman's filter along each chain and back, as if the opponents of an object were known.
Products with S itself are needed only to see how far it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pairity.losses.loss import Vector
from pairity.operators.chain_operator import ChainOperator
from pairity.operators.chains import NoisyChains
from pairity.pairs.arrays import as_dense, sums_at
from pairity.runtime.resources import stop_if_abandoned
from pairity.solvers.linear_system import Found, Watch

#: Explicit features beside the chains, at most.
_MOST_FEATURES = 1000
#: Iterations between two looks at the true residual, and iterations at most.
_BETWEEN_LOOKS, _MOST_ITERATIONS = 4, 2000
#: Share of the size of a system below which merits are rounding.
_LOST = 1e-30


def has_chain_system(operator: Any) -> bool:
    """Whether systems of an operator can be solved by states of moments."""
    if not isinstance(operator, ChainOperator) or operator.form.sign is None:
        return False
    if operator.rest is None:
        return True
    features = operator.rest.features
    return features is not None and features.n_columns <= _MOST_FEATURES


@dataclass(frozen=True, eq=False)
class _Parameters:
    """Values at the moments, and at the explicit features beside them."""

    moments: Vector
    features: Vector

    def plus(self, factor: float, other: _Parameters) -> _Parameters:
        return _Parameters(
            self.moments + factor * other.moments, self.features + factor * other.features
        )

    def dot(self, other: _Parameters) -> float:
        return float(self.moments @ other.moments) + float(self.features @ other.features)


class ChainSystem:
    """One shift, any right sides; :meth:`solve` goes until the residual is small enough."""

    def __init__(
        self,
        operator: ChainOperator,
        shift: Vector,
        is_enough: Callable[[Vector], bool] | None = None,
    ) -> None:
        self._chains, self._sign = operator.chains, float(operator.form.sign or 0.0)
        self._shift, self._weights, self._is_enough = shift, 1.0 / shift, is_enough
        self._rows = np.zeros((len(shift), 0))
        if operator.rest is not None and operator.rest.features is not None:
            self._rows = as_dense(operator.rest.features.rows)

    @cached_property
    def _noisy(self) -> NoisyChains:
        """The chains with 1 / d for noise."""
        first, second = self._chains.left
        size = len(self._chains)
        precision = sums_at(first, self._weights, size) + sums_at(second, self._weights, size)
        return self._chains.with_noise(1.0 / precision)

    @cached_property
    def _inner(self) -> Any:
        """The factor of ``1 + Z'W Z``."""
        curvature = self._rows.T @ (self._weights[:, np.newaxis] * self._rows)
        curvature[np.diag_indices(len(curvature))] += 1.0
        return cho_factor(curvature, lower=True, check_finite=False)

    def _at_pairs(self, values: _Parameters) -> Vector:
        """``T values``."""
        first, second = self._chains.left
        decisions = values.moments[first] + self._sign * values.moments[second]
        return decisions + self._rows @ values.features

    def _from_pairs(self, vector: Vector) -> _Parameters:
        """``T' vector``."""
        (first, second), size = self._chains.left, len(self._chains)
        moments = sums_at(first, vector, size) + self._sign * sums_at(second, vector, size)
        return _Parameters(moments, self._rows.T @ vector)

    def _curved(self, values: _Parameters) -> _Parameters:
        """``T'W T values``."""
        if self._rows.shape[1]:
            return self._from_pairs(self._weights * self._at_pairs(values))
        moments = self._chains.met(self._sign, self._weights, values.moments)
        return _Parameters(moments, values.features)

    def _preconditioned(self, residual: _Parameters) -> tuple[_Parameters, _Parameters]:
        """z, and G z."""
        noisy = self._noisy
        scaled = noisy.noise * residual.moments
        moments = noisy.solve(scaled)
        features = residual.features
        if len(features):
            features = np.asarray(cho_solve(self._inner, features, check_finite=False))
        spread = scaled - noisy.noise * moments
        return _Parameters(moments, features), _Parameters(spread, features)

    def _true_residual(self, residual: _Parameters) -> Vector:
        """What is left of the right side: ``-T G residual``."""
        spread = _Parameters(self._chains.product(residual.moments), residual.features)
        return -self._at_pairs(spread)

    def solve(
        self,
        right: Vector,
        tol: float = 1e-10,
        max_iter: int = _MOST_ITERATIONS,
        watch: Watch | None = None,
        start: Vector | None = None,
    ) -> Found:
        """The solution, until its residual is enough, or ``tol`` of the right side."""
        size = float(np.linalg.norm(right)) or 1.0
        base = np.zeros_like(right)
        if start is not None:
            base = start
            spread = self._from_pairs(start)
            right = right - self._shift * start + self._true_residual(spread)
        residual = self._from_pairs(self._weights * right)
        at = _Parameters(np.zeros(len(self._chains)), np.zeros(self._rows.shape[1]))  # G alpha
        direction = image = at
        last, first, solution, relative = 0.0, 0.0, base, 1.0
        for iteration in range(1, max(1, max_iter) + 1):
            stop_if_abandoned()
            z, spread = self._preconditioned(residual)
            merit = residual.dot(spread)
            first = first or merit
            ended = not merit > _LOST * first
            if not ended:
                share = merit / last if last else 0.0
                direction, image, last = z.plus(share, direction), spread.plus(share, image), merit
                applied = direction.plus(1.0, self._curved(image))
                length = merit / applied.dot(image)
                at, residual = at.plus(length, image), residual.plus(-length, applied)
            if not ended and iteration % _BETWEEN_LOOKS and iteration < max_iter:
                continue
            solution = base + self._weights * (right - self._at_pairs(at))
            left = self._true_residual(residual)
            relative = float(np.linalg.norm(left)) / size
            done = relative <= tol if self._is_enough is None else self._is_enough(left)
            if watch is not None:
                done = watch(iteration, relative, solution) or done
            if done or ended:
                return Found(solution, iteration, relative)
        return Found(solution, max_iter, relative)
