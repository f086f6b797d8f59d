"""The tensor kernels diagonalised on the grid of all pairs of objects.

On coefficient matrices S with ``S' = +-S`` the kernel ``w/2 (k1(a,c) k1(b,d) +- k1(a,d) k1(b,c))``
acts as ``S -> w K S K``.  With ``K = U diag(lam) U'`` its inverse shifted by rho is closed form:
``U [(U' R U) / (w lam_i lam_j + rho)] U'``, four matrix products.

Where all pairs of some objects are there, each once, linear systems are in closed form: the grid of
all ordered pairs is diagonal in that basis, with entries ``d_ij = w lam_i lam_j + 2 shift``.

* Odd (tournaments): the pairs a < b are the whole grid of skew matrices, so the inverse is exact.
* Even: the grid also has the cells (a, a), which were not observed.  Multipliers z on these m
  cells hold them at zero: ``G z = -diag(S(Y))``, ``G_ab = sum_ij U_ai U_aj U_bi U_bj / d_ij``.

Sums with ``1/d_ij`` in the middle need few matrix products, because the table ``1/d_ij`` has a low
numerical rank: ``1/d_ij = sum_k s_k Q_ki Q_kj`` gives ``v'(1/d)v = sum_k s_k (Q_k v)^2``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from pairity.operators._operator_loops import divide_by_shifted, divide_with_constraint
from pairity.operators.terms import TermTable
from pairity.pairs.arrays import Matrix, Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered_keys
from pairity.runtime.resources import run_in_ranges

#: Difference of the two weights of a tensor kernel, relative to them, that is rounding.
_NEGLIGIBLE = 1e-12
#: Ranges of rows that a product on the grid is cut into, and rows of each at least.
_RANGES, _LEAST_ROWS = 6, 32
#: Terms of ``1/d`` smaller than this, relative to the largest, are rounding.
_NEGLIGIBLE_VALUE = 1e-17


@dataclass(frozen=True)
class TensorStructure:
    """``weight/2 (A_ac A_bd +- A_ad A_bc)``, the only kernels that the grid diagonalises."""

    gram: NDArray[np.float64]
    weight: float
    parity: Parity


def tensor_structure(terms: TermTable | None) -> TensorStructure | None:
    """Recognise a tensor kernel (even) or determinant kernel (odd) of one object kernel."""
    if terms is None or len(terms.weights) != 2 or len(terms.grams) != 1:
        return None
    straight = terms.by_edges.get((0, -1, -1, 0))
    crossed = terms.by_edges.get((-1, 0, 0, -1))
    if straight is None or crossed is None or straight <= 0:
        return None
    if abs(abs(straight) - abs(crossed)) > _NEGLIGIBLE * straight:
        return None
    parity = Parity.EVEN if crossed > 0 else Parity.ODD
    return TensorStructure(terms.grams[0], 2.0 * straight, parity)


class SpectralGrid:
    """``S -> w K S K`` and ``(w K . K + rho)^-1`` on m x m matrices of one parity."""

    def __init__(self, structure: TensorStructure) -> None:
        self.gram = structure.gram
        self.weight = structure.weight
        self.parity = structure.parity
        values, vectors = np.linalg.eigh(structure.gram)
        self.eigenvalues = np.maximum(values, 0.0)
        self.vectors = np.ascontiguousarray(vectors)
        self._sign = np.float32(structure.parity.sign)  # of either precision
        self._converted: dict[tuple[str, np.dtype], NDArray[np.floating]] = {}

    def typical_eigenvalue(self) -> float:
        """Geometric mean of a middle and the largest eigenvalue of the pair kernel."""
        middle, largest = float(np.median(self.eigenvalues)), float(self.eigenvalues[-1])
        return self.weight * max(middle, 1e-6 * largest) * largest

    def solve(
        self, right: NDArray[np.floating], rho: float, *, constrained: bool = False
    ) -> NDArray[np.floating]:
        """``(w K . K + rho)^-1 right``, in the precision of ``right``.

        ``constrained`` adds the condition ``sum(S) = 0``, by a rank-one correction whose
        multiplier is the bias.
        """
        vectors = self._in_precision("vectors", right.dtype)
        inside = self._turned(vectors.T, right)
        if constrained:
            ones = vectors.sum(axis=0)
            divide_with_constraint(inside, self.eigenvalues, ones, self.weight, rho)
        else:
            divide_by_shifted(inside, self.eigenvalues, self.weight, rho)
        return self._turned(vectors, inside)

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.floating]:
        """``w K S K``, in the precision of ``matrix``."""
        gram = self._in_precision("gram", matrix.dtype)
        return matrix.dtype.type(self.weight) * self._turned(gram, matrix)

    def _turned(
        self, left: NDArray[np.floating], matrix: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """``L S L'``, which has the parity of S: one triangle is computed, some rows at a time."""
        out = np.empty_like(matrix)

        def multiply(start: int, stop: int) -> None:
            np.matmul(left[start:stop] @ matrix, left[start:].T, out=out[start:stop, start:])

        step = max(_LEAST_ROWS, -(-len(out) // _RANGES))
        run_in_ranges(multiply, len(out), step)
        for start in range(step, len(out), step):
            rows = slice(start, start + step)
            np.multiply(out[:start, rows].T, self._sign, out=out[rows, :start])
        return out

    def _in_precision(self, name: str, dtype: np.dtype) -> NDArray[np.floating]:
        matrix: NDArray[np.floating] = getattr(self, name)
        if matrix.dtype == dtype:
            return matrix
        return self._converted.setdefault((name, dtype), matrix.astype(dtype))


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
