"""The demonstration: two questions about embedded real data, split so that nothing leaks.

A task is loaded and split, a model fitted, measured (accuracy on held-out pairs beside simple rivals,
certificate, swap law), printed and written to files.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupShuffleSplit

from pairity.app.report import Limits, write_report
from pairity.datasets import load_digit_pairs, load_train_choice
from pairity.datasets.real import image_distances
from pairity.io import ModelMetadata, save
from pairity.model_selection import ObjectShuffleSplit, PairClassifierCV, PairKFold
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.solvers.certificate import Certificate

#: Images of each new digit that the report compares with one another.
_IMAGES_PER_DIGIT = 12


@dataclass(frozen=True, eq=False)
class Task:
    """What to learn, from what, with which machine."""

    name: str
    question: str
    split: str  # what the training and the held-out pairs do not share
    symmetry: str
    estimator: Any
    train: Pairs
    train_labels: NDArray[np.int64]
    test: Pairs
    test_labels: NDArray[np.int64]
    #: Decisions of simple rules on the held-out pairs; 0 is a tie.
    baselines: dict[str, Vector] = field(default_factory=dict)
    #: What ``write_report`` is told besides, and ``fit`` of it the groups.
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
        estimator=PairClassifierCV("antisymmetric", cv=PairKFold(5, new=(0, 1, 2))),
        train=pairs[train],
        train_labels=data.y[train],
        test=pairs[test],
        test_labels=data.y[test],
        baselines={
            "the cheaper offer": price[held_out.second] - price[held_out.first],
            "logit on differences": _logit(pairs[train], data.y[train], pairs[test]),
        },
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
    draw = np.random.default_rng(seed).choice  # a few images of each digit, in their order
    chosen = [draw(np.flatnonzero(digit == d), _IMAGES_PER_DIGIT, replace=False) for d in unknown]
    shown = np.sort(np.concatenate(chosen))
    return Task(
        name="same digit",
        question="do two images show the same digit?",
        split="digits",
        symmetry="symmetric",
        estimator=PairClassifierCV(
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


# Fit and measure ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted task: figures for the summary, decisions for the files."""

    task: Task
    model: Any
    decisions: Vector  # on the held-out pairs
    accuracy: float
    standard_error: float
    baselines: dict[str, float]
    swap_law_holds: bool  # with ==, on every held-out pair
    fit_seconds: float
    predict_seconds: float

    @property
    def certificate(self) -> Certificate:
        """How far from optimal the fit is."""
        return self.model.certificate_


def evaluate(task: Task) -> Outcome:
    """Fit on the training pairs, measure on the held-out ones."""
    model = clone(task.estimator)
    start = time.perf_counter()
    model.fit(task.train, task.train_labels, groups=task.report.get("groups"))
    fitted = time.perf_counter()
    decisions = model.decision_function(task.test)
    predicted = time.perf_counter()
    accuracy = accuracy_of(decisions, task.test_labels)
    sign = -1.0 if task.symmetry == "antisymmetric" else 1.0
    swapped = model.decision_function(task.test.swap())
    return Outcome(
        task=task,
        model=model,
        decisions=decisions,
        accuracy=accuracy,
        standard_error=float(np.sqrt(accuracy * (1.0 - accuracy) / len(task.test))),
        baselines={
            name: accuracy_of(values, task.test_labels) for name, values in task.baselines.items()
        },
        swap_law_holds=bool(np.all(swapped == sign * decisions)),
        fit_seconds=fitted - start,
        predict_seconds=predicted - fitted,
    )


def accuracy_of(decisions: Vector, labels: NDArray[np.int64]) -> float:
    """Share of decisions with the sign of the label; a decision of exactly 0 counts one half."""
    return float(np.mean(np.where(decisions == 0.0, 0.5, (decisions > 0) == (labels > 0))))


# The summary that people read -------------------------------------------------------------------


