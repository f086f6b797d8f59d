"""Sequential minimal optimisation: the loops.

The functions work on ``1/2 theta' K theta + sum h(theta)`` with the two linear pieces of each h
(:mod:`pairity.losses.loss`) and the decision values ``values = K theta`` of formula (27), over
the variables listed in ``active``.  Kernel rows lie in ``cache``; ``slot[i]`` is the place of row
i, or -1.  A loop that needs a row that is not there returns its number and is called again once
the row is in.  STALLED means that the best step is lost in rounding.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit

CONVERGED, MISSING_ROW, OUT_OF_STEPS, STALLED = 0, 1, 2, 3
#: Curvature below which a direction counts as flat.
FLAT = 1e-12
#: Share of a box within which an averaged step counts as on the bound.
_NEAR_BOUND = 1e-13


@njit(cache=True, nogil=True, inline="always")
def rise_target(theta, high, below, above):
    """Decision up to which a variable would rise; -inf at its upper bound."""
    if theta >= high:
        return -np.inf
    return below if theta < 0.0 else above


@njit(cache=True, nogil=True, inline="always")
def fall_target(theta, low, below, above):
    """Decision down to which a variable would fall; +inf at its lower bound."""
    if theta <= low:
        return np.inf
    return above if theta > 0.0 else below


@njit(cache=True, nogil=True, inline="always")
def room_to_rise(theta, high, below, above):
    """How far a variable may rise within its linear piece."""
    return -theta if theta < 0.0 and below != above else high - theta


@njit(cache=True, nogil=True, inline="always")
def room_to_fall(theta, low, below, above):
    """How far a variable may fall within its linear piece."""
    return theta if theta > 0.0 and below != above else theta - low


@njit(cache=True, nogil=True, inline="always")
def best_value(theta, value, curvature, low, high, below, above):
    """Minimiser over one variable, all others fixed."""
    rests_above = max(theta + (above - value) / curvature, 0.0)
    rests_below = min(theta + (below - value) / curvature, 0.0)
    return min(max(rests_above + rests_below, low), high)


@njit(cache=True, nogil=True)
def _ends(theta, values, low, high, below, above, active):
    """Formula (26): variable and value of the largest rise, and of the smallest fall."""
    rise, fall = -1, -1
    most, least = -np.inf, np.inf
    for i in active:
        upward = rise_target(theta[i], high[i], below[i], above[i]) - values[i]
        if upward > most:
            most, rise = upward, i
        downward = fall_target(theta[i], low[i], below[i], above[i]) - values[i]
        if downward < least:
            least, fall = downward, i
    return rise, fall, most, least


@njit(cache=True, nogil=True)
def _best_partner(row, i, most, theta, values, low, below, above, diagonal, active):
    """Second-order rule: the partner with the largest decrease of the unclipped objective."""
    partner, best = -1, 0.0
    for j in active:
        difference = most - (fall_target(theta[j], low[j], below[j], above[j]) - values[j])
        if difference <= 0.0:
            continue
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], FLAT)
        gain = difference * difference / curvature
        if gain > best:
            best, partner = gain, j
    return partner


@njit(cache=True, nogil=True, inline="always")
def land(i, j, step, room_i, room_j, theta, low, high, below, above):
    """Let i rise and j fall; a step that uses up the room lands exactly on the bend or bound."""
    bent = below[i] != above[i], below[j] != above[j]
    up = 0.0 if theta[i] < 0.0 and bent[0] else high[i]
    down = 0.0 if theta[j] > 0.0 and bent[1] else low[j]
    theta[i] = up if step >= room_i else theta[i] + step
    theta[j] = down if step >= room_j else theta[j] - step


@njit(cache=True, nogil=True)
def _snapped(value, low, high):
    """A value inside the box; averaging halves the way to a bound, so what is near it is on it."""
    near = _NEAR_BOUND * (high - low)
    if abs(value) < near:
        return 0.0
    if value < low + near:
        return low
    return high if value > high - near else value


@njit(cache=True, nogil=True)
def pair_steps(
    theta, values, pieces, diagonal, active, rows, clock, second_order, mirror_sign, tol, max_steps
):
    """Two-variable steps, for problems with the equality constraint ``sum(theta) = 0``.

    ``mirror_sign`` 0.0 is plain SMO.  +-1.0 averages every step with its mirror image (Remark
    6), on a full set whose second half mirrors the first with targets of that sign.
    Returns status, steps done, the missing row, violation, and the two ends of (26).
    """
    low, high, below, above = pieces
    cache, slot, last_used = rows
    half = len(theta) // 2
    steps = 0
    while True:
        i, j, most, least = _ends(theta, values, low, high, below, above, active)
        violation = most - least if i >= 0 and j >= 0 else 0.0
        if violation <= tol:
            return CONVERGED, steps, -1, max(violation, 0.0), most, least
        if steps >= max_steps:
            return OUT_OF_STEPS, steps, -1, violation, most, least
        if slot[i] < 0:
            return MISSING_ROW, steps, i, violation, most, least
        last_used[slot[i]] = clock + steps
        row_i = cache[slot[i]]
        if second_order:
            j = _best_partner(row_i, i, most, theta, values, low, below, above, diagonal, active)
        if slot[j] < 0:
            return MISSING_ROW, steps, j, violation, most, least
        last_used[slot[j]] = clock + steps
        row_j = cache[slot[j]]

        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], FLAT)
        wanted = most - (fall_target(theta[j], low[j], below[j], above[j]) - values[j])
        room_i = room_to_rise(theta[i], high[i], below[i], above[i])
        room_j = room_to_fall(theta[j], low[j], below[j], above[j])
        step = min(wanted / curvature, room_i, room_j)
        if theta[i] + step == theta[i] and theta[j] - step == theta[j]:
            return STALLED, steps, -1, violation, most, least
        steps += 1
        if mirror_sign == 0.0:
            land(i, j, step, room_i, room_j, theta, low, high, below, above)
            for k in active:
                values[k] += step * (row_i[k] - row_j[k])
        else:
            share = 0.5 * step
            mirror_i = i + half if i < half else i - half
            mirror_j = j + half if j < half else j - half
            for k, change in (
                (i, share),
                (mirror_i, mirror_sign * share),
                (j, -share),
                (mirror_j, -(mirror_sign * share)),
            ):
                theta[k] = _snapped(theta[k] + change, low[k], high[k])
            for k in active:
                mirror_k = k + half if k < half else k - half
                change_i = row_i[k] + mirror_sign * row_i[mirror_k]
                change_j = row_j[k] + mirror_sign * row_j[mirror_k]
                values[k] += share * (change_i - change_j)


@njit(cache=True, nogil=True)
def _single_gain(theta, value, curvature, low, high, below, above):
    """Decrease of the objective by the best step of one variable."""
    moved = best_value(theta, value, max(curvature, FLAT), low, high, below, above)
    over, under = max(moved, 0.0) - max(theta, 0.0), min(moved, 0.0) - min(theta, 0.0)
    step = moved - theta
    return (above - value) * over + (below - value) * under - 0.5 * curvature * step * step


@njit(cache=True, nogil=True)
def single_steps(
    theta, values, pieces, diagonal, active, rows, clock, second_order, tol, max_steps
):
    """One-variable steps, for problems without a bias: greedy coordinate descent on (22).

    The first-order rule takes the largest projected gradient, which on the full set is the
    reversed-pair step of Theorem 3(b); the second-order rule the largest decrease.
    Returns status, steps done, the missing row and the violation.
    """
    low, high, below, above = pieces
    cache, slot, last_used = rows
    steps = 0
    moved, change = -1, 0.0
    row = cache[0]
    while True:
        chosen, best, violation = -1, 0.0, 0.0
        for k in active:
            if moved >= 0:
                values[k] += change * row[k]
            upward = rise_target(theta[k], high[k], below[k], above[k]) - values[k]
            downward = values[k] - fall_target(theta[k], low[k], below[k], above[k])
            off = max(upward, downward)
            violation = max(violation, off)
            if off > 0.0:
                merit = off
                if second_order:
                    merit = _single_gain(
                        theta[k], values[k], diagonal[k], low[k], high[k], below[k], above[k]
                    )
                if merit > best or chosen < 0:
                    best, chosen = merit, k
        moved = -1
        if violation <= tol:
            return CONVERGED, steps, -1, violation
        if steps >= max_steps:
            return OUT_OF_STEPS, steps, -1, violation
        k = chosen
        if slot[k] < 0:
            return MISSING_ROW, steps, k, violation
        last_used[slot[k]] = clock + steps
        row = cache[slot[k]]
        old = theta[k]
        theta[k] = best_value(
            old, values[k], max(diagonal[k], FLAT), low[k], high[k], below[k], above[k]
        )
        if theta[k] == old:
            return STALLED, steps, -1, violation
        moved, change = k, theta[k] - old
        steps += 1
