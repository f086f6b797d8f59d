"""What all splitters share: hold units out, train on the rest, keep the test pairs promised."""

from __future__ import annotations

import numbers
from abc import abstractmethod
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from pairity.pairs import Pairs
from pairity.selection.identity import IDENTITIES, Codes, Ends, Mask, ends_of, read_pairs
from pairity.selection.leakage import LeakageReport, report_of
from pairity.selection.units import Units, as_labels, object_units, pair_units
from pairity.validation import check_choice

__all__ = ["ObjectSplitter", "PairSplitter", "PairwiseSplitter", "as_generator", "check_count"]


class PairSplitter(BaseCrossValidator):
    """Base of splitters of pairs, in scikit-learn's protocol.

    A subclass says in :meth:`_masks` which pairs train and which are candidates for the test;
    here candidates are kept as test pairs when the number of their objects that no training pair
    has is among those promised by ``new``.  Training pairs that share their unordered pair, or
    their group, with a test pair are dropped.
    """

    # the name scikit-learn's metadata routing looks for: split takes groups
    __metadata_request__split = {"groups": True}

    n_splits: int
    new: int | Collection[int]
    identity: str
    n_symmetric: int
    n_antisymmetric: int
    random_state: Any

    def _check(self) -> None:
        """Refuse parameters out of range, each with a sentence."""
        check_count(self.n_splits, "n_splits", 1)
        check_choice(self.identity, "identity", IDENTITIES)
        self._promised()

    def _promised(self) -> list[int]:
        numbers_of_new = [self.new] if isinstance(self.new, int | np.integer) else list(self.new)
        if not numbers_of_new or not set(numbers_of_new) <= {0, 1, 2}:
            raise ValueError(
                f"got new={self.new!r}; expected 0, 1 or 2, how many objects of a test pair no"
                " training pair has, or several of these: new=(1, 2) asks for at least one."
            )
        return [int(number) for number in numbers_of_new]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
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
        pairs = self._read(X)
        ends = ends_of(pairs, self.identity)
        for train, test in self._sides(pairs, ends, X is pairs, y, groups):
            yield np.flatnonzero(train), np.flatnonzero(test)

    def report(self, X: Any, y: Any = None, groups: Any = None) -> list[LeakageReport]:
        """Where the pairs went, split by split: trained on, tested, dropped, crossing.

        With an integer ``random_state`` these are the splits that :meth:`split` gives.
        """
        pairs = self._read(X)
        ends, looks = ends_of(pairs, self.identity), ends_of(pairs, "content")
        return [
            report_of(ends, looks, train, test, groups)
            for train, test in self._sides(pairs, ends, X is pairs, y, groups)
        ]

    def _read(self, X: Any) -> Pairs:
        return read_pairs(X, self.n_symmetric, self.n_antisymmetric)

    def _apart(self, ends: Ends, groups: Any) -> list[Codes]:
        """What must not be on both sides: unordered pairs, and groups if there are any."""
        codes = [ends.unordered()]
        if groups is not None:
            codes.append(as_labels(groups, "groups", len(ends), "pair"))
        return codes

    def _sides(
        self, pairs: Pairs, ends: Ends, has_table: bool, y: Any, groups: Any
    ) -> Iterator[tuple[Mask, Mask]]:
        table_rows = pairs.n_objects if has_table else None
        apart = self._apart(ends, groups)
        for number, (train, candidates) in enumerate(self._masks(ends, table_rows, y, groups)):
            test = candidates & np.isin(ends.n_new(train), self._promised())
            for codes in apart:
                train = train & ~np.isin(codes, codes[test])
            test = test & np.isin(ends.n_new(train), self._promised())
            self._refuse_empty(number, train, test)
            yield train, test

    def _refuse_empty(self, number: int, train: Mask, test: Mask) -> None:
        if not train.any():
            raise ValueError(
                f"got no training pairs in split {number}; expected some: hold out less, by more"
                " folds or a smaller test_size."
            )
        if not test.any():
            raise ValueError(
                f"got no test pairs with new={self.new!r} objects in split {number}; expected some:"
                " use fewer folds, a larger test_size, or another new (0, 1, 2 or several)."
            )

    @abstractmethod
    def _masks(
        self, ends: Ends, table_rows: int | None, y: Any, groups: Any
    ) -> Iterator[tuple[Mask, Mask]]:
        """Training pairs and candidates for the test, split by split."""


class _UnitSplitter(PairSplitter):
    """Splitters that hold out units: pairs that hang on one are candidates, all others train."""

    def _masks(
        self, ends: Ends, table_rows: int | None, y: Any, groups: Any
    ) -> Iterator[tuple[Mask, Mask]]:
        units = self._units(ends, table_rows, groups)
        for held in self._held(units, y):
            touched = units.touched(held)
            yield ~touched, touched

    @abstractmethod
    def _units(self, ends: Ends, table_rows: int | None, groups: Any) -> Units: ...

    @abstractmethod
    def _held(self, units: Units, y: Any) -> Iterator[Mask]: ...


class PairwiseSplitter(_UnitSplitter):
    """Splitters whose units are unordered pairs, or the groups of pairs that ``split`` is given."""

    def _units(self, ends: Ends, table_rows: int | None, groups: Any) -> Units:
        return pair_units(ends, groups)


class ObjectSplitter(_UnitSplitter):
    """Splitters whose units are objects or groups of objects."""

    object_groups: Any

    def _check(self) -> None:
        super()._check()
        if isinstance(self.object_groups, str):
            check_choice(self.object_groups, "object_groups", ("components",))

    def _units(self, ends: Ends, table_rows: int | None, groups: Any) -> Units:
        return object_units(ends, self.object_groups, table_rows)


def as_generator(random_state: Any) -> np.random.Generator:
    """Generator of an integer seed, ``None``, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def check_count(value: Any, name: str, least: int) -> None:
    """Refuse anything but an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"got {name}={value!r}; expected an integer of at least {least}.")
