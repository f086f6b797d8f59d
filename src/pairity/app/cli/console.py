"""Where results are printed, and how progress is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

#: Columns of output that is not on a terminal (a file, a pipe).
_WIDTH = 130


def make_console(stream: TextIO | None = None) -> Console:
    """Console on standard output or another stream, wide enough for tables when no terminal."""
    console = Console(highlight=False, file=stream)
    return console if console.is_terminal else Console(highlight=False, file=stream, width=_WIDTH)


@contextmanager
def show_progress(console: Console, label: str, steps: int) -> Iterator[Callable[[], None]]:
    """Give a function to call after each step; a bar on a terminal, nothing elsewhere.

    On a terminal the bar stays below what is printed on ``console`` meanwhile; when that goes to a
    file, the bar is on standard error.
    """
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with _shown(console, *columns, TimeRemainingColumn()) as bar:
        task = bar.add_task(label, total=steps)
        yield lambda: bar.advance(task)


@contextmanager
def show_stages(console: Console, first: str, n_stages: int) -> Iterator[Callable[[str], None]]:
    """Give a function to call with the name of each further stage; shown as in show_progress.

    Nobody knows how long a stage takes, so that no bar pretends to: a wheel turns, and time passes.
    """
    numbers = count(2)
    text = TextColumn("{task.description}")
    with _shown(console, SpinnerColumn(), text, TimeElapsedColumn()) as shown:
        task = shown.add_task(f"{first} (step 1 of {n_stages})", total=None)
        yield lambda stage: shown.update(
            task, description=f"{stage} (step {next(numbers)} of {n_stages})"
        )


@contextmanager
def _shown(console: Console, *columns: ProgressColumn) -> Iterator[Progress]:
    """Started on a terminal only: Rich before 15 ends even disabled progress with a line."""
    place = console if console.is_terminal else Console(stderr=True)
    shown = place.is_terminal
    bar = Progress(*columns, console=place, transient=True, disable=not shown)
    with bar if shown else nullcontext():
        yield bar
