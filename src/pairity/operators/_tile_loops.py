"""Exponentials of a tile, added up: elementwise loops that compilers turn into vector instructions.

``exp(x) = 2^n exp(r)`` with n the integer next to ``x / log 2`` and ``|r| <= log(2) / 2``.  Adding
``1.5 * 2^52`` (``1.5 * 2^23`` in single precision) rounds to n and leaves it in the last bits, from
where it is shifted to those of the exponent.  Errors are below ``5e-16`` (``1e-7``), relative.  Exponents are
those of kernels: at most the logarithm of a weight; what would underflow is next to 0.
"""

from __future__ import annotations

import numpy as np

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


@njit(cache=True, nogil=True, inline="always")
def _spread(p, q):  # type: ignore[no-untyped-def]
    """``p, q`` become ``p + q, p - q``."""
    for j in range(len(p)):
        plus = p[j] + q[j]
        q[j] = p[j] - q[j]
        p[j] = plus


@njit(cache=True, nogil=True, inline="always")
def _gather(out, row, sign, begun):  # type: ignore[no-untyped-def]
    if begun:
        for j in range(len(out)):
            out[j] += sign * row[j]
    else:
        for j in range(len(out)):
            out[j] = sign * row[j]


@njit(cache=True, nogil=True, inline="always")
def _exponentiate_double(x, powers, bits):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        powers[j] = max(x[j], _LEAST) * _PER_LOG_2 + _TO_INTEGERS
    for j in range(len(x)):
        n = powers[j] - _TO_INTEGERS
        r = (max(x[j], _LEAST) - n * _LOG_2) - n * _REST
        r2 = r * r
        r4 = r2 * r2
        low = (1.0 + r) + r2 * (1.0 / 2.0 + r * (1.0 / 6.0))
        middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + r2 * (1.0 / 720.0 + r * (1.0 / 5040.0))
        high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + r2 * (
            1.0 / 3628800.0 + r * (1.0 / 39916800.0)
        )
        x[j] = low + r4 * (middle + r4 * (high + r4 * (1.0 / 479001600.0)))
    for j in range(len(x)):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(len(x)):
        x[j] *= powers[j]


@njit(cache=True, nogil=True, inline="always")
def _exponentiate_single(x, powers, bits):  # type: ignore[no-untyped-def]
    for j in range(len(x)):
        powers[j] = max(x[j], _LEAST_32) * _PER_LOG_2_32 + _TO_INTEGERS_32
    for j in range(len(x)):
        n = powers[j] - _TO_INTEGERS_32
        r = (max(x[j], _LEAST_32) - n * _LOG_2_32) - n * _REST_32
        p = ((((_P0 * r + _P1) * r + _P2) * r + _P3) * r + _P4) * r + _P5
        x[j] = (p * (r * r) + r) + _ONE_32
    for j in range(len(x)):
        bits[j] = (bits[j] + np.int32(127)) << np.int32(23)
    for j in range(len(x)):
        x[j] *= powers[j]


@njit(cache=True, nogil=True)
def fill_double(total, exponents, sign, begun):  # type: ignore[no-untyped-def]
    """``sign exp(exponents)``, added to a total that was begun; writes into the exponents, too."""
    powers = np.empty(total.shape[1])
    bits = powers.view(np.int64)
    for i in range(len(total)):
        _exponentiate_double(exponents[i], powers, bits)
        _gather(total[i], exponents[i], sign, begun)


@njit(cache=True, nogil=True)
def fill_single(total, exponents, sign, begun):  # type: ignore[no-untyped-def]
    """The same in single precision."""
    powers = np.empty(total.shape[1], dtype=np.float32)
    bits = powers.view(np.int32)
    for i in range(len(total)):
        _exponentiate_single(exponents[i], powers, bits)
        _gather(total[i], exponents[i], np.float32(sign), begun)


@njit(cache=True, nogil=True)
def fill_twins_double(total, p, q, signs, begun):  # type: ignore[no-untyped-def]
    """``s exp(p + q) + t exp(p - q)`` with signs s and t."""
    powers = np.empty(total.shape[1])
    bits = powers.view(np.int64)
    for i in range(len(total)):
        _spread(p[i], q[i])
        _exponentiate_double(p[i], powers, bits)
        _exponentiate_double(q[i], powers, bits)
        _gather(total[i], p[i], signs[0], begun)
        _gather(total[i], q[i], signs[1], True)


@njit(cache=True, nogil=True)
def fill_twins_single(total, p, q, signs, begun):  # type: ignore[no-untyped-def]
    """The same in single precision."""
    powers = np.empty(total.shape[1], dtype=np.float32)
    bits = powers.view(np.int32)
    for i in range(len(total)):
        _spread(p[i], q[i])
        _exponentiate_single(p[i], powers, bits)
        _exponentiate_single(q[i], powers, bits)
        _gather(total[i], p[i], np.float32(signs[0]), begun)
        _gather(total[i], q[i], np.float32(signs[1]), True)


@njit(cache=True, nogil=True)
def add_to_columns(out, tile, weights):  # type: ignore[no-untyped-def]
    """``out += weights @ tile``, added up in double precision, row after row."""
    for i in range(len(tile)):
        weight, row = weights[i], tile[i]
        for j in range(len(row)):
            out[j] += weight * row[j]
