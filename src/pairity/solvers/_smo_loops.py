"""Sequential minimal optimisation: the loops.

All functions work on the dual ``1/2 theta' K theta - sum(beta)``, ``theta = y beta``, with its
gradient ``F = y (K theta) - 1`` of formula (27), over the variables listed in ``active``.  Kernel
rows lie in ``cache``; ``slot[i]`` is the place of row i, or -1.  A loop that needs a row that is
not there returns its number and is called again once the row is in.  STALLED means that the best
step is lost in rounding.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "CONVERGED",
    "MISSING_ROW",
    "OUT_OF_STEPS",
    "STALLED",
    "count_unshrinkable",
    "pair_steps",
    "single_steps",
]

CONVERGED, MISSING_ROW, OUT_OF_STEPS, STALLED = 0, 1, 2, 3
#: Curvature below which a direction counts as flat.
_FLAT = 1e-12
#: Share of a box within which an averaged step counts as on the bound.
_NEAR_BOUND = 1e-13


@njit(cache=True, nogil=True)
def _ends(beta, gradient, labels, upper, active):  # type: ignore[no-untyped-def]
    """Formula (26): variable and value of the largest rise, and of the smallest fall."""
    rise, fall = -1, -1
    most, least = -np.inf, np.inf
    for i in active:
        score = -labels[i] * gradient[i]
        if labels[i] > 0.0:
            may_rise = beta[i] < upper[i]
            may_fall = beta[i] > 0.0
        else:
            may_rise = beta[i] > 0.0
            may_fall = beta[i] < upper[i]
        if may_rise and score > most:
            most, rise = score, i
        if may_fall and score < least:
            least, fall = score, i
    return rise, fall, most, least


@njit(cache=True, nogil=True)
def _best_partner(row, i, most, beta, gradient, labels, upper, diagonal, active):  # type: ignore[no-untyped-def]
    """Second-order rule: the partner with the largest decrease of the unclipped objective."""
    partner, best = -1, 0.0
    for j in active:
        may_fall = beta[j] > 0.0 if labels[j] > 0.0 else beta[j] < upper[j]
        if not may_fall:
            continue
        difference = most + labels[j] * gradient[j]
        if difference <= 0.0:
            continue
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], _FLAT)
        gain = difference * difference / curvature
        if gain > best:
            best, partner = gain, j
    return partner


@njit(cache=True, nogil=True)
def _room(i, direction, beta, labels, upper):  # type: ignore[no-untyped-def]
    """How far theta_i may move in the direction (+1.0 up, -1.0 down)."""
    return upper[i] - beta[i] if labels[i] * direction > 0.0 else beta[i]


@njit(cache=True, nogil=True)
def _move(i, direction, step, room, beta, labels, upper):  # type: ignore[no-untyped-def]
    """Move theta_i; a step that uses up the room lands exactly on the bound."""
    grows = labels[i] * direction > 0.0
    if step >= room:
        beta[i] = upper[i] if grows else 0.0
    else:
        beta[i] = beta[i] + step if grows else beta[i] - step


@njit(cache=True, nogil=True)
def _snapped(value, upper):  # type: ignore[no-untyped-def]
    """A value inside the box; averaging halves the way to a bound, so what is near it is on it."""
    if value < _NEAR_BOUND * upper:
        return 0.0
    return upper if value > (1.0 - _NEAR_BOUND) * upper else value


@njit(cache=True, nogil=True)
def pair_steps(  # type: ignore[no-untyped-def]
    beta,
    gradient,
    labels,
    upper,
    diagonal,
    active,
    cache,
    slot,
    last_used,
    clock,
    second_order,
    mirror_sign,
    tol,
    max_steps,
):
    """Two-variable steps, for problems with the equality constraint ``sum(theta) = 0``.

    ``mirror_sign`` 0.0 is plain SMO.  +-1.0 averages every step with its mirror image (Remark
    6), on a full set whose second half mirrors the first with labels of that sign.
    Returns status, steps done, the missing row, violation, and the two ends of (26).
    """
    half = len(beta) // 2
    steps = 0
    while True:
        i, j, most, least = _ends(beta, gradient, labels, upper, active)
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
            j = _best_partner(row_i, i, most, beta, gradient, labels, upper, diagonal, active)
        if slot[j] < 0:
            return MISSING_ROW, steps, j, violation, most, least
        last_used[slot[j]] = clock + steps
        row_j = cache[slot[j]]

        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row_i[j], _FLAT)
        step = (most + labels[j] * gradient[j]) / curvature
        room_i = _room(i, 1.0, beta, labels, upper)
        room_j = _room(j, -1.0, beta, labels, upper)
        step = min(step, room_i, room_j)
        if beta[i] + step == beta[i] and beta[j] + step == beta[j]:
            return STALLED, steps, -1, violation, most, least
        steps += 1
        if mirror_sign == 0.0:
            _move(i, 1.0, step, room_i, beta, labels, upper)
            _move(j, -1.0, step, room_j, beta, labels, upper)
            for k in active:
                gradient[k] += labels[k] * step * (row_i[k] - row_j[k])
        else:
            share = 0.5 * step
            mirror_i = i + half if i < half else i - half
            mirror_j = j + half if j < half else j - half
            for p in (i, mirror_i):
                beta[p] = _snapped(beta[p] + labels[i] * share, upper[p])
            for p in (j, mirror_j):
                beta[p] = _snapped(beta[p] - labels[j] * share, upper[p])
            for k in active:
                mirror_k = k + half if k < half else k - half
                change_i = row_i[k] + mirror_sign * row_i[mirror_k]
                change_j = row_j[k] + mirror_sign * row_j[mirror_k]
                gradient[k] += labels[k] * share * (change_i - change_j)


@njit(cache=True, nogil=True)
def _single_violation(beta, gradient, upper):  # type: ignore[no-untyped-def]
    if gradient < 0.0:
        return -gradient if beta < upper else 0.0
    return gradient if beta > 0.0 else 0.0


@njit(cache=True, nogil=True)
def _single_gain(beta, gradient, upper, diagonal):  # type: ignore[no-untyped-def]
    """Decrease of the objective by the best step of one variable inside its box."""
    wanted = -gradient / max(diagonal, _FLAT)
    step = min(max(wanted, -beta), upper - beta)
    return -step * (gradient + 0.5 * diagonal * step)


@njit(cache=True, nogil=True)
def single_steps(  # type: ignore[no-untyped-def]
    beta,
    gradient,
    labels,
    upper,
    diagonal,
    active,
    cache,
    slot,
    last_used,
    clock,
    second_order,
    tol,
    max_steps,
):
    """One-variable steps, for problems without a bias: greedy coordinate descent on (22).

    The first-order rule takes the largest projected gradient, which on the full set is the
    reversed-pair step of Theorem 3(b); the second-order rule the largest decrease.
    Returns status, steps done, the missing row and the violation.
    """
    steps = 0
    moved, change = -1, 0.0
    row = cache[0]
    while True:
        chosen, best, violation = -1, 0.0, 0.0
        for k in active:
            if moved >= 0:
                gradient[k] += labels[k] * change * row[k]
            off = _single_violation(beta[k], gradient[k], upper[k])
            violation = max(violation, off)
            if off > 0.0:
                merit = (
                    _single_gain(beta[k], gradient[k], upper[k], diagonal[k])
                    if second_order
                    else off
                )
                if merit > best or chosen < 0:
                    best, chosen = merit, k
        moved = -1
        if violation <= tol:
            return CONVERGED, steps, -1, violation
        if steps >= max_steps:
            return OUT_OF_STEPS, steps, -1, violation
        if slot[chosen] < 0:
            return MISSING_ROW, steps, chosen, violation
        last_used[slot[chosen]] = clock + steps
        row = cache[slot[chosen]]
        old = beta[chosen]
        wanted = old - gradient[chosen] / max(diagonal[chosen], _FLAT)
        beta[chosen] = min(max(wanted, 0.0), upper[chosen])
        if beta[chosen] == old:
            return STALLED, steps, -1, violation
        moved, change = chosen, labels[chosen] * (beta[chosen] - old)
        steps += 1


@njit(cache=True, nogil=True)
def count_unshrinkable(  # type: ignore[no-untyped-def]
    beta, gradient, labels, upper, active, has_bias, most, least, keep
):
    """Mark in ``keep`` the variables that may still move soon; the rest sit firmly on a bound."""
    kept = 0
    for place, i in enumerate(active):
        at_zero, at_upper = beta[i] <= 0.0, beta[i] >= upper[i]
        if has_bias:
            score = -labels[i] * gradient[i]
            rises_only = at_zero if labels[i] > 0.0 else at_upper
            falls_only = at_upper if labels[i] > 0.0 else at_zero
            firm = (rises_only and score < least) or (falls_only and score > most)
        else:
            firm = (at_zero and gradient[i] > most) or (at_upper and -gradient[i] > most)
        keep[place] = not firm
        kept += not firm
    return kept
