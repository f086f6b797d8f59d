"""What validation minimises: the loss of held-out decisions, and the table of results.

Classifiers are judged by the cross-entropy of their calibrated decisions (the sigmoid keeps the
swap law), regressions by the squared error.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit
from scipy.stats import rankdata

from pairity.exceptions import CalibrationWarning
from pairity.model_selection.curves import Sigmoid, fit_sigmoid
from pairity.model_selection.held_out import Split
from pairity.pairs.parity import Parity
from pairity.runtime.validation import check_strength

Vector = NDArray[np.float64]
ByFold = Sequence[Vector]
#: A score of each fold, larger is better: of decisions, targets and weights, fold by fold.
Scoring = Callable[[ByFold, ByFold, ByFold], Vector]


@dataclass(frozen=True)
class Criterion:
    """A loss of held-out decisions, and the best scales of their contributions."""

    parity: Parity | None

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Loss of each decision."""
        raise NotImplementedError

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Numbers c >= 0 for which ``sum_k c_k parts[k]`` has the least loss."""
        raise NotImplementedError

    def _with_offset(self, parts: Vector) -> Vector:
        """The parts, and a constant where the parity allows one."""
        return parts if self.parity is Parity.ODD else np.vstack([parts, np.ones(parts.shape[1])])


class CrossEntropy(Criterion):
    """``log(1 + exp(-y (slope f + offset)))`` with labels y of -1 and +1."""

    def calibrate(self, decisions: Vector, labels: Vector, weights: Vector) -> Sigmoid:
        """The sigmoid of greatest likelihood."""
        return fit_sigmoid(decisions, (labels > 0).astype(np.float64), weights, self.parity)

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Cross-entropy of the calibrated decisions."""
        sigmoid = self.calibrate(decisions, targets, weights)
        return np.logaddexp(0.0, -targets * sigmoid.log_odds(decisions))

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Logistic regression of the labels on the parts, coefficients at least 0."""
        share, rows = weights / weights.sum(), self._with_offset(parts)

        def value_and_slope(coefficients: Vector) -> tuple[float, Vector]:
            odds = coefficients @ rows
            pull = share * targets * expit(-targets * odds)
            return float(share @ np.logaddexp(0.0, -targets * odds)), -(rows @ pull)

        is_part = np.arange(len(rows)) < len(parts)
        bounds = [(0.0 if part else None, None) for part in is_part]
        start = np.where(is_part, 1.0, 0.0)
        found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return np.asarray(found.x[: len(parts)])


class SquaredError(Criterion):
    """``(y - f)^2``."""

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Squared error of each decision."""
        return (targets - decisions) ** 2

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Least squares of the targets on the parts, coefficients at least 0."""
        root = np.sqrt(weights / max(float(weights.max(initial=0.0)), 1e-300))  # any scale will do
        rows = self._with_offset(parts)
        low = np.where(np.arange(len(rows)) < len(parts), 0.0, -np.inf)
        with np.errstate(invalid="ignore"):  # SciPy multiplies 0 by an infinite bound
            found = lsq_linear((rows * root).T, targets * root, bounds=(low, np.inf))
        return np.asarray(found.x[: len(parts)])


def negative_loss(criterion: Criterion) -> Scoring:
    """Minus the mean loss; one sigmoid, where there is one, serves all folds."""

    def score(decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        losses = np.split(criterion.losses(*whole), np.cumsum([len(part) for part in targets])[:-1])
        return -np.array(list(map(_mean, losses, weights)))

    return score


def accuracy(criterion: CrossEntropy) -> Scoring:
    """Share of pairs whose likelier label is right; a tie counts one half."""

    def score(decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
        whole = (np.concatenate(parts) for parts in (decisions, targets, weights))
        sigmoid = criterion.calibrate(*whole)
        odds = decisions if sigmoid.is_flat else [sigmoid.log_odds(fold) for fold in decisions]
        credits = (0.5 * (1.0 + np.sign(f) * y) for f, y in zip(odds, targets, strict=True))
        return np.array(list(map(_mean, credits, weights)))

    return score


def _mean(values: Vector, weights: Vector) -> float:
    return float(np.average(values, weights=weights))


def auc(decisions: ByFold, targets: ByFold, weights: ByFold) -> Vector:
    """Chance that a positive pair is above a negative one; NaN in a fold of one class."""
    from sklearn.metrics import roc_auc_score

    return np.array(
        [
            roc_auc_score(y, f, sample_weight=w) if len(np.unique(y)) == 2 else np.nan
            for f, y, w in zip(decisions, targets, weights, strict=True)
        ]
    )


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores and times of one setting."""

    params: dict[str, Any]
    scores: Vector  # of each fold
    seconds: Vector


def results_table(settings: Sequence[FoldScores], extra: dict[str, Vector]) -> dict[str, Any]:
    """``cv_results_``: names and ranks as in ``GridSearchCV``; NaN for what was not tried."""
    scores = np.array([setting.scores for setting in settings])
    seconds = np.array([setting.seconds for setting in settings])
    tried = ~np.isnan(scores).all(axis=1)
    means, spreads = np.full(len(settings), np.nan), np.full(len(settings), np.nan)
    means[tried] = np.nanmean(scores[tried], axis=1)
    spreads[tried] = np.nanstd(scores[tried], axis=1)
    table: dict[str, Any] = {"params": [setting.params for setting in settings]}
    for name in settings[0].params:
        column = np.empty(len(settings), dtype=object)
        column[:] = [setting.params[name] for setting in settings]
        table[f"param_{name}"] = column
    for fold in range(scores.shape[1]):
        table[f"split{fold}_test_score"] = scores[:, fold]
    ranked = np.where(tried, -means, np.inf)
    table |= {
        "mean_test_score": means,
        "std_test_score": spreads,
        "rank_test_score": rankdata(ranked, method="min").astype(np.int32),
        "mean_fit_time": seconds.mean(axis=1),
        "std_fit_time": seconds.std(axis=1),
    }
    return table | extra


def with_both_classes(splits: Sequence[Split], targets: Vector) -> list[Split]:
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
            stacklevel=5,
        )
    return kept


def warn_of_single_labels(splits: Sequence[Split], targets: Vector) -> None:
    """Say so where held-out pairs cannot tell a good model: one label in most folds."""
    single = sum(len(np.unique(targets[test])) < 2 for _, test in splits)
    if 2 * single > len(splits):
        warnings.warn(
            f"the held-out pairs of {single} of {len(splits)} folds have one label only, so that they"
            " cannot tell a good kernel from a bad one; fewer folds, or larger shares of objects or"
            " groups held out, give both labels: cv=ObjectKFold(2, object_groups=...), say.",
            CalibrationWarning,
            stacklevel=5,
        )


def read_strengths(values: Any, name: str) -> Vector:
    """Values of C or alpha to try: numbers above 0 as given, or so many from 0.001 to 1000."""
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        if values < 1:
            raise ValueError(f"got {name}={values}; expected at least 1 value, or a list of them.")
        return np.logspace(-3.0, 3.0, int(values)) if values > 1 else np.ones(1)
    strengths = np.asarray(values)
    if strengths.ndim != 1 or not len(strengths):
        raise ValueError(f"got {name}={values!r}; expected a number of values, or a list of them.")
    for value in strengths.tolist():
        check_strength(value, name)
    return strengths.astype(np.float64)
