"""A fitted low-rank function of pairs: ``f(a, b) = phi_a' W phi_b`` and linear terms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.lowrank._loops import dot_given
from pairity.lowrank.design import Design, Layout, Vector
from pairity.lowrank.features import FeatureMap
from pairity.lowrank.form import Form, group_columns, read_form
from pairity.pairs import Pairs
from pairity.parity import Parity, impose
from pairity.threads import run_in_ranges

__all__ = ["LowRankModel"]

#: Entries of feature tables that are held at a time.
_TABLE_ENTRIES = 40_000_000
_PAIRS_PER_RANGE = 16_384


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

    def decisions(self, pairs: Pairs) -> Vector:
        """Values of the function, shape (n,)."""
        step = self._pairs_at_a_time(pairs)
        parts = [self._decide(pairs[start : start + step]) for start in range(0, len(pairs), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _pairs_at_a_time(self, pairs: Pairs) -> int:
        """All of them if their objects allow it; the same for pairs and for swapped pairs."""
        width = max((basis.shape[1] for basis in self.bases if basis is not None), default=1)
        objects = max(2, _TABLE_ENTRIES // width)
        return max(1, len(pairs) if pairs.n_objects <= objects else objects // 2)

    def _decide(self, pairs: Pairs) -> Vector:
        pairs = pairs.without_unused_objects()
        columns = group_columns(self.form, pairs)
        tables = tuple(feature_map(pairs.objects) for feature_map in self.maps)
        design = Design(self.form, tables, columns.shape[1])
        images = design.images(self.parameters, np.float64)
        sides = []
        for first, second in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
            values = np.zeros(len(pairs))
            for block, image in zip(self.form.bilinear, images.matrices, strict=True):
                _add_products(image, design.tables[block.table], first, second, values)
            if images.strength is not None:
                values += images.strength[first] + self.parity.sign * images.strength[second]
            sides.append(values)
        value = impose(self.parity, sides[0], sides[1])
        if columns.shape[1]:
            mirrored = group_columns(self.form, pairs.swap())
            value += impose(self.parity, columns @ images.group, mirrored @ images.group)
        return value + images.bias


def _add_products(
    image: NDArray[np.float64],
    table: NDArray[np.float32],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    values: Vector,
) -> None:
    def run(start: int, stop: int) -> None:
        dot_given(image, table, first, second, start, stop, values)

    run_in_ranges(run, len(first), _PAIRS_PER_RANGE)
