"""Some of the pairs of an operator: one set of Gram matrices and decompositions serves all folds."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymv, ssymv

from pairity.operators.blockwise import ANEW_SHARE, FEW_PAIRS, Blockwise, is_held
from pairity.operators.operator import KernelOperator, Rows, whole_matrix
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget, run_in_ranges

if TYPE_CHECKING:
    from pairity.operators.explicit_rows import ExplicitFeatures

#: Share of the memory allowed for a costly matrix that is held as a whole.
_RESIDENT_SHARE = 0.125
#: Rows that are copied at a time, of those in single precision that are turned into doubles, and of
#: those of which some columns are kept; rows that one range of work covers.
_ROWS_AT_A_TIME, _ROWS_TO_WIDEN, _ROWS_TO_GATHER, _ROWS_PER_RANGE = 512, 64, 64, 256


def _of_operator(name: str) -> Any:
    """A property: that of the operator inside."""
    return property(lambda self: getattr(self._operator, name))


class _Made(KernelOperator):
    """An operator made from another one, whose kernel and tensor form it has."""

    def __init__(self, operator: KernelOperator, pairs: Pairs) -> None:
        super().__init__(operator.kernel, pairs)
        self._operator = operator

    object_megabytes, structure = _of_operator("object_megabytes"), _of_operator("structure")
    spectral_grid, features = _of_operator("spectral_grid"), _of_operator("features")
    grid_structure = _of_operator("grid_structure")

    def principal_features(
        self, n_features: int, rows: Rows = slice(None)
    ) -> NDArray[np.float32] | None:
        return self._operator.principal_features(n_features, rows)


class Resident(_Made):
    """An operator whose whole matrix is held in memory, in single precision if told so.

    Products are summed in double precision either way.
    """

    #: Whether it is worth its memory: it has been taken to be.
    is_costly = True

    def __init__(self, operator: KernelOperator, dtype: type[np.floating] = np.float64) -> None:
        super().__init__(operator, operator.left)
        self._matrix: NDArray[np.floating] = whole_matrix(operator, dtype)

    @property
    def megabytes(self) -> float:
        """What the matrix takes."""
        return self._matrix.nbytes / 1e6

    def principal_features(
        self, n_features: int, rows: Rows = slice(None)
    ) -> NDArray[np.float32] | None:
        """None where eigenvectors of many objects take longer than rows of the matrix."""
        if self.left.n_objects > len(self.left):
            return None
        return super().principal_features(n_features, rows)

    def precise_product(self, rows: Places, vector: Vector) -> NDArray[np.longdouble]:
        """Some entries of the product, in extended precision."""
        return self._operator.precise_product(rows, vector)

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Entries of some rows and columns; gathered into ``out`` some rows at a time."""
        if isinstance(rows, slice) or isinstance(columns, slice):
            part = self._matrix[rows][:, columns]
        elif out is None:
            part = self._matrix[np.ix_(rows, columns)]
        else:
            for some in batches(len(rows), _ROWS_TO_GATHER):
                out[some] = self._matrix[rows[some]].take(columns, axis=1)
            return out
        if out is None:
            return part.astype(np.float64, copy=False)
        out[...] = part
        return out

    def square(self, index: Places, out: NDArray[Any]) -> None:
        """The entries between some rows and the same columns, equal on both sides as they are."""

        def fill(start: int, stop: int) -> None:
            self.block(index[start:stop], index, out[start:stop])

        run_in_ranges(fill, len(index), _ROWS_PER_RANGE)

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector; of a vector that is mostly zero, the rows of the others alone."""
        used = np.flatnonzero(vector)
        if 2 * len(used) < len(vector):
            total, wide = np.zeros(len(vector)), self._matrix.dtype == np.float64
            for part in batches(len(used), _ROWS_AT_A_TIME if wide else _ROWS_TO_WIDEN):
                total += vector[used[part]] @ self.rows(used[part])
            return total
        if self._matrix.dtype == np.float64:
            return np.asarray(dsymv(1.0, self._matrix.T, vector, lower=1))
        parts = batches(len(self._matrix), _ROWS_TO_WIDEN)
        products = (self._matrix[part].astype(np.float64) @ vector for part in parts)
        return np.concatenate([np.zeros(0), *products])

    def diagonal(self) -> Vector:
        """The diagonal."""
        return self._matrix.diagonal().astype(np.float64, copy=False)


def in_memory(operator: KernelOperator, budget: Budget, *, often: bool = True) -> KernelOperator:
    """The operator, or its matrix where products are costly and the matrix is small.

    Cheap entries are held for products that are asked for ``often``.
    """
    n = operator.shape[0]
    share = ANEW_SHARE if isinstance(operator, Blockwise) else _RESIDENT_SHARE
    if is_held(n, budget, share) and _is_worth_holding(operator, often=often):
        return Resident(operator)
    return operator


def _is_worth_holding(operator: KernelOperator, *, often: bool) -> bool:
    """Whether products cost so much that a matrix pays, and there is none yet."""
    costly = operator.is_costly and (often or not operator.entries_are_cheap)
    return costly and not isinstance(operator, Resident | Restricted)


def has_few_parameters(operator: KernelOperator) -> bool:
    """Whether a kernel has features that make easier unknowns than dual variables."""
    features = operator.features
    return features is not None and features.are_fewer_than_pairs


def held_if_few(operator: KernelOperator, budget: Budget) -> KernelOperator:
    """The operator with its matrix in memory, where that is small.

    A solver asks for all of it in any case, and the products of a certificate then cost nothing.
    """
    n = operator.shape[0]
    few = n <= FEW_PAIRS and budget.share(_RESIDENT_SHARE).holds(n, n)
    return Resident(operator) if few else operator


def held_for_products(
    operator: KernelOperator, budget: Budget, *, often: bool = True
) -> KernelOperator:
    """The same for many rough products: in single precision where double precision is too large."""
    held, n = in_memory(operator, budget, often=often), operator.shape[0]
    if held is not operator or not _is_worth_holding(operator, often=often):
        return held
    fits = budget.share(ANEW_SHARE).holds(n, n, itemsize=4)
    return HeldRoughly(operator) if fits else operator


def beside(operator: KernelOperator, budget: Budget) -> Budget:
    """What is left for a solver beside a matrix in memory."""
    held = operator.megabytes if isinstance(operator, Resident | HeldRoughly) else 0.0
    return budget.without(held)


class Restricted(_Made):
    """An operator on some of its pairs, in the order of ``chosen``."""

    def __init__(self, operator: KernelOperator, chosen: Places) -> None:
        super().__init__(operator, operator.left[chosen])
        self._chosen = chosen
        self.is_costly = operator.is_costly

    @cached_property
    def features(self) -> ExplicitFeatures | None:
        """Those of the chosen pairs."""
        from pairity.operators.explicit_rows import SomeFeatures

        whole = self._operator.features
        return None if whole is None else SomeFeatures(whole, self._chosen)

    def principal_features(
        self, n_features: int, rows: Rows = slice(None)
    ) -> NDArray[np.float32] | None:
        """Those of the chosen pairs."""
        return self._operator.principal_features(n_features, self._chosen[rows])

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Entries of some rows and columns."""
        return self._operator.block(self._chosen[rows], self._chosen[columns], out)

    @property
    def has_rough_products(self) -> bool:  # type: ignore[override]
        """Whether those of all pairs are quicker."""
        return self._operator.has_rough_products

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector, in less than double precision where that is quicker."""
        return self._operator.rough_product(self._spread(vector))[self._chosen]

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector."""
        return self.everywhere(vector)[self._chosen]

    def precise_product(self, rows: Places, vector: Vector) -> NDArray[np.longdouble]:
        """Some entries of the product, in extended precision."""
        return self._operator.precise_product(self._chosen[rows], self._spread(vector))

    def everywhere(self, vector: Vector) -> Vector:
        """Values at all pairs of the operator of coefficients of these pairs."""
        return self._operator.product(self._spread(vector))

    def _spread(self, vector: Vector) -> Vector:
        spread = np.zeros(self._operator.shape[1])
        spread[self._chosen] = vector
        return spread

    def diagonal(self) -> Vector:
        """The diagonal."""
        return self._operator.diagonal()[self._chosen]


class Copied(Restricted):
    """An operator on some of its pairs with a matrix of their own, in single precision.

    Rough products then take no rows and columns of other pairs; features that precondition systems
    are kept.
    """

    has_rough_products = True

    def __init__(self, operator: KernelOperator, chosen: Places) -> None:
        super().__init__(operator, chosen)
        self.known_features = {}
        self._matrix = np.empty((len(chosen), len(chosen)), dtype=np.float32)
        operator.square(chosen, self._matrix)

    def rough_product(self, vector: Vector) -> Vector:
        """Matrix times vector, in single precision."""
        return ssymv(1.0, self._matrix.T, vector.astype(np.float32), lower=1).astype(np.float64)


class HeldRoughly(Copied):
    """An operator whose whole matrix is held in single precision, for rough products alone."""

    def __init__(self, operator: KernelOperator) -> None:
        super().__init__(operator, np.arange(operator.shape[0]))

    @property
    def megabytes(self) -> float:
        """What the matrix takes."""
        return self._matrix.nbytes / 1e6
