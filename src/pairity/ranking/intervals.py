"""How far scores depend on the data: resampled outcomes, refitted models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.base import clone

from pairity.pairs import Pairs
from pairity.ranking.flow import PreferenceFlow, Vector, observed_flow
from pairity.selection.folds import PairKFold
from pairity.selection.identity import ends_of

__all__ = [
    "bootstrap_interval",
    "left_out_interval",
    "left_out_models",
    "replicate",
    "resampled_models",
    "reweighted_flows",
]

Interval = tuple[Vector, Vector]


def reweighted_flows(
    pairs: Pairs, y: Vector, weights: Vector, number: int, generator: np.random.Generator
) -> Iterator[PreferenceFlow]:
    """Bayesian bootstrap of outcomes (Rubin, Annals of Statistics 9, 1981).

    Every observation gets an exponential weight instead of a number of copies, so no comparison
    is lost and the graph stays connected where it was.
    """
    for _ in range(number):
        yield observed_flow(pairs, y, weights * generator.exponential(size=len(pairs)))


def resampled_models(
    model: Any, pairs: Pairs, y: NDArray[Any], number: int, generator: np.random.Generator
) -> Iterator[Any]:
    """Models fitted again to unordered pairs drawn with replacement, all observations of each."""
    unordered = ends_of(pairs).unordered()
    n_units = int(unordered.max()) + 1
    for _ in range(number):
        copies = np.bincount(generator.integers(0, n_units, size=n_units), minlength=n_units)
        rows = np.repeat(np.arange(len(pairs)), copies[unordered])
        yield clone(model).fit(pairs[rows], y[rows])


def left_out_models(
    model: Any, pairs: Pairs, y: NDArray[Any], number: int, seed: Any
) -> Iterator[Any]:
    """Models fitted again without one of ``number`` folds of the unordered pairs."""
    folds = PairKFold(number, new=(0, 1, 2), random_state=seed)
    for train, _ in folds.split(pairs):
        yield clone(model).fit(pairs[train], y[train])


def bootstrap_interval(replicates: Vector, level: float) -> Interval:
    """Percentiles of the replicates, shape (number, m)."""
    tail = 50.0 * (1.0 - level)
    lower, upper = np.percentile(replicates, [tail, 100.0 - tail], axis=0)
    return lower, upper


def left_out_interval(scores: Vector, replicates: Vector, level: float) -> Interval:
    """``s -+ t * SE`` with the delete-a-group jackknife.

    ``SE^2 = (K - 1) / K sum_k (s_(k) - mean)^2`` over the K scores without group k, and t of K - 1
    degrees of freedom (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 11).
    """
    number = len(replicates)
    squares = np.sum((replicates - replicates.mean(axis=0)) ** 2, axis=0)
    error = np.sqrt(squares * (number - 1) / number)
    reach = float(student.ppf(0.5 + level / 2.0, number - 1)) * error
    return scores - reach, scores + reach


def replicate(sources: Iterator[Any], score: Callable[[Any], Vector]) -> Vector:
    """Scores from each source, shape (number, m)."""
    return np.stack([score(source) for source in sources])
