"""Permutation importance of object and group features that respects the swap.

An object feature is shuffled across *objects*: an object has one value wherever it occurs, on
either end of a pair.  A group feature is shuffled across pairs; an antisymmetric one is read in a
fixed direction of each pair (from the object with the lower number to the other) and written
back in the direction of the pair that gets it, so that its sign says what it said before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import check_scoring

from pairity.estimators.transformers import PairNames, object_numbers
from pairity.inspection.fitted_function import KINDS, as_frame, require_pairs
from pairity.model_selection.plots import new_axes
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.validation import check_count


@dataclass(frozen=True)
class Columns:
    """Columns that are shuffled together, by kind; with ``ids`` the ids of objects as well.

    A kernel that tells objects apart by their ids, such as ``Identity``, does not see a shuffle of
    columns alone.
    """

    objects: tuple[int, ...] = ()
    symmetric: tuple[int, ...] = ()
    antisymmetric: tuple[int, ...] = ()
    ids: bool = False

    @classmethod
    def one(cls, kind: str, number: int) -> Columns:
        """One column of a kind: "objects", "symmetric" or "antisymmetric"."""
        column: dict[str, Any] = {kind: (number,)}
        return cls(**column)


@dataclass(frozen=True)
class Shuffle:
    """Which object, and which pair, each takes its values from."""

    objects: Places  # (number of distinct objects,)
    rows: Places  # (n,)


class ShuffleFrame:
    """Pairs with what stays the same through all shuffles."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs.without_unused_objects()
        self.numbers = object_numbers(self.pairs)  # of each row of the table
        self.representative = np.unique(self.numbers, return_index=True)[1]
        position = np.empty(len(self.numbers), dtype=np.intp)  # by number, lookalikes by row
        position[np.argsort(self.numbers, kind="stable")] = np.arange(len(position))
        first, second = position[self.pairs.first], position[self.pairs.second]
        #: +1 where the pair is written from the lower number to the higher, -1 otherwise.
        self.direction = np.where(first <= second, 1.0, -1.0)
        self.alone = first == second

    def draw(self, generator: np.random.Generator) -> Shuffle:
        """A random shuffle; pairs of an object with itself are shuffled among themselves."""
        rows = np.arange(len(self.pairs))
        for kind in (False, True):
            of_kind = np.flatnonzero(self.alone == kind)
            rows[of_kind] = of_kind[generator.permutation(len(of_kind))]
        return Shuffle(generator.permutation(len(self.representative)), rows)

    def shuffled(self, columns: Columns, shuffle: Shuffle) -> Pairs:
        """The pairs with some columns shuffled."""
        pairs, rows = self.pairs, shuffle.rows
        source = self.representative[shuffle.objects][self.numbers]
        turned = (self.direction * self.direction[rows])[:, np.newaxis]
        odd = turned * pairs.antisymmetric[rows]
        return Pairs(
            _replaced(pairs.objects, pairs.objects[source], columns.objects),
            pairs.first,
            pairs.second,
            _replaced(pairs.symmetric, pairs.symmetric[rows], columns.symmetric),
            _replaced(pairs.antisymmetric, odd, columns.antisymmetric),
            ids=pairs.ids[source] if columns.ids and pairs.ids is not None else pairs.ids,
            time=pairs.time,
        )


