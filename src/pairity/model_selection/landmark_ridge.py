"""Ridge regression on some of the pairs as a basis: what a kernel is worth on held-out pairs.

All pairs are fitted; only the expansion is in ``r`` of them, the landmarks (a subset of
regressors).  One evaluation of a weighted sum of kernels takes ``n r^2`` operations for all folds
together, whatever the kernels are.  Matrices may be in single precision: sums over rows are formed in
double precision, some rows at a time.

Every kernel holds a matrix of pairs by landmarks.  Where these do not fit in double precision
they are held in single precision, and where that does not fit either there are fewer landmarks,
which a warning says: no kernel is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from pairity.exceptions import warn_the_caller
from pairity.kernels.algebra import Kernel
from pairity.model_selection.curves import Criterion
from pairity.model_selection.folds import Vector, shared_weights
from pairity.model_selection.splits import Rows, Split
from pairity.operators.pair_operator import PairOperator
from pairity.operators.tiles import tiles_of
from pairity.pairs.arrays import Mask, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget, get_thread_count, megabytes_of, run_together

#: Shifts tried, for kernels with a mean diagonal of 1.
SHIFTS = (1e-2, 1e-1, 1.0, 1e1, 1e2)
#: What is added to the diagonal of the normal equations, relative to its mean.
_ROUNDING = 1e-7
#: Rows of a matrix that are copied at a time.
_ROWS_AT_A_TIME = 1024
#: Pieces of rows beyond which their sums take more memory than time is worth.
_MOST_PIECES = 40
#: Share of the memory for the matrices; fewer landmarks than these say too little.
_SHARE, _FEWEST = 0.7, 25
#: Pairs whose kernel columns are evaluated together; through all objects where matrices between
#: these take no more megabytes than this.
_PAIRS_AT_A_TIME, _FEW_MEGABYTES = 2048, 40.0


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good a sum of kernels is on held-out pairs."""

    weights: Vector
    loss: float  # mean over held-out rows
    losses: Vector  # of each held-out row
    coefficients: list[Vector]  # of the landmarks, fitted to the training rows of each fold
    decisions: Vector  # about the held-out rows
    shift: int  # which of the shifts is best


