"""Ridge regression on some of the pairs as a basis: what a kernel is worth on held-out pairs.

All pairs are fitted; only the expansion is in ``r`` of them, the landmarks (a subset of
regressors).  One evaluation of a weighted sum of kernels takes ``n r^2`` operations a fold,
whatever the kernels are.  Matrices may be in single precision: sums over rows are formed in
double precision, some rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from pairity.model_selection.held_out import shared_weights
from pairity.model_selection.scoring import Criterion
from pairity.runtime.resources import get_thread_count, run_together

Vector = NDArray[np.float64]
Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

#: Shifts tried, for kernels with a mean diagonal of 1.
_SHIFTS = (1e-2, 1e-1, 1.0, 1e1, 1e2)
#: What is added to the diagonal of the normal equations, relative to its mean.
_ROUNDING = 1e-7
#: Rows of a matrix that are copied at a time.
_ROWS_AT_A_TIME = 256


@dataclass(frozen=True, eq=False)
class _FoldModel:
    """Coefficients of the landmarks, fitted to the training rows of a fold."""

    split: Split
    coefficients: Vector


@dataclass(frozen=True, eq=False)
class Evaluation:
    """How good a sum of kernels is on held-out pairs."""

    weights: Vector
    loss: float  # mean over held-out rows
    losses: Vector  # of each held-out row
    models: list[_FoldModel]


class LandmarkRidge:
    """Kernel matrices between all pairs and the landmarks, and folds to judge their sums on."""

    def __init__(
        self,
        matrices: Sequence[Vector],
        landmarks: Rows,
        targets: Vector,
        weights: Vector,
        splits: Sequence[Split],
        criterion: Criterion,
        *,
        has_bias: bool,
    ) -> None:
        self.matrices, self.landmarks = list(matrices), landmarks
        self.targets, self.weights = targets, weights
        self.splits, self.criterion, self.has_bias = list(splits), criterion, has_bias

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
        inside = total[self.landmarks].astype(np.float64)

        def follow(split: Split) -> tuple[Vector, list[_FoldModel]]:
            train, test = split
            fits = self._fits(total, train, inside)
            table = np.column_stack([coefficients for coefficients, _ in fits])
            biases = np.array([bias for _, bias in fits])
            decisions = _times(total, test, table).T + biases[:, np.newaxis]
            return decisions, [_FoldModel(split, coefficients) for coefficients, _ in fits]

        threads = min(get_thread_count(), len(self.splits))
        found = run_together(follow, self.splits, threads)
        decisions = np.hstack([part for part, _ in found])
        models = [[fold[which] for _, fold in found] for which in range(len(_SHIFTS))]
        judged = [self.judge(row) for row in decisions]
        best = int(np.argmin([loss for loss, _ in judged]))
        return Evaluation(weights, *judged[best], models[best])

    def contributions(self, evaluation: Evaluation) -> Vector:
        """Share of each kernel in the held-out decisions, shape (kernels, held-out rows)."""
        parts = np.zeros((len(self.matrices), len(self.held)))
        for kernel, (weight, matrix) in enumerate(
            zip(evaluation.weights, self.matrices, strict=True)
        ):
            if weight > 0.0:
                parts[kernel] = weight * np.concatenate(
                    [self._share(matrix, model) for model in evaluation.models]
                )
        return parts

    def _share(self, matrix: Vector, model: _FoldModel) -> Vector:
        train, test = model.split
        values = _times(matrix, test, model.coefficients)
        if not self.has_bias:
            return values
        middle = _mean_row(matrix, train, self.weights[train])
        return values - float(middle @ model.coefficients)

    def scales(self, evaluation: Evaluation) -> Vector:
        """By how much the share of each kernel should be stretched on held-out pairs."""
        parts = self.contributions(evaluation)
        return self.criterion.scales(parts, self.targets[self.held], self._held_weights)

    def _weighted_sum(self, weights: Vector) -> Vector:
        total = np.zeros_like(self.matrices[0])
        for weight, matrix in zip(weights, self.matrices, strict=True):
            if weight > 0.0:
                for part in _parts(len(total)):
                    total[part] += total.dtype.type(weight) * matrix[part]
        return total

    def _fits(self, matrix: Vector, train: Rows, inside: Vector) -> list[tuple[Vector, float]]:
        """Coefficients and bias for each shift: ``(A' W A + shift K_rr) c = A' W y``."""
        targets, weights = self.targets[train], self.weights[train]
        middle, target = np.zeros(matrix.shape[1]), 0.0
        if self.has_bias:
            middle = _mean_row(matrix, train, weights)
            target = float(np.average(targets, weights=weights))
            targets = targets - target
        square, right = np.zeros((len(middle), len(middle))), np.zeros(len(middle))
        for part in _parts(len(train)):
            rows = matrix[train[part]].astype(np.float64, copy=False) - middle
            weighted = (rows * weights[part, np.newaxis]).T
            square += weighted @ rows
            right += weighted @ targets[part]
        found = []
        for shift in _SHIFTS:
            coefficients = _solve(square + shift * inside, right)
            found.append((coefficients, target - float(middle @ coefficients)))
        return found


def _parts(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, _ROWS_AT_A_TIME):
        yield slice(start, start + _ROWS_AT_A_TIME)


def _times(matrix: Vector, chosen: Rows, right: Vector) -> Vector:
    """Chosen rows of a matrix times vectors."""
    products = [
        matrix[chosen[part]].astype(np.float64, copy=False) @ right for part in _parts(len(chosen))
    ]
    return np.concatenate(products) if products else np.zeros((0, *right.shape[1:]))


def _mean_row(matrix: Vector, chosen: Rows, weights: Vector) -> Vector:
    """Weighted mean of chosen rows."""
    total = np.zeros(matrix.shape[1])
    for part in _parts(len(chosen)):
        total += weights[part] @ matrix[chosen[part]].astype(np.float64, copy=False)
    return total / float(weights.sum())


def _solve(matrix: Vector, right: Vector) -> Vector:
    size = max(float(np.trace(matrix)) / len(matrix), 1e-300)
    for rounding in (_ROUNDING, 1e3 * _ROUNDING):
        shifted = matrix.copy()
        shifted[np.diag_indices(len(matrix))] += rounding * size
        try:
            factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        return np.asarray(cho_solve(factor, right, check_finite=False))
    return np.zeros_like(right)
