"""Kernel entries gathered from object Gram matrices, on both cores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.operators._gather_loops import gather_products, gather_rows
from pairity.operators.terms import TermTable
from pairity.pairs import Pairs
from pairity.threads import run_in_ranges

__all__ = ["gathered_block", "gathered_product", "rows_per_range"]

#: Kernel entries that one range of work covers: small enough to balance, large enough to pay.
_ENTRIES_PER_RANGE = 500_000


def rows_per_range(n_columns: int) -> int:
    """Rows of that many columns that one range of work covers."""
    return max(1, _ENTRIES_PER_RANGE // max(1, n_columns))


def gathered_block(terms: TermTable, left: Pairs, right: Pairs, out: NDArray[np.float64]) -> None:
    """Matrix of the terms between pairs, entry by entry, into ``out``."""

    def fill(start: int, stop: int) -> None:
        gather_rows(
            out[start:stop],
            left.first[start:stop],
            left.second[start:stop],
            right.first,
            right.second,
            terms.grams,
            terms.weights,
            terms.edge_gram,
        )

    run_in_ranges(fill, len(left), rows_per_range(len(right)))


def gathered_product(
    terms: TermTable, left: Pairs, right: Pairs, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """``sum_j terms(left_i, right_j) weights_j``, row by row."""
    out = np.zeros(len(left))

    def multiply(start: int, stop: int) -> None:
        gather_products(
            out[start:stop],
            np.empty(len(right)),
            left.first[start:stop],
            left.second[start:stop],
            right.first,
            right.second,
            terms.grams,
            terms.weights,
            terms.edge_gram,
            weights,
        )

    run_in_ranges(multiply, len(left), rows_per_range(len(right)))
    return out
