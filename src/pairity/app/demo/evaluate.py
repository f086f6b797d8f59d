"""Fit a task and measure (accuracy on held-out pairs, certificate, swap law); print and write it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Group, RenderableType
from rich.table import Table
from sklearn.base import clone

from pairity.app.demo.tasks import Task
from pairity.app.report import Limits, write_report
from pairity.io import ModelMetadata, save
from pairity.model_selection import PairSVCCV
from pairity.solvers.certificate import Certificate

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted task: figures for the summary, decisions for the files."""

    task: Task
    model: PairSVCCV
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

    @property
    def best_c(self) -> float:
        """The C that was chosen."""
        return float(self.model.best_params_["C"])

    @property
    def n_support(self) -> int:
        """Number of support pairs."""
        return len(self.model.support_)


def evaluate(task: Task) -> Outcome:
    """Fit on the training pairs, measure on the held-out ones."""
    model = clone(task.estimator)
    start = time.perf_counter()
    model.fit(task.train, task.train_labels, groups=task.groups)
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
        ("model", f"PairSVCCV chose {_kernel(outcome)} and C = {outcome.best_c:g}"),
        ("data", f"{n_train} pairs to train on, {n_test} held out, no {task.split} in common"),
        (
            "accuracy",
            f"[bold]{_percent(outcome.accuracy)}[/bold] on held-out pairs"
            f" (standard error {_percent(outcome.standard_error)})",
        ),
        *(("baseline", f"{_percent(share)} {name}") for name, share in outcome.baselines.items()),
        ("support pairs", f"{outcome.n_support} of {n_train}"),
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


def _kernel(outcome: Outcome) -> str:
    """The kernel that was chosen: families and their shares, or its formula."""
    found = outcome.model.combination_
    if found is None:
        return f"the kernel {outcome.model.kernel_}"
    ordered = sorted(found.weights.items(), key=lambda item: -item[1])
    return "a sum of " + ", ".join(f"{name} {share:.0%}" for name, share in ordered)


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
