"""`pairity reproduce`: compute, show, write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from pairity.reproduce.accuracy_table import REPETITIONS, reproduce_accuracy
from pairity.reproduce.export import write_accuracy, write_support
from pairity.reproduce.figures import draw_accuracy, draw_support
from pairity.reproduce.render import render_accuracy, render_support
from pairity.reproduce.support_tables import reproduce_support

__all__ = ["count_steps", "make_table"]

_SCENARIOS = (3, 4)

Tick = Callable[[], object]


def count_steps(names: Sequence[str], repetitions: int = REPETITIONS) -> int:
    """How often ``tick`` will be called for these tables."""
    return sum(len(_SCENARIOS) * repetitions if name == "table3" else 1 for name in names)


def make_table(
    name: str,
    directory: Path,
    console: Console,
    seed: int = 0,
    tick: Tick = lambda: None,
    repetitions: int = REPETITIONS,
) -> None:
    """Make "table1", "table2" or "table3": print it, and write its files into ``directory``."""
    if name == "table3":
        _make_accuracy(directory, console, seed, tick, repetitions)
    else:
        _make_support(int(name.removeprefix("table")), directory, console, seed, tick)


def _make_support(number: int, directory: Path, console: Console, seed: int, tick: Tick) -> None:
    table = reproduce_support(number, seed)
    tick()
    write_support(table, directory)
    draw_support(table, directory / f"table{number}.png")
    console.print(render_support(table))


def _make_accuracy(
    directory: Path, console: Console, seed: int, tick: Tick, repetitions: int
) -> None:
    tables = [reproduce_accuracy(scenario, seed, repetitions, tick) for scenario in _SCENARIOS]
    write_accuracy(tables, directory)
    draw_accuracy(tables, directory / "table3.png")
    console.print(render_accuracy(tables))
