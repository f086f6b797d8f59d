"""K-fold splitters: every unordered pair, or every object, is held out once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pairity.selection.identity import Codes, Mask
from pairity.selection.splitter import (
    ObjectSplitter,
    PairwiseSplitter,
    as_generator,
    check_count,
)
from pairity.selection.units import Units, as_labels, deal, deal_groups, highest_label

__all__ = ["ObjectKFold", "PairKFold"]


def _held_in_turn(
    units: Units, n_folds: int, random_state: Any, what: str, strata: Codes | None = None
) -> Iterator[Mask]:
    if len(units.weights) < n_folds:
        raise ValueError(
            f"got {len(units.weights)} {what} to hold out for n_splits={n_folds}; expected at least"
            " as many as folds: use fewer folds."
        )
    generator = as_generator(random_state)
    if units.grouped and strata is None:
        folds = deal_groups(units.weights, n_folds, generator)
    else:
        folds = deal(units.weights, n_folds, generator, strata)
    return (folds == fold for fold in range(n_folds))


class PairKFold(PairwiseSplitter):
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
        Which rows are the same object; see :mod:`pairity.selection.identity`.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, for wide rows.
    random_state : int, Generator, RandomState or None
        Seed.  With ``None`` every call of ``split`` draws anew.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.selection import PairKFold
    >>> league = Pairs.complete(np.arange(6.0)[:, None])
    >>> [(len(train), len(test)) for train, test in PairKFold(5).split(league)]
    [(12, 3), (12, 3), (12, 3), (12, 3), (12, 3)]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        new: int | Collection[int] = 0,
        stratify: bool = False,
        identity: str = "auto",
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_splits = n_splits
        self.new = new
        self.stratify = stratify
        self.identity = identity
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.random_state = random_state
        check_count(n_splits, "n_splits", 2)
        self._check()

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        strata = None
        if self.stratify:
            if y is None:
                raise ValueError("got stratify=True and no y; expected labels: pass y to split.")
            labels = as_labels(y, "y", len(units.first), "pair")
            strata = highest_label(units.first, labels, len(units.weights))
        return _held_in_turn(units, self.n_splits, self.random_state, "unordered pairs", strata)


class ObjectKFold(ObjectSplitter):
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
    same training pairs.

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
    identity : {"auto", "ids", "content", "rows"}
        Which rows are the same object; see :mod:`pairity.selection.identity`.
    n_symmetric, n_antisymmetric : int
        Numbers of group feature columns, for wide rows.
    random_state : int, Generator, RandomState or None
        Seed.  With ``None`` every call of ``split`` draws anew.

    Notes
    -----
    If ``split`` is given groups of pairs, training pairs of a group that the test has are dropped.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.selection import ObjectKFold
    >>> ordered = Pairs.complete(np.arange(25.0)[:, None]).with_mirrored()
    >>> [(len(train), len(test)) for train, test in ObjectKFold(5).split(ordered)]
    [(380, 20), (380, 20), (380, 20), (380, 20), (380, 20)]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        new: int | Collection[int] = 2,
        object_groups: Any = None,
        identity: str = "auto",
        n_symmetric: int = 0,
        n_antisymmetric: int = 0,
        random_state: Any = 0,
    ) -> None:
        self.n_splits = n_splits
        self.new = new
        self.object_groups = object_groups
        self.identity = identity
        self.n_symmetric = n_symmetric
        self.n_antisymmetric = n_antisymmetric
        self.random_state = random_state
        check_count(n_splits, "n_splits", 2)
        self._check()

    def _held(self, units: Units, y: Any) -> Iterator[Mask]:
        what = "objects" if self.object_groups is None else "groups of objects"
        return _held_in_turn(units, self.n_splits, self.random_state, what)
