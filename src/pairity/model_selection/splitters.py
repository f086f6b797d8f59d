"""Splitters of pairs: folds of objects, random shares of pairs or objects, repetitions, time."""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from pairity.model_selection.leakage import LeakageReport
from pairity.model_selection.splitter import (
    Folds,
    PairSplitter,
    Sides,
    Units,
    UnitSplitter,
    as_generator,
    as_labels,
    check_count,
    check_random_state,
)
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import Codes, Ends, Mask, connected_parts, join
from pairity.runtime.validation import check_choice


@dataclass(eq=False, repr=False)
class ObjectSplitter(UnitSplitter):
    """Splitters whose units are objects or groups of objects."""

    _: KW_ONLY
    new: int | Collection[int] = 2
    object_groups: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.object_groups, str):
            check_choice(self.object_groups, "object_groups", ("components",))

    def _units(self, ends: Ends, table_rows: int | None, groups: Any) -> Units:
        """Each object is a unit, or each group of objects, or each connected part."""
        unit = np.arange(ends.n_objects)
        if isinstance(self.object_groups, str):
            unit = connected_parts(ends.first, ends.second, ends.n_objects)
        elif self.object_groups is not None:
            if table_rows is None:
                raise ValueError(
                    "got object_groups with wide rows; expected Pairs, whose table of objects the"
                    " groups refer to: use Pairs.from_rows(rows) and group its objects."
                )
            of = "row of the object table"
            named = as_labels(self.object_groups, "object_groups", table_rows, of)
            joined = join(ends.table_objects, named[ends.table_rows])
            unit[ends.table_objects] = np.unique(joined, return_inverse=True)[1].reshape(-1)
        grouped = self.object_groups is not None
        name = "groups of objects" if grouped else "objects"
        return Units(unit[ends.first], unit[ends.second], grouped, name)


@dataclass(eq=False, repr=False)
class ObjectKFold(ObjectSplitter, Folds):
    """Hold out objects: test on pairs of new objects, train on pairs of the others.

    The objects are dealt into K folds F_1, ..., F_K of equal size, with equal numbers of pairs
    per fold as far as possible.  Split k trains on the pairs without an object of F_k and tests
    on the pairs with one, chosen by how many of their objects are ``new``, that is in no training
    pair.  Counts for all unordered pairs of m objects, s = m / K in a fold (twice as many
    ordered pairs):

    ===========  ======================  ====================  =====================
    ``new``      train                   test                  dropped
    ===========  ======================  ====================  =====================
    2            (m - s)(m - s - 1) / 2  s (s - 1) / 2         s (m - s), they cross
    1            (m - s)(m - s - 1) / 2  s (m - s)             s (s - 1) / 2
    (1, 2)       (m - s)(m - s - 1) / 2  s (2m - s - 1) / 2    0
    ===========  ======================  ====================  =====================

    With 25 objects, 5 folds and both orders of each pair, ``new=2`` gives the 380 and 20 pairs
    of Section 6 of the paper.  With ``new=1`` a pair is tested twice, once with each of its
    objects as the new one; holding it out once only would make half as many test pairs for the
    same training pairs.  If ``split`` is given groups of pairs, training pairs of a group that
    the test has are dropped.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    new : int or several of them
        Numbers of new objects of a test pair: 2 (both), 1 (exactly one), (1, 2) (at least one).
    object_groups : array-like of shape (m,), "components" or None
        What is held out together: one value for each row of the object table (the person on a
        photograph, the league of a team), or the connected parts of the graph of pairs: then no
        pair crosses a split and nothing is dropped.
    identity, n_symmetric, n_antisymmetric, random_state
        As in :class:`~pairity.model_selection.PairKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.model_selection import ObjectKFold
    >>> ordered = Pairs.complete(np.arange(25.0)[:, None]).with_mirrored()
    >>> [(len(train), len(test)) for train, test in ObjectKFold(5).split(ordered)]
    [(380, 20), (380, 20), (380, 20), (380, 20), (380, 20)]
    """


@dataclass(eq=False, repr=False)
class PairShuffleSplit(UnitSplitter):
    """Hold out a random share of the unordered pairs, again and again.

    Parameters
    ----------
    n_splits : int
        Number of independent draws.
    test_size : float or int
        Share, or number, of the unordered pairs that are held out.
    new, identity, n_symmetric, n_antisymmetric, random_state
        As in :class:`~pairity.model_selection.PairKFold`.
    """

    n_splits: int = 10
    _: KW_ONLY
    test_size: float = 0.2

    def __post_init__(self) -> None:
        size = self.test_size
        if isinstance(size, numbers.Integral):
            allowed = not isinstance(size, bool) and size >= 1
        else:
            allowed = isinstance(size, numbers.Real) and 0.0 < size < 1.0
        if not allowed:
            raise ValueError(
                f"got test_size={size!r}; expected a share between 0 and 1, or a number of at"
                " least 1."
            )
        super().__post_init__()

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        size, n_units = self.test_size, len(units.weights)
        number = int(size) if isinstance(size, numbers.Integral) else math.ceil(size * n_units)
        if number >= n_units:
            raise ValueError(
                f"got test_size={size!r} for {n_units} units; expected some left to train on: make"
                " it smaller."
            )
        generator = as_generator(self.random_state)
        for _ in range(self.n_splits):
            held = np.zeros(n_units, dtype=np.bool_)
            held[generator.permutation(n_units)[:number]] = True
            yield held


