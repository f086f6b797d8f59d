"""Files of the demonstration."""

from __future__ import annotations

import csv
from pathlib import Path

from pairity.demo.evaluate import Outcome
from pairity.files import ModelMetadata, save

__all__ = ["file_names", "write_model", "write_predictions"]


def file_names(task_name: str) -> tuple[str, str]:
    """Names of the files of a task: predictions and model."""
    stem = task_name.replace(" ", "_")
    return f"{stem}_predictions.csv", f"{stem}.pairity"


def write_model(outcome: Outcome, directory: Path) -> None:
    """The model with a summary; ``pairity inspect`` shows both."""
    task = outcome.task
    summary = {
        "question": task.question,
        "pairs": len(task.train),
        "held-out pairs": len(task.test),
        "held-out accuracy": outcome.accuracy,
    }
    _, name = file_names(task.name)
    save(outcome.model, directory / name, ModelMetadata(training=summary))


def write_predictions(outcome: Outcome, directory: Path) -> None:
    """Held-out pairs with label, prediction and decision value."""
    task = outcome.task
    predictions = outcome.model.predict(task.test)
    name, _ = file_names(task.name)
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
