"""Posterior covariances by kernel values: exactly, or through landmarks among the training pairs.

The formulas are those of :mod:`pairity.training.posterior`, before the scale.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.operators.blockwise import operator_within
from pairity.operators.operator import whole_matrix
from pairity.pairs.arrays import Matrix, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget

#: Landmarks at most.
_MOST_LANDMARKS = 2000
#: Numbers of features, or of kernel values, that are held at a time.
AT_A_TIME = 8_000_000
#: What is added to the diagonal of a matrix that rounding made indefinite, at first and at most.
_LEAST_ADDED, _MOST_ADDED = 1e-14, 1e-6


def lower_factor(matrix: Matrix, what: str) -> Matrix:
    """L with ``L L' = matrix``, scaled to a diagonal of ones on the way; or of a nearby matrix."""
    sizes = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    sizes[sizes == 0.0] = 1.0
    scaled = matrix / sizes / sizes[:, np.newaxis]
    added, places = 0.0, np.diag_indices(len(sizes))
    diagonal = scaled[places].copy()
    while True:
        try:
            return sizes[:, np.newaxis] * cholesky(scaled, lower=True, check_finite=False)
        except LinAlgError:
            if added >= _MOST_ADDED:
                raise KernelError(
                    f"got {what} that is not positive definite; expected a positive semi-definite"
                    " kernel: see pairity.testing.check_pair_kernel."
                ) from None
            added = max(_LEAST_ADDED, 10.0 * added)
            scaled[places] = diagonal + added


def effective_number(factor: Matrix, n_penalised: int) -> float:
    """``r - tr(penalty (penalty + Z' W Z)^-1)`` from the factor of the precision."""
    size = len(factor)
    inverse = solve_triangular(factor, np.eye(size), lower=True, check_finite=False)
    return size - float(np.sum(inverse[:, :n_penalised] ** 2))