@dataclass(eq=False, repr=False)
class ObjectShuffleSplit(ObjectSplitter, PairShuffleSplit):
    """Hold out a random share of the objects, or of groups of objects, again and again.

    Parameters
    ----------
    n_splits : int
        Number of independent draws.
    test_size : float or int
        Share, or number, of the objects (groups of objects) that are held out.  Of all pairs of
        many objects a share t leaves (1 - t)^2 to train on and t^2 with both objects new; the
        2t(1 - t) between cross the split.
    new, object_groups, identity, n_symmetric, n_antisymmetric, random_state
        As in :class:`~pairity.model_selection.ObjectKFold`.
    """

    n_splits: int = 10


@dataclass(eq=False, repr=False)
class Repeated(BaseCrossValidator):
    """A splitter run several times, each with its own seed.

    Parameters
    ----------
    splitter : splitter with a ``random_state``
        Any of this package's, or of scikit-learn's that shuffle.
    n_repeats : int
        Number of runs.
    random_state : int, Generator, RandomState or None
        Seed of the seeds.

    Examples
    --------
    >>> from pairity.model_selection import ObjectKFold, Repeated
    >>> Repeated(ObjectKFold(5), n_repeats=3).get_n_splits()
    15
    """

    splitter: Any
    n_repeats: int = 10
    _: KW_ONLY
    random_state: Any = 0

    __metadata_request__split = {"groups": True}

    def __post_init__(self) -> None:
        check_count(self.n_repeats, "n_repeats", 1)
        check_random_state(self.random_state)
        if not hasattr(self.splitter, "random_state"):
            raise ValueError(
                f"got {self.splitter!r} to repeat; expected a splitter with a random_state: without"
                " one every run is the same."
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits of all runs together."""
        return self.n_repeats * int(self.splitter.get_n_splits(X, y, groups))

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Codes, Codes]]:
        """Row numbers of training and test pairs, run after run."""
        for splitter in self._runs():
            yield from splitter.split(X, y, groups)

    def report(self, X: Any, y: Any = None, groups: Any = None) -> list[LeakageReport]:
        """Where the pairs went, split by split, run after run."""
        return [row for splitter in self._runs() for row in splitter.report(X, y, groups)]

    def _runs(self) -> Iterator[Any]:
        generator = as_generator(self.random_state)
        for _ in range(self.n_repeats):
            run = copy.copy(self.splitter)
            run.random_state = int(generator.integers(2**31 - 1))
            yield run


@dataclass(eq=False, repr=False)
class TimeSplit(PairSplitter):
    """Train on all pairs before a moment, test on the block of pairs after it.

    The times are cut into ``n_splits + 1`` consecutive blocks with about equally many pairs;
    split k trains on the blocks before block k and tests on block k.  Pairs of the same time are
    in the same block.  A pair that met before may meet again: that is no leak, the past is known.

    Parameters
    ----------
    n_splits : int
        Number of splits.
    gap : int
        Number of distinct times just before the test block that are not trained on, for answers
        that become known late.
    new : int or several of them
        Numbers of objects of a test pair that may be new, that is not met in training: by default
        all.  ``new=0`` tests on newcomers never, ``new=(1, 2)`` on games of newcomers only.
    identity, n_symmetric, n_antisymmetric
        As in :class:`~pairity.model_selection.PairKFold`.

    Notes
    -----
    ``groups`` given to ``split``, ``cross_val_score(..., groups=times)`` or
    ``GridSearchCV.fit(..., groups=times)`` are the times, any values that have an order.  Without
    them pairs that have times of their own are split by these, and rows of others are taken to be
    in the order of time.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.model_selection import TimeSplit
    >>> games = Pairs(np.eye(3), first=[0, 1, 2, 0, 1, 2], second=[1, 2, 0, 1, 2, 0])
    >>> days = [1, 1, 2, 2, 3, 3]
    >>> [(train.tolist(), test.tolist()) for train, test in TimeSplit(2).split(games, groups=days)]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    _: KW_ONLY
    new: int | Collection[int] = (0, 1, 2)
    gap: int = 0

    def __post_init__(self) -> None:
        check_count(self.gap, "gap", 0)
        super().__post_init__()

    def _apart(self, ends: Ends, groups: Any) -> list[Codes]:
        return []  # the past is known, and groups are times

    def _sides(self, pairs: Pairs, ends: Ends, has_table: bool, y: Any, groups: Any) -> Sides:
        times = pairs.time if groups is None else groups
        return super()._sides(pairs, ends, has_table, y, times)

    def _masks(self, ends: Ends, table_rows: int | None, y: Any, groups: Any) -> Sides:
        moments = np.arange(len(ends))
        if groups is not None:
            moments = as_labels(groups, "groups", len(ends), "pair, its time")
        counts = np.bincount(moments)
        before = np.cumsum(counts) - counts  # pairs earlier than each moment
        block = before * (self.n_splits + 1) // max(1, len(ends))  # (number of moments,)
        if len(np.unique(block)) <= self.n_splits:
            raise ValueError(
                f"got {len(counts)} different times with too many pairs at one of them for"
                f" {self.n_splits} splits; expected more: use fewer splits or finer times."
            )
        for number in range(1, self.n_splits + 1):
            start = int(np.searchsorted(block, number))
            yield moments < start - self.gap, block[moments] == number
