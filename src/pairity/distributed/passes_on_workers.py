"""What workers do: chunks made from parts, and passes over chunks, of which only sums come back.

Images of the objects (``Phi W``) are the same for all chunks of a pass: a worker makes them once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, reduce
from itertools import repeat
from operator import add
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from pairity.distributed.cluster import hold_on
from pairity.distributed.parts import Columns, Encoded, Part, encode
from pairity.exceptions import DataError
from pairity.losses.piecewise import CompactLosses, LossRecipe
from pairity.runtime.resources import set_thread_count
from pairity.solvers.low_rank.design import Design, Images, PairChunk, Precision, Vector, arrange
from pairity.solvers.low_rank.form import Form, group_columns
from pairity.solvers.low_rank.passes import (
    ActiveSet,
    Engine,
    Sums,
    active_set,
    curve,
    join_active,
    slope,
    summarise,
)

#: Images that a worker keeps: those of the point, and of a direction.
_KEPT_IMAGES = 2
_images: OrderedDict[tuple[str, str], Images] = OrderedDict()
_lock = threading.Lock()


@cache
def _controller() -> ThreadpoolController:
    set_thread_count(1)  # a worker has one core for each task
    return ThreadpoolController()


def load_chunk(
    part: Part,
    columns: Columns,
    index: Any,
    form: Form,
    recipe: LossRecipe,
    signs: dict[Any, float] | None,
    factors: dict[float, float],
    checksums: tuple[str, ...],
) -> PairChunk:
    """Read a part into the smallest form that passes can work on.

    A worker that dies takes its chunks along, and they are read again in the middle of a fit:
    ``checksums`` of the survey hold them to the same pairs.
    """
    pieces = _same_as_surveyed(encode(part, columns, index, odd=False), checksums)
    return make_chunk(pieces, len(index), form, recipe, signs, factors)


def _same_as_surveyed(pieces: Iterator[Encoded], checksums: tuple[str, ...]) -> Iterator[Encoded]:
    for piece, checksum in zip(pieces, checksums, strict=True):
        if piece.checksum() != checksum:
            raise DataError(
                f"got {piece.place} with other pairs than when the fit began; expected pairs that stay"
                " as they are: start the fit anew."
            )
        yield piece


def make_chunk(
    pieces: Iterable[Encoded],
    n_objects: int,
    form: Form,
    recipe: LossRecipe,
    signs: dict[Any, float] | None,
    factors: dict[float, float],
) -> PairChunk:
    """Pairs of some pieces that have a weight.

    ``signs`` turns labels into -1 and +1 (None for numbers); ``factors`` are weights by sign.
    """
    rows = []
    nothing = np.zeros((n_objects, 0))
    for piece in pieces:
        if signs is None:
            values = piece.target.to_numpy(dtype=np.float64)
        else:
            values = piece.target.map(signs).to_numpy(dtype=np.int8)
        weight = np.ones(len(values)) if piece.weight is None else piece.weight
        for sign, factor in factors.items():
            weight = np.where(values == sign, factor * weight, weight)
        columns = (
            piece.first,
            piece.second,
            group_columns(form, piece.pairs(nothing)),
            values,
            weight,
        )
        rows.append([column[weight > 0] for column in columns])
    first, second, group, targets, weights = map(np.concatenate, zip(*rows, strict=True))
    order, came_from = arrange(first, second, n_objects)
    weights = weights[came_from]
    losses = CompactLosses(recipe, targets[came_from], None if (weights == 1.0).all() else weights)
    return PairChunk(order, group[came_from], losses)


def _images_of(design: Design, parameters: Vector, token: str, precision: Precision) -> Images:
    with _lock:
        key = (token, precision.__name__)
        if key not in _images:
            while len(_images) >= _KEPT_IMAGES:
                _images.popitem(last=False)
            _images[key] = design.images(parameters, precision)
        _images.move_to_end(key)
        return _images[key]


def decide_chunk(
    chunk: PairChunk, design: Design, parameters: Vector, token: str, precision: Precision
) -> NDArray[Any]:
    """Decisions of a chunk at parameters (or their change along a direction)."""
    images = _images_of(design, parameters, token, precision)
    return design.decide(images, chunk.order, chunk.group)


def curve_chunk(
    active: ActiveSet, design: Design, direction: Vector, token: str, precision: Precision
) -> Vector:
    """Second derivative of a chunk's losses, times a direction."""
    return curve(active, design, _images_of(design, direction, token, precision), precision)


