"""What all splitters share, and folds of pairs: units are held out, the rest trains.

A unit (an unordered pair, an object, a group of either) is held out as a whole; test pairs are
kept when they are as new as promised.
"""

from __future__ import annotations

import heapq
import numbers
from abc import abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import BaseCrossValidator

from pairity.model_selection.leakage import LeakageReport, report_of
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import IDENTITIES, Codes, Ends, Mask, ends_of, read_pairs
from pairity.runtime.validation import check_choice, distinct_labels

Sides = Iterator[tuple[Mask, Mask]]


@dataclass(frozen=True, eq=False)
class Units:
    """Pair i hangs on the units ``first[i]`` and ``second[i]`` (equal where pairs are the units).

    ``grouped`` units are groups that somebody named, of any sizes.
    """

    first: Codes  # (n,)
    second: Codes  # (n,)
    grouped: bool
    name: str = "unordered pairs"  # of several

    @cached_property
    def weights(self) -> Codes:
        """Pairs that hang on each unit, a pair twice if both its ends do, shape (n_units,)."""
        same = self.first is self.second
        return np.bincount(self.first if same else np.concatenate([self.first, self.second]))


def as_labels(values: ArrayLike, name: str, expected: int, of: str) -> Codes:
    """Numbers 0, 1, ... for the distinct values, one value for each of the ``expected``."""
    array = np.asarray(values)
    if array.shape != (expected,):
        raise ValueError(
            f"got {name} of shape {array.shape}; expected ({expected},), one for each {of}: pass an"
            " array of that length."
        )
    return np.searchsorted(distinct_labels(array, name), array).astype(np.intp)


def deal(
    weights: Codes, n_folds: int, generator: np.random.Generator, strata: Codes | None = None
) -> Codes:
    """Fold of each unit: numbers of units differ by at most 1, weights by at most the largest.

    Units are dealt like cards, heaviest first (equal ones in random order), in rounds that go
    forth and back: 0, 1, ..., K-1, K-1, ..., 1, 0, 0, 1, ...  Between two folds each two rounds
    even out what the first of them gave, so the differences of the weights telescope to at most
    the heaviest unit less the lightest.  With ``strata`` the units of a stratum are dealt one
    after another, so that each fold gets its share.
    """
    order = generator.permutation(len(weights))
    strata = np.zeros(len(weights), dtype=np.intp) if strata is None else strata
    order = order[np.lexsort((-weights[order], strata[order]))]
    in_round = np.arange(len(order)) % (2 * n_folds)
    folds = np.empty(len(order), dtype=np.intp)
    folds[order] = np.minimum(in_round, 2 * n_folds - 1 - in_round)
    return folds


def deal_groups(weights: Codes, n_folds: int, generator: np.random.Generator) -> Codes:
    """Fold of each unit where sizes are uneven: heaviest first, each to the lightest fold so far.

    Numbers of units may differ; weights differ by at most the largest, as in :func:`deal`, and a
    fold with a giant gets nothing else while the others fill up.
    """
    order = generator.permutation(len(weights))
    order = order[np.argsort(-weights[order], kind="stable")]
    loads = [(0, 0, fold) for fold in range(n_folds)]  # weight, units, fold
    folds = np.empty(len(weights), dtype=np.intp)
    for unit in order.tolist():
        weight, n_units, fold = loads[0]
        folds[unit] = fold
        heapq.heapreplace(loads, (weight + int(weights[unit]), n_units + 1, fold))
    return folds


