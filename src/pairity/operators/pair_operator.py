"""A kernel between two sets of pairs, as something that yields rows and products.

What is quick is read off the structure that a kernel declares: products of object kernels in its
expansion, bilinear kernels ``K v = X P (Z' v)`` (37), kernels with an action of their own.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Expansion, Factor, dense_gram, expand
from pairity.kernels.elementary import ObjectGrams
from pairity.operators._operator_loops import dot_rows
from pairity.operators.group_features import are_powers
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.products import (
    CoefficientMatrix,
    Reduction,
    add_group_products,
    product_cost,
    products_are_cheaper,
    sample_pairs,
    supports_products,
    takes_all_columns,
)
from pairity.operators.spectral import (
    GridStructure,
    SpectralGrid,
    TensorStructure,
    grid_structure,
    metric_structure,
    tensor_structure,
)
from pairity.operators.terms import (
    TermGroup,
    add_opaque_product,
    compile_groups,
    crossed_block,
    gathered_block,
    gathered_product,
    gram_megabytes,
    metric_block,
    multiply_by_factors,
    rows_per_range,
)
from pairity.pairs.arrays import Matrix, Places, Vector, as_dense, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Entries of a block that are added up or evaluated at a time.
_ENTRIES_AT_A_TIME = 2_000_000
#: Pairs from which on products in single precision are worth Gram matrices of their own.
_MANY_PAIRS = 3000
#: Gathered entries that take as long as an entry of a matrix in memory, in a product.
_HELD_COST = 0.25
#: Sums over columns of group features that are held before they are added up.
_MOST_PARTS = 8

WeightedFactors = list[tuple[float, Factor]]


def _lone_factors(expansion: Expansion, role: str) -> WeightedFactors:
    """The terms of an expansion that is a sum of single factors of a role; none otherwise."""
    terms = [(weight, m.factors, any(m.edges)) for m, weight in expansion.terms.items()]
    if any(edges or [factor.role for factor in factors] != [role] for _, factors, edges in terms):
        return []
    return [(weight, factors[0]) for weight, factors, _ in terms]


def bilinear_product(terms: WeightedFactors, left: Pairs, right: Pairs, weights: Vector) -> Vector:
    """``sum_j K(left_i, right_j) weights_j`` of terms ``weight X_left P X_right'``, without K."""

    def rows(pairs: Pairs, swaps: set[bool]) -> dict[bool, Matrix]:
        return {swap: as_dense((pairs.swap() if swap else pairs).to_rows()) for swap in swaps}

    lefts = rows(left, {factor.left_swapped for _, factor in terms})
    rights = rows(right, {factor.right_swapped for _, factor in terms})
    total = np.zeros(len(left))
    for weight, factor in terms:
        matrix: Any = factor.kernel.bilinear_matrix
        direction = matrix @ (rights[factor.right_swapped].T @ weights)
        total += weight * (lefts[factor.left_swapped] @ direction)
    return total


