"""Figures of held-out decisions with standard errors that know about shared objects.

Pairs that share an object are not independent, so a mean over pairs is less certain than the
number of pairs suggests.  With e_i the deviations (influence values) of n observations, the
dyadic-robust variance of their mean (Aronow, Samii and Assenova, Political Analysis 23, 2015) is

    Var = 1/n^2  sum over observations i, j that share an object of  e_i e_j
        = 1/n^2  ( sum over objects u of S_u^2  -  sum over unordered pairs p of S_p^2 ),

S_u the sum of e over observations with the object u, S_p over those of the unordered pair p (which
the first sum counts twice).  Where the sample makes that smaller than the variance of independent
observations, the latter is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pairity.app.report.report_data import Estimate, Setting
from pairity.app.report.subject import STEPS, Subject
from pairity.app.report.unseen import SETTINGS, HeldOut
from pairity.losses.probabilities import two_probabilities
from pairity.model_selection.metrics import LEAST_PROBABILITY
from pairity.pairs.arrays import Places, Vector
from pairity.pairs.same_objects import Ends, ends_of


@dataclass(frozen=True, eq=False)
class Sample:
    """Held-out observations: their rows, how much each counts, and who is in them.

    A row that was held out k times stands k times, with the weight 1/k.
    """

    rows: Places
    weights: Vector
    ends: Ends  # of all pairs
    groups: Places | None = None  # of all pairs

    @property
    def size(self) -> float:
        """Number of rows."""
        return float(self.weights.sum())

    def mean(self, values: Vector) -> float:
        """Weighted mean."""
        return float(self.weights @ values) / self.size

    def error(self, influence: Vector) -> float:
        """Standard error of a mean whose deviations (of mean 0) are given."""
        share = self.weights * influence
        by_row: Vector = np.bincount(self.rows, share, len(self.ends)).astype(np.float64)
        variances = [float(by_row @ by_row), self._dyadic(by_row)]
        if self.groups is not None:
            by_group = np.bincount(self.groups, by_row)
            variances.append(float(by_group @ by_group))
        return float(np.sqrt(max(variances))) / self.size

    def _dyadic(self, by_row: Vector) -> float:
        first, second, n_objects = self.ends.first, self.ends.second, self.ends.n_objects
        proper = first != second
        by_object = np.bincount(first, by_row, n_objects)
        by_object += np.bincount(second[proper], by_row[proper], n_objects)
        by_pair = np.bincount(self.ends.unordered()[proper], by_row[proper])
        return float(by_object @ by_object - by_pair @ by_pair)


def mean_of(sample: Sample, values: Vector) -> Estimate:
    """Mean of a value of each observation."""
    value = sample.mean(values)
    return Estimate(value, sample.error(values - value))


def root_mean_square(sample: Sample, errors: Vector) -> Estimate:
    """``sqrt(mean e^2)``; its error by the delta method, ``se(mean e^2) / (2 root)``."""
    square = mean_of(sample, errors**2)
    root = float(np.sqrt(square.value))
    return Estimate(root, (square.error or 0.0) / (2.0 * root) if root > 0.0 else 0.0)


def r_squared(sample: Sample, targets: Vector, predictions: Vector, center: float) -> Estimate:
    """``1 - sum (y - f)^2 / sum (y - center)^2``; NaN where all targets are the center.

    Influence values are those of the ratio A/B: ``(a_i - A/B b_i) / mean b``.
    """
    residual, spread = (targets - predictions) ** 2, (targets - center) ** 2
    total = sample.mean(spread)
    if not total > 0.0:
        return Estimate(float("nan"))
    ratio = sample.mean(residual) / total
    return Estimate(1.0 - ratio, sample.error((residual - ratio * spread) / total))


def area_under_curve(sample: Sample, signs: Vector, decisions: Vector, *, odd: bool) -> Estimate:
    """Chance that a positive pair is above a negative one, ties one half.

    In the antisymmetric case each pair stands for itself and its swap: with ``s = y f`` it is the
    chance that ``s_i + s_j > 0``, whatever the order in which pairs are written.  The error is
    that of the placement values (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988).
    """
    weights = sample.weights
    if odd:
        aligned = signs * decisions
        placement = _share_below(aligned, -aligned, weights)
        value = sample.mean(placement)
        return Estimate(value, sample.error(2.0 * (placement - value)))
    up = signs > 0
    if up.all() or not up.any():
        return Estimate(float("nan"))
    placement = np.empty(len(decisions))
    placement[up] = _share_below(decisions[up], decisions[~up], weights[~up])
    placement[~up] = 1.0 - _share_below(decisions[~up], decisions[up], weights[up])
    share = float(weights[up].sum()) / sample.size
    value = float(weights[up] @ placement[up]) / float(weights[up].sum())
    factor = np.where(up, 1.0 / share, 1.0 / (1.0 - share))
    return Estimate(value, sample.error(factor * (placement - value)))


def _share_below(values: Vector, others: Vector, weights: Vector) -> Vector:
    """Weighted share of the others that are below each value, equal ones one half."""
    both = np.concatenate([values, others])
    level = rankdata(both, method="dense").astype(np.intp) - 1
    held = np.bincount(level[len(values) :], weights, minlength=int(level.max(initial=0)) + 1)
    below = np.cumsum(held) - 0.5 * held
    return np.asarray(below[level[: len(values)]] / weights.sum())


# Figures of each setting, beside what a guess would reach ---------------------------------------


def setting_of(
    key: str,
    subject: Subject,
    held: HeldOut,
    chances: Vector | None,
    groups: Any,
    odd_names: Sequence[str] = (),
) -> Setting:
    """Figures of held-out decisions of one setting."""
    name = SETTINGS[key][0]
    if not len(held.rows):
        return Setting(key, name, {}, {}, note=f"Not measured: {held.reason}.")
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    sample = Sample(held.rows, held.weights, ends_of(subject.pairs), codes)
    targets = subject.targets[held.rows]
    figures, guess = measure(subject, sample, targets, held.decisions, chances)
    rule = _apply_rule(subject, held.rows, sample.weights, odd_names, guess)
    note = f"{held.n_unconverged} of {held.n_folds} fits did not reach their tolerance."
    n_pairs, note = len(np.unique(held.rows)), note if held.n_unconverged else ""
    return Setting(key, name, figures, guess, n_pairs, held.n_train, held.n_folds, note, rule)


def _apply_rule(
    subject: Subject, rows: Places, weights: Vector, names: Sequence[str], guess: dict[str, float]
) -> str:
    """Put the best simple rule in the place of a guess where it is better; its name, or "".

    What somebody without a model would say is what a reader should hold figures against.  Of an
    antisymmetric model even odds are too easy: whoever knows who is at home does better.  So each
    antisymmetric feature is tried by itself, and the one whose sign has the lowest log-loss is taken.
    """
    if subject.kind == "numbers" or not subject.is_odd:
        return ""
    targets, columns = subject.targets[rows], subject.pairs.antisymmetric[rows].T
    rules = [
        (f"{name} alone", *_judged(np.sign(column), weights, targets, STEPS[subject.kind]))
        for name, column in zip(names, columns, strict=True)
    ]
    name, accuracy, loss = min(rules, key=lambda rule: rule[2], default=("", 0.0, 0.0))
    if accuracy <= guess.get("accuracy", 1.0):
        return ""
    guess["accuracy"] = accuracy
    if "log-loss" in guess:
        guess["log-loss"] = loss
    return name


def _judged(
    sign: Vector, weights: Vector, targets: Vector, steps: Sequence[float]
) -> tuple[float, float]:
    """How often the object that a feature favours was ahead, as a rule: accuracy and log-loss.

    The order in which pairs are written plays no part.
    """
    favoured = sign != 0.0
    outcomes = np.where(favoured, sign * targets, targets)
    right = loss = 0.0
    for chosen in (favoured, ~favoured):
        counts = np.array([weights[chosen & (outcomes == step)].sum() for step in steps])
        if chosen is not favoured:  # nobody is favoured: both orders are alike
            counts = 0.5 * (counts + counts[::-1])
        if counts.sum() > 0.0:
            present = counts[counts > 0.0]
            right += float(counts.max())
            loss -= float(np.sum(present * np.log(present / counts.sum())))
    return right / float(weights.sum()), loss / float(weights.sum())


def setting_of_whole(
    model: Any, subject: Subject, groups: Any, odd_names: Sequence[str]
) -> Setting | None:
    """Figures of an automatic model as a whole, by its own held-out decisions; None of others."""
    if not hasattr(model, "members_"):
        return None
    rows, decisions = model.held_out_rows_, model.held_out_as_written(subject.pairs)
    chances = None if subject.kind == "numbers" else two_probabilities(decisions)
    held = HeldOut(rows, decisions, np.zeros(len(rows), dtype=np.intp), n_folds=model.n_splits_)
    whole = setting_of("whole", subject, held, chances, groups, odd_names)
    n_train = round(len(subject.pairs) - len(np.unique(rows)) / max(1, model.n_splits_))
    return replace(whole, n_train=n_train)


def measure(
    subject: Subject, sample: Sample, targets: Vector, decisions: Vector, chances: Vector | None
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Figures by name, and those of a guess, which knows how frequent the classes are.

    Where a swap exchanges two classes, these are equally frequent.
    """
    if subject.kind == "numbers":
        return _of_numbers(subject, sample, targets, decisions)
    figures: dict[str, Estimate] = {}
    guess: dict[str, float] = {}
    columns = subject.columns(targets)
    counts = np.bincount(columns, sample.weights, minlength=len(subject.classes))
    if subject.is_odd:
        counts = counts + counts[::-1]
    shares = counts / counts.sum()
    if subject.kind == "labels":
        ahead = decisions
        if subject.predicts_by_chance and chances is not None:
            ahead = chances[:, 1] - 0.5
        credit = 0.5 * (1.0 + np.sign(ahead) * targets)  # an even one counts one half
        figures["accuracy"] = mean_of(sample, credit)
        figures["AUC"] = area_under_curve(sample, targets, decisions, odd=subject.is_odd)
        guess["AUC"] = 0.5
    elif chances is not None:
        loss, drawn, win = chances.T
        # a draw where the others are equally likely, as in ``predict``
        likely = np.where(np.maximum(loss, win) > drawn, np.sign(win - loss), 0.0)
        figures["accuracy"] = mean_of(sample, (likely == targets).astype(float))
    if "accuracy" in figures:
        guess["accuracy"] = float(shares.max())
    if chances is not None:
        happened = chances[np.arange(len(targets)), columns]
        figures["log-loss"] = mean_of(sample, -np.log(np.maximum(happened, LEAST_PROBABILITY)))
        present = shares[shares > 0.0]
        guess["log-loss"] = float(-np.sum(present * np.log(present)))
    return figures, guess


def _of_numbers(
    subject: Subject, sample: Sample, targets: Vector, predictions: Vector
) -> tuple[dict[str, Estimate], dict[str, float]]:
    center = 0.0 if subject.is_odd else sample.mean(targets)

    def figures(guesses: Vector | float) -> dict[str, Estimate]:
        return {
            "root mean square error": root_mean_square(sample, targets - guesses),
            "mean absolute error": mean_of(sample, np.abs(targets - guesses)),
        }

    guess = {name: figure.value for name, figure in figures(center).items()}
    share = r_squared(sample, targets, predictions, center)
    return {"R²": share, **figures(predictions)}, {"R²": 0.0, **guess}
