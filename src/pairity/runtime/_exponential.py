"""The exponential for compiled loops, of which compilers make vector instructions.

``exp(x) = 2^n exp(r)`` with n the integer next to ``x / log 2`` and ``|r| <= log(2) / 2``.  Adding
``1.5 * 2^52`` (``1.5 * 2^23`` in single precision) rounds to n and leaves it in the last bits, from
where it is added to those of the exponent of exp(r): the polynomial whose largest relative error on
the interval is smallest (``2e-9`` of degree 6, ``3e-18`` of degree 11), with the constant 1.
Errors are below ``1e-15`` (``2e-7``), relative; last bits depend on whether the processor fuses
products and sums.
Exponents are 0 or less, or at most the logarithm of a weight; what would underflow is next to 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

_LEAST, _PER_LOG_2, _TO_INTEGERS = -707.0, 1.4426950408889634, 6755399441055744.0
#: log 2 as a number with few bits, whose multiples are exact, and the rest of it.
_LOG_2, _REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_C2, _C3, _C4 = 0.50000000000000177, 0.16666666666666169, 0.041666666666492768
_C5, _C6, _C7 = 0.0083333333335592535, 0.0013888888951223825, 1.9841269432715297e-4
_C8, _C9, _C10 = 2.4801486521580923e-5, 2.7557622499311845e-6, 2.7632293229705629e-7
_C11 = 2.4994314816236954e-8

_single = np.float32
_LEAST_32, _PER_LOG_2_32, _TO_INTEGERS_32 = _single(-87.0), _single(_PER_LOG_2), _single(12582912.0)
_LOG_2_32, _REST_32 = _single(0.693359375), _single(-2.12194440e-4)
_ONE_32, _P2, _P3 = _single(1.0), _single(0.49999992), _single(0.16666420)
_P4, _P5, _P6 = _single(0.041668226), _single(0.0083748158), _single(0.0013836846)
_PLACE_32 = np.int32(23)


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


@intrinsic
def with_widest_vectors(context: Any) -> Any:
    """Lets the calling function use the widest vectors of the processor.

    For some processors compilers prefer halves of them, which long loops of exponentials do not.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # an attribute that llvmlite passes on but does not know
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


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
    low = (1.0 + r) + r2 * (_C2 + r * _C3)
    middle = (_C4 + r * _C5) + r2 * (_C6 + r * _C7)
    high = (_C8 + r * _C9) + r2 * (_C10 + r * _C11)
    series = low + r4 * (middle + r4 * high)
    return _number_of(_bits_of(series) + (_bits_of(shifted) << 52))


def _exp_single(x):  # type: ignore[no-untyped-def]
    x = max(x, _LEAST_32)
    shifted = x * _PER_LOG_2_32 + _TO_INTEGERS_32
    n = shifted - _TO_INTEGERS_32
    r = (x - n * _LOG_2_32) - n * _REST_32
    series = (((((_P6 * r + _P5) * r + _P4) * r + _P3) * r + _P2) * r + _ONE_32) * r + _ONE_32
    return _number_of(np.int32(_bits_of(series) + (_bits_of(shifted) << _PLACE_32)))
