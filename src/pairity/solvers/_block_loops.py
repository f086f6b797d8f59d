"""Steps of SMO on a Gram block that is in memory as a whole: the loops.

A step on one variable changes the decision values of all, which is one pass over a row.  Looking for
the best variable among all of them would take several passes more: steps are chosen from one segment
of the variables after the other, the best of each.  That takes no more steps, and each is several
times quicker.

``state`` holds where a loop is, so that it may return to Python and go on as if it had not: the
segment that is next, the variables that were looked at since the last step, and for steps on two
variables those of each segment that had most to gain from rising and from falling.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.operators._operator_loops import largest
from pairity.runtime.resources import njit
from pairity.solvers._smo_loops import FLAT, land, room_to_fall, room_to_rise

#: Variables of a segment: few enough for the innermost cache of a core.
SEGMENT = 256
#: Stands for minus infinity where sums must stay finite.
_NEVER = -1e300


def new_state(n_variables: int) -> np.ndarray:
    """Where loops on so many variables begin."""
    n_segments = -(-n_variables // SEGMENT)
    return np.concatenate([np.zeros(2, np.int64), np.full(2 * n_segments, -1, np.int64)])


@njit(cache=True, nogil=True)
def keep_rows_and_columns(memory, kept, old, new):
    """Move the square between some of ``old`` variables, in order, into rows of ``new`` <= old numbers.

    No number is written to a place from which a later one is still to be read.
    """
    for i in range(len(kept)):
        source, target = kept[i] * old, i * new
        for j in range(len(kept)):
            memory[target + j] = memory[source + kept[j]]


@njit(cache=True, nogil=True)
def _index_of(values, n, wanted):
    """Lowest index of an entry that is there."""
    for k in range(n):
        if values[k] == wanted:
            return k
    return 0


# Loops over many arrays at once are not made into vector instructions: there are too many that might
# overlap.  Hence one short pass after another over a segment, which the innermost cache holds.
@njit(cache=True, nogil=True)
def _best_of_single(values, theta, low, high, below, above, inverse, best):
    """Where each variable of a segment would go by itself."""
    for k in range(len(best)):
        t, g = theta[k], values[k]
        moved = max(t + (above[k] - g) * inverse[k], 0.0) + min(
            t + (below[k] - g) * inverse[k], 0.0
        )
        best[k] = min(max(moved, low[k]), high[k])


@njit(cache=True, nogil=True)
def _gain_of_single(values, theta, below, above, half, best, gain):
    """Decrease by that."""
    for k in range(len(gain)):
        t, g, z = theta[k], values[k], best[k]
        step = z - t
        over, under = max(z, 0.0) - max(t, 0.0), min(z, 0.0) - min(t, 0.0)
        gain[k] = (above[k] - g) * over + (below[k] - g) * under - half[k] * step * step


@njit(cache=True, nogil=True)
def _distance(value, t, best, below, above):
    """How far the decision value is off for a variable that would go to ``best``."""
    target = (below if t < 0.0 else above) if best > t else (above if t > 0.0 else below)
    return abs(target - value) if best != t else 0.0


@njit(cache=True, nogil=True)
def _furthest_off(values, theta, below, above, best, distance):
    """The largest of these distances in a segment."""
    for k in range(len(best)):
        distance[k] = _distance(values[k], theta[k], best[k], below[k], above[k])
    return largest(distance, len(distance))


@njit(cache=True, nogil=True)
def single_steps_on_block(block, values, theta, pieces, tol, state, max_steps):
    """One-variable steps of largest decrease in a segment, in place; steps, and whether they ended.

    They end when no projected gradient exceeds ``tol``, or when all steps are lost in rounding.
    """
    low, high, below, above = pieces
    n = len(theta)
    half, inverse = np.empty(n), np.empty(n)
    for k in range(n):
        half[k] = 0.5 * block[k, k]
        inverse[k] = 1.0 / max(block[k, k], FLAT)
    gains, bests = np.empty(SEGMENT), np.empty(SEGMENT)
    steps = 0
    while steps < max_steps:
        start = state[0]
        stop = min(start + SEGMENT, n)
        here = slice(start, stop)
        f, t, a, b = values[here], theta[here], above[here], below[here]
        best, gain = bests[: stop - start], gains[: stop - start]
        _best_of_single(f, t, low[here], high[here], b, a, inverse[here], best)
        _gain_of_single(f, t, b, a, half[here], best, gain)
        k = _index_of(gain, len(gain), largest(gain, len(gain)))
        change = best[k] - t[k]
        # mostly the variable of largest decrease is off itself
        distance = _distance(f[k], t[k], best[k], b[k], a[k])
        if not (distance > tol or _furthest_off(f, t, b, a, best, gain) > tol):
            change = 0.0
        state[0] = stop if stop < n else 0
        if change == 0.0:
            state[1] += stop - start
            if state[1] >= n:
                return steps, True
            continue
        state[1] = 0
        t[k] = best[k]
        row = block[start + k]
        for j in range(n):
            values[j] += change * row[j]
        steps += 1
    return steps, False


@njit(cache=True, nogil=True)
def _update_ends(k, theta, pieces, rises, falls):
    """Decision up to which theta_k would rise, minus that down to which it would fall."""
    low, high, below, above = pieces
    t = theta[k]
    rises[k] = _NEVER if t >= high[k] else (below[k] if t < 0.0 else above[k])
    falls[k] = _NEVER if t <= low[k] else -(above[k] if t > 0.0 else below[k])


@njit(cache=True, nogil=True)
def _furthest_here(ends, values, sign, room):
    """Place of the largest ``ends + sign values``."""
    for k in range(len(ends)):
        room[k] = ends[k] + sign * values[k]
    return _index_of(room, len(ends), largest(room, len(ends)))


@njit(cache=True, nogil=True)
def _furthest(candidates, ends, values, sign):
    """The candidate with the largest ``ends + sign values``, and that value."""
    most, best = 2.0 * _NEVER, -1
    for k in candidates:
        if k >= 0 and ends[k] + sign * values[k] > most:
            most, best = ends[k] + sign * values[k], k
    return best, most


@njit(cache=True, nogil=True)
def _decrease_with(most, fall, value, own, diagonal, entry):
    """Decrease by the step of two variables, one that may rise by ``most``: second-order rule."""
    difference = max(most + (fall + value), 0.0)
    return difference * difference / max(own + diagonal - 2.0 * entry, FLAT)


@njit(cache=True, nogil=True)
def _partner_here(most, own, falls, values, diagonal, row, gain):
    """Place of the largest decrease among the variables of a segment, and that."""
    for k in range(len(falls)):
        gain[k] = _decrease_with(most, falls[k], values[k], own, diagonal[k], row[k])
    best = largest(gain, len(falls))
    return _index_of(gain, len(falls), best), best


@njit(cache=True, nogil=True)
def _partner(i, most, here, falling, values, falls, diagonal, row, gain):
    """Of a segment and the candidates of others, who decreases most with i."""
    own = diagonal[i]
    j, best = _partner_here(most, own, falls[here], values[here], diagonal[here], row[here], gain)
    j += here.start
    for k in falling:
        if k >= 0:
            decrease = _decrease_with(most, falls[k], values[k], own, diagonal[k], row[k])
            if decrease > best:
                best, j = decrease, k
    return j


@njit(cache=True, nogil=True)
def pair_steps_on_block(block, values, theta, pieces, tol, state, max_steps):
    """Two-variable steps by the second-order rule, in place; steps, and whether they ended.

    The variables of a segment, and the candidates of all others, are looked at for a step.
    """
    low, high, below, above = pieces
    n, n_segments = len(theta), (len(state) - 2) // 2
    rising, falling = state[2 : 2 + n_segments], state[2 + n_segments :]
    diagonal, rises, falls = np.empty(n), np.empty(n), np.empty(n)
    gain = np.empty(SEGMENT)
    for k in range(n):
        diagonal[k] = block[k, k]
        _update_ends(k, theta, pieces, rises, falls)
    steps = 0
    while steps < max_steps:
        start = state[0]
        stop = min(start + SEGMENT, n)
        here, segment = slice(start, stop), start // SEGMENT
        rising[segment] = start + _furthest_here(rises[here], values[here], -1.0, gain)
        falling[segment] = start + _furthest_here(falls[here], values[here], 1.0, gain)
        i, most = _furthest(rising, rises, values, -1.0)
        j, least = _furthest(falling, falls, values, 1.0)
        state[0] = stop if stop < n else 0
        moves = most + least > tol
        if moves:
            row_i = block[i]
            j = _partner(i, most, here, falling, values, falls, diagonal, row_i, gain)
            row_j = block[j]
            curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], FLAT)
            room_i = room_to_rise(theta[i], high[i], below[i], above[i])
            room_j = room_to_fall(theta[j], low[j], below[j], above[j])
            step = min((most + (falls[j] + values[j])) / curvature, room_i, room_j)
            moves = theta[i] + step != theta[i] or theta[j] - step != theta[j]
        if not moves:
            state[1] += stop - start
            if state[1] >= n:
                return steps, True
            continue
        state[1] = 0
        land(i, j, step, room_i, room_j, theta, low, high, below, above)
        _update_ends(i, theta, pieces, rises, falls)
        _update_ends(j, theta, pieces, rises, falls)
        for k in range(n):
            values[k] += step * (row_i[k] - row_j[k])
        steps += 1
    return steps, False
