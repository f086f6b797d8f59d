"""What one pass over a chunk of pairs adds up, for one process and for many.

At decisions f with rounded losses (:mod:`pairity.losses.piecewise`) the dual variables are
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

from pairity.losses.piecewise import smoothed
from pairity.solvers.low_rank.design import (
    Block,
    Design,
    Images,
    PairChunk,
    Precision,
    Rows,
    Vector,
    arrange,
)


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
        names = self.__dataclass_fields__
        return Sums(*(getattr(self, name) + getattr(other, name) for name in names))


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
    theta = np.empty(len(chunk))
    n_blocks = len(chunk.order.blocks)
    scalars, by_side = np.zeros((n_blocks, 6)), np.zeros((n_blocks, 2, 2))

    def add_block(number: int, block: Block) -> None:
        loss, values = chunk.losses.take(block.pairs), decisions[block.pairs].astype(np.float64)
        rounded = smoothed(loss, width)
        theta[block.pairs] = pulls = rounded.pull(values)
        scalars[number] = (
            loss.value(values).sum(),
            loss.value(np.zeros_like(values)).sum(),
            rounded.value(values).sum(),
            rounded.curvature(values).sum(),
            *loss.support(pulls),
        )
        sizes, conjugate = np.abs(pulls), loss.conjugate(pulls)
        for side, signed in enumerate((~(pulls > 0), pulls > 0)):
            by_side[number, side] = sizes[signed].sum(), conjugate[signed].sum()

    def gather(theta: Vector) -> Vector:
        return design.gather(theta, chunk.order, chunk.group, precision)

    chunk.order.for_each_block(add_block)
    sides = by_side.sum(axis=0)
    if design.form.has_bias:
        signs = theta > 0
        pulls = np.stack([gather(np.where(signs == side, theta, 0.0)) for side in (False, True)])
    else:
        sides, pulls = sides.sum(axis=0, keepdims=True), gather(theta)[np.newaxis]
    value, of_nothing, rounded, curvature, support, bounded = scalars.sum(axis=0).tolist()
    by_sign = sides[:, 0], sides[:, 1], pulls
    return Sums(value, of_nothing, rounded, curvature, *by_sign, round(support), round(bounded))


def active_set(chunk: PairChunk, decisions: NDArray[Any], width: float) -> ActiveSet:
    """The pairs that a second derivative sees."""
    curvature = np.empty(len(chunk), dtype=decisions.dtype)

    def curve_block(number: int, block: Block) -> None:
        loss = smoothed(chunk.losses.take(block.pairs), width)
        curvature[block.pairs] = loss.curvature(decisions[block.pairs].astype(np.float64))

    chunk.order.for_each_block(curve_block)
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
    chunk: PairChunk, decisions: NDArray[Any], change: NDArray[Any], length: float, width: float
) -> float:
    """Derivative of the rounded losses at ``decisions + length * change`` by the length."""
    slopes = np.zeros(len(chunk.order.blocks))

    def add_block(number: int, block: Block) -> None:
        moves = change[block.pairs].astype(np.float64)
        values = decisions[block.pairs] + length * moves
        loss = smoothed(chunk.losses.take(block.pairs), width)
        slopes[number] = -np.dot(loss.pull(values), moves)

    chunk.order.for_each_block(add_block)
    return float(slopes.sum())


class Engine:
    """Passes over all training pairs, at one point after another: those of one chunk, here.

    An engine elsewhere derives from this one.
    """

    def __init__(self, chunk: PairChunk, design: Design) -> None:
        self._chunk, self._design = chunk, design
        self.layout = design.layout
        self._precision: Precision = np.float32
        self._width = 1.0
        self._decisions: Any = np.zeros(0)
        self._change: Any = np.zeros(0)
        self._active: Any = None

    def _decide(self, parameters: Vector) -> Any:
        images = self._design.images(parameters, self._precision)
        return self._design.decide(images, self._chunk.order, self._chunk.group)

    def move_to(self, parameters: Vector, precision: Precision) -> None:
        """Make this the point that the other passes refer to."""
        self._precision = precision
        self._decisions = self._decide(parameters)

    def move_along(self, parameters: Vector, length: float) -> None:
        """The same for the point at that length of the direction looked along."""
        self._decisions = self._decisions + self._decisions.dtype.type(length) * self._change

    def sums(self, width: float) -> Sums:
        """All sums at the point."""
        self._width, self._active = width, None
        return summarise(self._chunk, self._design, self._decisions, width, self._precision)

    def curve(self, direction: Vector) -> Vector:
        """Second derivative of the rounded losses at the point, times a direction."""
        if self._active is None:
            self._active = active_set(self._chunk, self._decisions, self._width)
        images = self._design.images(direction, self._precision)
        return curve(self._active, self._design, images, self._precision)

    def look_along(self, direction: Vector) -> None:
        """Get ready for slopes along a direction from the point."""
        self._change = self._decide(direction)

    def slope(self, length: float) -> float:
        """Derivative of the rounded losses by the length of a step along that direction."""
        return slope(self._chunk, self._decisions, self._change, length, self._width)
