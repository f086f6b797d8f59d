"""What solvers ask of a kernel matrix between pairs, however it is stored.

Certificates rest on decision values in extended precision, by the formula of the kernel: solvers
work with Gram matrices in double precision, and a certificate from the same numbers would share
their rounding.  Features are lifted to ``np.longdouble`` (64 bits of significand on x86, 113 on most
others; where it is no more than a double, the formula is all that differs) before anything is
multiplied.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import BlockAtoms, PairedAtoms
from pairity.kernels.elementary import ObjectGrams
from pairity.operators.spectral import GridStructure, SpectralGrid, TensorStructure
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

if TYPE_CHECKING:
    from pairity.operators.explicit_rows import ExplicitFeatures

Rows: TypeAlias = Places | slice

#: Rows of a triangle that are evaluated at a time, at least and at most, and entries of these rows.
_LEAST_ROWS, _MOST_ROWS, _ENTRIES_AT_A_TIME, _LEAST_RANGES = 32, 256, 500_000, 4
#: Rows up to which a triangle takes one thread less time than two.
_ROWS_OF_ONE_THREAD = 400
#: Kernel values in extended precision held at a time.
_BLOCK_ENTRIES = 200_000


class KernelOperator:
    """A kernel matrix over pairs, symmetric and positive semidefinite where both sides are the same.

    Without more it is evaluated by the formula of the kernel.
    """

    #: Whether products cost so much that a whole matrix is worth its memory.
    is_costly: bool
    #: Whether entries are evaluated so quickly that a matrix in memory pays for many products alone.
    entries_are_cheap = False
    #: Whether :meth:`rough_product` is quicker than :meth:`product`.
    has_rough_products = False
    #: Whether it goes along chains of moments, so that systems are solved by their states.
    has_chains = False
    #: Tables of features by their width, where they are kept from one solve to the next.
    known_features: dict[int, Any] | None = None

    def __init__(self, kernel: Kernel, left: Pairs, right: Pairs | None = None) -> None:
        self.kernel, self.left = kernel, left
        self.right = left if right is None else right
        self.shape = len(left), len(self.right)

    @property
    def object_megabytes(self) -> float:
        """What products through objects take."""
        return 0.0

    @property
    def structure(self) -> TensorStructure | None:
        """Its tensor form, if it has one."""
        return None

    @property
    def grid_structure(self) -> GridStructure | None:
        """The form on the grid: few distinct group features or additive kernels may be in it."""
        return None

    @property
    def spectral_grid(self) -> SpectralGrid | None:
        """That form diagonalised, for one decomposition that serves every solve."""
        return None

    @property
    def features(self) -> ExplicitFeatures | None:
        """Rows Z with ``K = Z Z'``, where they are few and both sides are the same."""
        return None

    def principal_features(
        self, n_features: int, rows: Rows = slice(None)
    ) -> NDArray[np.float32] | None:
        """At most so many columns Z with ``Z Z'`` close to K, of some rows, where they are known."""
        return None

    def rows(self, index: Places) -> Matrix:
        """Rows ``K(left_i, .)`` for i in ``index``, shape (len(index), n_right)."""
        return self.block(index, slice(None))

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The entries of some rows and columns, shape (len(rows), len(columns)), into ``out``."""
        raise NotImplementedError

    def square(self, index: Places, out: NDArray[Any]) -> None:
        """The entries between some rows and the same columns, into ``out`` of any precision.

        Of a symmetric matrix one triangle is evaluated, some rows at a time on each core.
        """

        def fill(start: int, stop: int) -> None:
            part = np.empty((stop - start, len(index) - start), dtype=out.dtype)
            self.block(index[start:stop], index[start:], part)
            out[start:stop, start:] = part
            out[start:, start:stop] = part.T
            corner = out[start:stop, start:stop]
            corner[...] = (corner + corner.T) * out.dtype.type(0.5)

        fitting = min(_ENTRIES_AT_A_TIME // max(1, len(index)), -(-len(index) // _LEAST_RANGES))
        step = int(np.clip(fitting, _LEAST_ROWS, _MOST_ROWS))
        run_in_ranges(fill, len(index), step, alone=len(index) <= _ROWS_OF_ONE_THREAD)

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector, shape (n_left,)."""
        raise NotImplementedError

    def rough_product(self, vector: Vector) -> Vector:
        """The same, in less than double precision where that is quicker."""
        return self.product(vector)

    def precise_product(self, rows: Places, vector: Vector) -> NDArray[np.longdouble]:
        """Some entries of matrix times vector, from the features, in extended precision."""
        return precise_product(self.kernel, self.left[rows], self.right, vector)

    def diagonal(self) -> Vector:
        """``K(left_i, right_i)`` for all i."""
        return np.asarray(self.kernel.formula(PairedAtoms(self.left, self.right)))


def whole_matrix(operator: KernelOperator, dtype: type[np.floating] = np.float64) -> NDArray[Any]:
    """All entries in memory of their own, the same on both sides of the diagonal."""
    matrix = np.empty(operator.shape, dtype)
    operator.square(np.arange(len(matrix)), matrix)
    return matrix


def make_symmetric(matrix: NDArray[Any], step: int = 1024) -> None:
    """``(M + M') / 2`` in place, a square at a time."""
    for rows, columns in combinations_with_replacement(batches(len(matrix), step), 2):
        upper, lower = matrix[rows, columns], matrix[columns, rows]
        middle = (upper + lower.T) * matrix.dtype.type(0.5)
        upper[...], lower[...] = middle, middle.T


def precise_product(
    kernel: Kernel, left: Pairs, right: Pairs, weights: Vector
) -> NDArray[np.longdouble]:
    """``sum_j K(left_i, right_j) weights_j``, entry by entry, in extended precision."""
    used = np.flatnonzero(weights)
    right, weights = right[used], weights[used]
    left = _lifted(left)
    total = np.zeros(len(left), dtype=np.longdouble)
    for part in batches(len(right), _BLOCK_ENTRIES // max(1, len(left))):
        block = _lifted(right[part])
        gram = kernel.formula(BlockAtoms(left, block, ObjectGrams(left, block)))
        total += np.asarray(gram, dtype=np.longdouble) @ weights[part].astype(np.longdouble)
    return total


def _lifted(pairs: Pairs) -> Pairs:
    """The same pairs, of the objects in use, with features of extended precision."""
    pairs = pairs.without_unused_objects()
    tables: Any = (pairs.objects, pairs.symmetric, pairs.antisymmetric)
    return pairs.with_features(*(table.astype(np.longdouble) for table in tables))
