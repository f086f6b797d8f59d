"""Steps on a Gram block that is in memory as a whole: straight passes that the compiler vectorises.

The same steps as in ``_smo_loops``, written for speed where every row is resident and every
variable active.
"""

from __future__ import annotations

import numpy as np

from pairity.compiled import njit
from pairity.solvers._smo_loops import room_to_fall, room_to_rise

__all__ = ["pair_steps_on_block", "single_steps_on_block"]

#: Curvature below which a direction counts as flat.
_FLAT = 1e-12
#: Stands for minus infinity where sums must stay finite.
_NEVER = -1e300


# A maximum may be taken in any order; there is no arithmetic in it to relax.
@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest(values):  # type: ignore[no-untyped-def]
    most = _NEVER
    for k in range(len(values)):
        most = max(most, values[k])
    return most


@njit(cache=True, nogil=True)
def _place_of(values, wanted):  # type: ignore[no-untyped-def]
    """Lowest index of an entry that is there."""
    for k in range(len(values)):
        if values[k] == wanted:
            return k
    return 0


@njit(cache=True, nogil=True)
def single_steps_on_block(block, values, theta, low, high, below, above, tol, max_steps):  # type: ignore[no-untyped-def]
    """One-variable steps of largest decrease, in place; returns steps and whether they ended.

    They end when no projected gradient exceeds ``tol``, or when a step is lost in rounding.
    """
    n = len(theta)
    half = np.empty(n)
    inverse = np.empty(n)
    for k in range(n):
        half[k] = 0.5 * block[k, k]
        inverse[k] = 1.0 / max(block[k, k], _FLAT)
    moved = np.empty(n)
    gain = np.empty(n)
    violation = np.empty(n)
    for step_number in range(max_steps):
        for k in range(n):
            t, g, a, b = theta[k], values[k], above[k], below[k]
            best = max(t + (a - g) * inverse[k], 0.0) + min(t + (b - g) * inverse[k], 0.0)
            best = min(max(best, low[k]), high[k])
            step = best - t
            over, under = max(best, 0.0) - max(t, 0.0), min(best, 0.0) - min(t, 0.0)
            moved[k] = best
            gain[k] = (a - g) * over + (b - g) * under - half[k] * step * step
            target = (b if t < 0.0 else a) if step > 0.0 else (a if t > 0.0 else b)
            violation[k] = abs(target - g) if step != 0.0 else 0.0
        if _largest(violation) <= tol:
            return step_number, True
        chosen = _place_of(gain, _largest(gain))
        change = moved[chosen] - theta[chosen]
        if change == 0.0:
            return step_number, True
        theta[chosen] = moved[chosen]
        row = block[chosen]
        for k in range(n):
            values[k] += change * row[k]
    return max_steps, False


@njit(cache=True, nogil=True)
def _update_ends(k, theta, low, high, below, above, rises, falls):  # type: ignore[no-untyped-def]
    """Decision up to which theta_k would rise, minus that down to which it would fall."""
    t = theta[k]
    rises[k] = _NEVER if t >= high[k] else (below[k] if t < 0.0 else above[k])
    falls[k] = _NEVER if t <= low[k] else -(above[k] if t > 0.0 else below[k])


@njit(cache=True, nogil=True)
def pair_steps_on_block(block, values, theta, low, high, below, above, tol, max_steps):  # type: ignore[no-untyped-def]
    """Two-variable steps by the second-order rule, in place; returns steps and whether they ended."""
    n = len(theta)
    diagonal = np.empty(n)
    rises = np.empty(n)
    falls = np.empty(n)
    merit = np.empty(n)
    for k in range(n):
        diagonal[k] = block[k, k]
        _update_ends(k, theta, low, high, below, above, rises, falls)
    for step_number in range(max_steps):
        for k in range(n):
            merit[k] = rises[k] - values[k]
        most = _largest(merit)
        i = _place_of(merit, most)
        for k in range(n):
            merit[k] = falls[k] + values[k]
        if most < 0.5 * _NEVER or most + _largest(merit) <= tol:
            return step_number, True
        row_i = block[i]
        for k in range(n):
            difference = max(most + (falls[k] + values[k]), 0.0)
            curvature = max(diagonal[i] + diagonal[k] - 2.0 * row_i[k], _FLAT)
            merit[k] = difference * difference / curvature
        j = _place_of(merit, _largest(merit))
        row_j = block[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], _FLAT)
        step = (most + (falls[j] + values[j])) / curvature
        room_i = room_to_rise(theta[i], high[i], below[i], above[i])
        room_j = room_to_fall(theta[j], low[j], below[j], above[j])
        step = min(step, room_i, room_j)
        if theta[i] + step == theta[i] and theta[j] - step == theta[j]:
            return step_number, True
        if step >= room_i:
            theta[i] = 0.0 if theta[i] < 0.0 and below[i] != above[i] else high[i]
        else:
            theta[i] += step
        if step >= room_j:
            theta[j] = 0.0 if theta[j] > 0.0 and below[j] != above[j] else low[j]
        else:
            theta[j] -= step
        _update_ends(i, theta, low, high, below, above, rises, falls)
        _update_ends(j, theta, low, high, below, above, rises, falls)
        for k in range(n):
            values[k] += step * (row_i[k] - row_j[k])
    return max_steps, False
