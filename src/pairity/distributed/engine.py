"""Passes by the workers of a Dask cluster; only sums come back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import numpy as np

from pairity.distributed.work import (
    activate,
    add_all,
    curve_chunk,
    decide_chunk,
    hold,
    size_of,
    slope_chunk,
    sum_chunk,
)
from pairity.lowrank.design import Design, Precision, Vector
from pairity.lowrank.passes import ActiveSet, Sums, curve, join_active

__all__ = ["DaskEngine", "hold_on"]

#: Results that one task adds up.
_ADDED_AT_ONCE = 8
#: Numbers that curved pairs may have in all to be worked on in this process (16 MB).
_FEW_ENTRIES = 2_000_000


def hold_on(client: Any, value: Any) -> Any:
    """A future of a value whose task holds it: workers that die take nothing with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*large (graph|object).*")
        return client.submit(hold, value, key=f"pairity-hold-{uuid4().hex}")


class DaskEngine:
    """Passes over chunks that lie on workers.

    Decisions are made from the parameters at every point, so that what is lost with a worker
    needs its chunk and the parameters alone.  Once few pairs are curved, those few come here:
    every worker would need ``Phi W`` for products with them, and one process is as quick.
    """

    def __init__(self, client: Any, chunks: list[Any], design: Design) -> None:
        self._client, self._chunks = client, chunks
        self._design, self._held_design = design, hold_on(client, design)
        self.layout = design.layout
        self._precision: Precision = np.float32
        self._width = 1.0
        self._decisions: list[Any] = []
        self._change: list[Any] = []
        self._active: list[Any] | None = None
        self._few: ActiveSet | None = None  # curved pairs, when they are here

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        name = function.__name__.strip("_")
        key = f"pairity-{name}-{uuid4().hex}"
        return self._client.submit(function, *arguments, key=key)

    def _total(self, futures: list[Any]) -> Any:
        """Sum over chunks, added up on the workers."""
        while len(futures) > _ADDED_AT_ONCE:
            futures = [
                self._submit(add_all, futures[start : start + _ADDED_AT_ONCE])
                for start in range(0, len(futures), _ADDED_AT_ONCE)
            ]
        return add_all(self._client.gather(futures))

    def _decide(self, parameters: Vector) -> list[Any]:
        held, token = hold_on(self._client, parameters), uuid4().hex
        return [
            self._submit(decide_chunk, chunk, self._held_design, held, token, self._precision)
            for chunk in self._chunks
        ]

    def move_to(self, parameters: Vector, precision: Precision) -> None:
        """Decisions at new parameters."""
        self._precision = precision
        self._change = []
        self._decisions = self._decide(parameters)

    def move_along(self, parameters: Vector, length: float) -> None:
        """Decisions after a step, from the parameters."""
        self.move_to(parameters, self._precision)

    def sums(self, width: float) -> Sums:
        """All sums at the point."""
        self._width, self._active, self._few = width, None, None
        return self._total(
            [
                self._submit(sum_chunk, chunk, self._held_design, decisions, width, self._precision)
                for chunk, decisions in zip(self._chunks, self._decisions, strict=True)
            ]
        )

    def curve(self, direction: Vector) -> Vector:
        """Second derivative at the point, times a direction."""
        if self._active is None:
            self._find_active()
        if self._few is not None:
            images = self._design.images(direction, self._precision)
            return curve(self._few, self._design, images, self._precision)
        assert self._active is not None
        held, token = hold_on(self._client, direction), uuid4().hex
        return self._total(
            [
                self._submit(curve_chunk, active, self._held_design, held, token, self._precision)
                for active in self._active
            ]
        )

    def _find_active(self) -> None:
        """Curved pairs on the workers, or here if they are few."""
        self._active = [
            self._submit(activate, chunk, decisions, self._width)
            for chunk, decisions in zip(self._chunks, self._decisions, strict=True)
        ]
        sizes = [self._submit(size_of, active) for active in self._active]
        if self._total(sizes) <= _FEW_ENTRIES:
            self._few = join_active(self._client.gather(self._active), self._design.n_objects)

    def look_along(self, direction: Vector) -> None:
        """Change of all decisions along a direction."""
        self._active = self._few = None
        self._change = self._decide(direction)

    def slope(self, length: float) -> float:
        """Derivative of the rounded losses by the length of a step."""
        return float(
            self._total(
                [
                    self._submit(slope_chunk, chunk, decisions, change, length, self._width)
                    for chunk, decisions, change in zip(
                        self._chunks, self._decisions, self._change, strict=True
                    )
                ]
            )
        )
