"""Repeated observations counted once: a thousand votes on a pair are one row with their weight.

Rows of the same pair (in either order, where a parity allows), the same group features and the same
loss differ in their weights alone, and so do their dual variables at the optimum: in proportion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import Loss, Vector
from pairity.pairs.arrays import Mask, Places, distinct_rows, sums_at
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Orientation, Parity, unordered_keys
from pairity.pairs.repeats import Repeats, few_are_distinct
from pairity.training.read import TrainingData

#: Rows from which on repeated ones are looked for, the share of distinct ones that makes it pay, and
#: rows by which that is judged.
_ROWS_TO_COUNT, _SHARE, _TRIED = 200, 0.5, 4000
#: Numbers of pairs, per row, up to which they are counted in a table, or which of them occur.
_CELLS_PER_ROW, _LOOKED_UP_PER_ROW = 4, 16


@dataclass(frozen=True, eq=False)
class Once(Repeats):
    """Each distinct observation once, with the weight of all of them."""

    data: TrainingData
    loss: Any


def counted_once(data: TrainingData, loss: Loss) -> Once | None:
    """Observations that repeat others together; None where they are few."""
    this: Any = loss
    countable = hasattr(this, "per_weight") and data.unlabelled is None
    if len(data) < _ROWS_TO_COUNT or not countable or not _meet_again(data.pairs):
        return None
    if not (this.weights > 0.0).all():
        return None
    found = _distinct(order := _Ordered.of(data), data)
    if found is None:
        return None
    signs, turned = order.signs, order.turned
    chosen, inverse = found
    total = sums_at(inverse, this.weights, len(chosen))
    of_groups = this.take(chosen).signed(signs[chosen])
    # a loss of the user's own may differ where targets do not
    both = zip(this.signed(signs).per_weight, of_groups.per_weight, strict=True)
    if not all(np.array_equal(mine, group[inverse]) for mine, group in both):
        return None
    pairs = data.pairs[chosen].with_swapped(turned[chosen])
    targets, weights = (
        signs[chosen] * data.targets[chosen],
        sums_at(inverse, data.weights, len(chosen)),
    )
    grouped = replace(data, pairs=pairs, targets=targets, weights=weights, rows=data.rows[chosen])
    weighted = of_groups.times(total / this.weights[chosen])
    shares = this.weights / total[inverse]
    return Once(inverse, signs, shares, len(chosen), grouped, weighted)


@dataclass(frozen=True, eq=False)
class _Ordered:
    """Pairs in one order of their two objects, where a parity allows, with their targets."""

    pairs: Pairs
    turned: NDArray[np.bool_]
    signs: Vector
    targets: Vector

    @classmethod
    def of(cls, data: TrainingData) -> _Ordered:
        turned = np.zeros(len(data), dtype=np.bool_)
        if data.parity is not None:
            turned = Orientation.of_compact(data.pairs).turned
        signs = np.where(turned & (data.parity is Parity.ODD), -1.0, 1.0)
        return cls(data.pairs, turned, signs, signs * data.targets)

    @property
    def ends(self) -> tuple[Places, Places]:
        """The objects in that order."""
        first, second = self.pairs.first, self.pairs.second
        return np.where(self.turned, second, first), np.where(self.turned, first, second)

    @property
    def table(self) -> NDArray[np.float64]:
        """What two rows have in common that are the same observation."""
        odd = np.where(self.turned, -1.0, 1.0)[:, np.newaxis] * self.pairs.antisymmetric
        times = [] if self.pairs.time is None else [self.pairs.time]
        return np.column_stack([*self.ends, self.targets, self.pairs.symmetric, odd, *times])


def _distinct(order: _Ordered, data: TrainingData) -> tuple[Places, Places] | None:
    """One row of each group, and the group of each row; in an order that content alone decides."""
    pairs, n_cells = order.pairs, 2 * order.pairs.n_objects**2
    first, second = order.ends
    cells = first * pairs.n_objects + second
    grouped = pairs.n_symmetric or pairs.n_antisymmetric or pairs.time is not None
    few_cells = n_cells <= _CELLS_PER_ROW * max(len(pairs), 1000)
    if not grouped and few_cells and (np.abs(order.targets) == 1.0).all():
        return _counted(2 * cells + (order.targets > 0.0), n_cells)
    if len(pairs) > _TRIED and not _some_repeat(data):
        return None
    distinct = distinct_rows(order.table)
    few = len(distinct.representative) <= _SHARE * len(pairs)
    return (distinct.representative, distinct.inverse) if few else None


def _meet_again(pairs: Pairs) -> bool:
    """Whether two objects may meet twice in the mean; not told of many pairs of many objects."""
    if pairs.n_objects > 2 * _SHARE * len(pairs):  # so many different pairs take fewer objects
        return False
    n_cells = pairs.n_objects**2
    in_table = n_cells <= _LOOKED_UP_PER_ROW * max(len(pairs), 1000)
    if len(pairs) > _TRIED and not in_table:
        return True
    keys = unordered_keys(pairs.first, pairs.second, pairs.n_objects)
    if in_table:
        n_distinct = np.count_nonzero(_occurring(keys, n_cells))
    else:
        keys.sort()
        n_distinct = 1 + np.count_nonzero(keys[1:] != keys[:-1])
    return int(n_distinct) <= _SHARE * len(pairs)


def _occurring(cells: Places, n_cells: int) -> Mask:
    """Which cells of a table occur among some."""
    there = np.zeros(n_cells, dtype=np.bool_)
    there[cells] = True
    return there


def _counted(cells: Places, n_cells: int) -> tuple[Places, Places] | None:
    """The same for numbers of cells, by a table of them."""
    there = _occurring(cells, n_cells)
    n_groups = int(np.count_nonzero(there))
    if n_groups > _SHARE * len(cells):
        return None
    inverse = np.cumsum(there)[cells] - 1
    chosen = np.empty(n_groups, dtype=np.intp)
    chosen[inverse[::-1]] = np.arange(len(cells) - 1, -1, -1)  # the first of each group stays
    return chosen, inverse


def _some_repeat(data: TrainingData) -> bool:
    """Whether few enough rows are distinct, judged by some of them."""
    rows = np.linspace(0, len(data) - 1, _TRIED).astype(np.intp)
    some = replace(data, pairs=data.pairs[rows], targets=data.targets[rows])
    n_distinct = len(distinct_rows(_Ordered.of(some).table).representative)
    return few_are_distinct(n_distinct, _TRIED, len(data), _SHARE)