@dataclass(frozen=True, eq=False)
class LandmarkRidge:
    """Kernel matrices between all pairs and the landmarks, and folds to judge their sums on."""

    matrices: Sequence[Vector]
    landmarks: Rows
    targets: Vector
    weights: Vector
    splits: Sequence[Split]
    criterion: Criterion
    _: KW_ONLY
    has_bias: bool

    @cached_property
    def held(self) -> Rows:
        """Held-out rows of all folds, one after the other."""
        return np.concatenate([test for _, test in self.splits])

    @cached_property
    def _held_weights(self) -> Vector:
        return np.concatenate(shared_weights(self.weights, [test for _, test in self.splits]))

    def judge(self, decisions: Vector) -> tuple[float, Vector]:
        """Mean loss, and the loss of each held-out row."""
        weights = self._held_weights
        losses = self.criterion.losses(decisions, self.targets[self.held], weights)
        return float(np.average(losses, weights=weights)), losses

    def evaluate(self, weights: Vector) -> Evaluation:
        """Fit on each fold for every shift; the best shift counts."""
        total = self._weighted_sum(weights)
        inside = total[self.landmarks].astype(np.float64).T  # symmetric, and in Fortran order
        sums_of_fold = self._sums_of_folds(total)

        def follow(fold: int) -> tuple[Vector, list[Vector]]:
            fits = self._fits(sums_of_fold(fold), inside)
            table = np.column_stack([coefficients for coefficients, _ in fits])
            biases = np.array([bias for _, bias in fits])
            decisions = _times(total, self.splits[fold][1], table).T + biases[:, np.newaxis]
            return decisions, [coefficients for coefficients, _ in fits]

        threads = min(get_thread_count(), len(self.splits))
        found = run_together(follow, range(len(self.splits)), threads)
        table = np.hstack([decisions for decisions, _ in found])
        judged = [self.judge(row) for row in table]
        best = int(np.argmin([loss for loss, _ in judged]))
        kept = [fold[best] for _, fold in found]
        return Evaluation(weights, *judged[best], kept, table[best], best)

    def fitted(self, weights: Vector, shift: float) -> tuple[Vector, float]:
        """Coefficients of the landmarks and bias, fitted to all rows."""
        total = self._weighted_sum(weights)
        inside = total[self.landmarks].astype(np.float64).T  # symmetric, and in Fortran order
        return self._fits(self._sums(total, np.arange(len(total))), inside, (shift,))[0]

    def _sums_of_folds(self, matrix: Vector) -> Callable[[int], Sums]:
        """What each fold needs, from sums over pieces that folds share unless there are too many."""
        if len(self._pieces) > _MOST_PIECES:
            return lambda fold: self._sums(matrix, self.splits[fold][0])
        sums = [(self._sums(matrix, rows), trained) for rows, trained in self._pieces]
        return lambda fold: sum_of([one for one, trained in sums if trained[fold]])

    @cached_property
    def _pieces(self) -> list[tuple[Rows, Mask]]:
        """Rows that the same folds train on, and which folds these are."""
        trained = np.zeros((len(self.targets), len(self.splits)), dtype=bool)
        for fold, (train, _) in enumerate(self.splits):
            trained[train, fold] = True
        kinds, kind = np.unique(np.packbits(trained, axis=1), axis=0, return_inverse=True)
        pieces = [np.flatnonzero(kind.reshape(-1) == number) for number in range(len(kinds))]
        return [(rows, trained[rows[0]]) for rows in pieces if trained[rows[0]].any()]

    def contributions(self, evaluation: Evaluation) -> Vector:
        """Share of each kernel in the held-out decisions, shape (kernels, held-out rows)."""
        parts = np.zeros((len(self.matrices), len(self.held)))
        for part, weight, matrix in zip(parts, evaluation.weights, self.matrices, strict=True):
            if weight > 0.0:
                folds = zip(self.splits, evaluation.coefficients, strict=True)
                part[:] = weight * np.concatenate([self._share(matrix, *fold) for fold in folds])
        return parts

    def _share(self, matrix: Vector, split: Split, coefficients: Vector) -> Vector:
        """Values at held-out rows, less their mean over training rows where there is a bias."""
        train, test = split
        values = _times(matrix, test, coefficients)
        if not self.has_bias:
            return values
        total, weights = np.zeros(matrix.shape[1]), self.weights[train]
        for part in batches(len(train), _ROWS_AT_A_TIME):
            total += weights[part] @ matrix[train[part]].astype(np.float64, copy=False)
        return values - float((total / float(weights.sum())) @ coefficients)

    def scales(self, evaluation: Evaluation) -> Vector:
        """By how much the share of each kernel should be stretched on held-out pairs."""
        parts = self.contributions(evaluation)
        return self.criterion.scales(parts, self.targets[self.held], self._held_weights)

    def _weighted_sum(self, weights: Vector) -> Vector:
        total = np.zeros_like(self.matrices[0])
        for weight, matrix in zip(weights, self.matrices, strict=True):
            if weight > 0.0:
                for part in batches(len(total), _ROWS_AT_A_TIME):
                    total[part] += total.dtype.type(weight) * matrix[part]
        return total

    def _sums(self, matrix: Vector, rows: Rows) -> Sums:
        """Sums over some rows, weighted."""
        width = matrix.shape[1]
        square, right, middle = np.zeros((width, width), order="F"), *np.zeros((2, width))
        for part in batches(len(rows), _ROWS_AT_A_TIME):
            some = rows[part]
            values, weights = matrix[some].astype(np.float64, copy=False), self.weights[some]
            root = values if (weights == 1.0).all() else values * np.sqrt(weights)[:, np.newaxis]
            # the upper triangle of A' W A; the transpose of rows in C order is in Fortran order
            square = dsyrk(1.0, root.T, beta=1.0, c=square, overwrite_c=1)
            right += (weights * self.targets[some]) @ values
            middle += weights @ values
        weights = self.weights[rows]
        target = float(weights @ self.targets[rows])
        return Sums(square, right, middle, float(weights.sum()), target)

    def _fits(
        self, sums: Sums, inside: Vector, shifts: Sequence[float] = SHIFTS
    ) -> list[tuple[Vector, float]]:
        """Coefficients and bias for each shift: ``(A' W A + shift K_rr) c = A' W y``."""
        square, right, middle, target = sums.square, sums.right, np.zeros(len(sums.right)), 0.0
        if self.has_bias:
            middle, target = sums.middle / sums.weight, sums.target / sums.weight
            square = square - sums.weight * np.outer(middle, middle)
            right = right - sums.target * middle
        found = []
        for shift in shifts:
            coefficients = _solve(square + shift * inside, right)
            found.append((coefficients, target - float(middle @ coefficients)))
        return found


