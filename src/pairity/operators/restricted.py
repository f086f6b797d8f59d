"""Some of the pairs of an operator: one set of Gram matrices and decompositions serves all folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.base import KernelOperator
from pairity.operators.spectral import SpectralGrid, TensorStructure
from pairity.operators.whole import whole_matrix
from pairity.pairs import Pairs

__all__ = ["Resident", "Restricted", "in_memory"]

#: Pairs up to which a costly matrix is held as a whole, and its share of the memory allowed.
_MOST_RESIDENT, _RESIDENT_SHARE = 12_000, 0.25


class Resident:
    """An operator whose whole matrix is held in memory."""

    def __init__(self, operator: KernelOperator) -> None:
        self._operator = operator
        self._matrix = whole_matrix(operator)

    @property
    def kernel(self) -> Kernel:
        """The kernel it was made from."""
        return self._operator.kernel

    @property
    def left(self) -> Pairs:
        """The pairs."""
        return self._operator.left

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self._operator.shape

    @property
    def is_costly(self) -> bool:
        """Whether it is worth its memory: it has been taken to be."""
        return True

    @property
    def structure(self) -> TensorStructure | None:
        """Its tensor form, if it has one."""
        return self._operator.structure

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """The tensor form diagonalised."""
        return self._operator.spectral_grid

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""
        return self._matrix[index]

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Entries of some rows and columns."""
        if isinstance(rows, slice) or isinstance(columns, slice):
            found = self._matrix[rows][:, columns]
        else:
            found = self._matrix[np.ix_(rows, columns)]
        if out is None:
            return found
        out[...] = found
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector."""
        used = np.flatnonzero(vector)
        if 2 * len(used) < len(vector):
            return vector[used] @ self._matrix[used]
        return self._matrix @ vector

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return self._matrix.diagonal()


def in_memory(operator: KernelOperator, megabytes: float) -> KernelOperator:
    """The operator, or its matrix where products are costly and the matrix is small."""
    n = operator.shape[0]
    small = n <= _MOST_RESIDENT and 16e-6 * n * n <= _RESIDENT_SHARE * megabytes
    if small and operator.is_costly and not isinstance(operator, Resident | Restricted):
        return Resident(operator)
    return operator


class Restricted:
    """An operator on some of its pairs, in the order of ``chosen``."""

    def __init__(self, operator: KernelOperator, chosen: NDArray[np.intp]) -> None:
        self._operator, self._chosen = operator, chosen
        self.left = operator.left[chosen]

    @property
    def kernel(self) -> Kernel:
        """The kernel it was made from."""
        return self._operator.kernel

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self._chosen), len(self._chosen)

    @property
    def is_costly(self) -> bool:
        """That of the operator."""
        return self._operator.is_costly

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form on all objects, which these pairs are among."""
        return self._operator.structure

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """The tensor form on all objects, diagonalised once."""
        return self._operator.spectral_grid

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""
        return self.block(index, slice(None))

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Entries of some rows and columns."""
        return self._operator.block(self._chosen[rows], self._chosen[columns], out)

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector."""
        return self.everywhere(vector)[self._chosen]

    def everywhere(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at all pairs of the operator of coefficients of these pairs."""
        spread = np.zeros(self._operator.shape[1])
        spread[self._chosen] = vector
        return self._operator.product(spread)

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return self._operator.diagonal()[self._chosen]
