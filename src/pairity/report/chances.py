"""Probabilities from held-out decisions, each by a curve that has not seen them.

The decisions of one fold become probabilities by the sigmoid (or isotonic curve, or thresholds of
draws) that fits the decisions about the *other* folds best, so that no outcome helps to predict
itself.  Decisions of logistic regression are log-odds already.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from pairity.calibration.draws import fit_draws, smoothed_outcomes
from pairity.calibration.isotonic import Isotonic, fit_isotonic
from pairity.calibration.sigmoid import Sigmoid, fit_sigmoid, smoothed_targets
from pairity.report.held_out import HeldOut
from pairity.report.subject import Subject

__all__ = ["chances_of_fold_decisions", "chances_of_model", "fit_curve"]

Vector = NDArray[np.float64]


def fit_curve(
    subject: Subject, decisions: Vector, targets: Vector, weights: Vector
) -> Sigmoid | Isotonic:
    """The curve of the model's own kind, fitted to decisions."""
    fit = fit_isotonic if getattr(subject.model, "method", "") == "isotonic" else fit_sigmoid
    smoothed = smoothed_targets(targets, weights, subject.parity)
    return fit(decisions, smoothed, weights, subject.parity)


def chances_of_fold_decisions(subject: Subject, held: HeldOut) -> Vector | None:
    """Probabilities of the classes, one column each; None where nothing can be fitted."""
    if subject.kind == "numbers" or not len(held.rows):
        return None
    if subject.has_own_chances:
        return _two_columns(expit(held.decisions))
    targets, weights = subject.targets[held.rows], held.weights
    chances = np.full((len(held.rows), len(subject.classes)), np.nan)
    for fold in np.unique(held.folds):
        mine = held.folds == fold
        if mine.all() or not _can_fit(subject, targets[~mine]):
            return None
        chances[mine] = _from_others(subject, held.decisions, targets, weights, mine)
    return chances


def _from_others(
    subject: Subject, decisions: Vector, targets: Vector, weights: Vector, mine: Any
) -> Vector:
    known = decisions[~mine], targets[~mine], weights[~mine]
    if subject.kind == "draws":
        model = fit_draws(known[0], smoothed_outcomes(known[1], known[2]), known[2])
        return model.probabilities(decisions[mine])
    return _two_columns(expit(fit_curve(subject, *known).log_odds(decisions[mine])))


def _can_fit(subject: Subject, targets: Vector) -> bool:
    return subject.is_odd or len(np.unique(targets)) > 1


def _two_columns(positive: Vector) -> Vector:
    return np.column_stack([1.0 - positive, positive])


def chances_of_model(subject: Subject, held: HeldOut, pairs: Any) -> Vector | None:
    """Probabilities by the model itself; by a sigmoid of held-out decisions where it has none."""
    if subject.kind == "numbers":
        return None
    if hasattr(subject.model, "predict_proba"):
        return np.asarray(subject.model.predict_proba(pairs))
    if not len(held.rows) or not _can_fit(subject, subject.targets[held.rows]):
        return None
    curve = fit_curve(subject, held.decisions, subject.targets[held.rows], held.weights)
    return _two_columns(expit(curve.log_odds(subject.values(subject.model, pairs))))
