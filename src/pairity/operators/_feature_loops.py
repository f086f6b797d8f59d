"""Loops over sparse rows of features."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime._two_doubles import exact_sum, sum_and_rest
from pairity.runtime.resources import njit


@njit(cache=True, nogil=True)
def copy_sparse_rows(places, pointers, indices, data, offset, out_indices, out_data):
    """Append the entries of each row at ``places[row]``, columns shifted; places move on."""
    for row in range(len(places)):
        place = places[row]
        for entry in range(pointers[row], pointers[row + 1]):
            out_indices[place] = indices[entry] + offset
            out_data[place] = data[entry]
            place += 1
        places[row] = place


@njit(cache=True, nogil=True)
def copy_dense_rows(places, table, offset, out_indices, out_data):
    """The same for a dense table: all entries, in order."""
    for row in range(len(places)):
        place = places[row]
        for column in range(table.shape[1]):
            out_indices[place] = column + offset
            out_data[place] = table[row, column]
            place += 1
        places[row] = place


@njit(cache=True, nogil=True)
def combine_ends(
    first, second, weights, pointers, indices, data, out_pointers, out_indices, out_data
):
    """Rows ``weights[0] table[first] + weights[1] table[second]``, entries beside one another."""
    place = 0
    for row in range(len(first)):
        for end in range(2):
            if weights[end] != 0.0:
                which = first[row] if end == 0 else second[row]
                for entry in range(pointers[which], pointers[which + 1]):
                    out_indices[place] = indices[entry]
                    out_data[place] = weights[end] * data[entry]
                    place += 1
        out_pointers[row + 1] = place


@njit(cache=True, nogil=True)
def row_squares(pointers, indices, data, start, stop, out):
    """``|z_i|^2`` of sparse rows from start to stop, which may name a column more than once."""
    for row in range(start, stop):
        one = pointers[row]
        two, total = one + 1, 0.0
        if pointers[row + 1] == one + 2 and indices[one] != indices[two]:  # two names
            out[row] = data[one] * data[one] + data[two] * data[two]
            continue
        for one in range(pointers[row], pointers[row + 1]):
            total += data[one] * data[one]
            for two in range(pointers[row], one):
                if indices[two] == indices[one]:
                    total += 2.0 * data[one] * data[two]
        out[row] = total


@njit(cache=True, nogil=True)
def add_rows(pointers, indices, data, theta, start, stop, out):
    """``out += sum_i theta_i z_i`` over the rows from start to stop."""
    # columns without a sign: an access by one that may be negative asks whether it is
    one = pointers[start]
    for row in range(start, stop):
        amount, end = theta[row], pointers[row + 1]
        if end == one + 2:  # as rows of two names are
            out[np.uint64(indices[one])] += amount * data[one]
            out[np.uint64(indices[one + 1])] += amount * data[one + 1]
        else:
            for entry in range(one, end):
                out[np.uint64(indices[entry])] += amount * data[entry]
        one = end


@njit(cache=True, nogil=True)
def add_precisely(places, amounts, upper, lower):
    """``sum_i amounts_i`` at each place as unevaluated sums ``upper + lower`` of two doubles."""
    for i in range(len(places)):
        place = places[i]
        upper[place], rest = sum_and_rest(upper[place], amounts[i])
        lower[place] += rest


@njit(cache=True, nogil=True)
def add_products_precisely(places, left, right, upper, lower):
    """``sum_i left_i right_i`` at each place as unevaluated sums ``upper + lower`` of two doubles.

    Products and sums are free of rounding; that of ``lower`` is of the second order.
    """
    for i in range(len(places)):
        place = places[i]
        upper[place], rest = exact_sum(upper[place], left[i], right[i])
        lower[place] += rest


@njit(cache=True, nogil=True)
def add_rows_precisely(rows, table, amounts, upper, lower):
    """``sum_i amounts_i table[rows_i]`` in the same way, column by column."""
    for i in range(len(rows)):
        for column in range(table.shape[1]):
            total, rest = exact_sum(upper[column], amounts[i], table[rows[i], column])
            upper[column] = total
            lower[column] += rest