def size_of(active: ActiveSet) -> int:
    """Numbers that curved pairs have."""
    return len(active.pairs) * (2 + active.group.shape[1])


def add_all(parts: list[Any]) -> Any:
    """Sum of what several chunks yield."""
    return reduce(add, parts)


def on_one_core(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a task of a worker."""
    with _controller().limit(limits=1):
        return function(*arguments)


# Passes by the workers of a Dask cluster; only sums come back -----------------------------------

#: Results that one task adds up.
_ADDED_AT_ONCE = 8
#: Numbers that curved pairs may have in all to be worked on in this process (16 MB).
_FEW_ENTRIES = 2_000_000


class DaskEngine(Engine):
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
        self._active: list[Any] = []
        self._few: ActiveSet | None = None  # curved pairs, when they are here

    def _each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Futures of a function for every chunk: of lists an entry for each, of others the same."""

        def submit(*row: Any) -> Any:
            key = f"pairity-{function.__name__}-{uuid4().hex}"
            return self._client.submit(on_one_core, function, *row, key=key)

        columns = (each if isinstance(each, list) else repeat(each) for each in arguments)
        return list(map(submit, *columns))

    def _total(self, futures: list[Any]) -> Any:
        """Sum over chunks, added up on the workers."""
        while len(futures) > _ADDED_AT_ONCE:
            starts = range(0, len(futures), _ADDED_AT_ONCE)
            futures = self._each(add_all, [futures[n : n + _ADDED_AT_ONCE] for n in starts])
        return add_all(self._client.gather(futures))

    def _with_images(
        self, function: Callable[..., Any], on: list[Any], vector: Vector
    ) -> list[Any]:
        """Futures of a function of the images of the objects under some parameters."""
        held, token = hold_on(self._client, vector), uuid4().hex
        return self._each(function, on, self._held_design, held, token, self._precision)

    def move_to(self, parameters: Vector, precision: Precision) -> None:
        """Decisions at new parameters."""
        self._precision = precision
        self._change = []
        self._decisions = self._with_images(decide_chunk, self._chunks, parameters)

    def move_along(self, parameters: Vector, length: float) -> None:
        """Decisions after a step, from the parameters."""
        self.move_to(parameters, self._precision)

    def sums(self, width: float) -> Sums:
        """All sums at the point."""
        self._width, self._active, self._few = width, [], None
        what = self._held_design, self._decisions, width, self._precision
        return self._total(self._each(summarise, self._chunks, *what))

    def curve(self, direction: Vector) -> Vector:
        """Second derivative at the point, times a direction."""
        if not self._active:  # curved pairs, on the workers or here if they are few
            self._active = self._each(active_set, self._chunks, self._decisions, self._width)
            if self._total(self._each(size_of, self._active)) <= _FEW_ENTRIES:
                self._few = join_active(self._client.gather(self._active), self._design.n_objects)
        if self._few is not None:
            images = self._design.images(direction, self._precision)
            return curve(self._few, self._design, images, self._precision)
        return self._total(self._with_images(curve_chunk, self._active, direction))

    def look_along(self, direction: Vector) -> None:
        """Change of all decisions along a direction."""
        self._active, self._few = [], None
        self._change = self._with_images(decide_chunk, self._chunks, direction)

    def slope(self, length: float) -> float:
        """Derivative of the rounded losses by the length of a step."""
        at = self._decisions, self._change, length, self._width
        return float(self._total(self._each(slope, self._chunks, *at)))
