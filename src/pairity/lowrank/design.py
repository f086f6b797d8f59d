"""The linear map from parameters to decisions, and its adjoint: O(m r^2 + n r) each.

With features Phi of all objects, ``f_ab = (Phi W)_a . Phi_b`` takes one product of matrices and one
inner product a pair; back, ``sum_i theta_i phi_a phi_b' = Phi' (S Phi)`` with the sparse matrix S
of the theta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.lowrank._loops import add_outer, add_two_sided, dot_pairs
from pairity.lowrank.chunk import Rows
from pairity.lowrank.features import Table
from pairity.lowrank.form import Form
from pairity.threads import run_in_ranges

__all__ = ["Design", "Images", "Layout"]

#: Rows of a table that are turned into double precision, or gathered, at a time.
_ROWS = 8192
Vector = NDArray[np.float64]
Precision = type[np.float32] | type[np.float64]


@dataclass(frozen=True)
class Layout:
    """Where the parameters of each block are in one flat vector; the bias comes last."""

    widths: tuple[int, ...]  # features of each table
    form: Form
    n_group: int  # columns of group features

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self._strengths_end + self.n_group + int(self.form.has_bias)

    @property
    def _bilinear_end(self) -> int:
        return sum(self.widths[block.table] ** 2 for block in self.form.bilinear)

    @property
    def _strengths_end(self) -> int:
        return self._bilinear_end + sum(self.widths[block.table] for block in self.form.strengths)

    def matrices(self, parameters: Vector) -> list[NDArray[np.float64]]:
        """The matrices W, as views."""
        found, start = [], 0
        for block in self.form.bilinear:
            width = self.widths[block.table]
            found.append(parameters[start : start + width * width].reshape(width, width))
            start += width * width
        return found

    def strengths(self, parameters: Vector) -> list[Vector]:
        """The vectors u, as views."""
        found, start = [], self._bilinear_end
        for block in self.form.strengths:
            width = self.widths[block.table]
            found.append(parameters[start : start + width])
            start += width
        return found

    def group(self, parameters: Vector) -> Vector:
        """The coefficients v of group features, as a view."""
        return parameters[self._strengths_end : self._strengths_end + self.n_group]

    def bias(self, parameters: Vector) -> float:
        """The bias; 0 where the symmetry forbids one."""
        return float(parameters[-1]) if self.form.has_bias else 0.0

    def norm_counted(self) -> Vector:
        """1 for parameters in the norm, 0 for the bias."""
        counted = np.ones(self.size)
        if self.form.has_bias:
            counted[-1] = 0.0
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

    @property
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
        matrices = [
            _times(self.tables[block.table], (block.scale * matrix).astype(precision))
            if matrix.any()
            else None
            for block, matrix in zip(self.form.bilinear, layout.matrices(parameters), strict=True)
        ]
        strength: NDArray[np.float64] | None = None
        for block, vector in zip(self.form.strengths, layout.strengths(parameters), strict=True):
            if not vector.any():
                continue
            scaled = (block.scale * vector).astype(precision)
            part = _times(self.tables[block.table], scaled).astype(np.float64, copy=False)
            strength = part if strength is None else strength + part
        group, bias = layout.group(parameters), layout.bias(parameters)
        return Images(matrices, strength, group, bias, precision if matrices else np.float64)

    def decide(self, images: Images, pairs: Rows, group: NDArray[np.float64]) -> NDArray[Any]:
        """Decision values of the pairs, bias included."""
        decisions = np.zeros(len(pairs), dtype=images.precision)
        blocks = pairs.blocks()

        def run(start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                self._decide_block(images, pairs, block, decisions)

        run_in_ranges(run, len(blocks), 1)
        if self.n_group:
            decisions += group @ images.group
        return decisions

    def _decide_block(self, images: Images, pairs: Rows, block: Any, out: NDArray[Any]) -> None:
        for place, matrix in zip(self.form.bilinear, images.matrices, strict=True):
            if matrix is None:
                continue
            dot_pairs(
                matrix, self.tables[place.table], pairs.rows, pairs.ends, pairs.second, block.first_row,
                block.last_row, out,
            )  # fmt: skip
        part = out[block.pairs]
        if images.strength is not None:
            rows = slice(block.first_row, block.last_row)
            counts = np.diff(pairs.ends[block.first_row : block.last_row + 1])
            part += np.repeat(images.strength[pairs.rows[rows]], counts)
            part += self.form.parity.sign * images.strength[pairs.second[block.pairs]]
        part += images.bias

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
        for place, target in zip(self.form.bilinear, layout.matrices(total), strict=True):
            product = self._outer(place.table, weights, pairs, precision)
            target += (0.5 * place.scale) * (product + sign * product.T)
        if self.form.strengths:
            ends = np.zeros(self.n_objects)
            exact = np.ascontiguousarray(theta, dtype=np.float64)
            add_two_sided(pairs.rows, pairs.ends, pairs.second, exact, sign, ends)
            for strength, out in zip(self.form.strengths, layout.strengths(total), strict=True):
                out += strength.scale * _transposed_times(self.tables[strength.table], ends)
        if self.n_group:
            layout.group(total)[:] = group.T @ theta
        if self.form.has_bias:
            total[-1] = float(np.sum(theta, dtype=np.float64))
        return total

    def _outer(
        self, number: int, theta: NDArray[Any], pairs: Rows, precision: Precision
    ) -> NDArray[np.float64]:
        """``sum_i theta_i phi_a phi_b'``, not made symmetric."""
        table = self.tables[number]
        sums = np.zeros((len(pairs.rows), table.shape[1]), dtype=precision)
        places = np.arange(len(pairs.rows), dtype=np.int32)
        blocks = pairs.blocks()

        def run(start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                add_outer(
                    table, places, pairs.ends, pairs.second, theta, block.first_row,
                    block.last_row, sums,
                )  # fmt: skip

        run_in_ranges(run, len(blocks), 1)
        return _transposed_times(table, sums, pairs.rows)


def _times(table: Table, right: NDArray[Any]) -> NDArray[Any]:
    """``table right`` in the precision of ``right``, without a copy of a large table."""
    if sp.issparse(table) or table.dtype == right.dtype:
        return np.asarray(table @ right)
    product = np.empty((len(table), *right.shape[1:]), dtype=right.dtype)
    for start in range(0, len(table), _ROWS):
        product[start : start + _ROWS] = table[start : start + _ROWS].astype(right.dtype) @ right
    return product


def _transposed_times(
    table: Table, right: NDArray[Any], rows: NDArray[np.int32] | None = None
) -> NDArray[np.float64]:
    """``table[rows]' right``, added up in double precision over blocks of rows."""
    if sp.issparse(table):
        return np.asarray(table.T @ right)
    total = np.zeros((table.shape[1], *right.shape[1:]))
    for start in range(0, len(right), _ROWS):
        stop = start + _ROWS
        part = table[start:stop] if rows is None else table[rows[start:stop]]
        total += part.T.astype(right.dtype, copy=False) @ right[start:stop]
    return total
