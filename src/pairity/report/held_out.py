"""Decisions about pairs that a model has not seen, by settings of what else is new to it.

The learner is fitted again on folds with the kernel and the strength that were chosen; the choice
itself was made with all pairs in view, which the page says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.report.limits import Limits
from pairity.report.subject import Subject
from pairity.selection import ObjectKFold, PairKFold

__all__ = ["SETTINGS", "HeldOut", "hold_out", "sample_rows"]

Rows = NDArray[np.intp]
Vector = NDArray[np.float64]
Split = tuple[Rows, Rows]

#: Settings by key: their names, and how many objects of a test pair are new.
SETTINGS = {
    "seen": ("both objects seen", 0),
    "one_new": ("one object new", 1),
    "both_new": ("both objects new", 2),
}
#: Fewer held-out pairs than this say nothing.
_LEAST = 10
#: Folds are made fewer where the rarer label is held out with less than this part of its share.
_LOPSIDED = 0.5


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Decisions about held-out rows; one that is held out k times stands there k times.

    ``fitted`` are the models of the folds with the rows they did not see, for explanations.
    Without rows, ``reason`` says why there are none.
    """

    rows: Rows
    decisions: Vector
    folds: Rows
    n_train: int = 0  # mean over folds
    n_folds: int = 0
    n_unconverged: int = 0
    fitted: tuple[tuple[Any, Rows], ...] = ()
    reason: str = ""

    @property
    def weights(self) -> Vector:
        """1/k for a row that is held out k times."""
        times = np.bincount(self.rows) if len(self.rows) else np.zeros(0)
        return np.asarray(1.0 / times[self.rows])

    @classmethod
    def nothing(cls, reason: str) -> HeldOut:
        """No decisions, and why."""
        none = np.zeros(0, dtype=np.intp)
        return cls(none, np.zeros(0), none, reason=reason)


def sample_rows(unordered: Rows, most: int, seed: int) -> Rows:
    """All rows, or those of unordered pairs drawn at random until there are too many."""
    if len(unordered) <= most:
        return np.arange(len(unordered))
    place = np.random.default_rng(seed).permutation(int(unordered.max()) + 1)
    return np.sort(np.argsort(place[unordered], kind="stable")[:most])


def hold_out(
    subject: Subject, key: str, limits: Limits, seed: int, groups: Any, object_groups: Any
) -> HeldOut:
    """Fit on folds and decide about what they hold out; fewer folds where many are too many."""
    reason, found = "too few pairs to hold some out", []
    for n_folds in dict.fromkeys((limits.folds, 3, 2)):
        if n_folds > limits.folds:
            continue
        try:
            splits = list(_splits(subject, key, n_folds, seed, groups, object_groups))
        except ValueError as error:
            reason = str(error).rstrip(".").removeprefix("got ")
            continue
        reason = _useless(subject, splits) or reason
        if _useless(subject, splits) is None:
            found.append(splits)
            if not _is_lopsided(subject, splits):
                return _decide(subject, splits)
    return _decide(subject, found[0]) if found else HeldOut.nothing(reason)


def _splits(
    subject: Subject, key: str, n_folds: int, seed: int, groups: Any, object_groups: Any
) -> Iterator[Split]:
    new = SETTINGS[key][1]
    options: dict[str, Any] = {"new": new, "random_state": seed}
    if new == 0:
        stratify = subject.kind == "labels" and not subject.is_odd and groups is None
        splitter: Any = PairKFold(n_folds, stratify=stratify, **options)
    else:
        splitter = ObjectKFold(n_folds, object_groups=object_groups, **options)
    return splitter.split(subject.pairs, subject.targets, groups)


def _useless(subject: Subject, splits: list[Split]) -> str | None:
    """Why splits say nothing about how good a model is."""
    held = np.unique(np.concatenate([test for _, test in splits]))
    if len(held) < _LEAST:
        return f"{len(held)} such pairs can be held out, too few to say anything"
    if subject.kind == "labels" and not subject.is_odd:
        kinds = [np.unique(subject.targets[test]) for _, test in splits]
        if any(len(kind) < 2 for kind in kinds):
            label = subject.label_of(next(kind[0] for kind in kinds if len(kind) < 2))
            return f"there are folds whose held-out pairs all have the label {label!r}"
    return None


def _is_lopsided(subject: Subject, splits: list[Split]) -> bool:
    """Whether the rarer label is much rarer among held-out pairs than among all pairs.

    Single groups of objects that belong together leave hardly any held-out pair of the other
    label; fewer and larger folds leave more.
    """
    if subject.kind != "labels" or subject.is_odd:
        return False
    held = np.unique(np.concatenate([test for _, test in splits]))
    positive = subject.targets > 0
    shares = [min(np.mean(mask), 1.0 - np.mean(mask)) for mask in (positive[held], positive)]
    return bool(shares[0] < _LOPSIDED * shares[1])


def _decide(subject: Subject, splits: list[Split]) -> HeldOut:
    rows, decisions, folds, sizes = [], [], [], []
    fitted: list[tuple[Any, Rows]] = []
    n_unconverged = 0
    for number, (train, test) in enumerate(splits):
        model, converged = subject.refit(train)
        if model is None:
            continue
        n_unconverged += not converged
        fitted.append((model, test))
        rows.append(test)
        decisions.append(subject.values(model, subject.pairs[test]))
        folds.append(np.full(len(test), number, dtype=np.intp))
        sizes.append(len(train))
    if not rows:
        return HeldOut.nothing("the training pairs of every fold are of one label only")
    return HeldOut(
        np.concatenate(rows),
        np.concatenate(decisions),
        np.concatenate(folds),
        n_train=round(float(np.mean(sizes))),
        n_folds=len(rows),
        n_unconverged=n_unconverged,
        fitted=tuple(fitted),
    )
