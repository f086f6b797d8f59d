"""Sums over sparse rows of features, and losses of all rows in one pass, for Newton's method."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True, inline="always")
def _logistic(decision, target, weight):
    """Pull and curvature of a logistic loss, one exponential for both."""
    margin = target * decision
    small = math.exp(-abs(margin))
    sure = 1.0 / (1.0 + small)
    wrong = small * sure if margin > 0.0 else sure
    return weight * target * wrong, weight * small * sure * sure


@njit(cache=True, nogil=True, inline="always")
def _add_outer_product(indices, data, start, stop, weight, out):
    """Upper triangle of ``out += weight z z'`` with the entries of z from start to stop."""
    for one in range(start, stop):
        column, amount = indices[one], weight * data[one]
        out[column, column] += amount * data[one]
        for two in range(one + 1, stop):
            other = indices[two]
            if other > column:
                out[column, other] += amount * data[two]
            elif other < column:
                out[other, column] += amount * data[two]
            else:  # a column that a row names twice
                out[column, column] += 2.0 * amount * data[two]


@njit(cache=True, nogil=True)
def add_outer_products(pointers, indices, data, weights, start, stop, out):
    """Upper triangle of ``out += sum_i weights_i z_i z_i'`` over the rows from start to stop."""
    for row in range(start, stop):
        if weights[row] != 0.0:
            _add_outer_product(indices, data, pointers[row], pointers[row + 1], weights[row], out)


@njit(cache=True, nogil=True)
def pass_logistic_rows(rows, model, losses, start, stop, passed, gathered, inner):
    """Decisions of sparse rows, pull and curvature of their logistic losses, and sums over them.

    ``gathered += sum_i pull_i z_i`` and the upper triangle of ``inner += sum_i curvature_i z_i z_i'``,
    which is left out where it has no room; with a bias both have a last entry, of a feature 1.
    """
    pointers, indices, data = rows
    parameters, bias, has_bias = model
    targets, weights = losses
    decisions, pull, curvature = passed
    last, wanted = len(parameters), len(inner) > 0
    for row in range(start, stop):
        begin, end = pointers[row], pointers[row + 1]
        decision = 0.0
        for entry in range(begin, end):
            decision += data[entry] * parameters[indices[entry]]
        decision += bias
        decisions[row] = decision
        force, bend = _logistic(decision, targets[row], weights[row])
        pull[row], curvature[row] = force, bend
        for entry in range(begin, end):
            gathered[indices[entry]] += force * data[entry]
        if has_bias:
            gathered[last] += force
        if wanted and bend != 0.0:
            _add_outer_product(indices, data, begin, end, bend, inner)
            if has_bias:
                inner[last, last] += bend
                for entry in range(begin, end):
                    inner[indices[entry], last] += bend * data[entry]


@njit(cache=True, nogil=True)
def worst_logistic_rows(rows, direction, shift, losses, decisions, pull):
    """What :func:`worst_logistic` finds of ``moved = Z direction + shift``."""
    pointers, indices, data = rows
    targets, weights = losses
    worst = 0.0
    for row in range(len(decisions)):
        moved = 0.0
        for entry in range(pointers[row], pointers[row + 1]):
            moved += data[entry] * direction[indices[entry]]
        if weights[row] > 0.0:
            moved += shift
            wrong = 1.0 / (1.0 + math.exp(targets[row] * (decisions[row] - moved)))
            worst = max(worst, abs(wrong - abs(pull[row]) / weights[row]))
    return worst


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
    for row in range(start, stop):
        total = 0.0
        for entry in range(pointers[row], pointers[row + 1]):
            total += data[entry] * parameters[indices[entry]]
        out[row] = total


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


@njit(cache=True, nogil=True)
def pass_logistic(decisions, targets, weights, pull, curvature):
    """Pull and curvature of logistic losses."""
    for i in range(len(decisions)):
        pull[i], curvature[i] = _logistic(decisions[i], targets[i], weights[i])


@njit(cache=True, nogil=True)
def worst_logistic(decisions, moved, targets, weights, pull):
    """Largest difference of a share ``|pull| / weight`` and the probability at ``decisions - moved``."""
    worst = 0.0
    for i in range(len(decisions)):
        if weights[i] > 0.0:
            wrong = 1.0 / (1.0 + math.exp(targets[i] * (decisions[i] - moved[i])))
            worst = max(worst, abs(wrong - abs(pull[i]) / weights[i]))
    return worst
