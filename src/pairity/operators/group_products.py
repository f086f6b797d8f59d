"""Products with an object kernel times a kernel of group features, all columns of them at once.

With group features phi, K(ab, cd) = sum_h phi_h(ab) (p_h(cd) G_ac G_bd + q_h(cd) G_ad G_bc), and

    sum_j v_j K(ab, j) = sum_h phi_h(ab) [G V_h G']_ab,    V_h[c, d] += v p_h,  V_h[d, c] += v q_h:

the V_h side by side are one matrix, and two matrix products serve all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pairity.operators._operator_loops import add_columns, dot_columns
from pairity.operators.terms import TermGroup
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.resources import megabytes_of, run_in_ranges

#: Share of all pairs of objects from which on matrices V_h are best full; megabytes that they, and
#: what is made of them, may take.
_DENSE_SHARE, _MOST_MEGABYTES = 0.005, 400.0
#: Multiplications, and pairs, that one range of work covers.
_PRODUCTS_PER_RANGE, _PAIRS_PER_RANGE = 50_000_000, 8192


class Ends(NamedTuple):
    """Weights of ``G_ac G_bd`` and of ``G_ad G_bc``."""

    straight: float
    crossed: float


def ends_of(group: TermGroup) -> Ends | None:
    """Weights of the two products of one Gram matrix, where these are all terms of a group."""
    table = group.table
    if group.left is None or len(table.grams) != 1:
        return None
    terms = table.by_edges
    straight, crossed = terms.pop((0, -1, -1, 0), 0.0), terms.pop((-1, 0, 0, -1), 0.0)
    if terms or (group.crossed is not None and crossed):
        return None
    return Ends(straight, crossed if group.crossed is None else straight)


def is_suitable(group: TermGroup, n_used: int) -> bool:
    """Whether there are enough coefficients for full matrices, which fit."""
    m_left, m_right = group.table.grams.shape[1:]
    size = megabytes_of(max(m_left, m_right), m_right, group.n_columns, copies=3.0)
    enough = n_used >= _DENSE_SHARE * m_right * m_right and size <= _MOST_MEGABYTES
    return enough and ends_of(group) is not None


def add_group_products(
    group: TermGroup,
    used: Places,
    right: Pairs,
    weights: Vector,
    lefts: list[Pairs],
    totals: list[Vector],
) -> None:
    """Add ``K weights`` of a group to the totals of each list of left pairs."""
    paired = group.in_pairs if len(lefts) == 1 else None
    if paired is not None:
        straight, crossed = paired
        sums = _sums(group, straight[used], crossed[used], right, weights)
        _add_samples(totals[0], lefts[0], sums, 0.5 * straight)
        _add_samples(totals[0], lefts[0].swap(), sums, 0.5 * crossed)
        return
    assert group.right is not None
    of_swapped = group.right if group.crossed is None else group.crossed
    sums = _sums(group, group.right[used], of_swapped[used], right, weights)
    for left, total, table in zip(lefts, totals, group.features_of(len(lefts)) or [], strict=True):
        _add_samples(total, left, sums, table)


def _sums(
    group: TermGroup, straight: Matrix, crossed: Matrix, right: Pairs, weights: Vector
) -> NDArray[Any]:
    """``[G V_h G']_ab`` for all objects a, b and all columns h, in this order."""
    ends, gram = ends_of(group), group.table.grams[0]
    assert ends is not None
    (m_left, m_right), width = gram.shape, straight.shape[1]
    middle = np.zeros((m_right, m_right, width), dtype=gram.dtype)
    coefficients = weights.astype(gram.dtype, copy=False)
    tables = (ends.straight * straight).astype(gram.dtype, copy=False), ends.crossed * crossed
    add_columns(middle, right.first, right.second, coefficients, *tables)
    sums: NDArray[Any] = np.empty((m_left, m_left, width), dtype=gram.dtype)
    flat = middle.reshape(m_right, -1)

    def multiply(start: int, stop: int) -> None:
        half = (gram[start:stop] @ flat).reshape(stop - start, m_right, -1)
        np.matmul(gram, half, out=sums[start:stop])

    run_in_ranges(multiply, m_left, max(1, _PRODUCTS_PER_RANGE // max(1, 2 * middle.size)))
    return sums


def _add_samples(total: Vector, left: Pairs, sums: NDArray[Any], features: NDArray[Any]) -> None:
    def sample(start: int, stop: int) -> None:
        part = slice(start, stop)
        dot_columns(total[part], left.first[part], left.second[part], sums, features[part])

    run_in_ranges(sample, len(left), _PAIRS_PER_RANGE)
