"""``pairity demo`` and ``pairity reproduce``."""

from __future__ import annotations

import time
from pathlib import Path

from pairity.app.cli.console import make_console, show_progress
from pairity.app.cli.outputs import new_files
from pairity.app.demo import digit_task, evaluate, train_choice_task
from pairity.app.demo.evaluate import (
    file_names,
    render_outcome,
    write_model,
    write_page,
    write_predictions,
)
from pairity.app.reproduce.job import count_steps, make_table

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
