"""`pairity reproduce`: compute, show, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from pairity.app.reproduce.accuracy_table import REPETITIONS, reproduce_accuracy
from pairity.app.reproduce.export import draw_accuracy, draw_support, write_accuracy, write_support
from pairity.app.reproduce.render import render_accuracy, render_support
from pairity.app.reproduce.support_tables import reproduce_support

_SCENARIOS = (3, 4)


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
