"""Operators of kernels with few explicit features: no Gram matrix of objects, however many there are."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators._feature_loops import row_squares
from pairity.operators.explicit_rows import (
    ExplicitFeatures,
    Tables,
    object_kernels,
    tables_of,
)
from pairity.operators.operator import Rows
from pairity.operators.pair_operator import PairOperator
from pairity.operators.spectral import GridStructure, TensorStructure
from pairity.operators.word_products import expand_words, reduce_words, reduce_words_precisely
from pairity.operators.words import Block
from pairity.pairs.arrays import Matrix, Places, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Entries of a Gram matrix of objects from which on it is not made where features will do.
_LARGE_GRAM = 4_000_000
#: Rows that one range of work covers.
_ROWS_PER_RANGE = 100_000
#: Pairs whose group features are in extended precision at a time.
_PRECISE_AT_A_TIME = 200_000


class ExplicitOperator(PairOperator):
    """A kernel of few explicit features.

    Products go by words (:mod:`pairity.operators.word_products`) where every word names one object
    at most, or two by an indicator, or where Gram matrices of objects would be large.
    """

    is_explicit = True

    def __init__(
        self, kernel: Kernel, left: Pairs, right: Pairs | None, form: tuple[Block, ...]
    ) -> None:
        super().__init__(kernel, left, right)
        self._form = form
        self._is_simple = all(block.is_direct for block in form)
        sides = self.left, self.right
        large = self.left.n_objects * self.right.n_objects > _LARGE_GRAM
        self._is_large = large or all(side.n_objects > len(side) for side in sides)

    @cached_property
    def _tables(self) -> list[Tables]:
        """Features of objects, of the left and of the right pairs."""
        sides = (self.left,) if self.right is self.left else (self.left, self.right)
        tables = tables_of(self._form, sides)
        assert tables is not None
        return [tables[0], tables[-1]]

    @cached_property
    def _sides(self) -> list[ExplicitFeatures]:
        """Rows of the left and of the right pairs."""
        left = ExplicitFeatures(self._form, self._tables[0])
        return [left, left if self.right is self.left else self._right_features]

    @property
    def _right_features(self) -> ExplicitFeatures:
        return ExplicitFeatures(self._form, self._tables[1])

    @property
    def left_rows(self) -> Any:
        """Rows of the left pairs, in the space of both sides."""
        return self._sides[0].rows

    @property
    def features(self) -> ExplicitFeatures | None:
        """Rows Z with ``K = Z Z'``."""
        if self.right is not self.left or not self._sides[0].are_few:
            return None
        return self._sides[0]

    @property
    def goes_by_features(self) -> bool:  # type: ignore[override]
        """Whether products go by words of one object at a time, and solvers by features."""
        return self._is_simple and not self._is_large and self.features is not None

    @property
    def structure(self) -> TensorStructure | None:
        """The tensor form, where two objects are in a product and their Gram matrix is not large."""
        return None if self._is_simple or self._is_large else super().structure

    @property
    def grid_structure(self) -> GridStructure | None:
        """The form on the grid: few distinct group features or additive kernels may be in it."""
        return None if self._is_simple or self._is_large else super().grid_structure

    @property
    def is_costly(self) -> bool:  # type: ignore[override]
        """Whether entries cost so much that a matrix in memory is worth it, where it fits."""
        return False if self._is_large else super().is_costly

    @property
    def evaluates_group_kernels(self) -> bool:
        """Never: they have features."""
        return False

    @property
    def object_megabytes(self) -> float:
        """What products through objects take, or features of the pairs."""
        if self._is_large:
            return sum(side.megabytes for side in {id(one): one for one in self._sides}.values())
        return super().object_megabytes

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """The entries of some rows and columns, shape (len(rows), len(columns)), into ``out``."""
        if not self._is_large:
            return super().block(rows, columns, out)
        left, right = self._sides[0].rows[rows], self._sides[1].rows[columns]
        product: Any = left @ right.T
        entries = product.toarray() if sp.issparse(product) else product
        if out is None:
            return np.asarray(entries)
        out[...] = entries
        return out

    @property
    def has_rough_products(self) -> bool:  # type: ignore[override]
        """Whether single precision is quicker: not through features."""
        return not (self._is_simple or self._is_large) and super().has_rough_products

    def products(
        self, vector: Vector, *, mirrored: bool = False, rough: bool = False
    ) -> list[Vector]:
        """``K vector``, and with ``mirrored`` the same for the swapped left pairs as well."""
        if not (self._is_simple or self._is_large):
            return super().products(vector, mirrored=mirrored, rough=rough)
        totals = [np.zeros(len(self.left)) for _ in range(2 if mirrored else 1)]
        if not (len(self.left) and vector.any()):
            return totals
        left, right = self._tables
        lefts = [left, replace(left, pairs=left.pairs.swap())] if mirrored else [left]
        for block in self._form:
            sums = block.weights @ reduce_words(block, right, vector)
            for total, side in zip(totals, lefts, strict=True):
                total += expand_words(block, side, sums)
        return totals

    def precise_product(self, rows: Places, vector: Vector) -> NDArray[np.longdouble]:
        """Some entries of matrix times vector, by words, in extended precision."""
        if not self._is_simple:
            return super().precise_product(rows, vector)
        used = np.flatnonzero(vector)
        total = np.zeros(len(rows), np.longdouble)
        if not len(used):
            return total
        every = len(used) == len(vector)
        columns, weights = (self.right, vector) if every else (self.right[used], vector[used])
        right, side = self._precise_tables(columns, rows)
        if side.pairs.n_symmetric or side.pairs.n_antisymmetric:
            side = replace(side, pairs=_with_lifted_groups(side.pairs))
        for block in self._form:
            sums = reduce_words_precisely(block, right, weights)
            if sums is None:
                sums = _reduced_in_parts(block, right, weights)
            total += expand_words(block, side, block.weights.astype(np.longdouble) @ sums)
        return total

    def _precise_tables(self, columns: Pairs, rows: Places) -> list[Tables]:
        """Features of some right and left pairs, lifted unless they are exact as they are."""
        if self._is_exact:
            left, right = self._tables
            return [replace(right, pairs=columns), replace(left, pairs=self.left[rows])]
        if columns is self.left:
            tables = tables_of(self._form, (_with_lifted_objects(columns),))
            assert tables is not None
            return [tables[0], replace(tables[0], pairs=tables[0].pairs[rows])]
        sides = map(_with_lifted_objects, (columns, self.left[rows]))
        tables = tables_of(self._form, tuple(sides))
        assert tables is not None
        return tables

    @property
    def _is_exact(self) -> bool:
        """Whether features of objects are indicators, or the numbers that were given."""
        kernels = [kernel for kernel in object_kernels(self._form) if not kernel.tells_apart]
        some = self.left.objects[:1] if kernels else None
        return all(kernel.explicit(some) is some for kernel in kernels)

    def diagonal(self) -> Vector:
        """``K(left_i, right_i)`` for all i."""
        features = self.features
        if features is None:
            return super().diagonal()
        rows: Any = features.rows
        if not features.is_sparse:
            return np.einsum("ij,ij->i", rows, rows)
        squares = np.empty(len(self.left))

        def some(start: int, stop: int) -> None:
            row_squares(rows.indptr, rows.indices, rows.data, start, stop, squares)

        run_in_ranges(some, len(squares), _ROWS_PER_RANGE)
        return squares


def _reduced_in_parts(block: Block, tables: Tables, vector: Vector) -> Any:
    """``T_u' vector`` for all words, with pairs in extended precision, some at a time."""
    total: Any = 0.0
    for part in batches(len(vector), _PRECISE_AT_A_TIME):
        some = replace(tables, pairs=_with_lifted_groups(tables.pairs[part]))
        total = total + reduce_words(block, some, vector[part].astype(np.longdouble))
    return total


def _with_lifted_objects(pairs: Pairs) -> Pairs:
    """The same pairs, of the objects in use, with features of objects in extended precision."""
    pairs = pairs.without_unused_objects()
    objects: Any = pairs.objects.astype(np.longdouble)
    return pairs.with_features(objects, pairs.symmetric, pairs.antisymmetric)


def _with_lifted_groups(pairs: Pairs) -> Pairs:
    """The same pairs with group features in extended precision."""
    tables: Any = (pairs.symmetric, pairs.antisymmetric)
    return pairs.with_features(pairs.objects, *(table.astype(np.longdouble) for table in tables))