class PairOperator(KernelOperator):
    """The matrix ``K(left_i, right_j)``, never stored as a whole.

    Rows are gathered from object Gram matrices where the kernel's expansion allows it, and
    evaluated by its formula otherwise.  The pairs of the columns are those of the rows by default.
    """

    #: Whether the kernel has few explicit features, and whether all work goes by them.
    is_explicit = goes_by_features = False

    def __init__(self, kernel: Kernel, left: Pairs, right: Pairs | None = None) -> None:
        super().__init__(kernel, left, right)
        self.grams = ObjectGrams(self.left, self.right)

    @property
    def _expansion(self) -> Expansion:
        return expand(self.kernel, self.left.n_symmetric, self.left.n_antisymmetric)

    @cached_property
    def _groups(self) -> list[TermGroup] | None:
        """Object Gram matrices and monomials; computed when first needed."""
        return compile_groups(self._expansion, self.grams, self.left, self.right)

    @cached_property
    def _bilinear(self) -> WeightedFactors:
        """Terms of a bilinear kernel (37), (38) and its projections."""
        terms = _lone_factors(self._expansion, "rows")
        declared = all(factor.kernel.bilinear_matrix is not None for _, factor in terms)
        return terms if declared else []

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form of the kernel, if it has one."""
        groups = self._groups
        if groups is None or len(groups) != 1 or groups[0].left is not None or groups[0].opaque:
            return None
        return tensor_structure(groups[0].table)

    @cached_property
    def grid_structure(self) -> GridStructure | None:
        """The form on the grid: few distinct group features or additive kernels may be in it."""
        if self.right is not self.left:
            return None
        if self.kernel.metric_of is not None:
            return metric_structure(self.grams[self.kernel.metric_of], self.left)
        return grid_structure(self._groups, self.left) if self._groups else None

    @cached_property
    def spectral_grid(self) -> SpectralGrid | None:
        """That form diagonalised, for one decomposition that serves every solve."""
        structure = self.grid_structure
        return None if structure is None else structure.diagonalised()

    def principal_features(
        self, n_features: int, rows: Rows = slice(None)
    ) -> NDArray[np.float32] | None:
        """Few features that carry most of the kernel, from eigenvectors of the objects."""
        from pairity.operators.principal import principal_features

        if self._groups is None or self.right is not self.left:
            return None
        return principal_features(self._groups, self.left, n_features, rows)

    @property
    def is_costly(self) -> bool:  # type: ignore[override]
        """Whether entries cost so much that a matrix in memory is worth it, where it fits."""
        groups = self._groups
        if groups is None:
            return not self._bilinear
        is_evaluated = any(group.opaque for group in groups)
        if is_evaluated or len(groups) == 1:
            return is_evaluated
        if not all(supports_products(group.table) for group in groups):
            return True
        costs = [group.n_columns * product_cost(group.table, *self.shape) for group in groups]
        return sum(costs) > _HELD_COST * self.shape[0] * self.shape[1]

    @property
    def has_many_group_features(self) -> bool:
        """Whether a product goes through objects once for each of many features of group kernels."""
        return not all(are_powers(monomial.factors) for monomial in self._expansion.terms)

    @property
    def evaluates_group_kernels(self) -> bool:
        """Whether kernels of group features are evaluated for every entry."""
        return any(group.opaque for group in self._groups or [])

    @property
    def object_megabytes(self) -> float:
        """What products through objects take."""
        known = self.__dict__.get("_groups")  # asking must not make them
        features = sum(group.megabytes for group in known or [])
        return gram_megabytes(self.kernel, self.left, self.right) + features

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """The entries of some rows and columns, shape (len(rows), len(columns)), into ``out``."""
        left, right = self.left[rows], self.right[columns]
        if out is None:
            out = np.empty((len(left), len(right)))
        step = _ENTRIES_AT_A_TIME // max(1, len(right))
        if self._groups is not None and len(self._groups) == 1 and self._groups[0].left is None:
            step = len(left)  # straight into ``out``
        chosen = np.arange(len(self.left))[rows]
        for part in batches(len(left), step):
            self._fill(out[part], left[part], right, chosen[part], columns)
        return out

    def _fill(
        self, out: NDArray[Any], left: Pairs, right: Pairs, rows: Places, columns: Rows
    ) -> None:
        """Entries of some rows; what is made on the way is as large as ``out``."""
        if self.kernel.metric_of is not None:
            metric_block(self.grams[self.kernel.metric_of], left, right, out)
            return
        if self._groups is None:
            out[...] = dense_gram(self.kernel, left, right, self.grams)
            return
        for number, group in enumerate(self._groups):
            target = out if number == 0 else np.empty_like(out)
            if group.crossed is not None:
                crossed_block(group, left, right, rows, columns, target)
            else:
                gathered_block(group.table, left, right, target)
            if group.left is not None and group.right is not None and group.crossed is None:
                target *= group.left[rows] @ group.right[columns].T
            elif group.opaque:
                multiply_by_factors(group.opaque, left, right, target)
            if number:
                out += target

    @property
    def has_rough_products(self) -> bool:  # type: ignore[override]
        """Whether single precision is quicker: through object Gram matrices, for many pairs."""
        known = self._groups is not None and not self.evaluates_group_kernels
        return known and len(self.left) >= _MANY_PAIRS

    @cached_property
    def _narrow_groups(self) -> list[TermGroup]:
        return [group.narrowed() for group in self._groups or []]

    def product(self, vector: Vector) -> Vector:
        """``K vector``, shape (n_left,)."""
        return self.products(vector)[0]

    def rough_product(self, vector: Vector) -> Vector:
        """The same in single precision, where that is quicker."""
        return self.products(vector, rough=self.has_rough_products)[0]

    def products(
        self, vector: Vector, *, mirrored: bool = False, rough: bool = False
    ) -> list[Vector]:
        """``K vector``, and with ``mirrored`` the same for the swapped left pairs as well."""
        used = np.flatnonzero(vector)
        lefts = [self.left, self.left.swap()] if mirrored else [self.left]
        if not len(used):
            return [np.zeros(len(left)) for left in lefts]
        right, weights = self.right[used], np.ascontiguousarray(vector[used])
        if self._groups is None:
            return self._products_as_a_whole(lefts, right, weights)
        totals = [np.zeros(len(left)) for left in lefts]
        for group in self._narrow_groups if rough else self._groups:
            self._add_group(group, used, right, weights, lefts, totals)
        return totals

    def _products_as_a_whole(
        self, lefts: list[Pairs], right: Pairs, weights: Vector
    ) -> list[Vector]:
        """Products of a kernel of whole rows, or of one that knows its pairs."""
        if self._bilinear:
            return [bilinear_product(self._bilinear, left, right, weights) for left in lefts]
        known = _lone_factors(self._expansion, "known")
        if len(known) == 1:
            weight, factor = known[0]
            products = factor.kernel.products(lefts, right, weights)
            if products is not None:
                return [weight * values for values in products]
        return [self._formula_product(left, right, weights) for left in lefts]

    def _add_group(
        self,
        group: TermGroup,
        used: Places,
        right: Pairs,
        weights: Vector,
        lefts: list[Pairs],
        totals: list[Vector],
    ) -> None:
        """Add ``sum_h left_h o table(right_h o weights)`` for each list of left pairs."""
        if group.opaque:
            for left, total in zip(lefts, totals, strict=True):
                add_opaque_product(group, left, right, weights, total)
            return
        if group.left is not None and takes_all_columns(group, len(used)):
            add_group_products(group, used, right, weights, lefts, totals)
            return
        if group.crossed is not None:
            right = right.with_mirrored()
        through_objects = products_are_cheaper(group.table, len(right), sum(map(len, lefts)))

        def values_of(column: int) -> list[Vector]:
            values = group.values(weights, used, column)
            if not through_objects:
                return [gathered_product(group.table, left, right, values) for left in lefts]
            dtype = group.table.grams.dtype
            coefficients = CoefficientMatrix(right, values, right.n_objects, dtype)
            return sample_pairs(Reduction(group.table, coefficients).sums, lefts)

        features = group.features_of(len(lefts))
        if features is None:
            for total, values in zip(totals, values_of(0), strict=True):
                total += values
            return
        # a few columns at a time on each core, added up in an order that threads cannot change
        step = -(-group.n_columns // _MOST_PARTS)
        parts = np.zeros((-(-group.n_columns // step), len(totals), len(totals[0])))

        def add(start: int, stop: int) -> None:
            for column in range(start, stop):
                for side, values in enumerate(values_of(column)):
                    parts[start // step, side] += values * features[side][:, column]

        run_in_ranges(add, group.n_columns, step)
        for part in parts:
            for total, values in zip(totals, part, strict=True):
                total += values

    def _formula_product(self, left: Pairs, right: Pairs, weights: Vector) -> Vector:
        out = np.zeros(len(left))

        def multiply(start: int, stop: int) -> None:
            block = dense_gram(self.kernel, left[start:stop], right, self.grams)
            dot_rows(out[start:stop], block, weights)

        run_in_ranges(multiply, len(left), rows_per_range(len(right)))
        return out
