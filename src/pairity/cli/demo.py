"""``pairity demo``."""

from __future__ import annotations

import time
from pathlib import Path

from pairity.cli.console import make_console
from pairity.cli.outputs import new_files
from pairity.demo import digit_task, evaluate, train_choice_task
from pairity.demo.show import render_outcome
from pairity.demo.write import file_names, write_model, write_page, write_predictions

__all__ = ["run_demo"]

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
