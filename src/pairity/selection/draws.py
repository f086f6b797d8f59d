"""Shuffle-split and repeated forms: independent draws instead of folds."""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from pairity.selection.identity import Mask
from pairity.selection.leakage import LeakageReport
from pairity.selection.splitter import (
    ObjectSplitter,
    PairwiseSplitter,
    as_generator,
    check_count,
)
from pairity.selection.units import Units

__all__ = ["ObjectShuffleSplit", "PairShuffleSplit", "Repeated"]


def _check_test_size(test_size: Any) -> None:
    share = isinstance(test_size, numbers.Real) and not isinstance(test_size, numbers.Integral)
    number = isinstance(test_size, numbers.Integral) and not isinstance(test_size, bool)
    if not ((share and 0.0 < test_size < 1.0) or (number and test_size >= 1)):
        raise ValueError(
            f"got test_size={test_size!r}; expected a share between 0 and 1, or a number of at"
            " least 1."
        )


def _held_at_random(
    n_units: int, test_size: float, n_splits: int, random_state: Any
) -> Iterator[Mask]:
    """Masks of units drawn anew for each split, a share or a number of them."""
    number = math.ceil(test_size * n_units) if isinstance(test_size, float) else int(test_size)
    if number >= n_units:
        raise ValueError(
            f"got test_size={test_size!r} for {n_units} units; expected some left to train on: make"
            " it smaller."
        )
    generator = as_generator(random_state)
    for _ in range(n_splits):
        held = np.zeros(n_units, dtype=np.bool_)
        held[generator.permutation(n_units)[:number]] = True
        yield held


class PairShuffleSplit(PairwiseSplitter):
    """Hold out a random share of the unordered pairs, again and again.

    Parameters
    ----------
    n_splits : int
        Number of independent draws.
    test_size : float or int
        Share, or number, of the unordered pairs that are held out.
    new, identity, n_symmetric, n_antisymmetric, random_state
        As in :class:`~pairity.selection.PairKFold`.
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.2,
        new: int | Collection[int] = 0,
        identity: str = "auto",
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.new = new
        self.identity = identity
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.random_state = random_state
        _check_test_size(test_size)
        self._check()

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        n_units = len(units.weights)
        return _held_at_random(n_units, self.test_size, self.n_splits, self.random_state)


class ObjectShuffleSplit(ObjectSplitter):
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
        As in :class:`~pairity.selection.ObjectKFold`.
    """

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float = 0.2,
        new: int | Collection[int] = 2,
        object_groups: Any = None,
        identity: str = "auto",
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.new = new
        self.object_groups = object_groups
        self.identity = identity
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.random_state = random_state
        _check_test_size(test_size)
        self._check()

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        n_units = len(units.weights)
        return _held_at_random(n_units, self.test_size, self.n_splits, self.random_state)


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
    >>> from pairity.selection import ObjectKFold, Repeated
    >>> Repeated(ObjectKFold(5), n_repeats=3).get_n_splits()
    15
    """

    __metadata_request__split = {"groups": True}

    def __init__(self, splitter: Any, n_repeats: int = 10, *, random_state: Any = 0) -> None:
        self.splitter = splitter
        self.n_repeats = n_repeats
        self.random_state = random_state
        check_count(n_repeats, "n_repeats", 1)
        if not hasattr(splitter, "random_state"):
            raise ValueError(
                f"got {splitter!r} to repeat; expected a splitter with a random_state: without one"
                " every run is the same."
            )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits of all runs together."""
        return self.n_repeats * int(self.splitter.get_n_splits(X, y, groups))

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
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
