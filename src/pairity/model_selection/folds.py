"""Folds: which pairs are held out, what they weigh, and scores of the settings tried on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pairity.estimators.symmetrized import in_one_order
from pairity.exceptions import CalibrationWarning, warn_the_caller
from pairity.model_selection.curves import Criterion
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
        ends, every = ends_of(self.data.pairs), np.arange(len(self.data))
        n_new = [ends.n_new(np.isin(every, train))[test] for train, test in self.splits]
        return float(np.mean(np.concatenate(n_new) == 1))

    def refit_factor(self) -> float:
        """Factor on the weights of the losses in the fit that is kept.

        Where objects are held out, folds train on few of the pairs, and on all pairs a strength that
        was good for them is too much: decisions grow, and probabilities fitted to those of the folds
        are too sure.  Weights times the share of the pairs keep the total weight that was validated.
        """
        share = float(np.mean([self.data.weights[train].sum() for train, _ in self.splits]))
        share /= float(self.data.weights.sum())
        return share if share < _SMALL_FOLDS else 1.0

    def of_rows(self, rows: Rows) -> tuple[TrainingFolds, Rows]:
        """Folds of some rows, and the places of their held-out rows among those of all."""
        number = np.full(len(self.data), -1)
        number[rows] = np.arange(len(rows))
        sides = ((number[train], number[test]) for train, test in self.splits)
        splits = [(train[train >= 0], test[test >= 0]) for train, test in sides]
        places = np.flatnonzero(number[self.held] >= 0)
        return TrainingFolds(some_rows(self.data, rows), splits, self.signs[rows]), places


def some_rows(data: TrainingData, rows: Rows) -> TrainingData:
    """Training data of some rows."""
    return replace(
        data,
        pairs=data.pairs[rows].without_unused_objects(),
        targets=data.targets[rows],
        weights=data.weights[rows],
        rows=data.rows[rows],
    )


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
    data, signs = in_one_order(data)
    return TrainingFolds(data, splits, signs)


def _with_both_classes(splits: Sequence[Split], targets: Vector) -> list[Split]:
    """Folds that can be fitted: their training rows hold both labels.

    Said where some cannot, and where held-out rows of one label cannot tell a good model.
    """
    kept = [split for split in splits if len(np.unique(targets[split[0]])) == 2]
    if not kept:
        raise ValueError(
            "got one class only in the training pairs of every fold; expected both: use stratified"
            " folds, cv=PairKFold(5, stratify=True), or more pairs of the rare class."
        )
    if len(kept) < len(splits):
        warn_the_caller(
            f"{len(splits) - len(kept)} of {len(splits)} folds train on one class only and are left"
            " out of the search; stratified folds share out the rare class:"
            " cv=PairKFold(5, stratify=True).",
            CalibrationWarning,
        )
    single = sum(len(np.unique(targets[test])) < 2 for _, test in kept)
    if 2 * single > len(kept):
        warn_the_caller(
            f"the held-out pairs of {single} of {len(kept)} folds have one label only, so that they"
            " cannot tell a good kernel from a bad one; fewer folds, or larger shares of objects or"
            " groups held out, give both labels: cv=ObjectKFold(2, object_groups=...), say.",
            CalibrationWarning,
        )
    return kept


def shared_weights(weights: Vector, held_out: Sequence[Rows]) -> list[Vector]:
    """Weights of the held-out rows of each fold; one held out k times counts 1/k each time."""
    times = np.bincount(np.concatenate(held_out), minlength=len(weights))
    return [weights[rows] / times[rows] for rows in held_out]


# Scores of settings ------------------------------------------------------------------------------


@dataclass(eq=False)
class Trials:
    """Settings tried one after the other on the same folds: scores and decisions, fold by fold."""

    folds: TrainingFolds
    criterion: Criterion
    scores: list[Vector] = field(default_factory=list)
    decisions: list[list[Vector]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Targets and weights of the held-out rows, and how much each fold counts."""
        self._targets = [self.folds.data.targets[test] for _, test in self.folds.splits]
        self._weights = self.folds.shares
        totals = np.array([float(weights.sum()) for weights in self._weights])
        self._shares = totals / totals.sum()

    def loss_of(self, decisions: list[Vector]) -> float:
        """Mean held-out loss of one more setting, calibrated as the criterion does."""
        scores = self.criterion.negative_loss(decisions, self._targets, self._weights)
        if len(scores) > 1:
            self.scores.append(scores)
            self.decisions.append(decisions)
        return -float(scores @ self._shares)

    def nested(self) -> list[Vector] | None:
        """For each fold, decisions by the setting that the others chose; None of a single fold."""
        return nested_decisions(np.array(self.scores), self.decisions) if self.scores else None


def nested_decisions(scores: Vector, decisions: list[list[Vector]]) -> list[Vector]:
    """For each fold the decisions about all folds by the setting that is best on the *other* folds.

    The setting that is best on all folds is best partly by luck: its own score flatters.
    """
    found = []
    for fold in range(scores.shape[1]):
        others = means_of(np.delete(scores, fold, axis=1))
        others = means_of(scores) if np.isnan(others).all() else others
        found.append(np.concatenate(decisions[int(np.nanargmax(others))]))
    return found


def means_of(scores: Vector) -> Vector:
    """Mean over folds of each setting; NaN for what was not tried."""
    means = np.full(len(scores), np.nan)
    tried = ~np.isnan(scores).all(axis=1)
    means[tried] = np.nanmean(scores[tried], axis=1)
    return means


def results_table(
    settings: list[dict[str, Any]], scores: Vector, seconds: Vector
) -> dict[str, Any]:
    """``cv_results_``: names and ranks as in ``GridSearchCV``; NaN for what was not tried."""
    means, spreads = means_of(scores), np.full(len(settings), np.nan)
    tried = ~np.isnan(means)
    spreads[tried] = np.nanstd(scores[tried], axis=1)
    table: dict[str, Any] = {"params": settings}
    for name in settings[0]:
        column = np.empty(len(settings), dtype=object)
        column[:] = [setting[name] for setting in settings]
        table[f"param_{name}"] = column
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    return table | {
        "mean_test_score": means,
        "std_test_score": spreads,
        "rank_test_score": rankdata(np.where(tried, -means, np.inf), method="min").astype(np.int32),
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
    }
