"""Few features of a kernel as a table over the pairs, and what they leave of the diagonal.

``K ~ Z Z' + diag(left)``: what systems with ``K + diag(shift)`` are preconditioned by, and what rough
starts solve for.  Products with the table are in single precision, on both cores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.operators.operator import KernelOperator
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.runtime.resources import Budget, run_in_ranges

#: Numbers of the table that one range of work covers.
_ENTRIES_PER_RANGE = 1_000_000


class FeatureModel(KernelOperator):
    """``Z Z' + diag(left)`` in the place of a kernel matrix."""

    is_costly = False

    def __init__(self, operator: KernelOperator, features: FeatureTable) -> None:
        super().__init__(operator.kernel, operator.left)
        self._features = features

    def product(self, vector: Vector) -> Vector:
        """The model times a vector, in single precision."""
        features = self._features
        return features.expand(features.reduce(vector)) + features.left * vector


@dataclass(frozen=True)
class FeatureTable:
    """Features Z of the pairs, shape (n, p), and ``K_ii - |z_i|^2``."""

    table: NDArray[np.float32]
    left: Vector

    @classmethod
    def of(
        cls,
        operator: KernelOperator,
        n_features: int,
        budget: Budget,
        diagonal: Vector | None = None,
    ) -> FeatureTable:
        """At most so many features of an operator's kernel, whose diagonal may be known already."""
        known = {} if operator.known_features is None else operator.known_features
        if n_features in known:
            return known[n_features]
        table = operator.principal_features(n_features)
        if table is None:
            from pairity.operators.modes import leading_modes  # few kernels need them

            table = leading_modes(operator, n_features, budget).table()
        carried = np.einsum("np,np->n", table, table)
        diagonal = operator.diagonal() if diagonal is None else diagonal
        return known.setdefault(n_features, cls(table, np.maximum(diagonal - carried, 0.0)))

    @property
    def n_modes(self) -> int:
        """How many features."""
        return self.table.shape[1]

    def take(self, rows: Places) -> FeatureTable:
        """Those of some pairs."""
        return FeatureTable(self.table[rows], self.left[rows])

    @property
    def _rows_per_range(self) -> int:
        return max(1, _ENTRIES_PER_RANGE // max(1, self.n_modes))

    def reduce(self, vector: Vector) -> Vector:
        """``Z' vector``."""
        step, narrow = self._rows_per_range, vector.astype(np.float32)
        parts = np.zeros((-(-len(narrow) // step), self.n_modes))

        def add(start: int, stop: int) -> None:
            parts[start // step] = narrow[start:stop] @ self.table[start:stop]

        run_in_ranges(add, len(narrow), step)
        return np.asarray(parts.sum(axis=0))

    def expand(self, weights: Vector) -> Vector:
        """``Z weights``."""
        narrow, out = weights.astype(np.float32), np.empty(len(self.table))

        def multiply(start: int, stop: int) -> None:
            out[start:stop] = self.table[start:stop] @ narrow

        run_in_ranges(multiply, len(out), self._rows_per_range)
        return out

    def gram(self, weights: Vector) -> Matrix:
        """``Z' diag(weights) Z``."""
        roots, step = np.sqrt(weights).astype(np.float32), self._rows_per_range
        parts = np.zeros((-(-len(roots) // step), self.n_modes, self.n_modes), dtype=np.float32)

        def square(start: int, stop: int) -> None:
            some = self.table[start:stop] * roots[start:stop, np.newaxis]
            parts[start // step] = some.T @ some

        run_in_ranges(square, len(roots), step)
        return parts.sum(axis=0, dtype=np.float64)
