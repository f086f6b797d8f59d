"""The whole matrix of an operator, for those who factor or hold it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.operators.base import KernelOperator

__all__ = ["make_symmetric", "whole_matrix"]


def whole_matrix(operator: KernelOperator) -> NDArray[np.float64]:
    """All entries in memory of their own, rounded alike on both sides of the diagonal."""
    matrix = np.empty(operator.shape)
    operator.block(slice(None), slice(None), matrix)
    make_symmetric(matrix)
    return matrix


def make_symmetric(matrix: NDArray[np.float64], step: int = 1024) -> None:
    """``(M + M') / 2`` in place, a square at a time."""
    for row in range(0, len(matrix), step):
        for column in range(row, len(matrix), step):
            upper = matrix[row : row + step, column : column + step]
            lower = matrix[column : column + step, row : row + step]
            middle = 0.5 * (upper + lower.T)
            upper[...] = middle
            lower[...] = middle.T
