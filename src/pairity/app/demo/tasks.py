"""Two questions about pairs, with data split so that nothing leaks, and simple rivals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit

from pairity.datasets import load_digit_pairs, load_train_choice
from pairity.datasets.real import image_distances
from pairity.kernels import Gaussian
from pairity.model_selection import ObjectShuffleSplit, PairKFold, PairSVCCV
from pairity.pairs.data import Pairs

Vector = NDArray[np.float64]

#: Images of each new digit that the report compares with one another.
_IMAGES_PER_DIGIT = 12


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn, from what, with which machine."""

    name: str
    question: str
    split: str  # what the training and the held-out pairs do not share
    symmetry: str
    estimator: PairSVCCV
    train: Pairs
    train_labels: NDArray[np.int64]
    test: Pairs
    test_labels: NDArray[np.int64]
    #: Decisions of simple rules on the held-out pairs; 0 is a tie.
    baselines: dict[str, Vector] = field(default_factory=dict)
    #: What ``fit`` and ``write_report`` are told besides.
    groups: NDArray[Any] | None = None
    report: dict[str, Any] = field(default_factory=dict)


def train_choice_task(seed: int = 0) -> Task:
    """Which of two train offers is taken; a quarter of the travellers is held out.

    Kernel and C are chosen by folds of the other travellers.
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
        estimator=PairSVCCV(
            "antisymmetric",
            kernel=["linear", Gaussian(4.0), Gaussian(8.0)],
            Cs=[1.0, 3.0, 10.0, 30.0, 100.0],
            cv=PairKFold(5, new=(0, 1, 2)),
        ),
        train=pairs[train],
        train_labels=data.y[train],
        test=pairs[test],
        test_labels=data.y[test],
        baselines={
            "the cheaper offer": price[held_out.second] - price[held_out.first],
            "logit on differences": _logit(pairs[train], data.y[train], pairs[test]),
        },
        groups=data.groups[train],
        report={
            "title": "Which train do travellers take?",
            "feature_names": data.feature_names,
            "label_names": {1: "first taken", -1: "second taken"},
            "groups": data.groups[train],
            "test_name": "choices of other travellers",
        },
    )


def digit_task(seed: int = 0) -> Task:
    """Whether two images show the same digit; the digits tested are not those trained on.

    Kernel and C are chosen by holding out two of the training digits at a time.
    """
    data = load_digit_pairs(seed=seed)
    digit = load_digits().target
    train, test = data.train.pairs, data.test.pairs
    center, scale = train.symmetric.mean(axis=0), train.symmetric.std(axis=0)
    names = [f"{value} (image {row})" for row, value in enumerate(digit)]
    unknown = np.unique(digit[test.first])
    shown = _some_of_each(digit, unknown, seed)
    return Task(
        name="same digit",
        question="do two images show the same digit?",
        split="digits",
        symmetry="symmetric",
        estimator=PairSVCCV(
            "symmetric", cv=ObjectShuffleSplit(4, test_size=2, new=2, object_groups=digit)
        ),
        train=_scaled_group(train, center, scale, names),
        train_labels=data.train.y,
        test=_scaled_group(test, center, scale, names),
        test_labels=data.test.y,
        baselines={
            "threshold on distance": _best_threshold(train.symmetric[:, 0], data.train.y)
            - test.symmetric[:, 0]
        },
        report={
            "title": "Do two images show the same digit?",
            "feature_names": [*data.train.feature_names, *data.train.symmetric_names],
            "label_names": {1: "same digit", -1: "different digits"},
            "object_groups": digit,
            "objects": _scaled_group(
                _all_pairs(train.objects[shown]), center, scale, [names[row] for row in shown]
            ),
            "test_name": f"images of other digits ({unknown.min()} to {unknown.max()})",
        },
    )


def _some_of_each(digit: NDArray[Any], wanted: NDArray[Any], seed: int) -> NDArray[np.intp]:
    """A few images of each digit, in the order of the images."""
    draw = np.random.default_rng(seed).choice
    chosen = [draw(np.flatnonzero(digit == d), _IMAGES_PER_DIGIT, replace=False) for d in wanted]
    return np.sort(np.concatenate(chosen))


def _all_pairs(images: Any) -> Pairs:
    """Every two of some images, with their distances."""
    pairs = Pairs.complete(images)
    distances = image_distances(images[pairs.first], images[pairs.second])
    return Pairs(images, pairs.first, pairs.second, symmetric=distances)


def _standardised_objects(pairs: Pairs, seen: Pairs) -> Pairs:
    """All pairs, with object features scaled by the objects of the ``seen`` pairs alone."""
    table = pairs.objects[np.unique(np.concatenate([seen.first, seen.second]))]
    objects = (pairs.objects - table.mean(axis=0)) / table.std(axis=0)
    names = [  # prices are cents of guilders
        f"ƒ{price / 100:.2f}, {time:.0f} min, {changes:.0f} {'change' if changes == 1 else 'changes'},"
        f" comfort {comfort:.0f}"
        for price, time, changes, comfort in np.asarray(pairs.objects)
    ]
    return Pairs(objects, pairs.first, pairs.second, ids=names)


def _scaled_group(pairs: Pairs, center: Vector, scale: Vector, names: list[str]) -> Pairs:
    symmetric = (pairs.symmetric - center) / scale
    return Pairs(pairs.objects, pairs.first, pairs.second, symmetric=symmetric, ids=names)


def _logit(train: Pairs, labels: NDArray[np.int64], test: Pairs) -> Vector:
    """Linear decisions without intercept: antisymmetric, as the users of today fit them."""
    old, new = (pairs.objects[pairs.first] - pairs.objects[pairs.second] for pairs in (train, test))
    model = LogisticRegression(fit_intercept=False).fit(old, labels)
    return np.asarray(model.decision_function(new))


def _best_threshold(distance: Vector, labels: NDArray[np.int64]) -> float:
    """The distance below which calling two images the same is most often right."""
    order = np.argsort(distance, kind="stable")
    gain = np.cumsum(labels[order])
    best = int(np.argmax(gain))
    above = distance[order[min(best + 1, len(order) - 1)]]
    return float((distance[order[best]] + above) / 2.0)
