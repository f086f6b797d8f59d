"""``pairity demo`` and ``pairity reproduce``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from pairity.app.cli.console import make_console, show_progress
from pairity.app.cli.outputs import new_files
from pairity.app.demo import (
    digit_task,
    evaluate,
    file_names,
    render_outcome,
    train_choice_task,
    write_model,
    write_page,
    write_predictions,
)
from pairity.app.reproduce.accuracy_table import REPETITIONS, reproduce_accuracy
from pairity.app.reproduce.export import draw_accuracy, draw_support, write_accuracy, write_support
from pairity.app.reproduce.render import render_accuracy, render_support
from pairity.app.reproduce.support_tables import reproduce_support

_TASKS = {"train choice": train_choice_task, "same digit": digit_task}


def run_demo(output: Path, *, force: bool) -> None:
    """Run every task, print its summary and write its files."""
    files = [name for task in _TASKS for name in file_names(task)]
    console = make_console()
    start = time.perf_counter()
    with new_files(output, files, force=force) as directory:
        for make_task in _TASKS.values():
            outcome = evaluate(make_task())
            console.print(render_outcome(outcome))
            write_predictions(outcome, directory)
            write_model(outcome, directory)
            write_page(outcome, directory)
    seconds = time.perf_counter() - start
    console.print(f"{len(files)} files in {output} ({seconds:.1f} s). Look at", soft_wrap=True)
    for task in _TASKS:
        names = file_names(task)
        console.print(f"  {output / names.report}  what was learned, and how sure", soft_wrap=True)
    console.print(f"  pairity inspect {output / file_names(task).model}", soft_wrap=True)


# ``pairity reproduce`` --------------------------------------------------------------------------

_TABLES = ("table1", "table2", "table3")
_SCENARIOS = (3, 4)


def run_reproduce(table: str, output: Path, *, seed: int, force: bool) -> None:
    """Print the tables and write their files."""
    names = _TABLES if table == "all" else (table,)
    files = [f"{name}{ending}" for name in names for ending in (".csv", "_summary.csv", ".png")]
    console = make_console()
    start = time.perf_counter()
    with (
        new_files(output, files, force=force) as directory,
        show_progress(console, "reproducing", count_steps(names)) as tick,
    ):
        for name in names:
            make_table(name, directory, console, seed, tick)
    seconds = time.perf_counter() - start
    console.print(f"{len(files)} files in {output} (seed {seed}, {seconds:.0f} s)", soft_wrap=True)


def count_steps(names: Sequence[str], repetitions: int = REPETITIONS) -> int:
    """How often ``tick`` will be called for these tables."""
    return sum(len(_SCENARIOS) * repetitions if name == "table3" else 1 for name in names)


def make_table(
    name: str,
    directory: Path,
    console: Console,
    seed: int = 0,
    tick: Callable[[], object] = lambda: None,
    repetitions: int = REPETITIONS,
) -> None:
    """Make "table1", "table2" or "table3": print it, and write its files into ``directory``."""
    figure = directory / f"{name}.png"
    if name == "table3":
        tables = [reproduce_accuracy(scenario, seed, repetitions, tick) for scenario in _SCENARIOS]
        write_accuracy(tables, directory)
        draw_accuracy(tables, figure)
        console.print(render_accuracy(tables))
    else:
        table = reproduce_support(int(name.removeprefix("table")), seed)
        tick()
        write_support(table, directory)
        draw_support(table, figure)
        console.print(render_support(table))
