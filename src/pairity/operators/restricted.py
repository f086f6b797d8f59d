"""Some of the pairs of an operator: one set of Gram matrices and decompositions serves all folds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.memory import Budget
from pairity.operators.base import KernelOperator
from pairity.operators.blockwise import Blockwise
from pairity.operators.spectral import SpectralGrid, TensorStructure
from pairity.operators.whole import whole_matrix
from pairity.pairs import Pairs

__all__ = ["Resident", "Restricted", "beside", "in_memory"]

#: Pairs up to which a costly matrix is held as a whole, and its share of the memory allowed; that
#: of a matrix that is evaluated anew for every product otherwise.
_MOST_RESIDENT, _RESIDENT_SHARE, _BLOCKWISE_SHARE = 12_000, 0.125, 0.5
#: Rows that are copied at a time.
_ROWS_AT_A_TIME = 512


class _Made:
    """An operator made from another one, whose kernel and tensor form it has."""

    def __init__(self, operator: KernelOperator) -> None:
        self._operator = operator

    @property
    def kernel(self) -> Kernel:
        """The kernel it was made from."""
        return self._operator.kernel

    @property
    def object_megabytes(self) -> float:
        """What products through objects take."""
        return self._operator.object_megabytes

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form on all objects, if there is one."""
        return self._operator.structure

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """The tensor form on all objects, diagonalised once."""
        return self._operator.spectral_grid


class Resident(_Made):
    """An operator whose whole matrix is held in memory, in single precision if told so.

    Products are summed in double precision either way.
    """

    #: Whether it is worth its memory: it has been taken to be.
    is_costly = True

    def __init__(self, operator: KernelOperator, dtype: type[np.floating] = np.float64) -> None:
        super().__init__(operator)
        self.left: Pairs = operator.left
        self.shape = operator.shape
        self._matrix: NDArray[np.floating] = whole_matrix(operator, dtype)

    @property
    def megabytes(self) -> float:
        """What the matrix takes."""
        return self._matrix.nbytes / 1e6

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""
        return self._matrix[index].astype(np.float64, copy=False)

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of the product, in extended precision."""
        return self._operator.precise_product(rows, vector)

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
            if out is not None:
                return self._gathered(rows, columns, out)
            found = self._matrix[np.ix_(rows, columns)]
        if out is None:
            return found.astype(np.float64, copy=False)
        out[...] = found
        return out

    def _gathered(
        self, rows: NDArray[np.intp], columns: NDArray[np.intp], out: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """The same into ``out``, some rows at a time."""
        for start in range(0, len(rows), _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            out[part] = self._matrix[rows[part, np.newaxis], columns]
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector."""
        used = np.flatnonzero(vector)
        if 2 * len(used) < len(vector):
            return self._sum_of_rows(used, vector)
        if self._matrix.dtype == np.float64:
            return self._matrix @ vector
        parts = np.split(self._matrix, range(_ROWS_AT_A_TIME, len(self._matrix), _ROWS_AT_A_TIME))
        return np.concatenate([part.astype(np.float64) @ vector for part in parts])

    def _sum_of_rows(
        self, used: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Rows times the entries of a vector that is zero elsewhere, some at a time."""
        total = np.zeros(len(vector))
        for start in range(0, len(used), _ROWS_AT_A_TIME):
            part = used[start : start + _ROWS_AT_A_TIME]
            total += vector[part] @ self.rows(part)
        return total

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return self._matrix.diagonal().astype(np.float64, copy=False)


def in_memory(operator: KernelOperator, budget: Budget) -> KernelOperator:
    """The operator, or its matrix where products are costly and the matrix is small."""
    n = operator.shape[0]
    share = _BLOCKWISE_SHARE if isinstance(operator, Blockwise) else _RESIDENT_SHARE
    small = n <= _MOST_RESIDENT and budget.share(share).holds(n, n)
    if small and operator.is_costly and not isinstance(operator, Resident | Restricted):
        return Resident(operator)
    return operator


def beside(operator: KernelOperator, budget: Budget) -> Budget:
    """What is left for a solver beside a matrix in memory."""
    return budget.without(operator.megabytes) if isinstance(operator, Resident) else budget


class Restricted(_Made):
    """An operator on some of its pairs, in the order of ``chosen``."""

    def __init__(self, operator: KernelOperator, chosen: NDArray[np.intp]) -> None:
        super().__init__(operator)
        self._chosen = chosen
        self.left: Pairs = operator.left[chosen]
        self.shape = len(chosen), len(chosen)
        self.is_costly = operator.is_costly

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

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of the product, in extended precision."""
        return self._operator.precise_product(self._chosen[rows], self._spread(vector))

    def everywhere(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values at all pairs of the operator of coefficients of these pairs."""
        return self._operator.product(self._spread(vector))

    def _spread(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        spread = np.zeros(self._operator.shape[1])
        spread[self._chosen] = vector
        return spread

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return self._operator.diagonal()[self._chosen]