@dataclass(eq=False, repr=False)
class PairSplitter(BaseCrossValidator):
    """Base of splitters of pairs, in scikit-learn's protocol.

    A subclass says in :meth:`_masks` which pairs train and which are candidates for the test;
    here candidates are kept as test pairs when the number of their objects that no training pair
    has is among those promised by ``new``.  Training pairs that share their unordered pair, or
    their group, with a test pair are dropped.
    """

    n_splits: int = 5
    _: KW_ONLY
    new: int | Collection[int] = 0
    identity: str = "auto"
    n_symmetric: int = 0
    n_antisymmetric: int = 0

    # the name scikit-learn's metadata routing looks for: split takes groups
    __metadata_request__split = {"groups": True}
    _fewest_splits: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_count(self.n_splits, "n_splits", self._fewest_splits)
        check_choice(self.identity, "identity", IDENTITIES)
        for name in ("n_symmetric", "n_antisymmetric"):
            check_count(getattr(self, name), name, 0)
        self._promised()

    def _promised(self) -> list[int]:
        numbers_of_new = list(self.new) if isinstance(self.new, Collection) else [self.new]
        if not numbers_of_new or not set(numbers_of_new) <= {0, 1, 2}:
            raise ValueError(
                f"got new={self.new!r}; expected 0, 1 or 2, how many objects of a test pair no"
                " training pair has, or several of these: new=(1, 2) asks for at least one."
            )
        return [int(number) for number in numbers_of_new]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Codes, Codes]]:
        """Row numbers of training and test pairs, split by split.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows ``[x_a | x_ab | x~_ab | x_b]``.
        y : array-like of shape (n,), optional
            Labels; looked at only where stratification is asked for.
        groups : array-like of shape (n,), optional
            Pairs of one group (a traveller's choices, a session) are never on both sides.
        """
        pairs = read_pairs(X, self.n_symmetric, self.n_antisymmetric)
        ends = ends_of(pairs, self.identity)
        for train, test in self._sides(pairs, ends, X is pairs, y, groups):
            yield np.flatnonzero(train), np.flatnonzero(test)

    def report(self, X: Any, y: Any = None, groups: Any = None) -> list[LeakageReport]:
        """Where the pairs went, split by split: trained on, tested, dropped, crossing.

        With an integer ``random_state`` these are the splits that :meth:`split` gives.
        """
        pairs = read_pairs(X, self.n_symmetric, self.n_antisymmetric)
        ends, looks = ends_of(pairs, self.identity), ends_of(pairs, "content")
        return [
            report_of(ends, looks, train, test, groups)
            for train, test in self._sides(pairs, ends, X is pairs, y, groups)
        ]

    def _apart(self, ends: Ends, groups: Any) -> list[Codes]:
        """What must not be on both sides: unordered pairs, and groups if there are any."""
        named = [] if groups is None else [as_labels(groups, "groups", len(ends), "pair")]
        return [ends.unordered(), *named]

    def _sides(self, pairs: Pairs, ends: Ends, has_table: bool, y: Any, groups: Any) -> Sides:
        table_rows = pairs.n_objects if has_table else None
        apart = self._apart(ends, groups)
        for number, (train, candidates) in enumerate(self._masks(ends, table_rows, y, groups)):
            test = candidates & np.isin(ends.n_new(train), self._promised())
            for codes in apart:
                train = train & ~np.isin(codes, codes[test])
            test = test & np.isin(ends.n_new(train), self._promised())
            if not train.any():
                raise ValueError(
                    f"got no training pairs in split {number}; expected some: hold out less, by more"
                    " folds or a smaller test_size."
                )
            if not test.any():
                raise ValueError(
                    f"got no test pairs with new={self.new!r} objects in split {number}; expected"
                    " some: use fewer folds, a larger test_size, or another new (0, 1, 2 or several)."
                )
            yield train, test

    @abstractmethod
    def _masks(self, ends: Ends, table_rows: int | None, y: Any, groups: Any) -> Sides:
        """Training pairs and candidates for the test, split by split.

        ``table_rows`` counts the rows of the object table; ``None`` for wide rows, without one.
        """


