"""Exponentials of a tile, added up: elementwise loops that compilers turn into vector instructions.

``exp(x) = 2^n exp(r)`` with n the integer next to ``x / log 2`` and ``|r| <= log(2) / 2``.  Adding
``1.5 * 2^52`` (``1.5 * 2^23`` in single precision) rounds to n and leaves it in the last bits, from
where it is shifted to those of the exponent.  Errors are below ``1e-15`` (``2e-7``), relative.
Exponents are those of kernels: at most the logarithm of a weight; what would underflow is next to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from pairity.runtime.resources import njit

_LEAST, _PER_LOG_2, _TO_INTEGERS = -708.0, 1.4426950408889634, 6755399441055744.0
#: log 2 as a number with few bits, whose multiples are exact, and the rest of it.
_LOG_2, _REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10

_single = np.float32
_LEAST_32, _PER_LOG_2_32, _TO_INTEGERS_32 = _single(-87.0), _single(_PER_LOG_2), _single(12582912.0)
_LOG_2_32, _REST_32 = _single(0.693359375), _single(-2.12194440e-4)
#: ``(exp(r) - 1 - r) / r^2`` around 0, smallest error on the interval (Cephes).
_P0, _P1, _P2 = _single(1.9875691500e-4), _single(1.3981999507e-3), _single(8.3334519073e-3)
_P3, _P4, _P5 = _single(4.1665795894e-2), _single(1.6666665459e-1), _single(5.0000001201e-1)
_ONE_32 = _single(1.0)


@intrinsic
def _bits_of(context: Any, number: Any) -> Any:
    """The bits of a number, as an integer."""
    wide = number == types.float64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64 if wide else 32))

    return (types.int64 if wide else types.int32)(number), generate


@intrinsic
def _number_of(context: Any, bits: Any) -> Any:
    """The number that has these bits."""
    wide = bits == types.int64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType() if wide else ir.FloatType())

    return (types.float64 if wide else types.float32)(bits), generate


@njit(cache=True, nogil=True, inline="always")
def _exp_double(x):  # type: ignore[no-untyped-def]
    x = max(x, _LEAST)
    shifted = x * _PER_LOG_2 + _TO_INTEGERS
    n = shifted - _TO_INTEGERS
    r = (x - n * _LOG_2) - n * _REST
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (1.0 / 2.0 + r * (1.0 / 6.0))
    middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0))
    end = 1.0 / 3628800.0 + r * (1.0 / 39916800.0)
    high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * end
    series = low + r4 * (middle + r4 * (high + r4 * (1.0 / 479001600.0)))
    return series * _number_of((_bits_of(shifted) + 1023) << 52)


@njit(cache=True, nogil=True, inline="always")
def _exp_single(x):  # type: ignore[no-untyped-def]
    x = max(x, _LEAST_32)
    shifted = x * _PER_LOG_2_32 + _TO_INTEGERS_32
    n = shifted - _TO_INTEGERS_32
    r = (x - n * _LOG_2_32) - n * _REST_32
    p = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
    series = (p * (r * r) + r) + _ONE_32
    return series * _number_of(np.int32((_bits_of(shifted) + 127) << 23))


@njit(cache=True, nogil=True)
def add_double(total, exponents, sign):  # type: ignore[no-untyped-def]
    """``total += sign exp(exponents)`` in double precision."""
    for i in range(len(total)):
        out, row = total[i], exponents[i]
        for j in range(len(out)):
            out[j] += sign * _exp_double(row[j])


@njit(cache=True, nogil=True)
def add_single(total, exponents, sign):  # type: ignore[no-untyped-def]
    """The same in single precision."""
    sign = np.float32(sign)
    for i in range(len(total)):
        out, row = total[i], exponents[i]
        for j in range(len(out)):
            out[j] += sign * _exp_single(row[j])


@njit(cache=True, nogil=True)
def add_twins_double(total, p, q, plus, minus):  # type: ignore[no-untyped-def]
    """``total += plus exp(p + q) + minus exp(p - q)`` with signs plus and minus."""
    for i in range(len(total)):
        out, one, two = total[i], p[i], q[i]
        for j in range(len(out)):
            straight, crossed = _exp_double(one[j] + two[j]), _exp_double(one[j] - two[j])
            out[j] += plus * straight + minus * crossed


@njit(cache=True, nogil=True)
def add_twins_single(total, p, q, plus, minus):  # type: ignore[no-untyped-def]
    """The same in single precision."""
    plus, minus = np.float32(plus), np.float32(minus)
    for i in range(len(total)):
        out, one, two = total[i], p[i], q[i]
        for j in range(len(out)):
            straight, crossed = _exp_single(one[j] + two[j]), _exp_single(one[j] - two[j])
            out[j] += plus * straight + minus * crossed


@njit(cache=True, nogil=True)
def add_to_columns(out, tile, weights):  # type: ignore[no-untyped-def]
    """``out += weights @ tile``, added up in double precision, row after row."""
    for i in range(len(tile)):
        weight, row = weights[i], tile[i]
        for j in range(len(row)):
            out[j] += weight * row[j]


@njit(cache=True, nogil=True)
def add_same(total, a, b, c, d, weights):  # type: ignore[no-untyped-def]
    """``total += w_ac [a = c] + w_ad [a = d] + w_bc [b = c] + w_bd [b = d]`` of object numbers."""
    ac, ad, bc, bd = weights
    nothing = ac - ac
    for i in range(len(total)):
        out, one, two = total[i], a[i], b[i]
        for j in range(len(out)):
            found = (ac if one == c[j] else nothing) + (ad if one == d[j] else nothing)
            out[j] += found + (bc if two == c[j] else nothing) + (bd if two == d[j] else nothing)


@njit(cache=True, nogil=True)
def add_times(total, terms, factor, base, ratio):  # type: ignore[no-untyped-def]
    """``total += (base + ratio factor) terms``."""
    for i in range(len(total)):
        out, one, two = total[i], terms[i], factor[i]
        for j in range(len(out)):
            out[j] += (base + ratio * two[j]) * one[j]
