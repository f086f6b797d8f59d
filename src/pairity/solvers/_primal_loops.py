"""Sums over sparse rows of features for Newton's method on parameters."""

from __future__ import annotations

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def add_outer_products(pointers, indices, data, weights, start, stop, out):  # type: ignore[no-untyped-def]
    """Lower triangle of ``out += sum_i weights_i z_i z_i'`` over the rows from start to stop."""
    for row in range(start, stop):
        weight = weights[row]
        if weight == 0.0:
            continue
        for one in range(pointers[row], pointers[row + 1]):
            column, amount = indices[one], weight * data[one]
            for two in range(pointers[row], one + 1):
                other = indices[two]
                if other < column:
                    out[column, other] += amount * data[two]
                elif other > column:
                    out[other, column] += amount * data[two]
                elif one == two:
                    out[column, column] += amount * data[two]
                else:  # a column that a row names twice
                    out[column, column] += 2.0 * amount * data[two]


@njit(cache=True, nogil=True)
def add_squares(pointers, indices, data, weights, out):  # type: ignore[no-untyped-def]
    """``out_j += sum_i weights_i z_ij^2``; a column that a row names twice counts approximately."""
    for row in range(len(weights)):
        weight = weights[row]
        if weight != 0.0:
            for entry in range(pointers[row], pointers[row + 1]):
                out[indices[entry]] += weight * data[entry] * data[entry]