def render_outcome(outcome: Outcome) -> RenderableType:
    """One task: what was asked, how well it went, why the answer can be trusted."""
    task, certificate = outcome.task, outcome.certificate
    n_train, n_test = len(task.train), len(task.test)
    swap = "f(b,a) == -f(a,b)" if task.symmetry == "antisymmetric" else "f(b,a) == f(a,b)"
    held = "holds" if outcome.swap_law_holds else "FAILS"
    figures = [
        ("model", _chosen(outcome.model)),
        ("data", f"{n_train} pairs to train on, {n_test} held out, no {task.split} in common"),
        (
            "accuracy",
            f"[bold]{_percent(outcome.accuracy)}[/bold] on held-out pairs"
            f" (standard error {_percent(outcome.standard_error)})",
        ),
        *(
            ("baseline", f"{_percent(share)} {name}{_level(outcome, share)}")
            for name, share in outcome.baselines.items()
        ),
        (
            "certificate",
            f"relative gap {certificate.relative_gap:.1e}, KKT violation"
            f" {certificate.violation:.1e} (tol {certificate.tol:.0e})",
        ),
        ("swap law", f"{swap} {held} bit for bit on all {n_test} held-out pairs"),
        (
            "seconds",
            f"{outcome.fit_seconds:.1f} to choose and fit, {outcome.predict_seconds:.2f} to predict",
        ),
    ]
    view = Table.grid(padding=(0, 2))
    view.add_column(justify="right", style="dim")
    view.add_column()
    for row in figures:
        view.add_row(*row)
    return Group(f"[bold]{task.name}[/bold] ({task.symmetry}): {task.question}", view, "")


def _chosen(model: Any) -> str:
    """What the model is: members and their weights, or kernel and C of a search."""
    if hasattr(model, "members_"):
        shares = ", ".join(f"{name} {weight:.2f}" for name, weight in model.weights_.items())
        return f"{type(model).__name__}: {shares}"
    return f"{type(model).__name__} chose {model.kernel_} and C = {model.best_params_['C']:g}"


def _level(outcome: Outcome, share: float) -> str:
    """Says where a baseline cannot be told from the model, by the standard error."""
    return ", level" if abs(share - outcome.accuracy) <= outcome.standard_error else ""


def _percent(share: float) -> str:
    return f"{100.0 * share:.1f} %"


# Files of the demonstration ---------------------------------------------------------------------


class DemoFiles(NamedTuple):
    """Names of the files of a task."""

    predictions: str
    model: str
    report: str


def file_names(task_name: str) -> DemoFiles:
    """Names that tell which task files are of."""
    stem = task_name.replace(" ", "_")
    return DemoFiles(f"{stem}_predictions.csv", f"{stem}.pairity", f"{stem}_report.html")


def write_model(outcome: Outcome, directory: Path) -> None:
    """The model with a summary; ``pairity inspect`` shows both."""
    task = outcome.task
    summary = {
        "question": task.question,
        "pairs": len(task.train),
        "held-out pairs": len(task.test),
        "held-out accuracy": outcome.accuracy,
    }
    save(outcome.model, directory / file_names(task.name).model, ModelMetadata(training=summary))


def write_page(outcome: Outcome, directory: Path) -> None:
    """The report: what was learned and how sure that is."""
    task = outcome.task
    write_report(
        outcome.model,
        task.train,
        task.train_labels,
        directory / file_names(task.name).report,
        test=(task.test, task.test_labels),
        limits=Limits(objects=100),
        **task.report,
    )


def write_predictions(outcome: Outcome, directory: Path) -> None:
    """Held-out pairs with label, prediction and decision value, to the last digit."""
    task = outcome.task
    columns = {
        "first": task.test.first,
        "second": task.test.second,
        "label": task.test_labels,
        "prediction": outcome.model.predict(task.test).astype(np.int64),
        "decision": outcome.decisions,
    }
    path = directory / file_names(task.name).predictions
    pd.DataFrame(columns).to_csv(path, index=False, lineterminator="\n")
