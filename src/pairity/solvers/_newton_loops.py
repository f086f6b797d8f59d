"""Newton's method on logistic losses of few short rows, from start to end in one compiled call.

A step on a thousand rows takes less time than a dozen calls of Python.

Rows Z, ``z_i`` of n, come in ``rows``: where sparse ones begin, their columns and their values, or
the table of dense ones column by column, shape (r, n); what is not there is empty.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math

import numpy as np

from pairity.operators._feature_loops import add_rows
from pairity.operators._operator_loops import dot
from pairity.runtime.resources import njit
from pairity.solvers._primal_loops import (
    FIRST_ROWS,
    add_outer_products,
    join_diagonal,
    pass_logistic,
    times_rows,
    worst_logistic,
)

#: Sum of dual variables with a bias, over that of their sizes, that is but rounding.
BALANCED = 1e-9
#: Times the goal from which on a step takes a matrix of its own.
_NEARLY = 10.0
#: Slope after a step, over that before it, up to which its length is right; other lengths tried.
_FLAT, _MOST_LENGTHS = 0.1, 3


@njit(cache=True, nogil=True)
def newton_on_logistic(rows, targets, weights, penalty, goal, most, pull):
    """Minimise ``1/2 |w|^2 + sum_i c_i log(1 + exp(-y_i z_i w))`` from w = 0 on.

    ``pull`` becomes the dual variables.  Returns how many steps were taken; 0 where no length of a
    step is right, a matrix is not positive definite or ``most`` steps do not bring dual variables
    within ``goal`` of the decisions that they define: that takes more care.
    """
    n_rows, width = len(targets), len(penalty)
    parameters, gradient, direction = np.zeros(width), np.empty(width), np.zeros(width)
    decisions, curvature, change = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    scale, matrix = np.empty(width), np.empty((width, width))
    promised, n_steps, n_lengths = 0.0, 0, 0  # promised: size of the slope at the start of a step
    while True:
        _times(rows, parameters, 0, n_rows, decisions)
        pass_logistic(decisions, targets, weights, pull, curvature)
        _transposed(rows, pull, gradient)
        slope = 0.0
        for at in range(width):
            gradient[at] = penalty[at] * parameters[at] - gradient[at]
            slope += gradient[at] * direction[at]
        if not abs(slope) <= _FLAT * promised:
            if n_lengths == _MOST_LENGTHS:
                return 0
            _times(rows, direction, 0, n_rows, change)
            further = _to_the_flat(slope, direction, penalty, change, curvature)
            for at in range(width):
                parameters[at] += further * direction[at]
            n_lengths += 1
            continue
        off = np.inf
        if n_steps:
            off = _furthest(rows, targets, weights, penalty * gradient, decisions, pull, goal)
        if off <= goal and _is_balanced(penalty, gradient, pull):
            return n_steps
        if n_steps == most:
            return 0
        if off > _NEARLY * goal:  # nearer than that the last matrix will do
            _scaled_matrix(rows, curvature, penalty, scale, matrix)
            if not _factored(matrix):
                return 0
        for at in range(width):
            direction[at] = -scale[at] * gradient[at]
        _solve_factored(matrix, direction)
        for at in range(width):
            direction[at] *= scale[at]
        promised, n_lengths = 0.0, 0
        for at in range(width):
            promised -= gradient[at] * direction[at]
            parameters[at] += direction[at]
        n_steps += 1


@njit(cache=True, nogil=True)
def _times(rows, parameters, start, stop, out):
    """``out_i = z_i parameters`` for the rows from start to stop."""
    pointers, indices, data, columns = rows
    if not len(columns):
        times_rows(pointers, indices, data, parameters, start, stop, out)
        return
    here = out[start:stop]
    here[:] = 0.0
    for at in range(len(columns)):
        amount, column = parameters[at], columns[at, start:stop]
        for row in range(len(here)):
            here[row] += amount * column[row]


@njit(cache=True, nogil=True)
def _transposed(rows, theta, out):
    """``out = sum_i theta_i z_i``."""
    pointers, indices, data, columns = rows
    if not len(columns):
        out[:] = 0.0
        add_rows(pointers, indices, data, theta, 0, len(theta), out)
    for at in range(len(columns)):
        out[at] = dot(columns[at], theta)


@njit(cache=True, nogil=True)
def _weighted_products(rows, weights, out):
    """The upper triangle of ``sum_i weights_i z_i z_i'``."""
    pointers, indices, data, columns = rows
    if not len(columns):
        diagonal = np.zeros(len(out))
        out[:] = 0.0
        add_outer_products(pointers, indices, data, weights, 0, len(weights), diagonal, out)
        join_diagonal(diagonal, out)
    weighted = np.empty(columns.shape[1])
    for at in range(len(columns)):
        column = columns[at]
        for row in range(len(weighted)):
            weighted[row] = weights[row] * column[row]
        for other in range(at, len(columns)):
            out[at, other] = dot(columns[other], weighted)


