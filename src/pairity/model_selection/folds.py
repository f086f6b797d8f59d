"""Folds: which pairs are held out, and what they weigh."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.estimators.symmetrized import in_one_order
from pairity.exceptions import CalibrationWarning, levels_to_the_caller
from pairity.model_selection.splits import GivenRows, Rows, Split, read_splits
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.pairs.same_objects import ends_of
from pairity.training.read import TrainingData

Vector = NDArray[np.float64]

#: Folds that train on less than this share of the pairs say little about strengths for all.
_SMALL_FOLDS = 0.6
#: Share of rematches among held-out pairs from which on pairs of objects may have effects.
MET_BEFORE = 0.05


@dataclass(frozen=True, eq=False)
class TrainingFolds:
    """Training data with each pair in its one order, and the folds.

    A search is full of choices: in one order (:mod:`pairity.pairs.orientation`) none of them can depend
    on how a pair is written.  ``signs`` lead back to the targets and decisions as written.
    """

    data: TrainingData
    splits: list[Split]
    signs: Vector

    @property
    def held(self) -> Rows:
        """Held-out rows of all folds, one after the other."""
        return np.concatenate([test for _, test in self.splits])

    @property
    def shares(self) -> list[Vector]:
        """Weights of the held-out rows of each fold."""
        return shared_weights(self.data.weights, [test for _, test in self.splits])

    def share_met_before(self) -> float:
        """Share of the held-out pairs that were trained on, in either order: a rematch."""
        unordered = ends_of(self.data.pairs).unordered()
        met = [np.isin(unordered[test], unordered[train]) for train, test in self.splits]
        return float(np.mean(np.concatenate(met)))

    def share_with_one_new(self) -> float:
        """Share of the held-out pairs that have one object of the training pairs, and a new one."""
        ends = ends_of(self.data.pairs)
        shares = []
        for train, test in self.splits:
            known = np.concatenate([ends.first[train], ends.second[train]])
            seen = [np.isin(end[test], known) for end in (ends.first, ends.second)]
            shares.append(seen[0] != seen[1])
        return float(np.mean(np.concatenate(shares)))

    def refit_factor(self) -> float:
        """Factor on the weights of the losses in the fit that is kept.

        Where objects are held out, folds train on few of the pairs, and on all pairs a strength that
        was good for them is too much: decisions grow, and probabilities fitted to those of the folds
        are too sure.  Weights times the share of the pairs keep the total weight that was validated.
        """
        share = float(np.mean([self.data.weights[train].sum() for train, _ in self.splits]))
        share /= float(self.data.weights.sum())
        return share if share < _SMALL_FOLDS else 1.0


def read_folds(cv: Any, data: TrainingData, X: Any, groups: Any) -> TrainingFolds:
    """Folds of the rows that count, each of which can be trained on."""
    # ids tell objects apart where features change from pair to pair
    pairs = X[data.rows] if isinstance(X, Pairs) else data.pairs
    groups = None if groups is None else np.asarray(groups)
    given = GivenRows(pairs, data.targets, groups, data.rows, data.n_rows)
    stratify = data.parity is not Parity.ODD and data.classes is not None
    splits = read_splits(cv, given, stratify=stratify)
    if stratify:
        splits = _with_both_classes(splits, data.targets)
        _warn_of_single_labels(splits, data.targets)
    data, signs = in_one_order(data)
    return TrainingFolds(data, splits, signs)


def _with_both_classes(splits: Sequence[Split], targets: Vector) -> list[Split]:
    """Folds whose training rows hold both labels; the others cannot be fitted."""
    kept = [split for split in splits if len(np.unique(targets[split[0]])) == 2]
    if not kept:
        raise ValueError(
            "got one class only in the training pairs of every fold; expected both: use stratified"
            " folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    if len(kept) < len(splits):
        warnings.warn(
            f"{len(splits) - len(kept)} of {len(splits)} folds train on one class only and are left"
            " out of the search; stratified folds share out the rare class:"
            " cv=PairKFold(5, stratify=True).",
            CalibrationWarning,
            stacklevel=levels_to_the_caller(),
        )
    return kept


def _warn_of_single_labels(splits: Sequence[Split], targets: Vector) -> None:
    """Say so where held-out pairs cannot tell a good model: one label in most folds."""
    single = sum(len(np.unique(targets[test])) < 2 for _, test in splits)
    if 2 * single > len(splits):
        warnings.warn(
            f"the held-out pairs of {single} of {len(splits)} folds have one label only, so that they"
            " cannot tell a good kernel from a bad one; fewer folds, or larger shares of objects or"
            " groups held out, give both labels: cv=ObjectKFold(2, object_groups=...), say.",
            CalibrationWarning,
            stacklevel=levels_to_the_caller(),
        )


def shared_weights(weights: Vector, held_out: Sequence[Rows]) -> list[Vector]:
    """Weights of the held-out rows of each fold; one held out k times counts 1/k each time."""
    times = np.bincount(np.concatenate(held_out), minlength=len(weights))
    return [weights[rows] / times[rows] for rows in held_out]
