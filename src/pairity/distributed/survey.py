"""A first pass over all pairs, before anything is trained: what is there, and whether it is sound."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.distributed.cluster import compute_each, hold_on
from pairity.distributed.dataset import PairDataset
from pairity.distributed.parts import Columns, Encoded, Part, encode
from pairity.exceptions import DataError
from pairity.pairs.data import Pairs

#: Distinct labels that are counted; more than this are numbers.
_MOST_LABELS = 16
#: Pairs, evenly spread over all parts, that come to this process: scales and landmarks of a kernel
#: are found on them, and parameters to start with.
_SAMPLE = 400_000


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
            if len(labels) > _MOST_LABELS:
                raise DataError(
                    f"got more than {_MOST_LABELS} different labels in {part.name}; expected two:"
                    " numbers are for PairRidge or PairSVR."
                )
        pieces.append(_some(piece, n_sample))
        checksums.append(piece.checksum())
    if columns.weight is None:
        n_counted = n_pairs
    share = -(-n_sample // max(1, len(pieces)))
    sample = tuple(_some(piece, share) for piece in pieces)
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


@dataclass(frozen=True)
class Survey:
    """A dataset that was read once and found sound."""

    data: PairDataset
    columns: Columns
    parts: list[Any]
    index: Any  # future of the pandas index of ids
    facts: Facts

    @property
    def sample(self) -> Pairs:
        """Some of the pairs, in this process."""
        pieces = self.facts.sample
        assert self.data.objects is not None
        return Pairs(
            self.data.objects,
            *(
                np.concatenate([getattr(piece, name) for piece in pieces])
                for name in ("first", "second", "symmetric", "antisymmetric")
            ),
            ids=self.data.ids,
        )

    def sampled_targets(self, signs: dict[Any, float] | None) -> Any:
        """Targets of the sample."""
        values = [piece.target for piece in self.facts.sample]
        mapped = values if signs is None else [value.map(signs) for value in values]
        return np.concatenate([value.to_numpy(dtype=np.float64) for value in mapped])


def survey(
    data: PairDataset, client: Any, target: Any, weight: Any, *, odd: bool, numeric: bool
) -> Survey:
    """Read everything once; a file, row group or row that cannot be used stops here."""
    import pandas as pd

    columns = data.with_target(target, weight)
    data = data.with_objects(client)
    parts = data.parts(client, columns)
    index = hold_on(client, pd.Index(data.ids).infer_objects())  # whole numbers are found faster
    look = partial(survey_part, odd=odd, numeric=numeric)
    share = -(-_SAMPLE // len(parts))
    calls = [(part, columns, index, share) for part in parts]
    facts = join_facts(client.gather(compute_each(client, look, calls)))
    if not facts.n_counted:
        raise DataError("got no pair with a weight above 0; expected some.")
    return Survey(data, columns, parts, index, facts)
