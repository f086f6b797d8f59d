"""All tasks on all seeds, on several processes; tasks whose data are absent are named and skipped."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.graphs import antisymmetric_tasks, symmetric_tasks
from experiments.graphs.known import Task
from experiments.graphs.protocol import run_seed
from pairity.runtime.resources import set_thread_count

TASKS = {task.name: task for task in (*symmetric_tasks.TASKS, *antisymmetric_tasks.TASKS)}
SEEDS = 10
#: The grids were set with the scores of seeds 0 to 9 in sight: 10 here makes a run that is free of that.
FIRST_SEED = 0
#: Name of a task, seed, data folder.
Unit = tuple[str, int, str]
#: The shared data lie beside the repository; they are read in place.
DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def run_all(names: Sequence[str], seeds: int, folder: Path, jobs: int) -> dict:
    """Sizes, scores and what was skipped, the same for any number of processes."""
    present, skipped = find_data([TASKS[name] for name in names], folder)
    units = list_units(present, seeds, folder)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, initializer=_one_thread) as pool:
        found = []
        for number, result in enumerate(pool.map(run_unit, units), 1):
            found.append(result)
            print(f"{number} of {len(units)} done", file=sys.stderr)
    return {"seeds": seeds, "skipped": skipped, **assembled(found)}


def list_units(tasks: Sequence[Task], seeds: int, folder: Path) -> list[Unit]:
    """Every seed of every task, by their names."""
    numbers = range(FIRST_SEED, FIRST_SEED + seeds)
    return [(task.name, seed, str(folder)) for seed in numbers for task in tasks]


def assembled(found: Sequence[tuple[dict, list[dict]]]) -> dict:
    """Sizes and scores of units in whatever order, by task and seed."""
    place = {name: number for number, name in enumerate(TASKS)}
    found = sorted(found, key=lambda unit: (place[unit[0]["task"]], unit[0]["seed"]))
    scores = [score for _, some in found for score in some]
    return {"sizes": [sizes for sizes, _ in found], "scores": scores}


def find_data(tasks: Sequence[Task], folder: Path) -> tuple[list[Task], dict[str, str]]:
    """Tasks that can be read, and a reason for each of the others."""
    present, skipped = [], {}
    for task in tasks:
        try:
            task.read(folder)
            present.append(task)
        except FileNotFoundError as error:
            skipped[task.name] = f"no {Path(error.filename).name} in the data folder"
    return present, skipped


@cache
def _data(name: str, folder: str) -> object:
    return TASKS[name].read(Path(folder))


def run_unit(unit: Unit) -> tuple[dict, list[dict]]:
    """One seed of one task, on one thread."""
    name, seed, folder = unit
    with threadpool_limits(1):
        sizes, scores = run_seed(TASKS[name], _data(name, folder), seed)
    return asdict(sizes), [score.to_dict() for score in scores]


def _one_thread() -> None:
    """Processes share the cores, threads would only wait for each other."""
    set_thread_count(1)


def default_jobs() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
