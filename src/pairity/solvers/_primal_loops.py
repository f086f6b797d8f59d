"""Sums over sparse rows of features, and passes over the losses of all rows, for Newton's method."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from pairity.operators._operator_loops import largest
from pairity.runtime._exponential import exponential
from pairity.runtime.resources import njit

#: Size of decisions from which on the exponential, which is never 0 itself, is taken as 0.
_CERTAIN = 700.0
#: Rows whose dual variables are looked at first: far from the optimum they tell.
FIRST_ROWS = 256


@njit(cache=True, nogil=True)
def add_outer_products(pointers, indices, data, weights, start, stop, diagonal, out):
    """``sum_i weights_i z_i z_i'`` over the rows from start to stop, in two parts.

    Squares of entries go to ``diagonal``, products of two to the upper triangle of ``out``, its
    diagonal included: a row may name a column twice.  See :func:`join_diagonal`.
    """
    entry = pointers[start]
    for row in range(start, stop):
        end = pointers[row + 1]
        if end == entry + 2:  # as rows of two names are
            column, other = np.uint64(indices[entry]), np.uint64(indices[entry + 1])
            amount, rest = weights[row] * data[entry], weights[row] * data[entry + 1]
            diagonal[column] += amount * data[entry]
            diagonal[other] += rest * data[entry + 1]
            out[min(column, other), max(column, other)] += amount * data[entry + 1]
        elif weights[row] != 0.0:
            for one in range(entry, end):
                column, amount = np.uint64(indices[one]), weights[row] * data[one]
                diagonal[column] += amount * data[one]
                for two in range(one + 1, end):
                    other = np.uint64(indices[two])
                    out[min(column, other), max(column, other)] += amount * data[two]
        entry = end


@njit(cache=True, nogil=True)
def join_diagonal(diagonal, out):
    """Both parts of outer products in one: a product within a column counts twice."""
    for column in range(len(diagonal)):
        out[column, column] = diagonal[column] + 2.0 * out[column, column]


@njit(cache=True, nogil=True)
def scale_to_ones(matrix, penalty, added, scale, out):
    """``out = scale (matrix + penalty) scale'`` with a diagonal of ``1 + added``: lower triangles."""
    for i in range(len(penalty)):
        amount = matrix[i, i] + penalty[i]
        scale[i] = 1.0 / math.sqrt(amount) if amount > 0.0 else 1.0
    for column in range(len(penalty)):
        for row in range(column, len(penalty)):
            out[row, column] = matrix[row, column] * (scale[row] * scale[column])
        out[column, column] = 1.0 + added


@njit(cache=True, nogil=True)
def add_squares(pointers, indices, data, weights, out):
    """``out_j += sum_i weights_i z_ij^2``; a column that a row names twice counts approximately."""
    for row in range(len(weights)):
        weight = weights[row]
        if weight != 0.0:
            for entry in range(pointers[row], pointers[row + 1]):
                out[indices[entry]] += weight * data[entry] * data[entry]


@njit(cache=True, nogil=True)
def times_rows(pointers, indices, data, parameters, start, stop, out):
    """``out_i = z_i parameters`` for the rows from start to stop."""
    # columns without a sign: an access by one that may be negative asks whether it is
    one = pointers[start]
    for row in range(start, stop):
        end = pointers[row + 1]
        if end == one + 2:  # as rows of two names are
            first, second = np.uint64(indices[one]), np.uint64(indices[one + 1])
            out[row] = data[one] * parameters[first] + data[one + 1] * parameters[second]
        else:
            total = 0.0
            for entry in range(one, end):
                total += data[entry] * parameters[np.uint64(indices[entry])]
            out[row] = total
        one = end


@njit(cache=True, nogil=True, inline="always")
def _rounded_pull(decision, low, high, below, above, step, centre):
    point = centre - step * decision
    theta = max(point + step * above, 0.0) + min(point + step * below, 0.0)
    return min(max(theta, low), high)


@njit(cache=True, nogil=True)
def pass_rounded(decisions, pieces, width, centre, pull, curvature):
    """Pull and curvature of piecewise linear losses, rounded over a width about dual variables.

    Returns how far a curved row is off its margin at most, and what rounding adds to the gap.
    """
    low, high, below, above = pieces
    off, price = 0.0, 0.0
    for i in range(len(decisions)):
        weight = max(high[i], -low[i])
        step = weight / width
        theta = _rounded_pull(decisions[i], low[i], high[i], below[i], above[i], step, centre[i])
        pull[i], curvature[i] = theta, 0.0
        if weight > 0.0:
            size = abs(theta)
            price += size * (1.0 - size / weight)
            if low[i] < theta < high[i] and (theta != 0.0 or below[i] == above[i]):
                curvature[i] = step
                off = max(off, abs(theta - centre[i]) / weight)
    return width * off, width * price


@njit(cache=True, nogil=True)
def slope_of_rounded(decisions, change, length, pieces, width, centre):
    """``sum_i pull_i change_i`` at ``decisions + length change``."""
    low, high, below, above = pieces
    total = 0.0
    for i in range(len(decisions)):
        step = max(high[i], -low[i]) / width
        there = decisions[i] + length * change[i]
        theta = _rounded_pull(there, low[i], high[i], below[i], above[i], step, centre[i])
        total += change[i] * theta
    return total


# Denominators are at least 1, or not used: nobody has to ask whether they are 0.
@njit(cache=True, nogil=True, error_model="numpy")
def pass_logistic(decisions, targets, weights, pull, curvature):
    """Pull and curvature of logistic losses."""
    small = curvature  # exponentials in a loop of their own: it is made of vector instructions
    for i in range(len(decisions)):
        size = abs(decisions[i])
        small[i] = exponential(-size) if size < _CERTAIN else 0.0
    for i in range(len(decisions)):
        sure = 1.0 / (1.0 + small[i])
        wrong = small[i] * sure if targets[i] * decisions[i] > 0.0 else sure
        pull[i] = weights[i] * targets[i] * wrong
        curvature[i] = weights[i] * small[i] * sure * sure


@njit(cache=True, nogil=True, error_model="numpy")
def worst_logistic(decisions, moved, targets, weights, pull):
    """Largest difference of a share ``|pull| / weight`` and the probability at ``decisions - moved``."""
    apart = np.empty(len(decisions))
    for i in range(len(decisions)):
        size = abs(decisions[i] - moved[i])
        apart[i] = exponential(-size) if size < _CERTAIN else 0.0
    for i in range(len(decisions)):
        upper = apart[i] if targets[i] * (decisions[i] - moved[i]) > 0.0 else 1.0
        difference = abs(upper / (1.0 + apart[i]) - abs(pull[i]) / weights[i])
        apart[i] = difference if weights[i] > 0.0 else 0.0
    return max(0.0, largest(apart, len(apart)))
