"""Fits on pairs that stay on a cluster: the same estimators, low-rank models only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from pairity.distributed.dataset import PairDataset
from pairity.distributed.train import Job, Survey, survey, train
from pairity.estimators.intake import class_factors
from pairity.estimators.labels import BinaryLabels, read_labels
from pairity.kernels.centring import fitted_kernel
from pairity.kernels.classes import project
from pairity.kernels.resolve import as_kernel
from pairity.losses.compact import LossRecipe
from pairity.parity import SYMMETRIES, Parity

__all__ = ["fit_from_dataset"]


def fit_from_dataset(
    machine: Any,
    data: PairDataset,
    y: Any,
    sample_weight: Any,
    recipe: LossRecipe,
    *,
    with_bias: bool = True,
) -> Any:
    """Fit a machine to the columns ``y`` (and ``sample_weight``) of a dataset; return it."""
    machine._check_parameters()
    parity = SYMMETRIES[machine.symmetry]
    if parity is None or machine.solver not in ("auto", "low_rank"):
        raise ValueError(
            f"got symmetry={machine.symmetry!r} and solver={machine.solver!r} with a PairDataset;"
            " expected a symmetry and solver='auto' or 'low_rank', the one that runs on a cluster."
        )
    if machine.callback is not None:
        raise ValueError(
            "got a callback with a PairDataset; expected none: verbose=True shows every step."
        )
    numeric = not is_classifier(machine)
    with data.client() as client:
        odd = parity is Parity.ODD and not numeric
        found = survey(data, client, y, sample_weight, odd=odd, numeric=numeric)
        signs, factors = (None, {}) if numeric else _read_labels(machine, found, parity)
        sample = found.sample
        kernel = fitted_kernel(
            as_kernel(machine.kernel).detached(), sample, parity, has_bias=with_bias
        )
        project(kernel, parity, sample)  # refuses what has no such parity
        halved = replace(recipe, strength=2.0 * recipe.strength)  # Theorem 2
        job = Job(kernel, parity, with_bias, halved, signs, factors)
        result = train(found, client, job, machine._low_rank_options())
    widths = sample.n_object_features, sample.n_symmetric, sample.n_antisymmetric
    machine.feature_widths_ = widths
    machine.n_features_in_ = sample.shape[1]
    machine._keep_low_rank(kernel, sample.objects, result)
    return machine


def _read_labels(
    machine: Any, found: Survey, parity: Parity
) -> tuple[dict[Any, float], dict[float, float]]:
    """Signs of the labels, and factors on weights by sign; ``classes_`` is set."""
    counts, choose = found.facts.labels, found.data.label_choice
    chosen = {label: label for label in counts} if choose is None else choose(counts)
    values = np.array([chosen[label] for label in counts])
    labels = read_labels(values, len(values), parity)
    machine.classes_ = labels.classes
    signs = {label: float(sign) for label, sign in zip(counts, labels.signs, strict=True)}
    wanted = machine.class_weight
    if wanted is None:
        return signs, {}
    if wanted == "balanced":
        if parity is Parity.ODD:  # a full antisymmetric set is balanced by itself
            return signs, {}
        totals: Counter[float] = Counter()
        for label, count in counts.items():
            totals[signs[label]] += count
        return signs, {sign: totals.total() / (2.0 * count) for sign, count in totals.items()}
    both = BinaryLabels(labels.classes, np.array([-1.0, 1.0]))
    factors = class_factors(wanted, both, parity)
    return signs, {-1.0: float(factors[0]), 1.0: float(factors[1])}
