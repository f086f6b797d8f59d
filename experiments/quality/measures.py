"""How good, how sure, and how true to the swap a probability is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

#: Probabilities are kept this far from 0 and 1 in the log-loss.
CLIP = 1e-6

Vector = NDArray[np.float64]


def averaged(given: Vector, swapped: Vector, odd: bool) -> Vector:
    """Mean of the two orders: what makes any model obey the swap."""
    return 0.5 * (given + (1.0 - swapped if odd else swapped))


def scores(given: Vector, swapped: Vector, y: NDArray, odd: bool) -> dict[str, float]:
    """Accuracy (a probability of 1/2 counts half), AUC and log-loss over both orders of each pair."""
    probability = np.concatenate([given, swapped])
    truth = np.concatenate([y, -y if odd else y]) > 0
    return {
        "accuracy": accuracy(probability, truth),
        "auc": float(roc_auc_score(truth, probability)),
        "log_loss": log_loss(probability, truth),
    }


def accuracy(probability: Vector, truth: NDArray[np.bool_]) -> float:
    """Share of right decisions; a tie is half right."""
    right = (probability > 0.5) == truth
    return float(np.mean(np.where(probability == 0.5, 0.5, right)))


def log_loss(probability: Vector, truth: NDArray[np.bool_]) -> float:
    """Mean of -log(probability of what happened)."""
    happened = np.where(truth, probability, 1.0 - probability)
    return float(-np.mean(np.log(np.clip(happened, CLIP, 1.0 - CLIP))))


def violation(given: Vector, swapped: Vector, odd: bool) -> dict[str, float]:
    """How far P(a,b) is from P(b,a), or from 1 - P(b,a), and how often the decision contradicts."""
    partner = 1.0 - swapped if odd else swapped
    apart = np.abs(given + swapped - 1.0) if odd else np.abs(given - swapped)
    flipped = np.sign(given - 0.5) != np.sign(partner - 0.5)
    return {
        "largest": float(apart.max()),
        "mean": float(apart.mean()),
        "flipped": float(flipped.mean()),
    }
