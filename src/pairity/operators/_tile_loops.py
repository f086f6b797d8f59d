"""Exponentials of matrix products, a tile at a time: entries, and sums of them with weights.

A tile of exponents is made by BLAS and stays in the cache; its exponentials are needed a row at a
time, which the innermost cache holds, and are never stored where only their sums are asked for.

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
from numba.extending import intrinsic, overload

from pairity.operators._operator_loops import dot
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


def _exp(x: Any) -> Any:
    """The exponential, in the precision of its argument; for compiled loops alone."""
    raise NotImplementedError


# What is fused here is inside a function of one number, where no law between two can break.
@overload(_exp, jit_options={"fastmath": {"contract"}, "nogil": True})
def _exp_in_precision(x):  # type: ignore[no-untyped-def]
    return _exp_single if x == types.float32 else _exp_double


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


def _exp_single(x):  # type: ignore[no-untyped-def]
    x = max(x, _LEAST_32)
    shifted = x * _PER_LOG_2_32 + _TO_INTEGERS_32
    n = shifted - _TO_INTEGERS_32
    r = (x - n * _LOG_2_32) - n * _REST_32
    p = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
    series = (p * (r * r) + r) + _ONE_32
    return series * _number_of(np.int32((_bits_of(shifted) + 127) << 23))


@njit(cache=True, nogil=True)
def add_exponentials(out, p, q, signs):  # type: ignore[no-untyped-def]
    """``out += sign exp(p)``, or with two signs ``plus exp(p + q) + minus exp(p - q)``, of one row."""
    if len(signs) == 1:
        sign = signs[0]
        for j in range(len(out)):
            out[j] += sign * _exp(p[j])
    else:
        plus, minus = signs[0], signs[1]
        for j in range(len(out)):
            straight, crossed = _exp(p[j] + q[j]), _exp(p[j] - q[j])
            out[j] += plus * straight + minus * crossed


@njit(cache=True, nogil=True)
def _multiply(room, left, right):  # type: ignore[no-untyped-def]
    """``left right'`` in memory that is used again and again."""
    product = room[: len(left) * len(right)].reshape((len(left), len(right)))
    np.dot(left, right.T, product)
    return product


@njit(cache=True, nogil=True)
def add_entries(out, one, other, signs, columns):  # type: ignore[no-untyped-def]
    """Add the entries of a band of rows; ``one`` and ``other`` are both sides of p and of q.

    There are so many ``columns`` to a tile.
    """
    p_room = np.empty(len(out) * columns, out.dtype)
    q_room = np.empty(len(out) * columns, out.dtype)
    for start in range(0, out.shape[1], columns):
        stop = min(start + columns, out.shape[1])
        p = _multiply(p_room, one[0], one[1][start:stop])
        q = _multiply(q_room, other[0], other[1][start:stop]) if len(signs) == 2 else p
        for i in range(len(out)):
            add_exponentials(out[i, start:stop], p[i], q[i], signs)


@njit(cache=True, nogil=True)
def add_products(by_rows, by_columns, one, other, signs, weights, of_rows, tile):  # type: ignore[no-untyped-def]
    """``by_rows += E weights`` and, unless that is empty, ``by_columns += of_rows E``.

    E are the exponentials of both sides; sums are in double precision whatever they are in.
    """
    rows, columns = tile
    p_room = np.empty(rows * columns, one[0].dtype)
    q_room = np.empty(rows * columns, one[0].dtype)
    entries = np.empty(columns, one[0].dtype)
    for top in range(0, len(by_rows), rows):
        bottom = min(top + rows, len(by_rows))
        for start in range(0, len(weights), columns):
            stop = min(start + columns, len(weights))
            p = _multiply(p_room, one[0][top:bottom], one[1][start:stop])
            q = p
            if len(signs) == 2:
                q = _multiply(q_room, other[0][top:bottom], other[1][start:stop])
            row, some = entries[: stop - start], weights[start:stop]
            for i in range(bottom - top):
                row[:] = 0.0
                add_exponentials(row, p[i], q[i], signs)
                by_rows[top + i] += dot(row, some)
                if len(by_columns):
                    target, weight = by_columns[start:stop], of_rows[top + i]
                    for j in range(len(row)):
                        target[j] += weight * row[j]


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
