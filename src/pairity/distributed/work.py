"""What workers do: chunks made from parts, and passes over chunks.

Images of the objects (``Phi W``) are the same for all chunks of a pass: a worker makes them once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from functools import cache, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from pairity.distributed.columns import Columns, Encoded, encode
from pairity.distributed.parts import Part
from pairity.exceptions import DataError
from pairity.losses.compact import CompactLosses, LossRecipe
from pairity.lowrank.chunk import PairChunk, arrange
from pairity.lowrank.design import Design, Images, Precision, Vector
from pairity.lowrank.form import Form, group_columns
from pairity.lowrank.passes import ActiveSet, Sums, active_set, curve, slope, summarise
from pairity.pairs import Pairs
from pairity.threads import set_thread_count

__all__ = [
    "activate",
    "add_all",
    "curve_chunk",
    "decide_chunk",
    "hold",
    "load_chunk",
    "make_chunk",
    "size_of",
    "slope_chunk",
    "sum_chunk",
]

#: Images that a worker keeps: those of the point, and of a direction.
_KEPT_IMAGES = 2
_images: OrderedDict[tuple[str, str], Images] = OrderedDict()
_lock = threading.Lock()


@cache
def _controller() -> ThreadpoolController:
    set_thread_count(1)  # a worker has one core for each task
    return ThreadpoolController()


def hold(value: Any) -> Any:
    """A value as a task: what is lost with a worker can be had again."""
    return value


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
    first, second, group, targets, weights = [], [], [], [], []
    nothing = np.zeros((n_objects, 0))
    for piece in pieces:
        places = piece.first.astype(np.intp), piece.second.astype(np.intp)
        pairs = Pairs._trusted(nothing, *places, piece.symmetric, piece.antisymmetric, None)
        if signs is None:
            values = piece.target.to_numpy(dtype=np.float64)
        else:
            values = piece.target.map(signs).to_numpy(dtype=np.int8)
        weight = np.ones(len(values)) if piece.weight is None else piece.weight
        for sign, factor in factors.items():
            weight = np.where(values == sign, factor * weight, weight)
        kept = weight > 0
        first.append(piece.first[kept])
        second.append(piece.second[kept])
        group.append(group_columns(form, pairs)[kept])
        targets.append(values[kept])
        weights.append(weight[kept])
    order, came_from = arrange(np.concatenate(first), np.concatenate(second), n_objects)
    weight = np.concatenate(weights)[came_from]
    losses = CompactLosses(
        recipe,
        np.concatenate(targets)[came_from],
        None if (weight == 1.0).all() else weight,
    )
    return PairChunk(order, np.concatenate(group)[came_from], losses)


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
    with _controller().limit(limits=1):
        images = _images_of(design, parameters, token, precision)
        return design.decide(images, chunk.order, chunk.group)


def sum_chunk(
    chunk: PairChunk,
    design: Design,
    decisions: NDArray[Any],
    width: float,
    precision: Precision,
) -> Sums:
    """All sums of a chunk."""
    with _controller().limit(limits=1):
        return summarise(chunk, design, decisions, width, precision)


def activate(chunk: PairChunk, decisions: NDArray[Any], width: float) -> ActiveSet:
    """Curved pairs of a chunk."""
    with _controller().limit(limits=1):
        return active_set(chunk, decisions, width)


def size_of(active: ActiveSet) -> int:
    """Numbers that curved pairs have."""
    return len(active.pairs) * (2 + active.group.shape[1])


def curve_chunk(
    active: ActiveSet, design: Design, direction: Vector, token: str, precision: Precision
) -> Vector:
    """Second derivative of a chunk's losses, times a direction."""
    with _controller().limit(limits=1):
        images = _images_of(design, direction, token, precision)
        return curve(active, design, images, precision)


def slope_chunk(
    chunk: PairChunk,
    decisions: NDArray[Any],
    change: NDArray[Any],
    length: float,
    width: float,
) -> float:
    """Slope of a chunk's losses along a direction."""
    with _controller().limit(limits=1):
        return slope(chunk, decisions, change, length, width)


def add_all(parts: list[Any]) -> Any:
    """Sum of what several chunks yield."""
    return reduce(add, parts)