@njit(cache=True, nogil=True)
def _is_balanced(penalty, gradient, pull):
    """Whether the sum of the dual variables is 0 where there is a bias, up to rounding."""
    size = 0.0
    for at in range(len(penalty)):
        if penalty[at] == 0.0:
            size = max(size, abs(gradient[at]))
    return size == 0.0 or size <= BALANCED * np.abs(pull).sum()


@njit(cache=True, nogil=True)
def _to_the_flat(slope, direction, penalty, change, curvature):
    """How much further along a direction, or back, a parabola has its lowest point."""
    bend = 0.0
    for at in range(len(direction)):
        bend += penalty[at] * direction[at] * direction[at]
    for row in range(len(change)):
        bend += curvature[row] * change[row] * change[row]
    return -slope / bend if bend > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _furthest(rows, targets, weights, moved_by, decisions, pull, goal):
    """How far dual variables are at most from what their decisions, ``K theta``, call for.

    Some of them, where these are further than a goal that may be had without a new matrix.
    """
    n_rows, start, worst = len(targets), 0, 0.0
    moved = np.empty(n_rows)
    for stop in (min(FIRST_ROWS, n_rows), n_rows):
        _times(rows, moved_by, start, stop, moved)
        some = slice(start, stop)
        of_some = worst_logistic(
            decisions[some], moved[some], targets[some], weights[some], pull[some]
        )
        worst = max(worst, of_some)
        if not worst <= _NEARLY * goal:
            return np.inf
        start = stop
    return worst


@njit(cache=True, nogil=True)
def _scaled_matrix(rows, curvature, penalty, scale, matrix):
    """The upper triangle of ``scale (penalty + Z' curvature Z) scale'``, with a diagonal of ones."""
    width = len(penalty)
    _weighted_products(rows, curvature, matrix)
    for at in range(width):
        amount = matrix[at, at] + penalty[at]
        scale[at] = 1.0 / math.sqrt(amount) if amount > 0.0 else 1.0
    for at in range(width):
        row, factor = matrix[at], scale[at]
        for column in range(at + 1, width):
            row[column] *= factor * scale[column]
        row[at] = 1.0


@njit(cache=True, nogil=True)
def _factored(matrix):
    """The upper triangle U of ``matrix = U' U`` in place of it (Cholesky); whether there is one.

    Row by row, from four rows above at a time: vector instructions without a sum of their entries.
    """
    size = len(matrix)
    left = np.empty(size)  # what the rows above leave of a row
    for pivot in range(size):
        length, above = size - pivot, 0
        for column in range(length):
            left[column] = matrix[pivot, pivot + column]
        while above + 4 <= pivot:
            one, two = matrix[above, pivot:], matrix[above + 1, pivot:]
            three, four = matrix[above + 2, pivot:], matrix[above + 3, pivot:]
            a, b, c, d = one[0], two[0], three[0], four[0]
            for column in range(length):
                left[column] -= (a * one[column] + b * two[column]) + (
                    c * three[column] + d * four[column]
                )
            above += 4
        while above < pivot:
            one = matrix[above, pivot:]
            a = one[0]
            for column in range(length):
                left[column] -= a * one[column]
            above += 1
        if not left[0] > 0.0:
            return False
        scale = 1.0 / math.sqrt(left[0])
        for column in range(length):
            matrix[pivot, pivot + column] = scale * left[column]
    return True


@njit(cache=True, nogil=True)
def _solve_factored(factor, out):
    """``out = (U' U)^-1 out`` in place."""
    size = len(factor)
    for pivot in range(size):
        row = factor[pivot]
        amount = out[pivot] / row[pivot]
        out[pivot] = amount
        for column in range(pivot + 1, size):
            out[column] -= amount * row[column]
    for pivot in range(size - 1, -1, -1):
        row, total, other = factor[pivot], out[pivot], 0.0
        column = pivot + 1
        while column + 1 < size:  # two sums: a processor adds to both at a time
            total -= row[column] * out[column]
            other -= row[column + 1] * out[column + 1]
            column += 2
        if column < size:
            total -= row[column] * out[column]
        out[pivot] = (total + other) / row[pivot]
