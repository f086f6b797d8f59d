"""How sure strengths are that drift: variances of objects at times, along their chains.

Given the values of its opponents at the fit, the strength of an object is a Gaussian process observed
with the information ``w = sum of second derivatives`` of its pairs at each moment, and its variance at
any time is that of Kalman's filter and smoother: O(n) for n pairs.  What the opponents are unsure of is
not passed on, so that variances are a little too small where objects have few opponents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve

from pairity.operators.chain_operator import ChainOperator, chain_operator
from pairity.pairs.arrays import Matrix, Vector, as_dense, sums_at
from pairity.pairs.data import Pairs

#: Noise, in prior variances, of moments at which nothing was observed.
_NOTHING = 1e8


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
