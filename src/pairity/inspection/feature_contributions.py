"""What each feature contributes to one prediction: contributions that add up.

A background pair is turned into the pair asked about, one feature after the other in random order; the
steps of f on the way are what each feature adds, and they telescope to ``f(pair) - f(background)``.
Their means over orders and backgrounds are Shapley values, sampled: with the mean of f over the
backgrounds, the baseline, they add up to f(pair), to rounding, however few samples there are.

A feature of objects is changed at both ends at once, because it is one feature; objects that have names
and no features are changed by name.  All happens at the time of the pair, where pairs have times.  Every
order is gone with a background and with its swap: contributions to f(b, a) are the same, or opposite,
bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.inspection.fitted_function import KINDS, as_frame, require_pairs, values_of
from pairity.pairs.arrays import Matrix, Vector, as_dense
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, impose
from pairity.runtime.validation import check_count

#: What objects without features are told apart by.
_NAMES = "which objects"


@dataclass(frozen=True, eq=False)
class PairExplanation:
    """Contributions of features to the value of one pair.

    Attributes
    ----------
    names : tuple of str
        Features, or groups of them.
    contributions : ndarray of shape (features,)
        What each adds to the baseline.
    baseline : float
        Mean value of the background pairs in both orders: 0 for an antisymmetric model.
    value : float
        The value explained, of ``decision_function`` or of a regressor's ``predict``.
    """

    names: tuple[str, ...]
    contributions: Vector
    baseline: float
    value: float

    @property
    def order(self) -> Any:
        """Features by size of their contribution, largest first."""
        return np.argsort(-np.abs(self.contributions), kind="stable")

    def to_frame(self) -> Any:
        """A pandas table, the largest contribution first."""
        shown = [self.names[place] for place in self.order]
        return as_frame({"feature": shown, "contribution": self.contributions[self.order]})

    def __str__(self) -> str:
        added = {self.names[place]: self.contributions[place] for place in self.order}
        width = max(map(len, [*added, "baseline"]))
        lines = [f"  {'baseline':<{width}}  {self.baseline:+.4g}"]
        lines += [f"  {name:<{width}}  {value:+.4g}" for name, value in added.items()]
        return "\n".join([f"value {self.value:.4g}", *lines])


def explain_pair(
    model: Any,
    pair: Pairs,
    background: Pairs,
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    n_samples: int = 50,
    random_state: int = 0,
) -> PairExplanation:
    """Contributions of features to one prediction, which add up to it.

    Parameters
    ----------
    model : fitted model
        Anything with ``decision_function`` on Pairs, or a regressor.
    pair : Pairs of length 1
        What to explain.
    background : Pairs
        What it is compared with: training pairs, say.  Some of them are drawn.
    names : mapping, optional
        Names of features by kind: "objects", "symmetric", "antisymmetric"; those of a model file are
        ``read_model_file(path).metadata.feature_names``.  Names of objects without features count
        as one feature, "which objects".
    groups : mapping, optional
        Names of features that count as one, under a name of their own: columns of one encoded column.
    n_samples : int
        Orders, and backgrounds, that are drawn.
    random_state : int
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import PairLogistic, Pairs
    >>> from pairity.inspection import explain_pair
    >>> games = Pairs.complete(np.random.default_rng(0).normal(size=(12, 2)))
    >>> won = np.where(games.objects[games.first, 0] > games.objects[games.second, 0], 1, -1)
    >>> model = PairLogistic("antisymmetric", kernel="linear").fit(games, won)
    >>> found = explain_pair(model, games[3], games, names={"objects": ["strength", "colour"]})
    >>> [found.names[place] for place in found.order]
    ['strength', 'colour']
    >>> bool(np.isclose(found.baseline + found.contributions.sum(), found.value))
    True
    """
    require_pairs(pair)
    require_pairs(background)
    check_count(n_samples, "n_samples")
    if len(pair) != 1 or not len(background):
        raise ValueError(
            f"got {len(pair)} pairs to explain and {len(background)} of background; expected one and"
            " some: pass pairs[[row]] and training pairs."
        )
    if _are_names(pair) and background.ids is None:
        raise ValueError(
            "got a pair with ids and background without; expected ids in both: pass ids=... to Pairs."
        )
    columns = _columns(pair, names, groups)
    walks = _Walks(pair, background, list(columns.values()), n_samples, random_state)
    there, back = (walks.steps(model, swapped=swapped) for swapped in (False, True))
    # halves of sums that commute: what a swap of the pair exchanges
    contributions = impose(Parity.EVEN, there[0], back[0])
    baseline = impose(Parity.EVEN, there[1], back[1])
    value = float(values_of(model, pair)[0])
    return PairExplanation(tuple(columns), contributions, baseline, value)


Columns = list[tuple[str, int]]


def _columns(
    pair: Pairs,
    names: Mapping[str, Sequence[str]] | None,
    groups: Mapping[str, Sequence[str]] | None,
) -> dict[str, Columns]:
    """Names of features and the columns, by kind and number, that each stands for."""
    widths = pair.n_object_features, pair.n_symmetric, pair.n_antisymmetric
    single: dict[str, Columns] = {_NAMES: [("objects", 0)]} if _are_names(pair) else {}
    for kind, width in zip(KINDS, widths, strict=True):
        given = list((names or {}).get(kind, ())) or [f"{kind} {at}" for at in range(width)]
        if len(given) != width:
            raise ValueError(
                f"got {len(given)} names of {kind} features; expected {width}, one per column."
            )
        for at, name in enumerate(given):
            single.setdefault(name, []).append((kind, at))
    for name, members in (groups or {}).items():
        unknown = [member for member in members if member not in single]
        if unknown:
            raise ValueError(
                f"got the feature {unknown[0]!r} in a group; expected names of features."
            )
        single = {name: [at for m in members for at in single[m]]} | {
            other: at for other, at in single.items() if other not in members
        }
    return single


class _Walks:
    """Hybrids on the way from backgrounds to the pair, in random orders of the features."""

    def __init__(
        self, pair: Pairs, background: Pairs, columns: list[Columns], n: int, seed: int
    ) -> None:
        random = np.random.default_rng(seed)
        self.columns = columns
        self.time, self.ids = pair.time, None
        self.start = background[random.integers(len(background), size=n)]
        if _are_names(pair):  # a table of the names of both, in which objects are places
            self.ids = np.concatenate([pair.ids, self.start.ids])
            pair, self.start = self._by_place(pair, 0), self._by_place(self.start, pair.n_objects)
        self.target = _parts(pair)
        self.orders = np.array([random.permutation(len(columns)) for _ in range(n)])

    def steps(self, model: Any, *, swapped: bool) -> tuple[Vector, float]:
        """Mean step of each feature, and mean value of the backgrounds, in one of their orders."""
        n, width = self.orders.shape
        start = _parts(self.start.swap() if swapped else self.start)
        parts = {kind: np.repeat(block, width + 1, axis=0) for kind, block in start.items()}
        rank = np.argsort(self.orders, axis=1)  # when each feature is changed
        changed = rank[:, np.newaxis, :] <= np.arange(-1, width)[np.newaxis, :, np.newaxis]
        changed = changed.reshape(n * (width + 1), width)
        for feature, columns in enumerate(self.columns):
            rows = changed[:, feature]
            for kind, at in columns:
                for end in ("first", "second") if kind == "objects" else (kind,):
                    parts[end][rows, at] = self.target[end][0, at]
        values = values_of(model, self._pairs(parts)).reshape(n, width + 1)
        gains = np.take_along_axis(np.diff(values, axis=1), rank, axis=1)
        return gains.mean(axis=0), float(values[:, 0].mean())

    @staticmethod
    def _by_place(pairs: Pairs, before: int) -> Pairs:
        places = before + np.arange(pairs.n_objects, dtype=np.float64)
        tables: Any = places[:, np.newaxis], pairs.symmetric, pairs.antisymmetric
        return pairs.with_features(*tables)

    def _pairs(self, parts: dict[str, Matrix]) -> Pairs:
        """Hybrids as pairs, at the time of the pair that is explained."""
        n, objects = len(parts["first"]), np.vstack([parts["first"], parts["second"]])
        ends, groups = np.arange(2 * n), (parts["symmetric"], parts["antisymmetric"])
        if self.ids is not None:
            ends, objects = objects[:, 0].astype(np.intp), np.zeros((len(self.ids), 0))
        pairs = Pairs(objects, ends[:n], ends[n:], *groups, ids=self.ids)
        return pairs if self.time is None else pairs.at(float(self.time[0]))


def _are_names(pairs: Pairs) -> bool:
    return pairs.ids is not None and not pairs.n_object_features


def _parts(pairs: Pairs) -> dict[str, Matrix]:
    return {
        "first": as_dense(pairs.objects[pairs.first]).copy(),
        "second": as_dense(pairs.objects[pairs.second]).copy(),
        "symmetric": pairs.symmetric.copy(),
        "antisymmetric": pairs.antisymmetric.copy(),
    }
