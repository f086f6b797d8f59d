"""What a split lets through: objects and pairs on both sides, counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pairity.pairs.same_objects import Ends, Mask, ends_of, read_pairs


@dataclass(frozen=True)
class LeakageReport:
    """Counts of a split into training, test and dropped pairs.

    "Seen" means: occurs in a training pair.  The three kinds of test pairs are the settings of
    the field (Park and Marcotte, Nature Methods 9, 2012, call them C1, C2 and C3; Pahikkala et
    al., Briefings in Bioinformatics 16, 2015, treat them for pairs of two kinds): accuracies
    measured on one kind say little about the others.

    Attributes
    ----------
    n_pairs, n_train, n_test, n_dropped : int
        All pairs, and where they went; dropped pairs are on neither side.
    n_crossing : int
        Dropped pairs with one object seen and one new: they cross the split.
    n_both_seen, n_one_new, n_both_new : int
        Test pairs by the number of their objects that are new; they add up to ``n_test``.
    n_shared_objects, n_shared_pairs, n_shared_rows, n_shared_groups : int
        Objects, unordered pairs and rows that occur on both sides, and groups, or ``None`` if no
        groups were given.
    n_repeated : int
        Test pairs whose unordered pair was seen in training, in either order.
    n_lookalikes : int
        Test pairs whose two objects have the features of those of a training pair, in either
        order: more than ``n_repeated`` where different ids hide equal features.
    """

    n_pairs: int
    n_train: int
    n_test: int
    n_dropped: int
    n_crossing: int
    n_both_seen: int
    n_one_new: int
    n_both_new: int
    n_shared_objects: int
    n_shared_pairs: int
    n_repeated: int
    n_lookalikes: int
    n_shared_rows: int
    n_shared_groups: int | None = None

    @property
    def is_clean(self) -> bool:
        """No test pair, nor its mirror image, nor a pair that looks like it, was trained on."""
        return not (self.n_repeated or self.n_lookalikes or self.n_shared_groups)

    @property
    def setting(self) -> str:
        """What the test pairs measure, in words."""
        names = ("both objects seen", "one object new", "both objects new")
        counts = (self.n_both_seen, self.n_one_new, self.n_both_new)
        present = [name for name, count in zip(names, counts, strict=True) if count]
        return present[0] if len(present) == 1 else "mixed" if present else "no test pairs"

    def __str__(self) -> str:
        lines = [
            f"{self.n_pairs} pairs: {self.n_train} train, {self.n_test} test, {self.n_dropped}"
            f" dropped ({self.n_crossing} of them cross the split)",
            f"test pairs ({self.setting}): {self.n_both_seen} with both objects seen in training,"
            f" {self.n_one_new} with one new, {self.n_both_new} with both new",
            f"on both sides: {self.n_shared_objects} objects, {self.n_shared_pairs} unordered pairs"
            f" ({self.n_repeated} test pairs), {self.n_shared_rows} rows",
        ]
        if self.n_lookalikes > self.n_repeated:
            lines.append(f"{self.n_lookalikes} test pairs have the features of a training pair")
        if self.n_shared_groups is not None:
            lines[2] += f", {self.n_shared_groups} groups"
        return "\n".join(lines)


def leakage_report(
    pairs: Any,
    train: ArrayLike,
    test: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    identity: str = "auto",
    n_symmetric: int = 0,
    n_antisymmetric: int = 0,
) -> LeakageReport:
    """Count what a split of pairs, made by whatever means, lets through.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n, columns)
        All pairs, or their wide rows.
    train, test : array-like
        Row numbers or masks of the two sides.
    groups : array-like of shape (n,), optional
        What must not be on both sides: the traveller who chose, the day.
    identity, n_symmetric, n_antisymmetric
        As in :class:`~pairity.model_selection.PairKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.model_selection import leakage_report
    >>> league = Pairs(np.eye(4), first=[0, 1, 2, 1], second=[1, 0, 3, 2])
    >>> print(leakage_report(league, train=[0], test=[1, 2]))
    4 pairs: 1 train, 2 test, 1 dropped (1 of them cross the split)
    test pairs (mixed): 1 with both objects seen in training, 0 with one new, 1 with both new
    on both sides: 2 objects, 1 unordered pairs (1 test pairs), 0 rows
    """
    pairs = read_pairs(pairs, n_symmetric, n_antisymmetric)
    trained, tested = _as_mask(train, "train", len(pairs)), _as_mask(test, "test", len(pairs))
    return report_of(ends_of(pairs, identity), ends_of(pairs, "content"), trained, tested, groups)


def report_of(
    ends: Ends, looks: Ends, train: Mask, test: Mask, groups: ArrayLike | None = None
) -> LeakageReport:
    """Count from masks; ``looks`` are the ends when equal features make equal objects."""
    n_new, dropped = ends.n_new(train), ~(train | test)
    n_both_seen, n_one_new, n_both_new = np.bincount(n_new[test], minlength=3).tolist()
    unordered, alike = ends.unordered(), looks.unordered()
    named = train if groups is None else np.asarray(groups)
    if named.shape != train.shape:
        raise ValueError(
            f"got groups of shape {named.shape} for {len(train)} pairs; expected one per pair."
        )
    return LeakageReport(
        n_pairs=len(ends),
        n_train=int(train.sum()),
        n_test=int(test.sum()),
        n_dropped=int(dropped.sum()),
        n_crossing=int(np.count_nonzero(n_new[dropped] == 1)),
        n_both_seen=n_both_seen,
        n_one_new=n_one_new,
        n_both_new=n_both_new,
        n_shared_objects=int(np.sum(ends.objects_of(train) & ends.objects_of(test))),
        n_shared_pairs=len(np.intersect1d(unordered[train], unordered[test])),
        n_repeated=int(np.isin(unordered[test], unordered[train]).sum()),
        n_lookalikes=int(np.isin(alike[test], alike[train]).sum()),
        n_shared_rows=int(np.sum(train & test)),
        n_shared_groups=(
            None if groups is None else len(np.intersect1d(named[train], named[test]))
        ),
    )


def _as_mask(side: ArrayLike, name: str, n_pairs: int) -> Mask:
    """Row numbers or a mask, as a mask."""
    given = np.asarray(side)
    if given.dtype == np.bool_ and given.shape == (n_pairs,):
        return given
    whole = given.size == 0 or np.issubdtype(given.dtype, np.integer)
    if given.ndim != 1 or not whole or not ((-n_pairs <= given) & (given < n_pairs)).all():
        raise ValueError(
            f"got {name} that is neither a mask of {n_pairs} nor row numbers below {n_pairs};"
            " expected one of them: pass what a splitter yields."
        )
    mask = np.zeros(n_pairs, dtype=np.bool_)
    mask[given.astype(np.intp)] = True
    return mask
