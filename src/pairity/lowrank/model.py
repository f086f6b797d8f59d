"""A fitted low-rank function of pairs: ``f(a, b) = phi_a' W phi_b`` and linear terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.distinct import distinct_rows
from pairity.kernels.algebra import Kernel
from pairity.lowrank._loops import dot_given
from pairity.lowrank.design import Design, Images, Layout, Vector
from pairity.lowrank.features import FeatureMap, Table
from pairity.lowrank.form import Form, group_columns, read_form
from pairity.memory import UNLIMITED, Budget
from pairity.orientation import Orientation
from pairity.pairs import ObjectTable, Pairs
from pairity.parity import Parity, impose
from pairity.threads import run_in_ranges

__all__ = ["LowRankModel"]

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
        return read_form(
            self.kernel,
            self.parity,
            self.n_symmetric,
            self.n_antisymmetric,
            with_bias=self.with_bias,
        )

    @cached_property
    def maps(self) -> tuple[FeatureMap, ...]:
        """Feature maps of the objects."""
        return tuple(map(FeatureMap, self.form.kernels, self.bases))

    @property
    def bias(self) -> float:
        """Added to every decision; exactly 0 in the antisymmetric case."""
        return float(self.parameters[-1]) if self.form.has_bias else 0.0

    def matrices(self, widths: tuple[int, ...], n_group: int) -> list[NDArray[np.float64]]:
        """The matrices W of the bilinear blocks, for features of these widths."""
        return Layout(widths, self.form, n_group).matrices(self.parameters)

    def decisions(self, pairs: Pairs, budget: Budget = UNLIMITED) -> Vector:
        """Values of the function, shape (n,)."""
        if not len(pairs):
            return np.zeros(0)
        at_a_time = self._objects_at_a_time(budget)
        if pairs.n_objects <= min(_OBJECTS_PER_PAIR * len(pairs), at_a_time):
            table = self._whole_table(pairs.objects)
            return table.decide(pairs, table.place[pairs.first], table.place[pairs.second])
        step = max(1, at_a_time // 2)
        parts = [self._decide(pairs[start : start + step]) for start in range(0, len(pairs), step)]
        return np.concatenate(parts)

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
        found = distinct_rows(objects)  # equal objects are one
        tables = tuple(learned(objects[found.representative]) for learned in self.maps)
        n_group = len(self.parameters) - Layout(_widths(tables), self.form, 0).size
        design = Design(self.form, tables, n_group)
        images = design.images(self.parameters, np.float64)
        return ObjectScores(self.form, tables, images, found.inverse)

    def _decide(self, pairs: Pairs) -> Vector:
        pairs = pairs.without_unused_objects()
        table = self._scores(pairs.objects)
        return table.decide(pairs, table.place[pairs.first], table.place[pairs.second])

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}


def _same_table(one: ObjectTable, two: ObjectTable) -> bool:
    if sp.issparse(one) or sp.issparse(two):
        if not (sp.issparse(one) and sp.issparse(two)) or one.shape != two.shape:
            return False
        parts = ("indptr", "indices", "data")
        return all(np.array_equal(getattr(one, name), getattr(two, name)) for name in parts)
    return np.array_equal(one, two)


def _widths(tables: tuple[Table, ...]) -> tuple[int, ...]:
    return tuple(table.shape[1] for table in tables)


@dataclass(frozen=True)
class ObjectScores:
    """A model on a table of objects: their features and images, made once for many pairs."""

    form: Form
    tables: tuple[Table, ...]
    images: Images
    place: NDArray[np.intp]  # of each object among the distinct ones

    def decide(self, pairs: Pairs, first: NDArray[np.intp], second: NDArray[np.intp]) -> Vector:
        """Values for pairs of these places, and the group features of ``pairs``."""
        parity, images = self.form.parity, self.images
        order = Orientation.of(first, second, pairs.antisymmetric)
        pairs = pairs.with_swapped(order.turned)
        first, second = np.where(order.turned, (second, first), (first, second))
        value = impose(parity, self._side(first, second), self._side(second, first))
        columns = group_columns(self.form, pairs)
        if columns.shape[1]:
            mirrored = group_columns(self.form, pairs.swap())
            value += impose(parity, columns @ images.group, mirrored @ images.group)
        return order.restored(parity, value) + images.bias

    def _side(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Vector:
        values = np.zeros(len(first))
        for block, image in zip(self.form.bilinear, self.images.matrices, strict=True):
            if image is not None:
                _add_products(image, self.tables[block.table], first, second, values)
        strength = self.images.strength
        if strength is not None:
            values += strength[first] + self.form.parity.sign * strength[second]
        return values


def _add_products(
    image: NDArray[np.float64],
    table: Table,
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    values: Vector,
) -> None:
    def run(start: int, stop: int) -> None:
        dot_given(image, table, first, second, start, stop, values)

    run_in_ranges(run, len(first), _PAIRS_PER_RANGE)
