"""A first pass over all pairs, before anything is trained: what is there, and whether it is sound."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.columns import Columns, Encoded, encode
from pairity.distributed.parts import Part
from pairity.exceptions import DataError

__all__ = ["Facts", "join_facts", "survey_part"]

#: Distinct labels that are counted; more than this are numbers.
_MOST_LABELS = 16


@dataclass(frozen=True)
class Facts:
    """What a survey finds in some parts.

    ``sample`` are some of the pairs, evenly spread; ``checksums`` are those of the pieces, part by part.
    """

    n_pairs: int
    n_counted: int  # with a weight above 0
    ends: NDArray[np.int64]  # how often each object is an end of a pair
    labels: Counter[Any]
    sample: tuple[Encoded, ...]
    checksums: tuple[tuple[str, ...], ...]


def survey_part(
    part: Part, columns: Columns, index: Any, n_sample: int, *, odd: bool, numeric: bool
) -> Facts:
    """Read a part, check it, and count."""
    n_pairs = n_counted = 0
    ends = np.zeros(len(index), dtype=np.int64)
    labels: Counter[Any] = Counter()
    pieces: list[Encoded] = []
    checksums: list[str] = []
    for piece in encode(part, columns, index, odd=odd):
        n_pairs += len(piece.first)
        n_counted += int(np.count_nonzero(piece.weight)) if piece.weight is not None else 0
        for side in (piece.first, piece.second):
            ends += np.bincount(side, minlength=len(index))
        if numeric:
            _refuse_no_numbers(piece, part.name)
        elif columns.target is not None:
            labels.update(piece.target.value_counts().to_dict())
            _refuse_many_labels(labels, part.name)
        pieces.append(_some(piece, n_sample))
        checksums.append(piece.checksum())
    if columns.weight is None:
        n_counted = n_pairs
    sample = tuple(_thin(pieces, n_sample))
    return Facts(n_pairs, n_counted, ends, labels, sample, (tuple(checksums),))


def join_facts(facts: list[Facts]) -> Facts:
    """Facts of several parts together."""
    labels: Counter[Any] = Counter()
    for one in facts:
        labels.update(one.labels)
    return Facts(
        sum(one.n_pairs for one in facts),
        sum(one.n_counted for one in facts),
        np.sum([one.ends for one in facts], axis=0),
        labels,
        tuple(piece for one in facts for piece in one.sample),
        tuple(part for one in facts for part in one.checksums),
    )


def _thin(pieces: list[Encoded], n_sample: int) -> list[Encoded]:
    share = -(-n_sample // max(1, len(pieces)))
    return [_some(piece, share) for piece in pieces]


def _some(piece: Encoded, n_rows: int) -> Encoded:
    """At most so many rows, evenly spread."""
    n = len(piece.first)
    rows = np.linspace(0, n - 1, min(n, n_rows)).astype(np.intp)
    return replace(
        piece,
        first=piece.first[rows],
        second=piece.second[rows],
        symmetric=piece.symmetric[rows],
        antisymmetric=piece.antisymmetric[rows],
        target=None if piece.target is None else piece.target.iloc[rows],
        weight=None if piece.weight is None else piece.weight[rows],
    )


def _refuse_no_numbers(piece: Encoded, place: str) -> None:
    try:
        sound = np.isfinite(piece.target.to_numpy(dtype=np.float64)).all()
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise DataError(
            f"got targets in {place} that are no finite numbers; expected numbers for a regression."
        )


def _refuse_many_labels(labels: Counter[Any], place: str) -> None:
    if len(labels) > _MOST_LABELS:
        raise DataError(
            f"got more than {_MOST_LABELS} different labels in {place}; expected two: numbers are for"
            " PairRidge or PairSVR."
        )
