"""Whole powers by multiplication, which keeps the sign law of powers to the last bit.

``np.power`` is a vendor's vector function on some processors (AVX-512), and there
``(-x) ** 3 == -(x ** 3)`` fails in the last place.  IEEE products of numbers with opposite signs
are exact opposites, on every processor.
"""

from __future__ import annotations

from functools import reduce
from itertools import repeat
from operator import mul
from typing import TypeVar

__all__ = ["whole_power"]

Value = TypeVar("Value")


def whole_power(base: Value, exponent: int) -> Value:
    """``base * ... * base`` for an exponent of at least 1; arrays, or anything else with ``*``."""
    return reduce(mul, repeat(base, int(exponent)))