class Sums(NamedTuple):
    """Weighted sums over rows: A' W A (upper triangle), A' W y, A' W 1, of weights, of targets."""

    square: Vector
    right: Vector
    middle: Vector
    weight: float
    target: float


def sum_of(pieces: Sequence[Sums]) -> Sums:
    """Sums over the rows of several pieces."""
    totals: Any = map(sum, zip(*pieces, strict=True))
    return Sums(*totals)


def _times(matrix: Vector, chosen: Rows, right: Vector) -> Vector:
    """Chosen rows of a matrix times vectors."""
    products = [
        matrix[chosen[part]].astype(np.float64, copy=False) @ right
        for part in batches(len(chosen), _ROWS_AT_A_TIME)
    ]
    return np.concatenate(products) if products else np.zeros((0, *right.shape[1:]))


def _solve(matrix: Vector, right: Vector) -> Vector:
    """Solve with the upper triangle of a matrix."""
    diagonal = np.diag_indices(len(matrix))
    size = max(float(np.trace(matrix)) / len(matrix), 1e-300)
    for rounding in (_ROUNDING, 1e3 * _ROUNDING):
        shifted = matrix.copy(order="F")
        shifted[diagonal] += rounding * size
        try:
            factor = cho_factor(shifted, lower=False, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return np.asarray(cho_solve(factor, right, check_finite=False))
    return np.zeros_like(right)


# Room -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Room:
    """Landmarks, the precision of their matrices, and whether several sets of matrices fit."""

    n_landmarks: int
    dtype: type[np.floating]
    several: bool


def plan_landmarks(n_pairs: int, n_families: int, wanted: int, budget: Budget) -> Room:
    """At most ``wanted`` landmarks of that many pairs, within the budget."""
    wanted = min(wanted, n_pairs)
    share = budget.share(_SHARE)
    matrices = n_families + 1.0  # and their sum
    if share.holds(n_pairs, wanted, copies=matrices):
        several = share.holds(n_pairs, wanted, copies=matrices + n_families)
        return Room(wanted, np.float64, several)
    fitting = int(share.columns(n_pairs, copies=matrices, itemsize=4))
    if fitting < min(_FEWEST, wanted):
        budget.refuse(
            f"trials of the automatic kernel on {n_pairs} pairs",
            megabytes_of(n_pairs, _FEWEST, copies=matrices, itemsize=4) / _SHARE,
            "fewer pairs, a larger memory_limit, or a kernel of your own in place of 'auto'",
        )
    if fitting < wanted:
        warn_the_caller(
            f"the automatic kernel was chosen with {fitting} of {wanted} landmark pairs to keep to"
            f" the memory limit of {budget.megabytes:.0f} MB: a larger memory_limit makes the choice"
            " surer."
        )
    return Room(min(wanted, fitting), np.float32, several=False)


def kernel_columns(
    kernel: Kernel, pairs: Pairs, basis: Pairs, factor: float, dtype: type[np.floating]
) -> NDArray[np.floating]:
    """``factor K(pair_i, basis_j)``, through few objects, or from rows of some pairs at a time.

    A sum for tiles is then evaluated by these, without Gram matrices of objects.
    """
    columns = np.empty((len(pairs), len(basis)), dtype)
    through_objects = PairOperator(kernel, pairs, basis)
    few = 0.0 < through_objects.object_megabytes <= _FEW_MEGABYTES
    for part in batches(len(pairs), _PAIRS_AT_A_TIME):
        if few:
            columns[part] = factor * through_objects.block(part, slice(None))
            continue
        some = pairs[part].without_unused_objects()
        operator: Any = tiles_of(kernel, some, basis) or PairOperator(kernel, some, basis)
        columns[part] = factor * operator.block(slice(None), slice(None))
    return columns
