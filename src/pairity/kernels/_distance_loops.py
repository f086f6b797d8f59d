"""Squared distances in twice the precision of doubles."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from pairity.runtime._two_doubles import exact_sum, sum_and_rest
from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def add_squared_distances(left, left_rest, columns, columns_rest, upper, lower):
    """``|x_i - z_j|^2`` to unevaluated sums ``upper + lower`` of two doubles.

    So are x, row by row, and z, column by column: of these compilers make vector instructions.
    """
    for i in range(len(upper)):
        above, below = upper[i], lower[i]
        for k in range(len(columns)):
            x, x_rest = left[i, k], left_rest[i, k]
            z, z_rest = columns[k], columns_rest[k]
            for j in range(len(above)):
                difference, lost = sum_and_rest(x, -z[j])
                lost += x_rest - z_rest[j]
                total, rest = exact_sum(above[j], difference, difference)
                above[j] = total
                below[j] += rest + lost * (2.0 * difference + lost)
