"""Explicit features of training pairs as the matrix of a linear model, equal rows counted once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairity.losses.loss import Vector
from pairity.pairs.arrays import Places, batches, distinct_rows, sums_at
from pairity.runtime.resources import run_in_ranges
from pairity.solvers._primal_loops import add_outer_products, add_squares

#: Parameters up to which second derivatives are factored; beyond, conjugate gradients.
MOST_FACTORED = 2000
#: Entries of dense rows that are weighted at a time.
_ENTRIES_AT_A_TIME = 4_000_000
#: Ranges of rows whose second derivatives are added up apart, and numbers in all of them together.
_MOST_RANGES, _MOST_NUMBERS = 8, 32_000_000
#: Rows from which on equal ones are looked for, and the share of distinct ones that makes it pay.
_ROWS_TO_GROUP, _SHARE_TO_GROUP = 500, 0.5
#: What is added to a scaled matrix that rounding made indefinite, at first and at most.
_LEAST_ADDED, _MOST_ADDED = 1e-15, 1e-3
#: Conjugate gradients: steps at most.
_MOST_STEPS = 500


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of features, shape (n, r), with a last column of ones where there is a bias."""

    rows: Any
    has_bias: bool

    @property
    def n_parameters(self) -> int:
        """Number of features, and 1 for a bias."""
        return int(self.rows.shape[1]) + int(self.has_bias)

    @property
    def penalty(self) -> Vector:
        """1 for each feature, 0 for a bias."""
        penalty = np.ones(self.n_parameters)
        penalty[self.rows.shape[1] :] = 0.0
        return penalty

    def times(self, parameters: Vector) -> Vector:
        """Decisions, shape (n,)."""
        if not self.has_bias:
            return np.asarray(self.rows @ parameters)
        return np.asarray(self.rows @ parameters[:-1]) + parameters[-1]

    def transposed(self, theta: Vector) -> Vector:
        """``sum_i theta_i z_i``, shape (r,)."""
        gathered = np.asarray(self.rows.T @ theta)
        return np.append(gathered, theta.sum()) if self.has_bias else gathered

    def scales(self) -> Vector:
        """Root mean squares of the columns, 1 for those of zeros."""
        squares = self.squares(np.ones(self.rows.shape[0]))[: self.rows.shape[1]]
        roots = np.sqrt(squares / max(1, self.rows.shape[0]))
        return np.where(roots > 0.0, roots, 1.0)

    def squares(self, weights: Vector) -> Vector:
        """``sum_i weights_i z_ij^2`` for all parameters j."""
        if sp.issparse(self.rows):
            total = np.zeros(self.rows.shape[1])
            add_squares(self.rows.indptr, self.rows.indices, self.rows.data, weights, total)
        else:
            total = np.einsum("ij,ij,i->j", self.rows, self.rows, weights)
        return np.append(total, weights.sum()) if self.has_bias else total

    def curvature(self, weights: Vector) -> NDArray[np.float64]:
        """``sum_i weights_i z_i z_i'``, of which the lower triangle counts."""
        size = self.n_parameters
        total = np.zeros((size, size))
        width = self.rows.shape[1]
        inner = total[:width, :width]
        if sp.issparse(self.rows):
            inner += self._sparse_curvature(weights)
        else:
            used = np.flatnonzero(weights)
            for part in batches(len(used), _ENTRIES_AT_A_TIME // max(1, width)):
                some = self.rows[used[part]]
                inner += (some * weights[used[part], np.newaxis]).T @ some
        if self.has_bias:
            total[-1] = self.transposed(weights)
        return total

    def _sparse_curvature(self, weights: Vector) -> NDArray[np.float64]:
        """Sums of ranges that do not depend on the number of threads, added up in one order."""
        n_rows, width = self.rows.shape
        n_ranges = int(min(_MOST_RANGES, max(1, _MOST_NUMBERS // max(1, width * width))))
        step = max(1, -(-n_rows // n_ranges))
        parts = np.zeros((n_ranges, width, width))
        matrix = self.rows.indptr, self.rows.indices, self.rows.data

        def add(start: int, stop: int) -> None:
            add_outer_products(*matrix, weights, start, stop, parts[start // step])

        run_in_ranges(add, n_rows, step)
        return np.asarray(parts.sum(axis=0))

    def solver(self, weights: Vector, tol: float) -> Callable[[Vector], Vector]:
        """``(penalty + sum_i weights_i z_i z_i')^-1`` as a function, columns brought to one scale."""
        if self.n_parameters <= MOST_FACTORED:
            return _scaled_inverse(self.curvature(weights), self.penalty)
        return lambda right: self._conjugate_gradients(right, weights, tol)

    def _conjugate_gradients(self, right: Vector, weights: Vector, tol: float) -> Vector:
        """The same by conjugate gradients, divided by the diagonal."""
        penalty = self.penalty
        diagonal = penalty + self.squares(weights)
        diagonal[diagonal <= 0.0] = 1.0
        solution, residual = np.zeros_like(right), right.copy()
        scaled = residual / diagonal
        search, merit = scaled, float(residual @ scaled)
        first = merit
        for _ in range(_MOST_STEPS):
            if merit <= tol**2 * first:
                break
            image = penalty * search + self.transposed(weights * self.times(search))
            bend = float(search @ image)
            if bend <= 0.0:
                break
            solution += (merit / bend) * search
            residual -= (merit / bend) * image
            scaled = residual / diagonal
            last, merit = merit, float(residual @ scaled)
            search = scaled + (merit / last) * search
        return solution


def _scaled_inverse(matrix: NDArray[np.float64], penalty: Vector) -> Callable[[Vector], Vector]:
    """``(matrix + penalty)^-1``, with a diagonal of ones before it is factored."""
    places = np.diag_indices(len(penalty))
    matrix[places] += penalty
    diagonal = matrix[places].copy()
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    matrix *= scale[:, np.newaxis]
    matrix *= scale
    matrix[places] = 1.0
    added = 0.0
    while True:
        try:
            factor = cho_factor(matrix, lower=True, check_finite=False)
            break
        except LinAlgError:
            if added >= _MOST_ADDED:
                raise
            added = max(_LEAST_ADDED, 10.0 * added)
            matrix[places] = 1.0 + added
    return lambda right: scale * cho_solve(factor, scale * right, check_finite=False)


# Equal rows -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grouped:
    """Each distinct row once: ``z_i = signs_i z[inverse_i]``, with losses of summed weights."""

    rows: Any
    loss: Any
    inverse: Places
    signs: Vector
    shares: Vector  # of each row in the weight of its group

    def spread(self, theta: Vector) -> Vector:
        """Dual variables of all rows, in proportion to their weights."""
        return self.signs * self.shares * theta[self.inverse]

    def gathered(self, theta: Vector) -> Vector:
        """Dual variables of the groups."""
        return sums_at(self.inverse, self.signs * theta, self.rows.shape[0])


def grouped(rows: Any, loss: Any, *, with_signs: bool) -> Grouped | None:
    """Rows of equal features (up to the sign) and equal losses together; None if they are few.

    Rows are compared by two random projections: two different ones agree in both with a chance of
    1 in 10^30.
    """
    n_rows, weights = rows.shape[0], loss.weights
    if n_rows < _ROWS_TO_GROUP or not (weights > 0.0).all():
        return None
    scales = Design(rows, has_bias=False).scales()
    random = np.random.default_rng(0).normal(size=(2, len(scales))) / scales
    keys = np.asarray(rows @ random[0])
    signs = np.where(keys < 0.0, -1.0, 1.0) if with_signs else np.ones(n_rows)
    n_distinct = np.count_nonzero(np.diff(np.sort(signs * keys)))
    if n_distinct + 1 > _SHARE_TO_GROUP * n_rows:
        return None
    turned = loss.signed(signs)
    others = signs * np.asarray(rows @ random[1])
    table = np.column_stack([signs * keys, others, *turned.per_weight])
    distinct = distinct_rows(table)
    chosen, inverse = distinct.representative, distinct.inverse
    if len(chosen) > _SHARE_TO_GROUP * n_rows:
        return None
    total = sums_at(inverse, weights, len(chosen))
    of_groups = turned.take(chosen).times(total / weights[chosen])
    kept = rows[chosen] * signs[chosen, np.newaxis] if with_signs else rows[chosen]
    kept = sp.csr_array(kept) if sp.issparse(rows) else kept
    return Grouped(kept, of_groups, inverse, signs, weights / total[inverse])
