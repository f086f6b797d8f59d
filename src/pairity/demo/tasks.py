"""Two questions about pairs, with data split so that nothing leaks, and simple rivals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit

from pairity.datasets import load_digit_pairs, load_train_choice
from pairity.kernels import Gaussian, Kernel, Tensor
from pairity.pairs import Pairs

__all__ = ["Task", "digit_task", "train_choice_task"]

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn, from what, with which machine."""

    name: str
    question: str
    split: str  # what the training and the held-out pairs do not share
    symmetry: str
    kernel: Kernel
    C: float
    train: Pairs
    train_labels: NDArray[np.int64]
    test: Pairs
    test_labels: NDArray[np.int64]
    #: Decisions of simple rules on the held-out pairs; 0 is a tie.
    baselines: dict[str, Vector] = field(default_factory=dict)


def train_choice_task(seed: int = 0) -> Task:
    """Which of two train offers is taken; a quarter of the travellers is held out.

    Width and C were chosen by cross-validation among the other travellers.
    """
    data = load_train_choice()
    splitter = GroupShuffleSplit(n_splits=1, test_size=0.25, random_state=seed)
    train, test = next(splitter.split(data.y, groups=data.groups))
    pairs = _standardised_objects(data.pairs, data.pairs[train])
    price = data.pairs.objects[:, data.feature_names.index("price")]
    held_out = data.pairs[test]
    return Task(
        name="train choice",
        question="which of two train offers does a traveller take?",
        split="travellers",
        symmetry="antisymmetric",
        kernel=Gaussian(8.0),
        C=30.0,
        train=pairs[train],
        train_labels=data.y[train],
        test=pairs[test],
        test_labels=data.y[test],
        baselines={
            "the cheaper offer": price[held_out.second] - price[held_out.first],
            "logit on differences": _logit(pairs[train], data.y[train], pairs[test]),
        },
    )


def digit_task(seed: int = 0) -> Task:
    """Whether two images show the same digit; the digits tested are not those trained on.

    Scale, width and C were chosen by holding out two of the training digits at a time.
    """
    data = load_digit_pairs(seed=seed)
    train, test = data.train.pairs, data.test.pairs
    center, scale = train.symmetric.mean(axis=0), train.symmetric.std(axis=0)
    return Task(
        name="same digit",
        question="do two images show the same digit?",
        split="digits",
        symmetry="symmetric",
        kernel=Tensor(Gaussian(2.0) * 0.1, k2=Gaussian(3.0)),
        C=1.0,
        train=_scaled_group(train, center, scale),
        train_labels=data.train.y,
        test=_scaled_group(test, center, scale),
        test_labels=data.test.y,
        baselines={
            "threshold on distance": _best_threshold(train.symmetric[:, 0], data.train.y)
            - test.symmetric[:, 0]
        },
    )


def _standardised_objects(pairs: Pairs, seen: Pairs) -> Pairs:
    """All pairs, with object features scaled by the objects of the ``seen`` pairs alone."""
    table = pairs.objects[np.unique(np.concatenate([seen.first, seen.second]))]
    objects = (pairs.objects - table.mean(axis=0)) / table.std(axis=0)
    return Pairs(objects, pairs.first, pairs.second)


def _scaled_group(pairs: Pairs, center: Vector, scale: Vector) -> Pairs:
    symmetric = (pairs.symmetric - center) / scale
    return Pairs(pairs.objects, pairs.first, pairs.second, symmetric=symmetric)


def _differences(pairs: Pairs) -> Vector:
    return np.asarray(pairs.objects[pairs.first] - pairs.objects[pairs.second])


def _logit(train: Pairs, labels: NDArray[np.int64], test: Pairs) -> Vector:
    """Linear decisions without intercept: antisymmetric, as the users of today fit them."""
    model = LogisticRegression(fit_intercept=False).fit(_differences(train), labels)
    return np.asarray(model.decision_function(_differences(test)))


def _best_threshold(distance: Vector, labels: NDArray[np.int64]) -> float:
    """The distance below which calling two images the same is most often right."""
    order = np.argsort(distance, kind="stable")
    gain = np.cumsum(labels[order])
    best = int(np.argmax(gain))
    above = distance[order[min(best + 1, len(order) - 1)]]
    return float((distance[order[best]] + above) / 2.0)
