"""A kernel between two sets of pairs, as something that yields rows and products."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import ObjectGrams, PairedAtoms, dense_gram
from pairity.kernels.expansion import expand
from pairity.operators._gather_loops import dot_rows
from pairity.operators.explicit import BilinearTerm, bilinear_product, bilinear_terms
from pairity.operators.gather import gathered_block, gathered_product, rows_per_range
from pairity.operators.known import KnownTerm, known_term
from pairity.operators.opaque import add_opaque_product, multiply_by_factors
from pairity.operators.precise import precise_product
from pairity.operators.products import (
    CoefficientMatrix,
    products_are_cheaper,
    sample_pairs,
    sum_over_pairs,
)
from pairity.operators.spectral import SpectralGrid, TensorStructure, tensor_structure
from pairity.operators.terms import TermGroup, compile_groups, gram_megabytes
from pairity.pairs import Pairs
from pairity.threads import run_in_ranges

__all__ = ["PairOperator"]

#: Entries of a block that are added up or evaluated at a time.
_ENTRIES_AT_A_TIME = 2_000_000


class PairOperator:
    """The matrix ``K(left_i, right_j)``, never stored as a whole.

    Rows are gathered from object Gram matrices where the kernel's expansion allows it, and
    evaluated by its formula otherwise.

    Parameters
    ----------
    kernel : Kernel
        Kernel of pairs.
    left : Pairs
        Pairs of the rows.
    right : Pairs, optional
        Pairs of the columns; the same as ``left`` by default.
    """

    def __init__(self, kernel: Kernel, left: Pairs, right: Pairs | None = None) -> None:
        self.kernel = kernel
        self.left = left
        self.right = left if right is None else right
        self.grams = ObjectGrams(self.left, self.right)

    @cached_property
    def _groups(self) -> list[TermGroup] | None:
        """Object Gram matrices and monomials; computed when first needed."""
        expansion = expand(self.kernel, self.left.n_symmetric, self.left.n_antisymmetric)
        return compile_groups(expansion, self.grams, self.left, self.right)

    @cached_property
    def _bilinear(self) -> list[BilinearTerm] | None:
        """Terms of a bilinear kernel (37), (38) and its projections."""
        return bilinear_terms(expand(self.kernel, self.left.n_symmetric, self.left.n_antisymmetric))

    @cached_property
    def _known(self) -> KnownTerm | None:
        """The kernel, if it is one that knows its pairs."""
        return known_term(expand(self.kernel, self.left.n_symmetric, self.left.n_antisymmetric))

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form of the kernel, if it has one."""
        groups = self._groups
        if groups is None or len(groups) != 1 or groups[0].left is not None or groups[0].opaque:
            return None
        return tensor_structure(groups[0].table)

    @cached_property
    def spectral_grid(self) -> SpectralGrid | None:
        """The tensor form diagonalised, for one decomposition that serves every solve."""
        structure = self.structure
        return None if structure is None else SpectralGrid(structure)

    @property
    def is_costly(self) -> bool:
        """Whether entries cost so much that a matrix in memory is worth it, where it fits."""
        groups = self._groups
        if groups is None:
            return self._bilinear is None
        return any(group.opaque for group in groups) or len(groups) > 1

    @property
    def object_megabytes(self) -> float:
        """What products through objects take."""
        return gram_megabytes(self.kernel, self.left, self.right)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of left and right pairs."""
        return len(self.left), len(self.right)

    def rows(self, index: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows ``K(left_i, .)`` for i in ``index``, shape (len(index), n_right)."""
        return self.block(index, slice(None))

    def block(
        self,
        rows: NDArray[np.intp] | slice,
        columns: NDArray[np.intp] | slice,
        out: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64]:
        """The entries of some rows and columns, shape (len(rows), len(columns)), into ``out``."""
        left, right = self.left[rows], self.right[columns]
        if out is None:
            out = np.empty((len(left), len(right)))
        step = max(1, _ENTRIES_AT_A_TIME // max(1, len(right)))
        if self._groups is not None and len(self._groups) == 1 and self._groups[0].left is None:
            step = max(1, len(left))  # straight into ``out``
        chosen = np.arange(len(self.left))[rows]
        for start in range(0, len(left), step):
            part = slice(start, start + step)
            self._fill(out[part], left[part], right, chosen[part], columns)
        return out

    def _fill(
        self,
        out: NDArray[np.float64],
        left: Pairs,
        right: Pairs,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp] | slice,
    ) -> None:
        """Entries of some rows; what is made on the way is as large as ``out``."""
        if self._groups is None:
            out[...] = dense_gram(self.kernel, left, right, self.grams)
            return
        for place, group in enumerate(self._groups):
            target = out if place == 0 else np.empty_like(out)
            gathered_block(group.table, left, right, target)
            if group.left is not None and group.right is not None:
                target *= group.left[rows] @ group.right[columns].T
            elif group.opaque:
                multiply_by_factors(group.opaque, left, right, target)
            if place:
                out += target

    def product(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """``K vector``, shape (n_left,)."""
        return self.products(vector)[0]

    def products(
        self, vector: NDArray[np.float64], *, mirrored: bool = False
    ) -> list[NDArray[np.float64]]:
        """``K vector``, and with ``mirrored`` the same for the swapped left pairs as well."""
        used = np.flatnonzero(vector)
        lefts = [self.left, self.left.swap()] if mirrored else [self.left]
        if not len(used):
            return [np.zeros(len(left)) for left in lefts]
        right, weights = self.right[used], np.ascontiguousarray(vector[used])
        if self._groups is None:
            bilinear = self._bilinear
            if bilinear is not None:
                return [bilinear_product(bilinear, left, right, weights) for left in lefts]
            if self._known is not None:
                return self._known.products(lefts, right, weights)
            return [self._formula_product(left, right, weights) for left in lefts]
        totals = [np.zeros(len(left)) for left in lefts]
        for group in self._groups:
            self._add_group(group, used, right, weights, lefts, totals)
        return totals

    def _add_group(
        self,
        group: TermGroup,
        used: NDArray[np.intp],
        right: Pairs,
        weights: NDArray[np.float64],
        lefts: list[Pairs],
        totals: list[NDArray[np.float64]],
    ) -> None:
        """Add ``sum_h left_h o table(right_h o weights)`` for each list of left pairs."""
        if group.opaque:
            for left, total in zip(lefts, totals, strict=True):
                add_opaque_product(group, left, right, weights, total)
            return
        n_left = sum(map(len, lefts))
        through_objects = products_are_cheaper(group.table, len(used), n_left)
        for column in range(group.n_columns):
            values = weights
            if group.right is not None:
                values = weights * group.right[used, column]
            if through_objects:
                sums = sum_over_pairs(
                    group.table, CoefficientMatrix(right, values, right.n_objects)
                )
                parts = sample_pairs(sums, lefts)
            else:
                parts = [gathered_product(group.table, left, right, values) for left in lefts]
            for swapped, (total, part) in enumerate(zip(totals, parts, strict=True)):
                total += part if group.left is None else part * self._column(group, column, swapped)

    def _column(self, group: TermGroup, column: int, swapped: int) -> NDArray[np.float64]:
        """A column of group features, of the left pairs or of their swaps."""
        assert group.left is not None
        if not swapped:
            return group.left[:, column]
        return group.left[:, column] * group.swap_sign

    def _formula_product(
        self, left: Pairs, right: Pairs, weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.zeros(len(left))

        def multiply(start: int, stop: int) -> None:
            block = dense_gram(self.kernel, left[start:stop], right, self.grams)
            dot_rows(out[start:stop], block, weights)

        run_in_ranges(multiply, len(left), rows_per_range(len(right)))
        return out

    def precise_product(
        self, rows: NDArray[np.intp], vector: NDArray[np.float64]
    ) -> NDArray[np.longdouble]:
        """Some entries of the product, by the formula, in extended precision."""
        return precise_product(self.kernel, self.left[rows], self.right, vector)

    def diagonal(self) -> NDArray[np.float64]:
        """``K(left_i, right_i)`` for all i."""
        return np.asarray(self.kernel.formula(PairedAtoms(self.left, self.right)))
