"""A kernel in the span of some of its pairs: ``K(., L) K(L, L)^+ K(L, .)`` with landmark pairs L.

Validation of many pairs is rough, and products with a matrix of all of them take most of its time:
with as many features as landmarks every solver works on parameters (:mod:`pairity.solvers.primal`).
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pairity.operators.explicit_rows import ExplicitFeatures
from pairity.operators.modes import LandmarkModes
from pairity.operators.operator import KernelOperator, Rows
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.runtime.resources import megabytes_of


class LandmarkRows(ExplicitFeatures):
    """The features of landmarks, as rows Z with ``Z Z'`` in the place of the kernel matrix."""

    def __init__(self, operator: KernelOperator, landmarks: Places) -> None:
        self._modes = LandmarkModes(operator, landmarks)
        self.n_rows, self.n_columns = len(operator.left), len(landmarks)
        self.is_sparse, self.n_entries = False, float(len(landmarks))

    @cached_property
    def rows(self) -> Matrix:
        """Z, shape (n, landmarks)."""
        return self._modes.features


class Expanded(KernelOperator):
    """An operator in the span of landmarks among its pairs."""

    is_costly = False

    def __init__(self, operator: KernelOperator, landmarks: Places) -> None:
        super().__init__(operator.kernel, operator.left)
        self._rows = LandmarkRows(operator, landmarks)

    @property
    def features(self) -> LandmarkRows:
        """As many as there are landmarks."""
        return self._rows

    @property
    def object_megabytes(self) -> float:
        """What the features take; the operator is not asked again."""
        return megabytes_of(self._rows.n_rows, self._rows.n_columns)

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Inner products of features."""
        table = self._rows.rows
        return np.matmul(table[rows], table[columns].T, out=out)

    def product(self, vector: Vector) -> Vector:
        """``Z Z' vector``."""
        table = self._rows.rows
        return np.asarray(table @ (table.T @ vector))

    def diagonal(self) -> Vector:
        """Squares of the rows."""
        table = self._rows.rows
        return np.asarray(np.einsum("ij,ij->i", table, table))
