"""What somebody without a model would say: the baseline that a reader should hold figures against.

Of an antisymmetric model even odds are too easy: whoever knows who is at home does better.  So each
antisymmetric feature is tried by itself: its sign, and how often the object that it favours was
ahead.  The order in which pairs are written plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pairity.app.report.subject import STEPS, Subject
from pairity.pairs.arrays import Places, Vector


@dataclass(frozen=True)
class Rule:
    """A rule, how often it is right, and its log-loss."""

    name: str
    accuracy: float
    log_loss: float


def best_rule(subject: Subject, rows: Places, weights: Vector, names: Sequence[str]) -> Rule | None:
    """The antisymmetric feature whose sign has the lowest log-loss; None without such features."""
    if subject.kind == "numbers" or not subject.is_odd:
        return None
    targets, columns = subject.targets[rows], subject.pairs.antisymmetric[rows].T
    found = [
        _judged(f"{name} alone", np.sign(column), weights, targets, STEPS[subject.kind])
        for name, column in zip(names, columns, strict=True)
    ]
    return min(found, key=lambda rule: rule.log_loss, default=None)


def _judged(
    name: str, sign: Vector, weights: Vector, targets: Vector, steps: Sequence[float]
) -> Rule:
    """Outcomes as seen from the object that the feature favours, as often as they were."""
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
    return Rule(name, right / float(weights.sum()), loss / float(weights.sum()))
