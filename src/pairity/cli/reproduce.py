"""``pairity reproduce``."""

from __future__ import annotations

import time
from pathlib import Path

from pairity.cli.console import make_console, show_progress
from pairity.cli.outputs import new_files
from pairity.reproduce.job import count_steps, make_table

__all__ = ["run_reproduce"]

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
