"""What solvers ask of a kernel matrix between pairs, however it is stored."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.spectral import SpectralGrid, TensorStructure
from pairity.pairs import Pairs

__all__ = ["KernelOperator"]


class KernelOperator(Protocol):
    """A symmetric positive semidefinite matrix over pairs."""

    @property
    def kernel(self) -> Kernel:
        """The kernel it was made from."""

    @property
    def left(self) -> Pairs:
        """The pairs."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    def is_costly(self) -> bool:
        """Whether products cost so much that a whole matrix is worth its memory."""

    @property
    def object_megabytes(self) -> float:
        """What products through objects take."""

    @property
    def structure(self) -> TensorStructure | None:
        """Its tensor form, if it has one."""

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """The tensor form diagonalised."""

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Entries of some rows and columns."""

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector."""

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of matrix times vector, from the features, in extended precision."""

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
