"""Baselines without a kernel: the majority class, common neighbours, mean results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from experiments.graphs.known import Known


@dataclass(frozen=True)
class Baseline:
    """Decision values of all pairs from what is known; their sign is the prediction."""

    name: str
    decide: Callable[[Known], np.ndarray]
    group: str = "baseline"


def _majority(known: Known) -> np.ndarray:
    """The more frequent label; none in the antisymmetric case, where a swap turns it."""
    odd = known.symmetry == "antisymmetric"
    value = 0.0 if odd else np.sign(known.labels[known.rows].sum())
    return np.full(len(known.labels), value)


def _around(known: Known) -> np.ndarray:
    return _leading(known) if known.symmetry == "antisymmetric" else _common_neighbours(known)


def _leading(known: Known) -> np.ndarray:
    """Difference of the mean results of both nodes on known arcs; 0 for a node without any."""
    pairs, labels = known.pairs[known.rows], known.labels[known.rows]
    ends = np.concatenate([pairs.first, pairs.second])
    total = np.bincount(ends, np.concatenate([labels, -labels]), minlength=pairs.n_objects)
    mean = total / np.maximum(np.bincount(ends, minlength=pairs.n_objects), 1)
    return mean[known.pairs.first] - mean[known.pairs.second]


def _common_neighbours(known: Known) -> np.ndarray:
    """Number of common neighbours above the threshold that fits the known pairs best."""
    edges, size = known.edges, known.pairs.n_objects
    adjacency = np.zeros((size, size))
    adjacency[edges.first, edges.second] = adjacency[edges.second, edges.first] = 1.0
    count = (adjacency @ adjacency)[known.pairs.first, known.pairs.second]
    thresholds = np.arange(count.max() + 2.0) - 0.5
    predicted = count[known.rows, np.newaxis] > thresholds
    right = (predicted == (known.labels[known.rows] > 0.0)[:, np.newaxis]).mean(axis=0)
    return count - thresholds[int(np.argmax(right))]


BASELINES = (
    Baseline("majority class", _majority),
    Baseline("common neighbours / mean results", _around),
)
