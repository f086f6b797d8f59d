"""A kernel bent by a quadratic penalty on the values at some pairs, as a dense matrix.

Adding ``1/2 f' M f`` over all pairs A (labelled or not) to the norm of f turns the kernel K into

    K~(x, z) = K(x, z) - K(x, A) (I + M K_AA)^-1 M K(A, z)

(Sindhwani, Niyogi and Belkin 2005), so that machines on the labelled pairs need nothing new.  A
function ``sum_L theta_i K~(x, i)`` is ``sum_A c_i K(x, i)`` with ``c = theta - (I + M K)^-1 M K_AL
theta``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.base import KernelOperator
from pairity.operators.whole import make_symmetric, whole_matrix
from pairity.pairs import Pairs

__all__ = ["DeformedOperator"]


class DeformedOperator:
    """``K~`` between the chosen pairs of an operator, penalised by M over all of its pairs."""

    #: There is no tensor form.
    structure = None
    spectral_grid = None
    #: Its matrix is held already.
    is_costly = False
    object_megabytes = 0.0

    def __init__(self, operator: KernelOperator, penalty: Any, chosen: NDArray[np.intp]) -> None:
        self._operator, self._chosen = operator, chosen
        self.kernel: Kernel = operator.kernel
        self.left: Pairs = operator.left[chosen]
        gram = whole_matrix(operator)
        smoothed = np.asarray(penalty @ gram)
        size = float(np.abs(smoothed).max(initial=0.0))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", scipy.linalg.LinAlgWarning)
                self._correction = _correction(smoothed, chosen)
        except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            raise ValueError(
                f"got a penalty times {self.kernel!r} of size {size:.1e}, beside which the kernel is"
                " lost in rounding; expected a smaller one: lower manifold, or divide the features by"
                " a common factor."
            ) from None
        self.gram = gram[np.ix_(chosen, chosen)] - gram[chosen] @ self._correction
        make_symmetric(self.gram)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of chosen pairs, twice."""
        return len(self._chosen), len(self._chosen)

    def coefficients(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of the plain kernel at all pairs, for ``theta`` at the chosen ones."""
        plain = -(self._correction @ theta)
        plain[self._chosen] += theta
        return plain

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some rows."""
        return self.gram[index]

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """Entries of some rows and columns, into ``out``."""
        part = self.gram[rows][:, columns]
        if out is None:
            return part
        out[...] = part
        return out

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """Matrix times vector."""
        return self.gram @ vector

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of the product, through the plain kernel at all pairs."""
        return self._operator.precise_product(self._chosen[rows], self.coefficients(vector))

    def diagonal(self) -> NDArray[np.float64]:
        """The diagonal."""
        return self.gram.diagonal().copy()


def _correction(smoothed: NDArray[np.float64], chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    """``(I + M K)^-1 M K_AL`` from ``M K``, which it overwrites: the transposed matrix is factored.

    LAPACK takes columns, so that a matrix stored by rows would be copied otherwise.
    """
    right = np.asfortranarray(smoothed[:, chosen])
    smoothed[np.diag_indices(len(smoothed))] += 1.0
    factor = scipy.linalg.lu_factor(smoothed.T, overwrite_a=True, check_finite=False)
    found: NDArray[np.float64] = scipy.linalg.lu_solve(
        factor, right, trans=1, overwrite_b=True, check_finite=False
    )
    return found
