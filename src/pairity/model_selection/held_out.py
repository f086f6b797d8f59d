"""Decisions about pairs by clones of an estimator that have not seen them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from pairity.estimators.machine import TakesSparseRows
from pairity.estimators.unwrap import innermost, weight_name
from pairity.exceptions import CalibrationWarning, warn_the_caller
from pairity.model_selection.automatic_model import AutomaticModel
from pairity.model_selection.folds import Vector, shared_weights
from pairity.model_selection.search import PairSearch
from pairity.model_selection.splits import GivenRows, Rows, Split, read_splits
from pairity.pairs.data import Pairs
from pairity.pairs.parity import SYMMETRIES, Parity
from pairity.runtime.validation import check_choice
from pairity.training.read import read_pairs, read_weights


def parity_of(estimator: Any) -> Parity | None:
    """What a swap does to the decisions of an estimator."""
    symmetry = innermost(estimator).symmetry
    check_choice(symmetry, "symmetry", tuple(SYMMETRIES))
    return SYMMETRIES[symmetry]


@dataclass(frozen=True, eq=False)
class Trainer:
    """An estimator with all that it may be trained on."""

    estimator: Any
    pairs: Pairs
    targets: NDArray[Any]
    weights: Vector | None
    settled: Any = None  # a fitted search of this package, whose choice is kept

    def fit(self, rows: Rows, classes: NDArray[Any] | None = None) -> Any:
        """A clone fitted on these rows.

        To an antisymmetric classifier of two ``classes`` one label alone is shown in both orders:
        writing one pair the other way round, with the other label, changes nothing but shows the
        classifier how both labels are called.
        """
        pairs, targets = self.pairs[rows], self.targets[rows]
        if classes is not None and len(np.unique(targets)) == 1:
            pairs = pairs.with_swapped(np.arange(len(pairs)) == 0)
            targets = targets.copy()
            targets[0] = classes[0] if targets[0] == classes[1] else classes[1]
        weights = None if self.weights is None else self.weights[rows]
        if isinstance(self.settled, AutomaticModel):
            return self.settled.refitted(pairs, targets, weights)
        model = clone(self.estimator if self.settled is None else self.settled.best_estimator_)
        weighed = {} if weights is None else {weight_name(model): weights}
        return model.fit(pairs, targets, **weighed)

    def after(self, fitted: Any) -> Trainer:
        """The same without a search, where one has been made: folds are fitted with its choice."""
        searched = isinstance(fitted, AutomaticModel | PairSearch)
        return replace(self, settled=fitted) if searched else self


class HeldOutCalibration(TakesSparseRows):
    """Base of what wraps an estimator of pairs: the estimator on all pairs, clones on folds.

    A search of this package is made once, on all pairs; the folds are fitted with what it chose.
    The law and the widths of wide rows are those of the estimator.
    """

    estimator: Any
    cv: Any

    def _prototype(self) -> Any:
        """The estimator that is cloned and fitted."""
        raise NotImplementedError

    def _read_targets(self, y: Any, pairs: Pairs) -> tuple[NDArray[Any], Vector]:
        """Targets that the estimator is fitted to, and outcomes as numbers; keeps the classes."""
        raise NotImplementedError

    def _keep_curve(self, decisions: Vector, outcomes: Vector, weights: Vector) -> None:
        """Fit what makes probabilities of held-out decisions."""
        raise NotImplementedError

    def _fit_rows(self, trainer: Trainer, rows: Rows) -> Any:
        """A clone fitted on these rows; None where they cannot be trained on."""
        raise NotImplementedError

    def _decisions(self, model: Any, pairs: Pairs) -> Vector:
        """Decisions of a fitted clone."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse values out of range, each with a sentence."""
        self._prototype()

    @property
    def symmetry(self) -> str:
        """That of the estimator."""
        return innermost(self._prototype()).symmetry

    @property
    def n_symmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_symmetric", 0)

    @property
    def n_antisymmetric(self) -> int:
        """That of the estimator, for wide rows."""
        return getattr(innermost(self._prototype()), "n_antisymmetric", 0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the estimator, and the curve from its decisions to probabilities.

        Parameters
        ----------
        X : Pairs or array-like of shape (n, columns)
            Pairs, or wide rows of formula (1).
        y : array-like of shape (n,)
            Labels of any two values, or outcomes for the first object.
        sample_weight : array-like of shape (n,), optional
            How much each row counts, to the estimator and to the curve.
        groups : array-like of shape (n,), optional
            What ``cv`` keeps together (travellers, sessions), or times for ``TimeSplit``.
        """
        self._check_parameters()
        pairs = read_pairs(self, X, reset=True)
        targets, outcomes = self._read_targets(y, pairs)
        every_weight = read_weights(sample_weight, len(pairs))
        counted = np.flatnonzero(every_weight > 0.0)
        groups = None if groups is None else np.asarray(groups)
        given = GivenRows(pairs[counted], targets[counted], groups, counted, len(pairs))
        known = None if sample_weight is None else every_weight[counted]
        trainer = Trainer(self._prototype(), given.pairs, given.targets, known)
        splits = read_splits(self.cv, given, stratify=parity_of(self) is not Parity.ODD)
        self.estimator_ = self._fit_rows(trainer, np.arange(len(counted)))
        rows, shares = self._decide_held_out(splits, trainer.after(self.estimator_))
        self.calibration_rows_, self.calibration_pairs_ = counted[rows], given.pairs[rows]
        weights = every_weight[self.calibration_rows_] * shares
        self._keep_curve(self.calibration_decisions_, outcomes[self.calibration_rows_], weights)
        return self

    def _decide_held_out(self, splits: list[Split], trainer: Trainer) -> tuple[Rows, Vector]:
        """Fit on the training rows of each fold and decide about its held-out rows.

        Returns these rows and their shares: one that is held out k times has k decisions, each of
        which counts 1/k of it.  Folds that cannot be trained on are left out.
        """
        decided: dict[int, tuple[Rows, Vector]] = {}
        for number, (train, test) in enumerate(splits):
            model = self._fit_rows(trainer, np.asarray(train))
            if model is not None:
                rows = np.arange(len(trainer.pairs))[test]
                decided[number] = rows, self._decisions(model, trainer.pairs[rows])
        skipped = [str(number) for number in range(len(splits)) if number not in decided]
        named = ", ".join(skipped)
        if len(skipped) == len(splits):
            raise ValueError(
                f"got one class only in the training pairs of every fold ({named}); expected both:"
                " use stratified folds, cv=PairKFold(5, stratify=True), or more pairs of the rare"
                " class."
            )
        if skipped:
            warn_the_caller(
                f"fold {named} of {len(splits)} trains on one class only, so that its held-out pairs"
                " are not calibrated on; stratified folds share out the rare class:"
                " cv=PairKFold(5, stratify=True).",
                CalibrationWarning,
            )
        held_out = [rows for rows, _ in decided.values()]
        sizes = [len(rows) for rows in held_out]
        self.calibration_folds_ = np.repeat(np.array(list(decided), dtype=np.intp), sizes)
        self.calibration_decisions_ = np.concatenate([values for _, values in decided.values()])
        shares = shared_weights(np.ones(len(trainer.pairs)), held_out)
        return np.concatenate(held_out), np.concatenate(shares)
