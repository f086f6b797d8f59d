"""Linear systems of all pairs of some objects, each once, in closed form.

The grid of all ordered pairs (:mod:`pairity.operators.spectral`) is diagonal in the basis of the
eigenvectors of the objects, with entries ``d_ij = w lam_i lam_j + 2 shift``.

* Odd (tournaments): the pairs a < b are the whole grid of skew matrices, so the inverse is exact.
* Even: the grid also has the cells (a, a), which were not observed.  Multipliers z on these m
  cells hold them at zero: ``G z = -diag(S(Y))``, ``G_ab = sum_ij U_ai U_aj U_bi U_bj / d_ij``.

Sums with ``1/d_ij`` in the middle need few matrix products, because the table ``1/d_ij`` has a low
numerical rank: ``1/d_ij = sum_k s_k Q_ki Q_kj`` gives ``v'(1/d)v = sum_k s_k (Q_k v)^2``.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from pairity.operators.spectral import SpectralGrid
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered_keys

#: Terms of ``1/d`` smaller than this, relative to the largest, are rounding.
_NEGLIGIBLE_VALUE = 1e-17


def is_complete(pairs: Pairs) -> bool:
    """Whether every unordered pair of distinct objects is there exactly once, and none else."""
    m = pairs.n_objects
    if len(pairs) != m * (m - 1) // 2 or (pairs.first == pairs.second).any():
        return False
    return len(np.unique(unordered_keys(pairs.first, pairs.second, m))) == len(pairs)


class CompletePairs:
    """``(K_J + shift) theta = y`` for a complete set J and any shift, from one decomposition."""

    def __init__(self, grid: SpectralGrid, pairs: Pairs) -> None:
        self.grid, self.parity, self.pairs = grid, grid.parity, pairs

    def solve(self, right: Vector, shift: float) -> Vector:
        """``theta = 2 T_ab`` with ``w K T K + 2 shift T = Y``."""
        m, first, second = self.pairs.n_objects, self.pairs.first, self.pairs.second
        table = np.zeros((m, m))
        table[first, second] = right
        table[second, first] = self.parity.sign * right
        solution: Matrix = np.asarray(self.grid.solve(table, 2.0 * shift), dtype=np.float64)
        if self.parity is Parity.EVEN:
            factor = cho_factor(self._diagonal_cells(shift), lower=True)
            multipliers = cho_solve(factor, solution.diagonal())
            solution -= self.grid.solve(np.diag(multipliers), 2.0 * shift)
        return 2.0 * solution[first, second]

    def inverse_diagonal(self, shift: float) -> Vector:
        """Diagonal of ``(K_J + shift)^-1``."""
        squares = self.grid.vectors**2
        table = squares @ self._reciprocals(shift) @ squares.T
        if self.parity is Parity.ODD:
            table -= self._diagonal_cells(shift)
        else:
            table += self._diagonal_cells(shift)
            table -= 0.5 * self._held_at_zero(shift)
        return 2.0 * table[self.pairs.first, self.pairs.second]

    def _reciprocals(self, shift: float) -> Matrix:
        values = self.grid.eigenvalues
        return 1.0 / (self.grid.weight * np.outer(values, values) + 2.0 * shift)

    def _terms(self, shift: float) -> tuple[Vector, Matrix]:
        """``s_k`` and ``Q_k`` of the table of reciprocals."""
        sizes, vectors = np.linalg.eigh(self._reciprocals(shift))
        kept = np.abs(sizes) > _NEGLIGIBLE_VALUE * np.abs(sizes).max()
        return sizes[kept], vectors[:, kept].T

    def _diagonal_cells(self, shift: float) -> Matrix:
        """``G``: the inverse of the grid between cells (a, a) and (b, b)."""
        vectors = self.grid.vectors
        total = np.zeros_like(vectors)
        for size, weights in zip(*self._terms(shift), strict=True):
            total += size * ((vectors * weights) @ vectors.T) ** 2
        return total

    def _held_at_zero(self, shift: float) -> Matrix:
        """``g_ab' G^-1 g_ab`` with g_ab the inverse between (a, b) and the cells (c, c)."""
        vectors, m = self.grid.vectors, self.pairs.n_objects
        sizes, weights = self._terms(shift)
        factor = cho_factor(self._diagonal_cells(shift), lower=True)
        out = np.empty((m, m))
        for a in range(m):
            at_a = (vectors[a] * weights) @ vectors.T  # (k, c)
            core = ((sizes[:, np.newaxis] * at_a).T @ weights) * vectors  # (c, i)
            between = 2.0 * vectors @ core.T  # (b, c)
            out[a] = np.einsum("bc,cb->b", between, cho_solve(factor, between.T))
        return out
