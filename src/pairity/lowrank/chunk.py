"""Pairs in the order that a pass over them likes: sorted by the first object, in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pairity.losses.base import Loss

__all__ = ["Block", "PairChunk", "Rows", "arrange"]

#: Pairs of a block: decisions and losses of a block stay in the cache.
_BLOCK = 32_768


class Losses(Protocol):
    """Losses of the pairs of a chunk, made when they are needed."""

    def take(self, index: Any) -> Loss:
        """Losses of some pairs, by position or slice."""


@dataclass(frozen=True)
class Block:
    """Some rows (distinct first objects) and the range of their pairs."""

    first_row: int
    last_row: int
    pairs: slice


@dataclass(frozen=True)
class Rows:
    """Pairs sorted by their first object: ``rows[k]`` has the pairs ``ends[k]`` to ``ends[k+1]``."""

    rows: NDArray[np.int32]
    ends: NDArray[np.int64]
    second: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.second)

    def blocks(self) -> list[Block]:
        """Ranges of rows with about the same number of pairs."""
        if not len(self.rows):
            return []
        wanted = np.arange(0, len(self.second), _BLOCK)
        cuts = np.unique(np.searchsorted(self.ends, wanted, side="left"))
        cuts = np.append(cuts[cuts < len(self.rows)], len(self.rows))
        return [
            Block(int(start), int(stop), slice(int(self.ends[start]), int(self.ends[stop])))
            for start, stop in pairwise(cuts)
        ]

    def keep(self, kept: NDArray[np.bool_]) -> Rows:
        """Some of the pairs."""
        sums = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
        counts = np.diff(sums[self.ends])
        used = np.flatnonzero(counts)
        ends = np.concatenate([[0], np.cumsum(counts[used])])
        return Rows(self.rows[used], ends, self.second[kept])


@dataclass(frozen=True)
class PairChunk:
    """Some training pairs: their order, group features (scaled columns) and losses."""

    order: Rows
    group: NDArray[np.float64]  # (n, g)
    losses: Losses

    def __len__(self) -> int:
        return len(self.order)

    def sample(self, n_pairs: int) -> PairChunk:
        """About so many of the pairs, evenly spread."""
        step = max(1, len(self) // n_pairs)
        if step == 1:
            return self
        chosen = np.arange(0, len(self), step)
        kept = np.zeros(len(self), dtype=np.bool_)
        kept[chosen] = True
        return PairChunk(self.order.keep(kept), self.group[kept], self.losses.take(chosen))


def arrange(
    first: NDArray[np.integer], second: NDArray[np.integer], n_objects: int
) -> tuple[Rows, NDArray[np.intp]]:
    """Pairs sorted by the first, then the second object, and where each came from."""
    key = np.asarray(first, dtype=np.int64) * n_objects + np.asarray(second, dtype=np.int64)
    came_from = np.argsort(key, kind="stable")
    ordered = np.asarray(first)[came_from]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    rows = Rows(
        ordered[starts].astype(np.int32),
        np.append(starts, len(ordered)).astype(np.int64),
        np.asarray(second)[came_from].astype(np.int32),
    )
    return rows, came_from
