"""Files of the demonstration."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

from pairity.demo.evaluate import Outcome
from pairity.files import ModelMetadata, save
from pairity.report import Limits, write_report

__all__ = ["DemoFiles", "file_names", "write_model", "write_page", "write_predictions"]


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
    """Held-out pairs with label, prediction and decision value."""
    task = outcome.task
    predictions = outcome.model.predict(task.test)
    name = file_names(task.name).predictions
    with (directory / name).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("first", "second", "label", "prediction", "decision"))
        for *whole, decision in zip(
            task.test.first,
            task.test.second,
            task.test_labels,
            predictions,
            outcome.decisions,
            strict=True,
        ):
            writer.writerow([*map(int, whole), repr(float(decision))])
