"""Figures of each setting, beside what a guess would reach."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.metrics.scores import LEAST_PROBABILITY
from pairity.report.data import Estimate, Setting
from pairity.report.estimates import (
    Sample,
    area_under_curve,
    mean_of,
    r_squared,
    root_mean_square,
)
from pairity.report.held_out import SETTINGS, HeldOut
from pairity.report.subject import Subject
from pairity.selection.identity import ends_of

__all__ = ["measure", "setting_of"]

Vector = NDArray[np.float64]


def setting_of(
    key: str, subject: Subject, held: HeldOut, chances: Vector | None, groups: Any
) -> Setting:
    """Figures of held-out decisions of one setting."""
    name = SETTINGS[key][0]
    if not len(held.rows):
        return Setting(key, name, {}, {}, note=f"Not measured: {held.reason}.")
    codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    sample = Sample(held.rows, held.weights, ends_of(subject.pairs), codes)
    targets = subject.targets[held.rows]
    figures, guess = measure(subject, sample, targets, held.decisions, chances)
    note = ""
    if held.n_unconverged:
        note = f"{held.n_unconverged} of {held.n_folds} fits did not reach their tolerance."
    return Setting(
        key,
        name,
        figures,
        guess,
        n_pairs=len(np.unique(held.rows)),
        n_train=held.n_train,
        n_folds=held.n_folds,
        note=note,
    )


def measure(
    subject: Subject, sample: Sample, targets: Vector, decisions: Vector, chances: Vector | None
) -> tuple[dict[str, Estimate], dict[str, float]]:
    """Figures by name, and those of a guess."""
    if subject.kind == "numbers":
        return _of_numbers(subject, sample, targets, decisions)
    figures: dict[str, Estimate] = {}
    guess: dict[str, float] = {}
    shares = _shares(subject, sample, targets)
    if subject.kind == "labels":
        ahead = decisions
        if subject.predicts_by_chance and chances is not None:
            ahead = chances[:, 1] - 0.5
        credit = 0.5 * (1.0 + np.sign(ahead) * targets)  # an even one counts one half
        figures["accuracy"] = mean_of(sample, credit)
        figures["AUC"] = area_under_curve(sample, targets, decisions, odd=subject.is_odd)
        guess["AUC"] = 0.5
    elif chances is not None:
        figures["accuracy"] = mean_of(sample, (_most_likely(chances) == targets).astype(float))
    if "accuracy" in figures:
        guess["accuracy"] = float(shares.max())
    if chances is not None:
        happened = chances[np.arange(len(targets)), _columns(subject, targets)]
        figures["log-loss"] = mean_of(sample, -np.log(np.maximum(happened, LEAST_PROBABILITY)))
        present = shares[shares > 0.0]
        guess["log-loss"] = float(-np.sum(present * np.log(present)))
    return figures, guess


def _columns(subject: Subject, targets: Vector) -> NDArray[np.intp]:
    step = targets + 1.0 if subject.kind == "draws" else targets > 0
    return step.astype(np.intp)


def _most_likely(chances: Vector) -> Vector:
    """-1, 0 or 1; the draw where win and loss are equally likely, as ``predict`` has it."""
    loss, drawn, win = chances.T
    return np.where(np.maximum(loss, win) > drawn, np.sign(win - loss), 0.0)


def _shares(subject: Subject, sample: Sample, targets: Vector) -> Vector:
    """Frequencies of the classes; where a swap exchanges two of them, equal ones."""
    columns = _columns(subject, targets)
    counts = np.bincount(columns, sample.weights, minlength=len(subject.classes))
    if subject.is_odd:
        counts = counts + counts[::-1]
    return np.asarray(counts / counts.sum())


def _of_numbers(
    subject: Subject, sample: Sample, targets: Vector, predictions: Vector
) -> tuple[dict[str, Estimate], dict[str, float]]:
    center = 0.0 if subject.is_odd else sample.mean(targets)
    errors = targets - predictions
    figures = {
        "R²": r_squared(sample, targets, predictions, center),
        "root mean square error": root_mean_square(sample, errors),
        "mean absolute error": mean_of(sample, np.abs(errors)),
    }
    guess = {
        "R²": 0.0,
        "root mean square error": root_mean_square(sample, targets - center).value,
        "mean absolute error": mean_of(sample, np.abs(targets - center)).value,
    }
    return figures, guess
