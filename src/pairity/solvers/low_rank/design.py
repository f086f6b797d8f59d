"""Training pairs in the order that a pass likes, and the linear map from parameters to decisions.

Pairs are sorted by their first object, in blocks.  With features Phi of all objects,
``f_ab = (Phi W)_a . Phi_b`` takes one product of matrices and one inner product a pair; back,
``sum_i theta_i phi_a phi_b' = Phi' (S Phi)`` with the sparse matrix S of the theta: O(m r^2 + n r)
each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.losses.loss import Loss, Vector
from pairity.pairs.arrays import batches
from pairity.runtime.resources import run_in_ranges
from pairity.solvers.low_rank._pass_loops import add_outer, add_two_sided, dot_pairs
from pairity.solvers.low_rank.form import Form, Table, Term

#: Pairs of a block: decisions and losses of a block stay in the cache.
_BLOCK = 32_768
#: Rows of a table that are turned into double precision, or gathered, at a time.
_ROWS = 8192
Precision = type[np.float32] | type[np.float64]


class Losses(Protocol):
    """Losses of the pairs of a chunk, made when they are needed."""

    def take(self, index: Any) -> Loss:
        """Losses of some pairs, by position or slice."""


@dataclass(frozen=True)
class Block:
    """Some rows (distinct first objects) and the range of their pairs."""

    first_row: int
    last_row: int
    pairs: slice


@dataclass(frozen=True)
class Rows:
    """Pairs sorted by their first object: ``rows[k]`` has the pairs ``ends[k]`` to ``ends[k+1]``."""

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    second: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.second)

    @cached_property
    def blocks(self) -> list[Block]:
        """Ranges of rows with about the same number of pairs."""
        wanted = np.arange(0, len(self.second), _BLOCK)
        cuts = np.unique(np.searchsorted(self.ends, wanted, side="left"))
        cuts = np.append(cuts[cuts < len(self.rows)], len(self.rows))
        return [
            Block(int(start), int(stop), slice(int(self.ends[start]), int(self.ends[stop])))
            for start, stop in pairwise(cuts)
        ]

    def for_each_block(self, task: Callable[[int, Block], None]) -> None:
        """Call ``task(number, block)`` for all blocks, in threads."""
        blocks = self.blocks

        def run(start: int, stop: int) -> None:
            for number in range(start, stop):
                task(number, blocks[number])

        run_in_ranges(run, len(blocks), 1)

    def keep(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the pairs."""
        sums = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        counts = np.diff(sums[self.ends])
        used = np.flatnonzero(counts)
        ends = np.concatenate([[0], np.cumsum(counts[used])])
        return Rows(self.rows[used], ends, self.second[kept])