@dataclass(eq=False, repr=False)
class UnitSplitter(PairSplitter):
    """Splitters that hold out units: pairs that hang on one are candidates, all others train."""

    _: KW_ONLY
    random_state: Any = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_random_state(self.random_state)

    def _masks(self, ends: Ends, table_rows: int | None, y: Any, groups: Any) -> Sides:
        units = self._units(ends, table_rows, groups)
        for held in self._held(units, y):
            touched = held[units.first] | held[units.second]
            yield ~touched, touched

    def _units(self, ends: Ends, table_rows: int | None, groups: Any) -> Units:
        """All observations of an unordered pair are a unit; where there are groups, each group is."""
        unit = self._apart(ends, groups)[-1]
        return Units(unit, unit, groups is not None)

    @abstractmethod
    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        """Units that are held out, split by split."""


class Folds(UnitSplitter):
    """Every unit is held out once."""

    _fewest_splits: ClassVar[int] = 2

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        if len(units.weights) < self.n_splits:
            raise ValueError(
                f"got {len(units.weights)} {units.name} to hold out for n_splits={self.n_splits};"
                " expected at least as many as folds: use fewer folds."
            )
        strata, generator = self._strata(units, y), as_generator(self.random_state)
        if units.grouped and strata is None:
            folds = deal_groups(units.weights, self.n_splits, generator)
        else:
            folds = deal(units.weights, self.n_splits, generator, strata)
        return (folds == fold for fold in range(self.n_splits))

    def _strata(self, units: Units, y: Any) -> Codes | None:
        """Kinds of units of which each fold gets its share."""
        return None


@dataclass(eq=False, repr=False)
class PairKFold(Folds):
    """Hold out pairs whose two objects are both known from other pairs.

    All observations of an unordered pair stay together, repeated ones and either order.  Numbers
    of unordered pairs in two folds differ by at most 1, numbers of observations by at most those
    of one pair.  If ``split`` is given groups (the traveller who chose, a session), whole groups
    are held out, and training pairs that repeat a test pair are dropped, and counted.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    new : int or several of them
        Numbers of objects of a test pair that may be new, that is in no training pair.  The
        default 0 keeps the promise of the name on incomplete sets, where an object may have all
        its pairs in one fold: such test pairs are dropped, and counted by :meth:`report`.
        ``(0, 1, 2)`` drops nothing: each pair is tested exactly once (as ``cross_val_predict``
        needs it), a mixture of the three settings.
    stratify : bool
        Give each fold its share of each label (symmetric tasks with few matches).
    identity : {"auto", "ids", "content", "rows"}
        Which rows are the same object; see :mod:`pairity.pairs.same_objects`.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, for wide rows.
    random_state : int, Generator, RandomState or None
        Seed.  With ``None`` every call of ``split`` draws anew.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.model_selection import PairKFold
    >>> league = Pairs.complete(np.arange(6.0)[:, None])
    >>> [(len(train), len(test)) for train, test in PairKFold(5).split(league)]
    [(12, 3), (12, 3), (12, 3), (12, 3), (12, 3)]
    """

    _: KW_ONLY
    stratify: bool = False

    def _strata(self, units: Units, y: Any) -> Codes | None:
        """The highest label among the observations of each unit."""
        if not self.stratify:
            return None
        if y is None:
            raise ValueError("got stratify=True and no y; expected labels: pass y to split.")
        strata = np.zeros(len(units.weights), dtype=np.intp)
        np.maximum.at(strata, units.first, as_labels(y, "y", len(units.first), "pair"))
        return strata


def as_generator(random_state: Any) -> np.random.Generator:
    """Generator of an integer seed, ``None``, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def check_random_state(random_state: Any) -> None:
    """Refuse what is no seed, without drawing from a generator that is one."""
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        return
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"got random_state={random_state!r}; expected a whole number, 0 or more, a Generator or"
            " RandomState of NumPy, or None."
        ) from None


def check_count(value: Any, name: str, least: int) -> None:
    """Refuse anything but an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"got {name}={value!r}; expected an integer of at least {least}.")