def _replaced(table: Any, source: Any, columns: tuple[int, ...]) -> Any:
    """The table with some columns taken from another of the same shape."""
    if not columns:
        return table
    taken = np.zeros((1, table.shape[1]))
    taken[:, list(columns)] = 1.0
    if sp.issparse(table):
        kept = sp.csr_array(table).multiply(1.0 - taken)
        return sp.csr_array(kept + sp.csr_array(source).multiply(taken))
    return np.where(taken > 0.0, source, table)


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
    drops: Matrix

    @property
    def mean(self) -> Vector:
        """Mean drop of each feature."""
        return np.asarray(self.drops.mean(axis=1))

    @property
    def spread(self) -> Vector:
        """Standard deviation of the drop over the shuffles; 0 for a single one."""
        repeats = self.drops.shape[1]
        return self.drops.std(axis=1, ddof=1) if repeats > 1 else np.zeros(len(self.drops))

    @property
    def order(self) -> Places:
        """Features by mean drop, largest first."""
        return np.argsort(-self.mean, kind="stable")

    def __str__(self) -> str:
        width, mean, spread = max(map(len, self.names), default=0), self.mean, self.spread
        line = "  {:<{}}  {:+.4f} ± {:.4f}"
        lines = (line.format(self.names[i], width, mean[i], spread[i]) for i in self.order)
        head = f"score {self.baseline:.4g}; drop when shuffled {self.drops.shape[1]} times:"
        return "\n".join([head, *lines])

    def to_frame(self) -> Any:
        """A pandas table, most important first."""
        order = self.order
        names = [self.names[feature] for feature in order]
        return as_frame({"feature": names, "mean": self.mean[order], "spread": self.spread[order]})


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
        from ``names``, or :class:`~pairity.inspection.Columns` for any kinds.  By default each column
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
    >>> from pairity.inspection import permutation_importance
    >>> rng = np.random.default_rng(0)
    >>> games = Pairs.complete(rng.normal(size=(20, 2)))
    >>> strength = games.objects[:, 0]  # the second feature is noise
    >>> won = np.where(strength[games.first] > strength[games.second], 1, -1)
    >>> model = PairSVC("antisymmetric", kernel="linear").fit(games, won)
    >>> found = permutation_importance(model, games, won, names=["strength", "hair colour"])
    >>> [found.names[feature] for feature in found.order]
    ['strength', 'hair colour']
    """
    require_pairs(pairs, ", whose objects are shuffled")
    check_count(n_repeats, "n_repeats")
    known = PairNames.read(names, pairs.n_object_features, pairs.n_symmetric, pairs.n_antisymmetric)
    if features is None:
        chosen = _every_column(known)
    else:
        chosen = {name: _read_columns(name, given, known) for name, given in features.items()}
    if not chosen and features is not None:
        raise ValueError("got no features; expected some, or None for every column.")
    scorer = check_scoring(model, scoring)
    frame = ShuffleFrame(pairs)
    generator = np.random.default_rng(random_state)
    baseline = float(scorer(model, pairs, y))
    drops = np.empty((len(chosen), int(n_repeats)))
    for repeat in range(int(n_repeats)):
        shuffle = frame.draw(generator)
        for feature, columns in enumerate(chosen.values()):
            score = scorer(model, frame.shuffled(columns, shuffle), y)
            drops[feature, repeat] = baseline - float(score)
    return PermutationImportance(tuple(chosen), baseline, drops)


def _every_column(names: PairNames) -> dict[str, Columns]:
    """One feature for each column; names that occur twice are told apart by their place."""
    columns: dict[str, Columns] = {}
    for kind in KINDS:
        for number, name in enumerate(getattr(names, kind)):
            name = name if name not in columns else f"{name} ({len(columns)})"
            columns[name] = Columns.one(kind, number)
    return columns


def _read_columns(feature: str, given: Any, names: PairNames) -> Columns:
    """Columns as users name them, within range."""
    if not isinstance(given, Columns):
        items = [given] if isinstance(given, str | int | np.integer) else list(given)
        by_name = _every_column(names)
        parts = []
        for item in items:
            part = by_name.get(item) if isinstance(item, str) else Columns(objects=(int(item),))
            if part is None:
                raise ValueError(
                    f"got column {item!r} in feature {feature!r}; expected one of"
                    f" {', '.join(map(repr, by_name))}, or the number of an object column."
                )
            parts.append(part)
        together: dict[str, Any] = {
            kind: tuple(c for part in parts for c in getattr(part, kind)) for kind in KINDS
        }
        given = Columns(**together)
    for kind in KINDS:
        width = len(getattr(names, kind))
        for column in getattr(given, kind):
            if not 0 <= column < width:
                raise ValueError(
                    f"got column {column} of {kind} in feature {feature!r}; expected 0 to"
                    f" {width - 1}: there are {width} such columns."
                )
    if given == Columns():
        raise ValueError(f"got no columns for feature {feature!r}; expected some.")
    return given


def plot_importance(
    importance: PermutationImportance, *, n: int | None = None, ax: Any = None
) -> Any:
    """Draw mean drops as bars with their spread, most important on top; returns the axes.

    Parameters
    ----------
    importance : PermutationImportance
    n : int, optional
        Number of features to show; all by default.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    """
    chosen = importance.order[:n]
    if ax is None:
        ax = new_axes(figsize=(6.0, 1.0 + 0.3 * len(chosen)), layout="constrained")
    names, mean = [importance.names[feature] for feature in chosen], importance.mean[chosen]
    ax.barh(names, mean, xerr=importance.spread[chosen], color="#4c72b0", ecolor="#555555")
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.invert_yaxis()
    ax.set_xlabel(f"drop of the score ({importance.baseline:.3g}) when shuffled")
    return ax
