"""Who does the passes: here, the threads of this process."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairity.lowrank.chunk import PairChunk
from pairity.lowrank.design import Design, Layout, Precision, Vector
from pairity.lowrank.passes import ActiveSet, Sums, active_set, curve, slope, summarise

__all__ = ["Engine", "LocalEngine"]


class Engine(Protocol):
    """Passes over all training pairs, at one point after another."""

    layout: Layout

    def move_to(self, parameters: Vector, precision: Precision) -> None:
        """Make this the point that the other passes refer to."""

    def move_along(self, parameters: Vector, length: float) -> None:
        """The same for the point at that length of the direction looked along."""

    def sums(self, width: float) -> Sums:
        """All sums at the point."""

    def curve(self, direction: Vector) -> Vector:
        """Second derivative of the rounded losses at the point, times a direction."""

    def look_along(self, direction: Vector) -> None:
        """Get ready for slopes along a direction from the point."""

    def slope(self, length: float) -> float:
        """Derivative of the rounded losses by the length of a step along that direction."""


class LocalEngine:
    """Passes over one chunk in this process."""

    def __init__(self, chunk: PairChunk, design: Design) -> None:
        self._chunk, self._design = chunk, design
        self.layout = design.layout
        self._precision: Precision = np.float32
        self._width = 1.0
        self._decisions = self._change = np.zeros(0)
        self._active: ActiveSet | None = None

    def _decide(self, parameters: Vector) -> NDArray[Any]:
        images = self._design.images(parameters, self._precision)
        return self._design.decide(images, self._chunk.order, self._chunk.group)

    def move_to(self, parameters: Vector, precision: Precision) -> None:
        """Decisions at new parameters."""
        self._precision = precision
        self._decisions = self._decide(parameters)

    def move_along(self, parameters: Vector, length: float) -> None:
        """Decisions after a step, from their change along the direction."""
        self._decisions = self._decisions + self._decisions.dtype.type(length) * self._change

    def sums(self, width: float) -> Sums:
        """All sums at the point."""
        self._width, self._active = width, None
        return summarise(self._chunk, self._design, self._decisions, width, self._precision)

    def curve(self, direction: Vector) -> Vector:
        """Second derivative at the point, times a direction."""
        if self._active is None:
            self._active = active_set(self._chunk, self._decisions, self._width)
        images = self._design.images(direction, self._precision)
        return curve(self._active, self._design, images, self._precision)

    def look_along(self, direction: Vector) -> None:
        """Change of all decisions along a direction."""
        self._change = self._decide(direction)

    def slope(self, length: float) -> float:
        """Derivative of the rounded losses by the length of a step."""
        return slope(self._chunk, self._decisions, self._change, length, self._width)
