"""The exponential for compiled loops, of which compilers make vector instructions.

``exp(x) = 2^n exp(r)`` with n the integer next to ``x / log 2`` and ``|r| <= log(2) / 2``.  Adding
``1.5 * 2^52`` (``1.5 * 2^23`` in single precision) rounds to n and leaves it in the last bits, from
where it is shifted to those of the exponent.  Errors are below ``1e-15`` (``2e-7``), relative;
last bits depend on whether the processor fuses products and sums.
Exponents are 0 or less, or at most the logarithm of a weight; what would underflow is next to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

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


def exponential(x: Any) -> Any:
    """The exponential, in the precision of its argument; for compiled loops alone."""
    raise NotImplementedError


# What is fused here is inside a function of one number, where no law between two can break.
@overload(exponential, jit_options={"fastmath": {"contract"}, "nogil": True})
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
