"""Squared distances and exponentials in twice the precision of doubles.

With n the integer next to ``64 x / log 2``, and j what is left of it by 64,

    exp(x) = 2^(n // 64) 2^(j / 64) exp(r),      |r| <= log(2) / 128,

where the powers of j come from a table of two doubles.  Of ``exp(r)`` the terms 1 and r need twice
the precision, the rest is less than 2e-5 and its polynomial a double: errors are below 1e-19,
relative, a thousandth of those of doubles.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from pairity.pairs.arrays import Matrix
from pairity.runtime._two_doubles import exact_sum, sum_and_rest
from pairity.runtime.resources import njit


def _parts(number: Decimal, *bits: int) -> list[float]:
    """A number as a sum of doubles, all but the last with so many bits."""
    parts = []
    for n_bits in bits:
        unit = math.ldexp(1.0, math.frexp(float(number))[1] - n_bits)
        parts.append(unit * float(round(number / Decimal(unit))))
        number -= Decimal(parts[-1])
    return [*parts, float(number)]


with localcontext() as _context:
    _context.prec = 60
    _STEP = Decimal(2).ln() / 64
    #: ``log(2) / 64``: whole multiples of the first two parts are exact.
    _FIRST, _SECOND, _THIRD = _parts(_STEP, 34, 34)
    _POWERS = np.array([_parts((_STEP * j).exp(), 53) for j in range(64)])
_PER_STEP, _LEAST = 1.0 / float(_STEP), -708.0


def precise_distances(left: Matrix, right: Matrix) -> Matrix:
    """``|x_i - z_j|^2`` of tables in extended precision."""
    return _joined(*_distances(left, right))


def precise_gaussians(left: Matrix, right: Matrix, factor: float) -> Matrix:
    """``exp(factor |x_i - z_j|^2)`` of tables in extended precision, for a factor below 0."""
    upper, lower = _distances(left, right)
    to_exponentials(factor, upper.ravel(), lower.ravel())
    return _joined(upper, lower)


def _distances(left: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
    upper, lower = np.zeros((2, len(left), len(right)))
    add_squared_distances(*_in_two(left), *_in_two(right.T), upper, lower)
    return upper, lower


def _in_two(table: Matrix) -> tuple[Matrix, Matrix]:
    """A table in extended precision as an unevaluated sum of two doubles."""
    upper = table.astype(np.float64, order="C")
    return upper, (table - upper).astype(np.float64, order="C")


def _joined(upper: Matrix, lower: Matrix) -> Matrix:
    total: Any = upper.astype(np.longdouble)
    total += lower
    return total


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


@njit(cache=True, nogil=True)
def to_exponentials(factor, upper, lower):
    """Unevaluated sums ``upper + lower``, 0 or more, to ``exp(factor (upper + lower))``.

    The factor is below 0.
    """
    for i in range(len(upper)):
        if factor * upper[i] <= _LEAST:  # next to 0
            upper[i] = lower[i] = 0.0
        elif upper[i] == upper[i]:
            x, rest = exact_sum(0.0, factor, upper[i])
            upper[i], lower[i] = _exponential_of_two(x, rest + factor * lower[i])


@njit(cache=True, nogil=True, inline="always")
def _exponential_of_two(x, rest):
    """``exp(x + rest)``; its second part may be as large as a rounding of ``r``."""
    steps = np.floor(x * _PER_STEP + 0.5)
    r, lost = sum_and_rest(x - steps * _FIRST, -steps * _SECOND)
    lost += rest - steps * _THIRD
    series = 1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0))
    series = r * r * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * series)))
    series += lost * (1.0 + r * (1.0 + 0.5 * r))
    n = int(steps)
    power, power_rest = _POWERS[n & 63]
    total, total_rest = exact_sum(power, power, r)
    total_rest += power * series + power_rest * (1.0 + r)
    scale = math.ldexp(1.0, n >> 6)
    return scale * total, scale * total_rest
