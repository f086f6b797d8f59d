"""The whole matrix of an operator, for those who factor or hold it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.operators.base import KernelOperator

__all__ = ["make_symmetric", "whole_matrix"]

#: Rows that are rounded at a time.
_ROWS_AT_A_TIME = 512


def whole_matrix(operator: KernelOperator, dtype: type[np.floating] = np.float64) -> NDArray[Any]:
    """All entries in memory of their own, rounded alike on both sides of the diagonal."""
    matrix = np.empty(operator.shape, dtype)
    if dtype is np.float64:
        operator.block(slice(None), slice(None), matrix)
    else:
        for start in range(0, len(matrix), _ROWS_AT_A_TIME):
            part = np.arange(start, min(start + _ROWS_AT_A_TIME, len(matrix)))
            matrix[part] = operator.rows(part)
    make_symmetric(matrix)
    return matrix


def make_symmetric(matrix: NDArray[Any], step: int = 1024) -> None:
    """``(M + M') / 2`` in place, a square at a time."""
    for row in range(0, len(matrix), step):
        for column in range(row, len(matrix), step):
            upper = matrix[row : row + step, column : column + step]
            lower = matrix[column : column + step, row : row + step]
            middle = (upper + lower.T) * matrix.dtype.type(0.5)
            upper[...] = middle
            lower[...] = middle.T
