"""Steps on a Gram block that is in memory as a whole: straight passes that the compiler vectorises.

The same steps as in ``_smo_loops``, written for speed where every row is resident and every
variable active.  ``lag = values - labels`` is the negative residual; its product with the label is
the gradient (27).
"""

from __future__ import annotations

import numpy as np
from numba import njit

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
def single_steps_on_block(block, lag, beta, labels, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """One-variable steps of largest decrease, in place; returns steps and whether they ended.

    They end when no projected gradient exceeds ``tol``, or when a step is lost in rounding.
    """
    n = len(beta)
    half = np.empty(n)
    inverse = np.empty(n)
    for k in range(n):
        half[k] = 0.5 * block[k, k]
        inverse[k] = 1.0 / max(block[k, k], _FLAT)
    gain = np.empty(n)
    violation = np.empty(n)
    for step_number in range(max_steps):
        for k in range(n):
            gradient = labels[k] * lag[k]
            step = min(max(-gradient * inverse[k], -beta[k]), upper[k] - beta[k])
            gain[k] = -step * (gradient + half[k] * step)
            violation[k] = abs(gradient) if step != 0.0 else 0.0
        if _largest(violation) <= tol:
            return step_number, True
        chosen = _place_of(gain, _largest(gain))
        gradient = labels[chosen] * lag[chosen]
        moved = min(max(beta[chosen] - gradient * inverse[chosen], 0.0), upper[chosen])
        change = labels[chosen] * (moved - beta[chosen])
        if change == 0.0:
            return step_number, True
        beta[chosen] = moved
        row = block[chosen]
        for k in range(n):
            lag[k] += change * row[k]
    return max_steps, False


@njit(cache=True, nogil=True)
def _update_sides(k, beta, labels, upper, rises, falls):  # type: ignore[no-untyped-def]
    """0.0 where theta_k may still move up (down), a large negative number where it may not."""
    room_up = beta[k] < upper[k] if labels[k] > 0.0 else beta[k] > 0.0
    room_down = beta[k] > 0.0 if labels[k] > 0.0 else beta[k] < upper[k]
    rises[k] = 0.0 if room_up else _NEVER
    falls[k] = 0.0 if room_down else _NEVER


@njit(cache=True, nogil=True)
def _shift(k, step, beta, labels, upper):  # type: ignore[no-untyped-def]
    """Move theta_k by a signed step inside its box; a step to the bound lands on it."""
    along = labels[k] * step
    if along > 0.0:
        beta[k] = upper[k] if along >= upper[k] - beta[k] else beta[k] + along
    else:
        beta[k] = 0.0 if -along >= beta[k] else beta[k] + along


@njit(cache=True, nogil=True)
def pair_steps_on_block(block, lag, beta, labels, upper, tol, max_steps):  # type: ignore[no-untyped-def]
    """Two-variable steps by the second-order rule, in place; returns steps and whether they ended."""
    n = len(beta)
    diagonal = np.empty(n)
    rises = np.empty(n)
    falls = np.empty(n)
    merit = np.empty(n)
    for k in range(n):
        diagonal[k] = block[k, k]
        _update_sides(k, beta, labels, upper, rises, falls)
    for step_number in range(max_steps):
        for k in range(n):
            merit[k] = rises[k] - lag[k]
        most = _largest(merit)
        i = _place_of(merit, most)
        for k in range(n):
            merit[k] = falls[k] + lag[k]
        if most < 0.5 * _NEVER or most + _largest(merit) <= tol:
            return step_number, True
        row_i = block[i]
        for k in range(n):
            difference = max(most + lag[k] + falls[k], 0.0)
            curvature = max(diagonal[i] + diagonal[k] - 2.0 * row_i[k], _FLAT)
            merit[k] = difference * difference / curvature
        j = _place_of(merit, _largest(merit))
        row_j = block[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], _FLAT)
        step = (most + lag[j]) / curvature
        room_i = upper[i] - beta[i] if labels[i] > 0.0 else beta[i]
        room_j = beta[j] if labels[j] > 0.0 else upper[j] - beta[j]
        step = min(step, room_i, room_j)
        if beta[i] + step == beta[i] and beta[j] + step == beta[j]:
            return step_number, True
        _shift(i, step, beta, labels, upper)
        _shift(j, -step, beta, labels, upper)
        _update_sides(i, beta, labels, upper, rises, falls)
        _update_sides(j, beta, labels, upper, rises, falls)
        for k in range(n):
            lag[k] += step * (row_i[k] - row_j[k])
    return max_steps, False
