"""Precision, recall and F1 at a threshold, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from pairity.pairs.arrays import Mask, Vector

#: Draws of the bootstrap, and its seed.
_DRAWS, _SEED = 2000, 0


@dataclass(frozen=True)
class Share:
    """A share with an interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    @classmethod
    def of(cls, right: int, total: int, level: float = 0.95) -> Share:
        """``right`` of ``total``, with the interval of Wilson (JASA 22, 1927)."""
        if not total:
            return cls(float("nan"), 0.0, 1.0)
        z, share = float(norm.ppf(0.5 + level / 2.0)), right / total
        centre = (share + z * z / (2.0 * total)) / (1.0 + z * z / total)
        half = z / (1.0 + z * z / total)
        half *= float(np.sqrt(share * (1.0 - share) / total + (z / (2.0 * total)) ** 2))
        return cls(share, max(0.0, centre - half), min(1.0, centre + half))


@dataclass(frozen=True)
class PrecisionRecall:
    """How good matches are on labelled pairs.

    Attributes
    ----------
    precision, recall : Share
        Right among those said to match, and said among those that match; intervals of Wilson.
    f1 : Share
        Harmonic mean of both; percentiles of a bootstrap of the pairs.
    n_pairs, n_matches : int
        Labelled pairs, and matches among them.
    """

    precision: Share
    recall: Share
    f1: Share
    n_pairs: int
    n_matches: int

    @classmethod
    def of(cls, said: Mask, true: Mask, level: float = 0.95) -> PrecisionRecall:
        """From what was said of pairs and what is true of them."""
        both, n_said, n_true = (int(np.sum(one)) for one in (said & true, said, true))
        return cls(
            Share.of(both, n_said, level),
            Share.of(both, n_true, level),
            _f1(both, n_said - both, n_true - both, len(true), level),
            len(true),
            n_true,
        )

    def to_dict(self) -> dict[str, Any]:
        """Values and intervals by name."""
        return {name: str(getattr(self, name)) for name in ("precision", "recall", "f1")}

    def __str__(self) -> str:
        return (
            f"precision {self.precision}, recall {self.recall}, F1 {self.f1} on {self.n_pairs} labelled"
            f" pairs, {self.n_matches} of them matches"
        )


def _f1(both: int, wrong: int, lost: int, n_pairs: int, level: float) -> Share:
    counts = np.array([both, wrong, lost, n_pairs - both - wrong - lost])
    draws = np.random.default_rng(_SEED).multinomial(n_pairs, counts / max(n_pairs, 1), size=_DRAWS)
    values = 2.0 * draws[:, 0] / np.maximum(2 * draws[:, 0] + draws[:, 1] + draws[:, 2], 1)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return Share(2.0 * both / max(2 * both + wrong + lost, 1), float(low), float(high))


def best_threshold(decisions: Vector, true: Mask) -> float:
    """Threshold, between two decisions, at which F1 is largest; of equal ones the highest."""
    order = np.argsort(-decisions, kind="stable")
    levels, right = decisions[order], np.cumsum(true[order])
    scores = 2.0 * right / (np.arange(1, len(order) + 1) + max(int(true.sum()), 1))
    last_of_level = np.append(levels[:-1] > levels[1:], True)
    best = int(np.argmax(np.where(last_of_level, scores, -1.0)))
    below = levels[best + 1] if best + 1 < len(levels) else levels[best] - 1.0
    return float((levels[best] + below) / 2.0)
