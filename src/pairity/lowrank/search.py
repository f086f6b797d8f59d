"""How far along a direction: searches that look at slopes alone.

The objective along a direction is convex, so that its slope rises; values of the objective
itself are never needed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["root", "step_length"]

Slope = Callable[[float], float]

#: A slope this small beside that at the start ends the search along a direction.
_FLAT = 0.1
_MOST_SLOPES = 12
_MOST_POSITIONS = 40


def step_length(slope: Slope, at_start: float) -> float:
    """A length from which on little is to be gained; 1 is tried first.

    With s the slope, ``f(low) <= f(0) + low s(low)`` and ``f(x) <= f(low) + (x - low) s(x)`` for
    convex f: a length x whose slope is above 0 is taken where the two make a descent certain, or
    where it is the first.
    """
    if at_start >= 0.0:
        return 0.0
    flat = _FLAT * abs(at_start)
    low, slope_low, high, slope_high = 0.0, at_start, np.inf, np.inf
    length = 1.0
    for _ in range(_MOST_SLOPES):
        here = slope(length)
        first = length == 1.0 and low == 0.0 and not np.isfinite(high)
        certain = here <= 0.0 or (length - low) * here + low * slope_low < 0.0
        if abs(here) <= flat and (first or certain):
            return length
        if here < 0.0:
            low, slope_low = length, here
        else:
            high, slope_high = length, here
        if not np.isfinite(high):
            length = 2.0 * low
            continue
        share = slope_low / (slope_low - slope_high)  # of the way from low to high
        length = low + float(np.clip(share, 0.1, 0.9)) * (high - low)
    return low if low > 0.0 else length


def root(slope: Slope, step: float, flat: float) -> float:
    """Where a rising function is 0 up to ``flat``: steps that double, then false positions.

    An end that stays where it is twice in a row counts half (the Illinois rule), so that both
    ends move; after a position that has not halved the interval comes its middle.
    """
    at_start = slope(0.0)
    if abs(at_start) <= flat:
        return 0.0
    direction = -float(np.sign(at_start))
    ends, values = [0.0, np.inf], [at_start, 0.0]  # with the sign of the start, and beyond the root
    last, halved = 0, True
    for _ in range(_MOST_POSITIONS):
        bracketed, before = np.isfinite(ends[1]), abs(ends[1] - ends[0])
        if not bracketed:
            position, step = ends[0] + direction * step, 2.0 * step
        elif halved:
            position = (ends[0] * values[1] - ends[1] * values[0]) / (values[1] - values[0])
        else:
            position = 0.5 * (ends[0] + ends[1])
        here = slope(position)
        if abs(here) <= flat:
            return position
        side = 0 if here * at_start > 0.0 else 1
        ends[side], values[side] = position, here
        if bracketed and side == last:
            values[1 - side] *= 0.5
        last, halved = side, not bracketed or abs(ends[1] - ends[0]) <= 0.5 * before
    return ends[0]
