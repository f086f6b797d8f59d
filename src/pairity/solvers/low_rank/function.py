"""A fitted low-rank function of pairs: ``f(a, b) = phi_a' W phi_b`` and linear terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.pairs.arrays import batches, distinct_rows
from pairity.pairs.data import ObjectTable, Pairs
from pairity.pairs.parity import Orientation, Parity, impose
from pairity.runtime.resources import UNLIMITED, Budget, run_in_ranges
from pairity.solvers.low_rank._pass_loops import dot_given
from pairity.solvers.low_rank.design import Design, Images, Vector
from pairity.solvers.low_rank.form import FeatureMap, Form, group_columns, read_form

#: Entries of feature tables that are held at a time.
_TABLE_ENTRIES = 40_000_000
#: Share of the memory for them, and tables of that size: features, images, and what they are from.
_TABLE_SHARE, _TABLES = 0.5, 4.0
_PAIRS_PER_RANGE = 16_384
#: Objects for each pair up to which features of a whole table are worth their time.
_OBJECTS_PER_PAIR = 4


@dataclass(frozen=True)
class LowRankModel:
    """Parameters of the blocks that a kernel's projection consists of.

    ``kernel`` is the order-invariant kernel before its projection, with all its parameters known;
    ``bases`` turn its explicit features into those of the model (None for sparse ones).
    """

    kernel: Kernel
    parity: Parity
    bases: tuple[NDArray[np.float64] | None, ...]
    parameters: Vector
    n_symmetric: int = 0
    n_antisymmetric: int = 0
    with_bias: bool = True

    @cached_property
    def form(self) -> Form:
        """Blocks of the model."""
        widths = self.n_symmetric, self.n_antisymmetric
        return read_form(self.kernel, self.parity, *widths, with_bias=self.with_bias)

    @property
    def bias(self) -> float:
        """Added to every decision; exactly 0 in the antisymmetric case."""
        return float(self.parameters[-1]) if self.form.has_bias else 0.0

    def decisions(self, pairs: Pairs, budget: Budget = UNLIMITED) -> Vector:
        """Values of the function, shape (n,)."""
        if not len(pairs):
            return np.zeros(0)
        at_a_time = self._objects_at_a_time(budget)
        if pairs.n_objects <= min(_OBJECTS_PER_PAIR * len(pairs), at_a_time):
            return self._whole_table(pairs.objects).decide(pairs)
        slices = batches(len(pairs), at_a_time // 2)
        parts = (pairs[part].without_unused_objects() for part in slices)
        return np.concatenate([self._scores(part.objects).decide(part) for part in parts])

    def _objects_at_a_time(self, budget: Budget) -> int:
        """Objects whose features are held; the same for pairs and for swapped pairs."""
        widths = [basis.shape[1] for basis in self.bases if basis is not None]
        fitting = budget.share(_TABLE_SHARE).columns(max(1, sum(widths)), copies=_TABLES)
        return int(max(2, min(_TABLE_ENTRIES // max(1, *widths, 1), fitting)))

    def _whole_table(self, objects: ObjectTable) -> ObjectScores:
        """Features of a table of objects, kept for the next pairs of the same objects."""
        last = self.__dict__.get("_last")
        if last is None or not _same_table(last[0], objects):
            # a copy: the table is the user's, who may change it in place
            last = objects.copy(), self._scores(objects)
            object.__setattr__(self, "_last", last)
        return last[1]

    def _scores(self, objects: ObjectTable) -> ObjectScores:
        distinct = distinct_rows(objects)  # equal objects are one
        maps = map(FeatureMap, self.form.kernels, self.bases)
        tables = tuple(learned(objects[distinct.representative]) for learned in maps)
        n_group = len(self.parameters) - Design(self.form, tables, 0).layout.size
        design = Design(self.form, tables, n_group)
        return ObjectScores(design, design.images(self.parameters, np.float64), distinct.inverse)

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def _same_table(one: ObjectTable, two: ObjectTable) -> bool:
    if sp.issparse(one) or sp.issparse(two):
        parts = ("shape", "indptr", "indices", "data")
        return (sp.issparse(one) and sp.issparse(two)) and all(
            np.array_equal(getattr(one, name), getattr(two, name)) for name in parts
        )
    return np.array_equal(one, two)


@dataclass(frozen=True)
class ObjectScores:
    """A model on a table of objects: their features and images, made once for many pairs."""

    design: Design
    images: Images
    place: NDArray[np.intp]  # of each object among the distinct ones

    def decide(self, pairs: Pairs) -> Vector:
        """Values for pairs of these objects."""
        form, parity, images = self.design.form, self.design.form.parity, self.images
        first, second = self.place[pairs.first], self.place[pairs.second]
        order = Orientation.of(first, second, pairs.antisymmetric)
        pairs = pairs.with_swapped(order.turned)
        first, second = np.where(order.turned, (second, first), (first, second))
        value = impose(parity, self._side(first, second), self._side(second, first))
        columns = group_columns(form, pairs)
        if columns.shape[1]:
            mirrored = group_columns(form, pairs.swap())
            value += impose(parity, columns @ images.group, mirrored @ images.group)
        return order.restored(parity, value) + images.bias

    def _side(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Vector:
        values, form, tables = np.zeros(len(first)), self.design.form, self.design.tables

        def add_products(start: int, stop: int) -> None:
            for term, image in zip(form.bilinear, self.images.matrices, strict=True):
                if image is not None:
                    dot_given(image, tables[term.table], first, second, start, stop, values)

        run_in_ranges(add_products, len(first), _PAIRS_PER_RANGE)
        strength = self.images.strength
        if strength is not None:
            values += strength[first] + form.parity.sign * strength[second]
        return values
