"""Groups of terms with a kernel of group features that must be evaluated entry by entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.expansion import Factor
from pairity.operators._gather_loops import dot_rows
from pairity.operators.factors import factor_values
from pairity.operators.gather import gathered_block, rows_per_range
from pairity.operators.terms import TermGroup
from pairity.pairs import Pairs
from pairity.threads import run_in_ranges

__all__ = ["add_opaque_product", "multiply_by_factors"]


def multiply_by_factors(
    factors: tuple[Factor, ...], left: Pairs, right: Pairs, block: NDArray[np.float64]
) -> None:
    """``block *= factors(left, right)``, a range of rows at a time."""

    def multiply(start: int, stop: int) -> None:
        block[start:stop] *= factor_values(factors, left[start:stop], right)

    run_in_ranges(multiply, len(left), rows_per_range(len(right)))


def add_opaque_product(
    group: TermGroup,
    left: Pairs,
    right: Pairs,
    weights: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """``total += (table o factors) weights``, never holding more than a range of rows."""

    def add(start: int, stop: int) -> None:
        part = left[start:stop]
        block = np.empty((len(part), len(right)))
        gathered_block(group.table, part, right, block)
        block *= factor_values(group.opaque, part, right)
        values = np.empty(len(part))
        dot_rows(values, block, weights)
        total[start:stop] += values

    run_in_ranges(add, len(left), rows_per_range(len(right)))
