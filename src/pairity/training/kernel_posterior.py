"""Posterior covariances by kernel values: exactly, through landmarks among the pairs, along chains.

The formulas are those of :mod:`pairity.training.posterior`, before the scale.  Of strengths that drift
variances are those of objects at times, along their chains: given the values of its opponents at the
fit, the strength of an object is a Gaussian process observed with the information ``w = sum of second
derivatives`` of its pairs at each moment, and its variance at any time is that of Kalman's filter and
smoother: O(n) for n pairs.  What the opponents are unsure of is not passed on, so that variances are a
little too small where objects have few opponents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.operators.blockwise import operator_within
from pairity.operators.chain_operator import ChainOperator, chain_operator
from pairity.operators.operator import KernelOperator, whole_matrix
from pairity.pairs.arrays import Matrix, Vector, as_dense, batches, sums_at
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget

#: Landmarks at most.
_MOST_LANDMARKS = 2000
#: Numbers of features, or of kernel values, that are held at a time, and arrays of them.
_AT_A_TIME, _ARRAYS = 8_000_000, 4.0
#: Shares of the memory for those arrays and for the matrices of landmarks, and how many these are.
_SHARE_AT_A_TIME, _SHARE_OF_LANDMARKS, _LANDMARK_MATRICES = 0.4, 0.5, 5.0
#: What is added to the diagonal of a matrix that rounding made indefinite, at first and at most.
_LEAST_ADDED, _MOST_ADDED = 1e-14, 1e-6
#: Noise, in prior variances, of moments of a chain at which nothing was observed.
_NOTHING = 1e8


def at_a_time(budget: Budget) -> int:
    """Numbers of features, or of kernel values, to hold at a time."""
    return int(min(_AT_A_TIME, budget.share(_SHARE_AT_A_TIME).columns(1, copies=_ARRAYS)))


def lower_factor(matrix: Matrix, what: str) -> Matrix:
    """L with ``L L' = matrix``, scaled to a diagonal of ones on the way; or of a nearby matrix.

    The matrix is used up.
    """
    sizes = np.sqrt(np.maximum(np.diag(matrix), 0.0))
    sizes[sizes == 0.0] = 1.0
    matrix /= sizes
    matrix /= sizes[:, np.newaxis]
    added, places = 0.0, np.diag_indices(len(sizes))
    diagonal = matrix[places].copy()
    while True:
        try:
            factor: Matrix = cholesky(matrix, lower=True, check_finite=False)
        except LinAlgError:
            if added >= _MOST_ADDED:
                raise KernelError(
                    f"got {what} that is not positive definite; expected a positive semi-definite"
                    " kernel: see pairity.testing.check_pair_kernel."
                ) from None
            added = max(_LEAST_ADDED, 10.0 * added)
            matrix[places] = diagonal + added
        else:
            factor *= sizes[:, np.newaxis]
            return factor


def solved(factor: Matrix, right: Matrix) -> Matrix:
    """``L^-1 right``."""
    return np.asarray(solve_triangular(factor, right, lower=True, check_finite=False))


def effective_number(factor: Matrix, n_penalised: int) -> float:
    """``r - tr(penalty (penalty + Z' W Z)^-1)`` from the factor of the precision."""
    inverse = solved(factor, np.eye(len(factor)))
    return len(factor) - float(np.sum(inverse[:, :n_penalised] ** 2))


class _ByKernel:
    """What the two ways by kernel values share."""

    def __init__(
        self, kernel: Kernel, pairs: Pairs, weights: Vector, has_bias: bool, budget: Budget
    ) -> None:
        self.kernel, self.pairs, self.has_bias, self.budget = kernel, pairs, has_bias, budget
        self.root = np.sqrt(weights)

    def _batches(self, n: int, width: int) -> Iterator[slice]:
        """Slices of n rows of a width that are held at a time."""
        return batches(n, at_a_time(self.budget) // max(1, width))

    def _between(self, left: Pairs, right: Pairs) -> KernelOperator:
        return operator_within(self.kernel, left, self.budget, right)

    def _crossed(self, left: Pairs, right: Pairs, combined: sp.csr_array) -> Matrix:
        """``K(left, right) combined'``, some of the right pairs at a time."""
        operator, columns = self._between(left, right), sp.csc_array(combined)
        total = np.zeros((len(left), combined.shape[0]))
        for part in self._batches(len(right), len(left)):
            total += operator.block(slice(None), part) @ columns[:, part].T
        return total

    def _prior_covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        operator, columns = operator_within(self.kernel, pairs, self.budget), sp.csc_array(combined)
        total = np.zeros((combined.shape[0],) * 2)
        for part in self._batches(len(pairs), len(pairs)):
            total += columns[:, part] @ (operator.block(part, slice(None)) @ combined.T)
        return total

    def variance(self, pairs: Pairs) -> Vector:
        """Variance of each value."""
        prior = operator_within(self.kernel, pairs, self.budget).diagonal()
        operator, values = self._between(self._centres, pairs), np.empty(len(pairs))
        for part in self._batches(len(pairs), len(self._centres)):
            values[part] = self._variance(operator.block(slice(None), part), prior[part])
        return np.maximum(values, 0.0)

    @property
    def _centres(self) -> Pairs:
        """Pairs whose kernel values with others say all."""
        return self.pairs

    def _variance(self, crossed: Matrix, prior: Vector) -> Vector:
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
        return solved(self.factor, self.root)

    @property
    def edf(self) -> float:
        """``n - tr(1 + W^1/2 K W^1/2)^-1``, and 1 for a constant less what it takes of them."""
        edf = effective_number(self.factor, len(self.factor))
        if not self.has_bias:
            return edf
        back = solve_triangular(self.factor, self.constant, lower=True, trans="T")
        return edf + float(back @ back) / float(self.constant @ self.constant)

    def _solved(self, crossed: Matrix) -> Matrix:
        return solved(self.factor, self.root[:, np.newaxis] * crossed)

    def _variance(self, crossed: Matrix, prior: Vector) -> Vector:
        taken = self._solved(crossed)
        values = prior - np.sum(taken**2, axis=0)
        if self.has_bias:
            values += (1.0 - taken.T @ self.constant) ** 2 / (self.constant @ self.constant)
        return values

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values."""
        taken = self._solved(self._crossed(self.pairs, pairs, combined))
        matrix = self._prior_covariance(pairs, combined) - taken.T @ taken
        if self.has_bias:
            rest = combined @ np.ones(len(pairs)) - taken.T @ self.constant
            matrix += np.outer(rest, rest) / (self.constant @ self.constant)
        return matrix


def _left(prior: Vector, features: Matrix) -> Vector:
    """Prior variance that landmarks leave."""
    return np.maximum(prior - np.sum(features**2, axis=0), 0.0)


class Landmarks(_ByKernel):
    """Features ``phi = L_m^-1 k_m`` of some of the pairs, and what they leave of the prior."""

    @cached_property
    def landmarks(self) -> Pairs:
        """Pairs drawn once and for all."""
        n = len(self.pairs)
        side = self.budget.share(_SHARE_OF_LANDMARKS).side(copies=_LANDMARK_MATRICES)
        number = int(max(1, min(n, _MOST_LANDMARKS, side)))
        chosen = np.random.default_rng(0).choice(n, number, replace=False)
        return self.pairs[np.sort(chosen)].without_unused_objects()

    @cached_property
    def landmark_factor(self) -> Matrix:
        """``L_m``."""
        gram = whole_matrix(operator_within(self.kernel, self.landmarks, self.budget))
        gram[np.diag_indices(len(gram))] *= 1.0 + 1e-10
        return lower_factor(gram, "a kernel matrix")

    def _features(self, crossed: Matrix) -> Matrix:
        return solved(self.landmark_factor, crossed)

    @cached_property
    def factor(self) -> Matrix:
        """L with ``L L' = 1 + Phi' W Phi``, a constant last."""
        size = len(self.landmarks) + int(self.has_bias)
        precision = np.diag(np.append(np.ones(len(self.landmarks)), 0.0)[:size])
        prior = operator_within(self.kernel, self.pairs, self.budget).diagonal()
        operator = self._between(self.landmarks, self.pairs)
        for part in self._batches(len(self.pairs), size):
            features = self._features(operator.block(slice(None), part))
            rest = _left(prior[part], features)
            rows = self._with_constant(features)
            rows = rows * (self.root[part] / np.sqrt(1.0 + self.root[part] ** 2 * rest))
            precision += rows @ rows.T
        return lower_factor(precision, "a precision of parameters")

    @property
    def _centres(self) -> Pairs:
        return self.landmarks

    def _with_constant(self, features: Matrix, constant: Any = 1.0) -> Matrix:
        if not self.has_bias:
            return features
        return np.vstack([features, np.broadcast_to(constant, (1, features.shape[1]))])

    @property
    def edf(self) -> float:
        """Effective number of parameters."""
        return effective_number(self.factor, len(self.landmarks))

    def _variance(self, crossed: Matrix, prior: Vector) -> Vector:
        features = self._features(crossed)
        kept = solved(self.factor, self._with_constant(features))
        return _left(prior, features) + np.sum(kept**2, axis=0)

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values."""
        features = self._features(self._crossed(self.landmarks, pairs, combined))
        rest = self._prior_covariance(pairs, combined) - features.T @ features
        constant = combined @ np.ones(len(pairs))
        kept = solved(self.factor, self._with_constant(features, constant))
        return rest + kept.T @ kept


@dataclass(frozen=True, eq=False)
class Chained:
    """Variances before the scale, of the kernel of a chain operator."""

    kernel: Any
    pairs: Pairs
    weights: Vector

    def _with(self, pairs: Pairs) -> tuple[ChainOperator, Vector]:
        """Moments of training pairs and others, and the posterior variance of each moment."""
        operator = chain_operator(self.kernel, pairs, self.pairs)
        assert operator is not None
        chains, size = operator.chains, len(operator.chains)
        precision = sum(sums_at(end, self.weights, size) for end in chains.right)
        observed = precision > 0.0
        nothing = _NOTHING * float(chains.prior.max(initial=1.0))
        noise = np.where(observed, 1.0 / np.where(observed, precision, 1.0), nothing)
        others = chains.with_noise(noise).variances_from_others()
        return operator, others / (1.0 + precision * others)

    @cached_property
    def _factor(self) -> Any:
        """The factor of the precision of what knows no time; None without any."""
        operator = chain_operator(self.kernel, self.pairs)
        assert operator is not None
        if operator.rest is None or operator.rest.features is None:
            return None
        rows = as_dense(operator.rest.features.rows)
        precision = rows.T @ (self.weights[:, np.newaxis] * rows)
        precision[np.diag_indices(len(precision))] += 1.0
        return cho_factor(precision, lower=True, check_finite=False)

    @property
    def edf(self) -> float:
        """Effective number of parameters: information times variance, added up."""
        return float(self.weights @ self.variance(self.pairs))

    def variance(self, pairs: Pairs) -> Vector:
        """Variance of each value: those of its two moments, and of what knows no time."""
        if not len(pairs):
            return np.zeros(0)
        operator, variance = self._with(pairs)
        first, second = operator.chains.left
        rows, solved = self._of_rest(operator)
        return variance[first] + variance[second] + np.einsum("ij,ji->i", rows, solved)

    def _of_rest(self, operator: ChainOperator) -> tuple[Matrix, Matrix]:
        """Features Z of what knows no time, and their covariance times Z'."""
        if self._factor is None or operator.rest is None:
            return np.zeros((operator.shape[0], 0)), np.zeros((0, operator.shape[0]))
        rows = as_dense(operator.rest.left_rows)
        return rows, cho_solve(self._factor, rows.T, check_finite=False)

    def covariance(self, pairs: Pairs, combined: sp.csr_array) -> Matrix:
        """Covariance of sums of values; moments of one object are taken one by one."""
        operator, variance = self._with(pairs)
        chains, every = operator.chains, np.arange(len(pairs))
        sign = operator.form.sign or 0.0
        ends = (
            sp.csr_array((np.full(len(pairs), factor), (every, end)), (len(pairs), len(chains)))
            for factor, end in zip((1.0, sign), chains.left, strict=True)
        )
        design = combined @ sum(ends)
        rows, solved = self._of_rest(operator)
        known = as_dense((design * variance[np.newaxis, :]) @ design.T)
        return known + (combined @ rows) @ (solved @ combined.T)