@dataclass(frozen=True)
class PairChunk:
    """Some training pairs: their order, group features (scaled columns) and losses."""

    order: Rows
    group: NDArray[np.float64]  # (n, g)
    losses: Losses

    def __len__(self) -> int:
        return len(self.order)

    def sample(self, n_pairs: int) -> PairChunk:
        """About so many of the pairs, evenly spread."""
        step = max(1, len(self) // n_pairs)
        if step == 1:
            return self
        kept = np.arange(len(self)) % step == 0
        losses = self.losses.take(np.flatnonzero(kept))
        return PairChunk(self.order.keep(kept), self.group[kept], losses)


def arrange(
    first: NDArray[np.integer], second: NDArray[np.integer], n_objects: int
) -> tuple[Rows, NDArray[np.intp]]:
    """Pairs sorted by the first, then the second object, and where each came from."""
    came_from = np.argsort(first.astype(np.int64) * n_objects + second, kind="stable")
    ordered = first[came_from]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rows = Rows(
        ordered[starts].astype(np.int32),
        np.append(starts, len(ordered)).astype(np.int64),
        second[came_from].astype(np.int32),
    )
    return rows, came_from


# The linear map and its adjoint -----------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where the parameters of each block are in one flat vector; the bias comes last."""

    widths: tuple[int, ...]  # features of each table
    form: Form
    n_group: int  # columns of group features

    @cached_property
    def _ranges(self) -> list[slice]:
        """Those of the matrices, of the vectors of strengths, and of group features."""
        matrices = [self.widths[term.table] ** 2 for term in self.form.bilinear]
        strengths = [self.widths[term.table] for term in self.form.strengths]
        ends = np.cumsum([0, *matrices, *strengths, self.n_group]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    @property
    def size(self) -> int:
        """Number of parameters."""
        return int(self._ranges[-1].stop) + int(self.form.has_bias)

    def matrices(self, parameters: Vector) -> list[NDArray[np.float64]]:
        """The matrices W, as views."""
        widths = [self.widths[term.table] for term in self.form.bilinear]
        return [
            parameters[place].reshape(width, width)
            for place, width in zip(self._ranges, widths, strict=False)
        ]

    def strengths(self, parameters: Vector) -> list[Vector]:
        """The vectors u, as views."""
        return [parameters[place] for place in self._ranges[len(self.form.bilinear) : -1]]

    def group(self, parameters: Vector) -> Vector:
        """The coefficients v of group features, as a view."""
        return parameters[self._ranges[-1]]

    def bias(self, parameters: Vector) -> float:
        """The bias; 0 where the symmetry forbids one."""
        return float(parameters[-1]) if self.form.has_bias else 0.0

    def norm_counted(self) -> Vector:
        """1 for parameters in the norm, 0 for the bias."""
        counted = np.ones(self.size)
        counted[self.size - int(self.form.has_bias) :] = 0.0
        return counted


@dataclass(frozen=True)
class Images:
    """What parameters make of all objects: ``scale Phi W`` and ``scale Phi u``; None for 0."""

    matrices: list[NDArray[Any] | None]
    strength: NDArray[np.float64] | None
    group: Vector
    bias: float
    precision: Precision  # of decisions


@dataclass
class Design:
    """Features of all objects, and the two directions of the map."""

    form: Form
    tables: tuple[Table, ...]
    n_group: int

    @cached_property
    def layout(self) -> Layout:
        """Where parameters are."""
        return Layout(tuple(table.shape[1] for table in self.tables), self.form, self.n_group)

    @property
    def n_objects(self) -> int:
        """Objects that have features."""
        return int(self.tables[0].shape[0]) if self.tables else 0

    def images(self, parameters: Vector, precision: Precision = np.float32) -> Images:
        """Images of all objects: the part of a pass that does not depend on the pairs."""
        layout = self.layout

        def image(term: Term, parameter: NDArray[np.float64]) -> NDArray[Any] | None:
            scaled = (term.scale * parameter).astype(precision)
            return _times(self.tables[term.table], scaled) if parameter.any() else None

        matrices = list(map(image, self.form.bilinear, layout.matrices(parameters)))
        strength: NDArray[np.float64] | None = None
        for part in map(image, self.form.strengths, layout.strengths(parameters)):
            if part is not None:
                part = part.astype(np.float64, copy=False)
                strength = part if strength is None else strength + part
        group, bias = layout.group(parameters), layout.bias(parameters)
        return Images(matrices, strength, group, bias, precision if matrices else np.float64)

    def decide(self, images: Images, pairs: Rows, group: NDArray[np.float64]) -> NDArray[Any]:
        """Decision values of the pairs, bias included."""
        decisions = np.zeros(len(pairs), dtype=images.precision)
        rows, ends, second = pairs.rows, pairs.ends, pairs.second

        def decide_block(number: int, block: Block) -> None:
            start, stop = block.first_row, block.last_row
            for term, matrix in zip(self.form.bilinear, images.matrices, strict=True):
                if matrix is not None:
                    table = self.tables[term.table]
                    dot_pairs(matrix, table, rows, ends, second, start, stop, decisions)
            part = decisions[block.pairs]
            if images.strength is not None:
                counts = np.diff(ends[start : stop + 1])
                part += np.repeat(images.strength[rows[start:stop]], counts)
                part += self.form.parity.sign * images.strength[second[block.pairs]]
            part += images.bias

        pairs.for_each_block(decide_block)
        if self.n_group:
            decisions += group @ images.group
        return decisions

    def gather(
        self,
        theta: NDArray[Any],
        pairs: Rows,
        group: NDArray[np.float64],
        precision: Precision = np.float32,
    ) -> Vector:
        """The adjoint: ``sum_i theta_i d f_i / d parameters``."""
        layout = self.layout
        total = np.zeros(layout.size)
        sign = self.form.parity.sign
        weights = np.ascontiguousarray(theta, dtype=precision)
        for term, target in zip(self.form.bilinear, layout.matrices(total), strict=True):
            product = self._outer(self.tables[term.table], weights, pairs)
            target += (0.5 * term.scale) * (product + sign * product.T)
        if self.form.strengths:
            ends = np.zeros(self.n_objects)
            exact = np.ascontiguousarray(theta, dtype=np.float64)
            add_two_sided(pairs.rows, pairs.ends, pairs.second, exact, sign, ends)
            for term, out in zip(self.form.strengths, layout.strengths(total), strict=True):
                out += term.scale * _transposed_times(self.tables[term.table], ends)
        if self.n_group:
            layout.group(total)[:] = group.T @ theta
        if self.form.has_bias:
            total[-1] = float(np.sum(theta, dtype=np.float64))
        return total

    def _outer(self, table: Table, theta: NDArray[Any], pairs: Rows) -> NDArray[np.float64]:
        """``sum_i theta_i phi_a phi_b'``, not made symmetric."""
        sums = np.zeros((len(pairs.rows), table.shape[1]), dtype=theta.dtype)
        numbers = np.arange(len(pairs.rows), dtype=np.int32)

        def add_block(number: int, block: Block) -> None:
            rows = block.first_row, block.last_row
            add_outer(table, numbers, pairs.ends, pairs.second, theta, *rows, sums)

        pairs.for_each_block(add_block)
        return _transposed_times(table, sums, pairs.rows)


def _times(table: Table, right: NDArray[Any]) -> NDArray[Any]:
    """``table right`` in the precision of ``right``, without a copy of a large table."""
    if sp.issparse(table) or table.dtype == right.dtype:
        return np.asarray(table @ right)
    product = np.empty((len(table), *right.shape[1:]), dtype=right.dtype)
    for part in batches(len(table), _ROWS):
        product[part] = table[part].astype(right.dtype) @ right
    return product


def _transposed_times(
    table: Table, right: NDArray[Any], rows: NDArray[np.int32] | None = None
) -> NDArray[np.float64]:
    """``table[rows]' right``, added up in double precision over blocks of rows."""
    if sp.issparse(table):
        return np.asarray(table.T @ right)
    total = np.zeros((table.shape[1], *right.shape[1:]))
    for part in batches(len(right), _ROWS):
        some = table[part] if rows is None else table[rows[part]]
        total += some.T.astype(right.dtype, copy=False) @ right[part]
    return total
