"""Sums and products of doubles without rounding: unevaluated sums of two; for compiled loops."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True, inline="always")
def _halves(value):
    """A number as the sum of two of half as many bits (Veltkamp): their products are exact."""
    large = 134217729.0 * value
    upper = large - (large - value)
    return upper, value - upper


@njit(cache=True, nogil=True, inline="always")
def sum_and_rest(one, two):
    """``one + two`` rounded, and what rounding took away (Knuth)."""
    total = one + two
    added = total - one
    return total, (one - (total - added)) + (two - added)


@njit(cache=True, nogil=True, inline="always")
def exact_sum(old, left, right):
    """``old + left right`` rounded, and what rounding took away (Dekker, Knuth)."""
    product = left * right
    one, two = _halves(left)
    three, four = _halves(right)
    rest = ((one * three - product) + one * four + two * three) + two * four
    total, lost = sum_and_rest(old, product)
    return total, rest + lost
