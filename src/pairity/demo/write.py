"""Files of the demonstration."""

from __future__ import annotations

import csv
from pathlib import Path

from pairity.demo.evaluate import Outcome

__all__ = ["file_names", "write_predictions"]


def file_names(task_name: str) -> tuple[str, ...]:
    """Names of the files of a task."""
    return (f"{task_name.replace(' ', '_')}_predictions.csv",)


def write_predictions(outcome: Outcome, directory: Path) -> None:
    """Held-out pairs with label, prediction and decision value."""
    task = outcome.task
    predictions = outcome.model.predict(task.test)
    (name,) = file_names(task.name)
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
