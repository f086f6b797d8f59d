"""One unit of the run: a method on one split of a task, measured, and kept in a file."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from pathlib import Path

import numpy as np

from experiments.quality.measures import averaged, scores, violation
from experiments.quality.method import N_SETTINGS, Method, problem_of
from experiments.quality.splits import Split
from experiments.quality.task import Task


def measure(task: Task, split: Split, method: Method, n_settings: int = N_SETTINGS) -> dict:
    """Scores of the order-averaged and of the plain probabilities, swap violation, seconds.

    Everything is measured over both orders of each test pair.  Seconds are processor time, which
    does not depend on what else the machine is doing.
    """
    train, test = split
    odd = task.symmetry == "antisymmetric"
    problem = problem_of(task, train, n_settings)
    _forget_peak()
    start = time.process_time()
    model = method.fit(problem)
    seconds = time.process_time() - start
    megabytes = _peak_megabytes()
    pairs, y = task.part(test)
    start = time.process_time()
    given, swapped = model.probability(pairs), model.probability(pairs.swap())
    asked = time.process_time() - start
    mean = averaged(given, swapped, odd)
    return {
        "n_train": len(train),
        "n_test": len(test),
        "seconds": seconds,
        "predict_seconds": asked,
        "megabytes": megabytes,
        "averaged": scores(mean, 1.0 - mean if odd else mean, y, odd),
        "plain": scores(given, swapped, y, odd),
        "violation": violation(given, swapped, odd),
        "chosen": model.chosen,
    }


def _forget_peak() -> None:
    """Let the peak of resident memory begin anew, where Linux allows it."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _peak_megabytes() -> float | None:
    """Peak of resident memory since then, all that was loaded before included."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024.0
    return None


def fingerprint(task: Task, split: Split, method: Method, n_settings: int) -> str:
    """Changes with the data, the split, the method and its budget; not with rounding.

    Features count by the sizes of their columns to three digits: other processors round otherwise.
    """
    pairs = task.pairs
    digest = hashlib.sha256(f"{method.describe()} {n_settings} {task.symmetry}".encode())
    for table in (np.asarray(pairs.objects), pairs.symmetric, pairs.antisymmetric):
        sizes = " ".join(f"{size:.2e}" for size in np.abs(table).sum(axis=0))
        digest.update(f"{table.shape} {sizes}".encode())
    for array in (pairs.first, pairs.second, task.y, *split):
        digest.update(np.ascontiguousarray(array, dtype=np.int64).tobytes())
    for part in task.inner_splitter().split(*task.part(split[0]), _groups(task, split[0])):
        for rows in part:
            digest.update(np.ascontiguousarray(rows, dtype=np.int64).tobytes())
    return digest.hexdigest()[:16]


def _groups(task: Task, rows: np.ndarray) -> np.ndarray | None:
    return None if task.groups is None else task.groups[rows]


def seed(folder: Path, rows: list[dict]) -> None:
    """Put results of an earlier run where they are looked for, unless there are others."""
    for row in rows:
        path = _file_of(folder, row["task"], row["split"], row["method"])
        if not path.exists():
            _write(path, row)


def _file_of(folder: Path, task: str, number: int, method: str) -> Path:
    return folder / task / f"{number}-{method}.json"


def _write(path: Path, row: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def kept_or_measured(
    task: Task,
    number: int,
    split: Split,
    method: Method,
    folder: Path,
    n_settings: int = N_SETTINGS,
    again: bool = False,
) -> dict:
    """The result of a unit, from its file if that is of the same data, method and budget."""
    path = _file_of(folder, task.name, number, method.name)
    key = fingerprint(task, split, method, n_settings)
    if path.exists() and not again:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == key:
            return kept
    found = {
        "task": task.name,
        "split": number,
        "method": method.name,
        "key": key,
        **measure(task, split, method, n_settings),
    }
    _write(path, found)
    return found