class _ByKernel:
    """What the two ways by kernel values share."""

    def __init__(
        self, kernel: Kernel, pairs: Pairs, weights: Vector, has_bias: bool, budget: Budget
    ) -> None:
        self.kernel, self.pairs, self.has_bias, self.budget = kernel, pairs, has_bias, budget
        self.root = np.sqrt(weights)

    def _block(self, left: Pairs, right: Pairs) -> Matrix:
        operator = operator_within(self.kernel, left, self.budget, right)
        return operator.block(slice(None), slice(None))

    def _prior(self, pairs: Pairs) -> Vector:
        return operator_within(self.kernel, pairs, self.budget).diagonal()

    def _crossed(self, left: Pairs, right: Pairs, combined: sp.csr_array) -> Matrix:
        """``K(left, right) combined'``, some of the right pairs at a time."""
        total = np.zeros((len(left), combined.shape[0]))
        columns = sp.csc_array(combined)
        for part in batches(len(right), max(1, AT_A_TIME // max(1, len(left)))):
            total += self._block(left, right[part]) @ columns[:, part].T
        return total

    def _prior_covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        total = np.zeros((combined.shape[0],) * 2)
        columns = sp.csc_array(combined)
        for part in batches(len(pairs), max(1, AT_A_TIME // max(1, len(pairs)))):
            total += columns[:, part] @ self._crossed(pairs[part], pairs, combined)
        return total

    def variance(self, pairs: Pairs) -> Vector:
        values = np.empty(len(pairs))
        for part in batches(len(pairs), max(1, AT_A_TIME // max(1, len(self.pairs)))):
            values[part] = self._variance(pairs[part])
        return np.maximum(values, 0.0)

    def _variance(self, pairs: Pairs) -> Vector:
        raise NotImplementedError


class Dense(_ByKernel):
    """``K_** - V' V`` with ``V = L^-1 W^1/2 K_J*`` and ``L L' = 1 + W^1/2 K W^1/2``."""

    @cached_property
    def factor(self) -> Matrix:
        """L."""
        gram = whole_matrix(operator_within(self.kernel, self.pairs, self.budget))
        gram *= self.root
        gram *= self.root[:, np.newaxis]
        gram[np.diag_indices(len(gram))] += 1.0
        return np.asarray(cholesky(gram, lower=True, overwrite_a=True, check_finite=False))

    @cached_property
    def constant(self) -> Vector:
        """``L^-1 W^1/2 1``: what an unpenalised constant adds."""
        return np.asarray(solve_triangular(self.factor, self.root, lower=True))

    @property
    def edf(self) -> float:
        """``n - tr(1 + W^1/2 K W^1/2)^-1``, and 1 for a constant less what it takes of them."""
        size = len(self.factor)
        inverse = solve_triangular(self.factor, np.eye(size), lower=True, check_finite=False)
        edf = size - float(np.sum(inverse**2))
        if not self.has_bias:
            return edf
        back = solve_triangular(self.factor, self.constant, lower=True, trans="T")
        return edf + float(back @ back) / float(self.constant @ self.constant)

    def _solved(self, crossed: Matrix) -> Matrix:
        right = self.root[:, np.newaxis] * crossed
        return np.asarray(solve_triangular(self.factor, right, lower=True, check_finite=False))

    def _variance(self, pairs: Pairs) -> Vector:
        solved = self._solved(self._block(self.pairs, pairs))
        values = self._prior(pairs) - np.sum(solved**2, axis=0)
        if self.has_bias:
            values += (1.0 - solved.T @ self.constant) ** 2 / (self.constant @ self.constant)
        return values

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values."""
        solved = self._solved(self._crossed(self.pairs, pairs, combined))
        matrix = self._prior_covariance(pairs, combined) - solved.T @ solved
        if self.has_bias:
            rest = combined @ np.ones(len(pairs)) - solved.T @ self.constant
            matrix += np.outer(rest, rest) / (self.constant @ self.constant)
        return matrix


class Landmarks(_ByKernel):
    """Features ``phi = L_m^-1 k_m`` of some of the pairs, and what they leave of the prior."""

    @cached_property
    def landmarks(self) -> Pairs:
        """Pairs drawn once and for all."""
        n = len(self.pairs)
        chosen = np.random.default_rng(0).choice(n, min(n, _MOST_LANDMARKS), replace=False)
        return self.pairs[np.sort(chosen)].without_unused_objects()

    @cached_property
    def landmark_factor(self) -> Matrix:
        """``L_m``."""
        gram = whole_matrix(operator_within(self.kernel, self.landmarks, self.budget))
        gram[np.diag_indices(len(gram))] *= 1.0 + 1e-10
        return lower_factor(gram, "a kernel matrix")

    def _features(self, crossed: Matrix) -> Matrix:
        return np.asarray(
            solve_triangular(self.landmark_factor, crossed, lower=True, check_finite=False)
        )

    @cached_property
    def factor(self) -> Matrix:
        """L with ``L L' = 1 + Phi' W Phi``, a constant last."""
        size = len(self.landmarks) + int(self.has_bias)
        precision = np.diag(np.append(np.ones(len(self.landmarks)), 0.0)[:size])
        for part in batches(len(self.pairs), max(1, AT_A_TIME // size)):
            features = self._features(self._block(self.landmarks, self.pairs[part]))
            rest = self._left(self.pairs[part], features)
            rows = self._with_constant(features)
            rows = rows * (self.root[part] / np.sqrt(1.0 + self.root[part] ** 2 * rest))
            precision += rows @ rows.T
        return lower_factor(precision, "a precision of parameters")

    def _left(self, pairs: Pairs, features: Matrix) -> Vector:
        """Prior variance that the landmarks leave."""
        return np.maximum(self._prior(pairs) - np.sum(features**2, axis=0), 0.0)

    def _with_constant(self, features: Matrix, constant: Any = 1.0) -> Matrix:
        if not self.has_bias:
            return features
        return np.vstack([features, np.broadcast_to(constant, (1, features.shape[1]))])

    @property
    def edf(self) -> float:
        """Effective number of parameters."""
        return effective_number(self.factor, len(self.landmarks))

    def _variance(self, pairs: Pairs) -> Vector:
        features = self._features(self._block(self.landmarks, pairs))
        solved = solve_triangular(self.factor, self._with_constant(features), lower=True)
        return self._left(pairs, features) + np.sum(solved**2, axis=0)

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values."""
        features = self._features(self._crossed(self.landmarks, pairs, combined))
        rest = self._prior_covariance(pairs, combined) - features.T @ features
        constant = combined @ np.ones(len(pairs))
        solved = solve_triangular(self.factor, self._with_constant(features, constant), lower=True)
        return rest + solved.T @ solved
