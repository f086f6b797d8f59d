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
    slope_chunk,
    sum_chunk,
)
from pairity.lowrank.design import Layout, Precision, Vector
from pairity.lowrank.passes import Sums

__all__ = ["DaskEngine", "hold_on"]

#: Results that one task adds up.
_ADDED_AT_ONCE = 8


def hold_on(client: Any, value: Any) -> Any:
    """A future of a value whose task holds it: workers that die take nothing with them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*large (graph|object).*")
        return client.submit(hold, value, key=f"pairity-hold-{uuid4().hex}")


class DaskEngine:
    """Passes over chunks that lie on workers.

    Decisions are made from the parameters at every point, so that what is lost with a worker
    needs its chunk and the parameters alone.
    """

    def __init__(self, client: Any, chunks: list[Any], design: Any, layout: Layout) -> None:
        self._client, self._chunks, self._design = client, chunks, design
        self.layout = layout
        self._precision: Precision = np.float32
        self._width = 1.0
        self._decisions: list[Any] = []
        self._change: list[Any] = []
        self._active: list[Any] | None = None

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
            self._submit(decide_chunk, chunk, self._design, held, token, self._precision)
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
        self._width, self._active = width, None
        return self._total(
            [
                self._submit(sum_chunk, chunk, self._design, decisions, width, self._precision)
                for chunk, decisions in zip(self._chunks, self._decisions, strict=True)
            ]
        )

    def curve(self, direction: Vector) -> Vector:
        """Second derivative at the point, times a direction."""
        if self._active is None:
            self._active = [
                self._submit(activate, chunk, decisions, self._width)
                for chunk, decisions in zip(self._chunks, self._decisions, strict=True)
            ]
        held, token = hold_on(self._client, direction), uuid4().hex
        return self._total(
            [
                self._submit(curve_chunk, active, self._design, held, token, self._precision)
                for active in self._active
            ]
        )

    def look_along(self, direction: Vector) -> None:
        """Change of all decisions along a direction."""
        self._active = None
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
