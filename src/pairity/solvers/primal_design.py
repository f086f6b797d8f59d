"""Explicit features of training pairs as the matrix of a linear model, equal rows counted once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs

from pairity.losses.loss import Vector
from pairity.operators._feature_loops import add_rows
from pairity.operators.explicit_rows import beside_one_another
from pairity.pairs.arrays import batches, distinct_rows, sums_at
from pairity.pairs.repeats import Repeats, few_are_distinct
from pairity.runtime.resources import run_in_ranges
from pairity.solvers._primal_loops import (
    add_outer_products,
    add_squares,
    join_diagonal,
    scale_to_ones,
    times_rows,
)

#: Parameters up to which second derivatives are factored; beyond, conjugate gradients.
MOST_FACTORED = 2000
#: Squares of the number of sparse features, in units of the number of rows, up to which piecewise
#: linear losses, which take a hundred factorisations, are for Newton's method.
_SQUARES_PER_ROW = 40.0
#: Entries of dense rows that are weighted at a time.
_ENTRIES_AT_A_TIME = 4_000_000
#: Rows that one range of work covers; ranges whose sums are added up apart, numbers in all of them
#: together, and rows of one at least.
_ROWS_PER_RANGE, _MOST_RANGES, _MOST_NUMBERS, _LEAST_ROWS = 100_000, 8, 32_000_000, 5000
#: Rows from which on equal ones are looked for, and the share of distinct ones that makes it pay.
_ROWS_TO_GROUP, _SHARE_TO_GROUP = 10_000, 0.5
#: Rows of a sample that tells whether there are equal ones.
_ROWS_TO_TRY = 4000
#: What is added to a scaled matrix that rounding made indefinite, at first and at most.
_LEAST_ADDED, _MOST_ADDED = 1e-15, 1e-3
#: Conjugate gradients: steps at most.
_MOST_STEPS = 500
#: Sparse rows that are not there.
_NO_ENTRIES = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)


def takes_factorisations(n_rows: int, n_parameters: int) -> bool:
    """Whether a hundred factorisations take no longer than other ways of few sparse rows."""
    return n_parameters <= MOST_FACTORED and n_parameters**2 <= _SQUARES_PER_ROW * n_rows


@dataclass(frozen=True, eq=False)
class Design:
    """Rows of features, shape (n, r), with a last column of ones where there is a bias."""

    rows: Any
    has_bias: bool

    @cached_property
    def n_parameters(self) -> int:
        """Number of features, and 1 for a bias."""
        return int(self.rows.shape[1]) + int(self.has_bias)

    @cached_property
    def penalty(self) -> Vector:
        """1 for each feature, 0 for a bias."""
        penalty = np.ones(self.n_parameters)
        penalty[self.rows.shape[1] :] = 0.0
        return penalty

    @cached_property
    def is_sparse(self) -> bool:
        """Whether the rows are in CSR form."""
        return bool(sp.issparse(self.rows))

    @cached_property
    def entries(self) -> tuple[Any, Any, Any]:
        """Where sparse rows begin, their columns and their values."""
        return self.rows.indptr, self.rows.indices, self.rows.data

    @property
    def all_rows(self) -> tuple[Any, Any, Any, Any]:
        """The same with the ones of a bias, and no columns; of dense rows columns alone."""
        rows = self.rows
        if self.is_sparse:
            if self.has_bias:
                rows = beside_one_another([rows, np.ones((rows.shape[0], 1))])
            return rows.indptr, rows.indices, rows.data, np.empty((0, 0))
        columns = np.ones((self.n_parameters, rows.shape[0]))
        columns[: rows.shape[1]] = rows.T
        return *_NO_ENTRIES, columns

    @property
    def n_products(self) -> float:
        """Products of two entries of a row, over all rows."""
        n_entries = self.rows.nnz if self.is_sparse else self.rows.size
        return float(n_entries) ** 2 / max(1, self.rows.shape[0])

    def times(self, parameters: Vector, most: int | None = None) -> Vector:
        """Decisions, shape (n,), or those of so many rows at most."""
        plain = parameters[:-1] if self.has_bias else parameters
        if not self.is_sparse:
            decisions: Vector = self.rows[:most] @ plain
        else:
            n_rows = self.rows.shape[0]
            decisions = np.empty(n_rows if most is None else min(most, n_rows))
            given = *self.entries, np.ascontiguousarray(plain)

            def some(start: int, stop: int) -> None:
                times_rows(*given, start, stop, decisions)

            run_in_ranges(some, len(decisions), _ROWS_PER_RANGE)
        return decisions + parameters[-1] if self.has_bias else decisions

    def transposed(self, theta: Vector) -> Vector:
        """``sum_i theta_i z_i``, shape (r,)."""
        if self.is_sparse:
            (gathered,) = self._summed(add_rows, theta, (self.rows.shape[1],))
        else:
            gathered = np.asarray(theta @ self.rows)
        return np.append(gathered, theta.sum()) if self.has_bias else gathered

    def _summed(
        self, add: Callable[..., None], weights: Vector, *shapes: tuple[int, ...]
    ) -> list[Any]:
        """``add`` over sparse rows with their weights, into sums of some shapes.

        Those of ranges that do not depend on the number of threads are added up in one order.
        """
        n_rows, size = self.rows.shape[0], sum(map(math.prod, shapes))
        n_ranges = max(1, min(_MOST_RANGES, _MOST_NUMBERS // max(1, size), n_rows // _LEAST_ROWS))
        entries = *self.entries, weights
        if n_ranges == 1:
            totals = [np.zeros(shape) for shape in shapes]
            add(*entries, 0, n_rows, *totals)
            return totals
        step = -(-n_rows // n_ranges)
        parts = [np.zeros((n_ranges, *shape)) for shape in shapes]

        def some(start: int, stop: int) -> None:
            add(*entries, start, stop, *(part[start // step] for part in parts))

        run_in_ranges(some, n_rows, step)
        return [part.sum(axis=0) for part in parts]

    def scales(self) -> Vector:
        """Root mean squares of the columns, 1 for those of zeros."""
        squares = self.squares(np.ones(self.rows.shape[0]))[: self.rows.shape[1]]
        roots = np.sqrt(squares / max(1, self.rows.shape[0]))
        return np.where(roots > 0.0, roots, 1.0)

    def squares(self, weights: Vector) -> Vector:
        """``sum_i weights_i z_ij^2`` for all parameters j."""
        if self.is_sparse:
            total = np.zeros(self.rows.shape[1])
            add_squares(*self.entries, weights, total)
        else:
            total = np.einsum("ij,ij,i->j", self.rows, self.rows, weights)
        return np.append(total, weights.sum()) if self.has_bias else total

    def curvature(self, weights: Vector) -> NDArray[np.float64]:
        """``sum_i weights_i z_i z_i'``, of which the lower triangle counts."""
        width = self.rows.shape[1]
        if self.is_sparse:
            diagonal, inner = self._summed(add_outer_products, weights, (width,), (width, width))
            join_diagonal(diagonal, inner)
        else:
            inner = self._dense_curvature(weights)
        if not self.has_bias:
            return inner.T
        total = np.zeros((width + 1, width + 1))
        total[:-1, :-1] = inner
        total[:, -1] = self.transposed(weights)
        return total.T

    def _dense_curvature(self, weights: Vector) -> NDArray[np.float64]:
        """Rows without weight are left out: of the hinge those are most."""
        every = np.count_nonzero(weights) == len(weights)
        if every and self.rows.size <= _ENTRIES_AT_A_TIME:
            return np.asarray((self.rows * weights[:, np.newaxis]).T @ self.rows)
        width, used = self.rows.shape[1], np.flatnonzero(weights)
        inner = np.zeros((width, width))
        for part in batches(len(used), _ENTRIES_AT_A_TIME // max(1, width)):
            some = self.rows[part] if every else self.rows[used[part]]
            inner += (some * weights[part if every else used[part], np.newaxis]).T @ some
        return inner

    def solver(self, weights: Vector, tol: float) -> Callable[[Vector], Vector]:
        """``(penalty + sum_i weights_i z_i z_i')^-1`` as a function, columns brought to one scale."""
        if self.n_parameters > MOST_FACTORED:
            return lambda right: self._conjugate_gradients(right, weights, tol)
        return _scaled_inverse(self.curvature(weights), self.penalty)

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
    if not len(penalty):  # no features at all
        return lambda right: right
    scale, scaled = np.empty(len(penalty)), np.empty(matrix.shape, order="F")
    added = 0.0
    while True:
        scale_to_ones(matrix, penalty, added, scale, scaled)
        # LAPACK itself: for a dozen features the checks around it take longer than the work
        factor, failed = dpotrf(scaled, lower=True, clean=False, overwrite_a=True)
        if not failed:
            break
        if added >= _MOST_ADDED:
            raise LinAlgError("second derivatives are not positive definite")
        added = max(_LEAST_ADDED, 10.0 * added)
    return lambda right: scale * dpotrs(factor, scale * right, lower=True)[0]


# Equal rows -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Grouped(Repeats):
    """Each distinct row once: ``z_i = signs_i z[inverse_i]``, with losses of summed weights."""

    rows: Any
    loss: Any


def grouped(rows: Any, loss: Any, *, with_signs: bool) -> Grouped | None:
    """Rows of equal features (up to the sign) and equal losses together; None if they are few.

    Rows are compared by two random projections: two different ones agree in both with a chance of
    1 in 10^30.
    """
    n_rows, weights = rows.shape[0], loss.weights
    if n_rows < _ROWS_TO_GROUP or not (weights > 0.0).all():
        return None
    tried = min(n_rows, _ROWS_TO_TRY)
    some = Design(rows[np.linspace(0, n_rows - 1, tried).astype(np.intp)], has_bias=False)
    random = np.random.default_rng(0).normal(size=(2, rows.shape[1])) / some.scales()
    keys = some.times(random[0])
    if not _many_are_equal(np.abs(keys) if with_signs else keys, n_rows):
        return None
    keys = Design(rows, has_bias=False).times(random[0])
    signs = np.where(keys < 0.0, -1.0, 1.0) if with_signs else np.ones(n_rows)
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
    return Grouped(inverse, signs, weights / total[inverse], len(chosen), kept, of_groups)


def _many_are_equal(keys: Vector, n_rows: int) -> bool:
    """Whether few enough of the rows are distinct, judged by the keys of some of them."""
    n_distinct = 1 + int(np.count_nonzero(np.diff(np.sort(keys))))
    return few_are_distinct(n_distinct, len(keys), n_rows, _SHARE_TO_GROUP)
