"""Tables for the console: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table

from pairity.app.reproduce.accuracy_table import AccuracyTable, Comparison
from pairity.app.reproduce.paper import ACCURACIES, BIAS_REMARKS, COEFFICIENTS, STATED
from pairity.app.reproduce.support_tables import (
    OFF_DIAGONALS,
    KernelResult,
    SupportTable,
    mirrored_difference,
    printed_ratio,
    smallest_ratio,
)

#: Rows (index, coefficient, mirrored index, mirrored coefficient); None: not a support vector.
MirroredRow = tuple[int, float | None, int, float | None]


def paper_coefficients(table: int, part: str) -> np.ndarray:
    """The 32 coefficients of a subtable as printed."""
    printed = COEFFICIENTS[table][part]
    return np.array([printed.get(index, 0.0) for index in range(1, 33)])


def mirrored_rows(coefficients: np.ndarray) -> list[MirroredRow]:
    """Support vectors with their mirror images, indices as in the paper (from 1)."""
    there, back = (half.tolist() for half in np.reshape(coefficients, (2, -1)))
    return [
        (index, one or None, index + len(there), other or None)
        for index, (one, other) in enumerate(zip(there, back, strict=True), 1)
        if one or other
    ]


def render_support(table: SupportTable) -> RenderableType:
    """Table 1 or 2: each kernel, then what all of them show."""
    coefficients = [_coefficients(table.number, result) for result in table.results]
    return Group(Columns(coefficients, padding=(0, 3)), _summary(table), _support_notes(table))


def _table(
    title: str,
    left: Sequence[str] = (),
    right: Sequence[str] = (),
    dim: Sequence[str] = (),
    caption: str | None = None,
) -> Table:
    """A table whose columns are adjusted left, right, and right in a faint colour."""
    view = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for name in left:
        view.add_column(name, no_wrap=True)
    for name in (*right, *dim):
        view.add_column(name, justify="right")
    for column in view.columns[len(view.columns) - len(dim) :]:
        column.style = "dim"
    return view


def _coefficients(number: int, result: KernelResult) -> Table:
    title = f"Table {number}({result.part}): {result.title}"
    view = _table(title, right=("(a, b)", "(b, a)"), dim=("paper", ""))
    ours = mirrored_rows(result.shown.coefficients)
    printed = mirrored_rows(paper_coefficients(number, result.part))
    for left, right in zip_longest(ours, printed):
        view.add_row(*_cells(left), *_cells(right))
    return view


def _cells(row: MirroredRow | None) -> tuple[str, ...]:
    """As in the paper: "(3) 0.2019"."""
    cells = ((None, None),) * 2 if row is None else (row[:2], row[2:])
    return tuple("" if value is None else f"({index}) {value:7.4f}" for index, value in cells)


def _summary(table: SupportTable) -> Table:
    view = _table(
        f"Table {table.number}, {table.symmetry} labels: max |alpha_ab - alpha_ba| and more",
        left=("kernel",),
        right=(
            *("SMO", "tol 1e-9", "Theorem 3", "paper", "SVs", "unique"),
            *("SMO bias", "bias kept", "swap law off"),
        ),
        caption="* the run shown above. SMO knows nothing of mirror images; Theorem 3 keeps them"
        " equal.\n  SVs: ours (paper's). Unique: no other dual solution (footnote 13). Swap law: (18) or"
        " (19) on the rows.",
    )
    for result in table.results:
        runs = [(run.mirrored_difference, run is result.shown) for run in result.runs]
        differences = [f"{difference:.1e}{'*' if shown else ' '}" for difference, shown in runs]
        printed = paper_coefficients(table.number, result.part)
        support = np.count_nonzero(result.shown.coefficients), np.count_nonzero(printed)
        view.add_row(
            f"({result.part}) {result.title}".replace(" off-diagonal", ""),
            *(differences + [""] * (3 - len(differences))),
            f"{mirrored_difference(printed):.4f}",
            f"{support[0]} ({support[1]})",
            "yes" if result.unique else "no",
            f"{result.runs[0].found_bias:.1e}",
            "0.0" if result.shown.bias == 0.0 else f"{result.shown.bias:.4f}",
            f"{result.shown.swap_error:.1e}",
        )
    return view


def _support_notes(table: SupportTable) -> str:
    if table.number == 2:
        return (
            f"Bias in the paper: {BIAS_REMARKS['order-invariant']} for order-invariant kernels,"
            f" {BIAS_REMARKS['K_P']} for K_P. Here it is stored as exactly 0 with antisymmetry.\n"
        )
    sums = {r.title: float(np.abs(r.shown.coefficients).sum()) for r in table.results}
    linear = next(iter(sums.values()))
    lines = [
        "Which off-diagonal made Table 1? sum(alpha) of (e) over (a) is"
        f" {printed_ratio():.3f} in the paper."
    ]
    for value in OFF_DIAGONALS:
        ours = sums[f"K_P^o, off-diagonal {value}"] / linear
        bound = smallest_ratio(value)
        verdict = "possible" if printed_ratio() >= bound else "impossible"
        lines.append(
            f"  {value}: no draw can give less than {bound:.3f}, so {verdict}; here {ours:.3f}."
        )
    return "\n".join(lines) + "\n"


def render_accuracy(tables: Sequence[AccuracyTable]) -> RenderableType:
    """Table 3, scenario by scenario, then means, wins and p-values."""
    return Group(*map(_accuracies, tables), _comparisons(tables))


def _accuracies(table: AccuracyTable) -> Table:
    view = _table(
        f"Table 3, scenario {table.scenario}: accuracy (%)",
        right=("repetition", "K_P", "K_P^o", "better", "C of K_P", "C of K_P^o"),
        dim=("paper: K_P", "K_P^o", "better"),
    )
    printed = ACCURACIES[table.scenario]
    for repetition in table.repetitions:
        plain, invariant = repetition.plain, repetition.invariant
        paper = printed["K_P"][repetition.number - 1], printed["K_P^o"][repetition.number - 1]
        view.add_row(
            str(repetition.number),
            f"{plain.accuracy:.1f}",
            f"{invariant.accuracy:.1f}",
            _better(plain.accuracy, invariant.accuracy),
            f"{plain.C:g}",
            f"{invariant.C:g}",
            *(f"{value:.1f}" for value in paper),
            _better(*paper),
        )
    return view


def _better(plain: float, invariant: float) -> str:
    if plain == invariant:
        return "tie"
    return "K_P^o" if invariant > plain else "K_P"


def _comparisons(tables: Sequence[AccuracyTable]) -> Table:
    view = _table(
        "Table 3: K_P^o against K_P",
        left=("scenario", "source"),
        right=("mean K_P", "mean K_P^o", "wins", "ties", "losses", "p"),
        caption="p: two-sided Wilcoxon signed-rank test; the paper's row is recomputed from its"
        " printed accuracies",
    )
    for table in tables:
        wins, p_value = STATED[table.scenario]
        view.add_row(str(table.scenario), "pairity", *_figures(table.compare()), style="bold")
        view.add_row("", "  smallest C of a tie", *_figures(table.compare("accuracy_smallest")))
        view.add_row("", "paper", *_figures(table.compare_paper()))
        view.add_row("", "  as its text says", "", "", str(wins), "", "", f"{p_value:.1e}")
    return view


def _figures(found: Comparison) -> tuple[str, ...]:
    counts = map(str, (found.wins, found.ties, found.losses))
    return f"{found.mean_plain:.2f}", f"{found.mean_invariant:.2f}", *counts, f"{found.p_value:.1e}"
