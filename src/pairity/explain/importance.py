"""Permutation importance of object and group features that respects the swap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import check_scoring

from pairity.explain.shuffling import Columns, ShuffleFrame
from pairity.pairs import Pairs
from pairity.transform.names import PairNames
from pairity.validation import check_count

__all__ = ["PermutationImportance", "permutation_importance"]


@dataclass(frozen=True, eq=False)
class PermutationImportance:
    """What a score loses when features are shuffled.

    Attributes
    ----------
    names : tuple of str
        The features, or the named groups of columns.
    baseline : float
        Score with all features in place.
    drops : ndarray of shape (features, repeats)
        Baseline minus score, one column for each shuffle.
    """

    names: tuple[str, ...]
    baseline: float
    drops: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean drop of each feature."""
        return np.asarray(self.drops.mean(axis=1))

    @property
    def spread(self) -> NDArray[np.float64]:
        """Standard deviation of the drop over the shuffles; 0 for a single one."""
        repeats = self.drops.shape[1]
        return self.drops.std(axis=1, ddof=1) if repeats > 1 else np.zeros(len(self.drops))

    @property
    def order(self) -> NDArray[np.intp]:
        """Features by mean drop, largest first."""
        return np.argsort(-self.mean, kind="stable")

    def __str__(self) -> str:
        width = max(map(len, self.names), default=0)
        lines = [f"score {self.baseline:.4g}; drop when shuffled {self.drops.shape[1]} times:"]
        mean, spread = self.mean, self.spread
        lines += [
            f"  {self.names[place]:<{width}}  {mean[place]:+.4f} ± {spread[place]:.4f}"
            for place in self.order
        ]
        return "\n".join(lines)

    def to_frame(self) -> Any:
        """A pandas table, most important first."""
        import pandas

        order = self.order
        return pandas.DataFrame(
            {
                "feature": [self.names[place] for place in order],
                "mean": self.mean[order],
                "spread": self.spread[order],
            }
        )


def permutation_importance(
    model: Any,
    pairs: Pairs,
    y: Any,
    *,
    features: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None,
    scoring: Any = None,
    n_repeats: int = 5,
    random_state: Any = 0,
) -> PermutationImportance:
    """Measure what a score loses when a feature is shuffled, in the way that respects the swap.

    Object features are shuffled across the distinct objects, not across rows: an object has one
    value wherever it occurs, and both ends of a pair see the same shuffle.  Group features are
    shuffled across pairs; antisymmetric ones keep their direction (a home flag that is +1 in
    every row because hosts are written first still loses its meaning).  All features see the same
    shuffles, and swapping the pairs gives the same numbers for a model that obeys the swap law.

    The score of a model on pairs it was trained on says what the model uses; on other pairs,
    what it has rightly learned.  Features that say the same thing share their importance between
    them: name them as one group.

    Parameters
    ----------
    model : fitted estimator
        Anything with ``score``, or what ``scoring`` needs; pipelines are shuffled at the entrance.
    pairs : Pairs
        Pairs to score.
    y : array-like of shape (n,)
        Their labels or targets.
    features : mapping, optional
        Name of a feature or group of features -> its columns: numbers of object columns, names
        from ``names``, or :class:`~pairity.explain.Columns` for any kinds.  By default each column
        of each kind is a feature.
    names : sequence of str, optional
        Names of the object, symmetric and antisymmetric features, in this order.
    scoring : str, callable or None
        As in scikit-learn; ``model.score`` by default.
    n_repeats : int
        Number of shuffles.
    random_state : int, Generator or None
        Seed.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.explain import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> games = Pairs.complete(rng.normal(size=(20, 2)))
    >>> strength = games.objects[:, 0]  # the second feature is noise
    >>> won = np.where(strength[games.first] > strength[games.second], 1, -1)
    >>> model = PairSVC("antisymmetric", "linear").fit(games, won)
    >>> found = permutation_importance(model, games, won, names=["strength", "hair colour"])
    >>> [found.names[place] for place in found.order]
    ['strength', 'hair colour']
    """
    if not isinstance(pairs, Pairs):
        raise ValueError(
            f"got {type(pairs).__name__}; expected Pairs, whose objects are shuffled: use"
            " Pairs.from_rows(rows, n_symmetric, n_antisymmetric)."
        )
    check_count(n_repeats, "n_repeats")
    known = PairNames.read(names, pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric)
    chosen = _every_column(known) if features is None else _read_features(features, known)
    scorer = check_scoring(model, scoring)
    frame = ShuffleFrame(pairs)
    generator = np.random.default_rng(random_state)
    baseline = float(scorer(model, pairs, y))
    drops = np.empty((len(chosen), int(n_repeats)))
    for repeat in range(int(n_repeats)):
        shuffle = frame.draw(generator)
        for place, columns in enumerate(chosen.values()):
            score = scorer(model, frame.shuffled(columns, shuffle), y)
            drops[place, repeat] = baseline - float(score)
    return PermutationImportance(tuple(chosen), baseline, drops)


def _every_column(names: PairNames) -> dict[str, Columns]:
    """One feature for each column; names that occur twice are told apart by their place."""
    columns = [(name, Columns(objects=(p,))) for p, name in enumerate(names.objects)]
    columns += [(name, Columns(symmetric=(p,))) for p, name in enumerate(names.symmetric)]
    columns += [(name, Columns(antisymmetric=(p,))) for p, name in enumerate(names.antisymmetric)]
    found: dict[str, Columns] = {}
    for place, (name, chosen) in enumerate(columns):
        found[name if name not in found else f"{name} ({place})"] = chosen
    return found


def _read_features(features: Mapping[str, Any], names: PairNames) -> dict[str, Columns]:
    found = {name: _read_columns(name, given, names) for name, given in features.items()}
    if not found:
        raise ValueError("got no features; expected some, or None for every column.")
    return found


def _read_columns(feature: str, given: Any, names: PairNames) -> Columns:
    """Columns as users name them, within range."""
    if not isinstance(given, Columns):
        items = [given] if isinstance(given, str | int | np.integer) else list(given)
        by_name = _every_column(names)
        parts = [
            by_name.get(item) if isinstance(item, str) else Columns(objects=(int(item),))
            for item in items
        ]
        for item, part in zip(items, parts, strict=True):
            if part is None:
                raise ValueError(
                    f"got column {item!r} in feature {feature!r}; expected one of"
                    f" {', '.join(map(repr, by_name))}, or the number of an object column."
                )
        known = [part for part in parts if part is not None]
        given = Columns(
            tuple(place for part in known for place in part.objects),
            tuple(place for part in known for place in part.symmetric),
            tuple(place for part in known for place in part.antisymmetric),
        )
    kinds = ("objects", "symmetric", "antisymmetric")
    for kind in kinds:
        width = len(getattr(names, kind))
        for place in getattr(given, kind):
            if not 0 <= place < width:
                raise ValueError(
                    f"got column {place} of {kind} in feature {feature!r}; expected 0 to"
                    f" {width - 1}: there are {width} such columns."
                )
    if not any(getattr(given, kind) for kind in kinds):
        raise ValueError(f"got no columns for feature {feature!r}; expected some.")
    return given
