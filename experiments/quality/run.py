"""All units on two processes of one thread each; what was measured before is not measured again."""

from __future__ import annotations

import multiprocessing
import os
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from threadpoolctl import threadpool_limits

from experiments.quality.measure import kept_or_measured
from experiments.quality.method import N_SETTINGS
from experiments.quality.methods import METHODS
from experiments.quality.splits import Split
from experiments.quality.task import Task
from experiments.quality.tasks import load_tasks
from pairity.runtime.resources import set_thread_count

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Plan:
    """What to run, and where results are kept."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    data: Path
    cache: Path
    splits: int | None = None  # the number that each task asks for
    n_settings: int = N_SETTINGS
    again: tuple[str, ...] = ()  # methods to measure again


@dataclass(frozen=True)
class Unit:
    """One method on one split of a task."""

    task: str
    split: int
    method: str


def run_plan(plan: Plan, jobs: int) -> dict:
    """Results of all units, the sizes of the tasks, and what was skipped."""
    loaded = load_tasks(plan.tasks, plan.data)
    units = list_units(plan, loaded.tasks)
    results = _run_here(plan, units) if jobs == 1 else _run_apart(plan, units, jobs)
    order = {unit: number for number, unit in enumerate(units)}
    results.sort(key=lambda found: order[Unit(found["task"], found["split"], found["method"])])
    return {
        "tasks": [describe(task) for task in loaded.tasks.values()],
        "methods": [name for name in plan.methods if any(unit.method == name for unit in units)],
        "n_settings": plan.n_settings,
        "skipped": loaded.skipped,
        "results": results,
    }


def list_units(plan: Plan, tasks: dict[str, Task]) -> list[Unit]:
    """Every method that applies, on every split."""
    return [
        Unit(name, number, method)
        for name, task in tasks.items()
        for number in range(len(task.outer_splits(plan.splits)))
        for method in plan.methods
        if METHODS[method].applies(task)
    ]


def describe(task: Task) -> dict:
    """What the tables say of a task."""
    return {
        "name": task.name,
        "question": task.question,
        "symmetry": task.symmetry,
        "setting": task.setting,
        "measure": task.measure,
        "n_objects": task.n_objects,
        "n_pairs": len(task.y),
        "why": task.why,
        "features": task.features,
    }


def _run_here(plan: Plan, units: Sequence[Unit]) -> list[dict]:
    return [run_unit(plan, unit) for unit in units]


def _run_apart(plan: Plan, units: Sequence[Unit], jobs: int) -> list[dict]:
    for name in THREADS:  # read by the libraries when a process starts
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    found = []
    with ProcessPoolExecutor(jobs, context, initializer=_one_thread) as pool:
        futures = {pool.submit(run_unit, plan, unit): unit for unit in units}
        for number, future in enumerate(as_completed(futures), 1):
            unit = futures[future]
            found.append(future.result())
            line = f"{number} of {len(units)}: {unit.task} {unit.split} {unit.method}"
            print(f"{line}, {found[-1]['seconds']:.1f} s", file=sys.stderr, flush=True)
    return found


def _one_thread() -> None:
    """Processes share the cores, threads would only wait for each other."""
    set_thread_count(1)


@cache
def _task(name: str, folder: Path) -> Task:
    return load_tasks([name], folder).tasks[name]


@cache
def _splits(name: str, folder: Path, number: int | None) -> list[Split]:
    return _task(name, folder).outer_splits(number)


def run_unit(plan: Plan, unit: Unit) -> dict:
    """Measure one unit, or read what was kept of it."""
    task = _task(unit.task, plan.data)
    split = _splits(unit.task, plan.data, plan.splits)[unit.split]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*lbfgs failed to converge.*")
        return kept_or_measured(
            task,
            unit.split,
            split,
            METHODS[unit.method],
            plan.cache,
            plan.n_settings,
            unit.method in plan.again,
        )
