"""The tensor kernels diagonalised on the grid of all pairs of objects.

On coefficient matrices S with ``S' = +-S`` the kernel ``w/2 (k1(a,c) k1(b,d) +- k1(a,d) k1(b,c))``
acts as ``S -> w K S K``.  With ``K = U diag(lam) U'`` its inverse shifted by rho is closed form:
``U [(U' R U) / (w lam_i lam_j + rho)] U'``, four matrix products.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pairity.operators._spectral_loops import divide_by_shifted, divide_with_constraint
from pairity.operators.terms import TermTable
from pairity.parity import Parity

__all__ = ["SpectralGrid", "TensorStructure", "tensor_structure"]

_NEGLIGIBLE = 1e-12


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
    patterns = {
        tuple(row): w for row, w in zip((terms.edge_gram >= 0).tolist(), terms.weights, strict=True)
    }
    straight = patterns.get((True, False, False, True))
    crossed = patterns.get((False, True, True, False))
    if straight is None or crossed is None or straight <= 0:
        return None
    if abs(abs(straight) - abs(crossed)) > _NEGLIGIBLE * straight:
        return None
    parity = Parity.EVEN if crossed > 0 else Parity.ODD
    return TensorStructure(terms.grams[0], 2.0 * float(straight), parity)


class SpectralGrid:
    """``S -> w K S K`` and ``(w K . K + rho)^-1`` on m x m matrices of one parity."""

    def __init__(self, structure: TensorStructure) -> None:
        self.gram = structure.gram
        self.weight = structure.weight
        self.parity = structure.parity
        values, vectors = np.linalg.eigh(structure.gram)
        self.eigenvalues = np.maximum(values, 0.0)
        self.vectors = np.ascontiguousarray(vectors)
        self._converted: dict[tuple[str, np.dtype], NDArray[np.floating]] = {}

    def typical_eigenvalue(self) -> float:
        """Geometric mean of a middle and the largest eigenvalue of the pair kernel."""
        middle = float(np.median(self.eigenvalues))
        return (
            self.weight
            * max(middle, 1e-6 * float(self.eigenvalues[-1]))
            * float(self.eigenvalues[-1])
        )

    def solve(
        self, right: NDArray[np.floating], rho: float, *, constrained: bool = False
    ) -> NDArray[np.floating]:
        """``(w K . K + rho)^-1 right``, in the precision of ``right``.

        ``constrained`` adds the condition ``sum(S) = 0``, by a rank-one correction whose
        multiplier is the bias.
        """
        vectors = self._in_precision("vectors", right.dtype)
        inside = vectors.T @ right @ vectors
        if constrained:
            ones = vectors.sum(axis=0)
            divide_with_constraint(inside, self.eigenvalues, ones, self.weight, rho)
        else:
            divide_by_shifted(inside, self.eigenvalues, self.weight, rho)
        return vectors @ inside @ vectors.T

    def apply(self, matrix: NDArray[np.floating]) -> NDArray[np.floating]:
        """``w K S K``, in the precision of ``matrix``."""
        gram = self._in_precision("gram", matrix.dtype)
        return matrix.dtype.type(self.weight) * (gram @ matrix @ gram)

    def _in_precision(self, name: str, dtype: np.dtype) -> NDArray[np.floating]:
        matrix: NDArray[np.floating] = getattr(self, name)
        if matrix.dtype == dtype:
            return matrix
        return self._converted.setdefault((name, dtype), matrix.astype(dtype))
