"""What one pass over a chunk of pairs adds up, for one process and for many.

At decisions f with rounded losses (:mod:`pairity.losses.smoothed`) the dual variables are
``theta = -d loss / d f``.  They are inside the bounds of the problem, so that

    dual = -1/2 |sum_i theta_i psi_i|^2 - sum_i h_i(theta_i)

is a lower bound of every primal value.  With a bias the theta must add up to 0: those of the
heavier sign are shrunk by a common factor s, and ``h(s theta) <= s h(theta)`` since h is convex
with h(0) = 0.  Sums are kept apart by sign, so that the factor can be applied afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.losses.smoothed import smoothed
from pairity.lowrank.chunk import PairChunk, Rows, arrange
from pairity.lowrank.design import Design, Images, Precision, Vector
from pairity.threads import run_in_ranges

__all__ = ["ActiveSet", "Sums", "active_set", "curve", "join_active", "slope", "summarise"]


@dataclass(frozen=True)
class Sums:
    """Sums over pairs; those of dual variables by sign where there is a bias."""

    loss: float  # as the problem has it
    nothing: float  # losses of the function 0
    rounded: float  # of the rounded losses
    curvature: float
    theta: Vector  # (sides,) sums of |theta|
    conjugate: Vector  # (sides,) sums of h(theta)
    pulls: NDArray[np.float64]  # (sides, size) sums of theta psi
    n_support: int
    n_bounded: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, name) + getattr(other, name) for name in _FIELDS))


_FIELDS = tuple(Sums.__dataclass_fields__)


@dataclass(frozen=True)
class ActiveSet:
    """Pairs whose rounded loss is curved at the decisions, with their curvature."""

    pairs: Rows
    group: NDArray[np.float64]
    curvature: NDArray[Any]


def summarise(
    chunk: PairChunk,
    design: Design,
    decisions: NDArray[Any],
    width: float,
    precision: Precision = np.float32,
) -> Sums:
    """All sums of a chunk at its decisions."""
    n = len(chunk)
    theta = np.empty(n)
    blocks = chunk.order.blocks()
    scalars = np.zeros((len(blocks), 6))
    by_side = np.zeros((len(blocks), 2, 2))

    def run(start: int, stop: int) -> None:
        for number in range(start, stop):
            part = blocks[number].pairs
            loss = chunk.losses.take(part)
            rounded = smoothed(loss, width)
            values = decisions[part].astype(np.float64)
            pulls = rounded.pull(values)
            theta[part] = pulls
            scalars[number] = (
                loss.value(values).sum(),
                loss.value(np.zeros_like(values)).sum(),
                rounded.value(values).sum(),
                rounded.curvature(values).sum(),
                *loss.support(pulls),
            )
            conjugate, positive = loss.conjugate(pulls), pulls > 0
            sizes = np.abs(pulls)
            by_side[number, 0] = sizes[~positive].sum(), conjugate[~positive].sum()
            by_side[number, 1] = sizes[positive].sum(), conjugate[positive].sum()

    run_in_ranges(run, len(blocks), 1)
    sides = by_side.sum(axis=0)
    if design.form.has_bias:
        signs = theta > 0
        pulls = np.stack(
            [
                design.gather(
                    np.where(signs == side, theta, 0.0), chunk.order, chunk.group, precision
                )
                for side in (False, True)
            ]
        )
    else:
        sides = sides.sum(axis=0, keepdims=True)
        pulls = design.gather(theta, chunk.order, chunk.group, precision)[np.newaxis]
    loss, nothing, rounded, curvature, support, bounded = scalars.sum(axis=0)
    return Sums(
        float(loss),
        float(nothing),
        float(rounded),
        float(curvature),
        sides[:, 0],
        sides[:, 1],
        pulls,
        round(support),
        round(bounded),
    )


def active_set(chunk: PairChunk, decisions: NDArray[Any], width: float) -> ActiveSet:
    """The pairs that a second derivative sees."""
    curvature = np.empty(len(chunk), dtype=decisions.dtype)
    blocks = chunk.order.blocks()

    def run(start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            loss = smoothed(chunk.losses.take(block.pairs), width)
            values = decisions[block.pairs].astype(np.float64)
            curvature[block.pairs] = loss.curvature(values)

    run_in_ranges(run, len(blocks), 1)
    active = curvature > 0
    if active.all():
        return ActiveSet(chunk.order, chunk.group, curvature)
    return ActiveSet(chunk.order.keep(active), chunk.group[active], curvature[active])


def join_active(parts: list[ActiveSet], n_objects: int) -> ActiveSet:
    """Curved pairs of several chunks together."""
    first = np.concatenate([np.repeat(one.pairs.rows, np.diff(one.pairs.ends)) for one in parts])
    second = np.concatenate([one.pairs.second for one in parts])
    pairs, came_from = arrange(first, second, n_objects)
    group = np.concatenate([one.group for one in parts])
    curvature = np.concatenate([one.curvature for one in parts])
    return ActiveSet(pairs, group[came_from], curvature[came_from])


def curve(active: ActiveSet, design: Design, images: Images, precision: Precision) -> Vector:
    """Second derivative of the rounded losses times the direction that ``images`` are of."""
    change = design.decide(images, active.pairs, active.group)
    return design.gather(active.curvature * change, active.pairs, active.group, precision)


def slope(
    chunk: PairChunk,
    decisions: NDArray[Any],
    change: NDArray[Any],
    length: float,
    width: float,
) -> float:
    """Derivative of the rounded losses at ``decisions + length * change`` by the length."""
    blocks = chunk.order.blocks()
    found = np.zeros(len(blocks))

    def run(start: int, stop: int) -> None:
        for number in range(start, stop):
            part = blocks[number].pairs
            moves = change[part].astype(np.float64)
            values = decisions[part] + length * moves
            found[number] = -np.dot(smoothed(chunk.losses.take(part), width).pull(values), moves)

    run_in_ranges(run, len(blocks), 1)
    return float(found.sum())
