"""Tables as CSV files and as figures (PNG)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pairity.app.reproduce.accuracy_table import AccuracyTable, Comparison
from pairity.app.reproduce.paper import ACCURACIES
from pairity.app.reproduce.render import mirrored_rows, paper_coefficients
from pairity.app.reproduce.support_tables import SupportTable


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Rows by column; numbers to the last digit."""
    pd.DataFrame(rows, dtype=object).to_csv(path, index=False, lineterminator="\n")


def write_support(table: SupportTable, directory: Path) -> None:
    """``table1.csv`` and ``table1_summary.csv`` (or 2)."""
    columns = ("index", "coefficient", "mirrored_index", "mirrored_coefficient")
    rows = [
        {"part": result.part, "kernel": result.title, "source": source}
        | dict(zip(columns, row, strict=True))
        for result in table.results
        for source, coefficients in (
            ("pairity", result.shown.coefficients),
            ("paper", paper_coefficients(table.number, result.part)),
        )
        for row in mirrored_rows(coefficients)
    ]
    _write(directory / f"table{table.number}.csv", rows)
    runs = [
        {
            "part": result.part,
            "kernel": result.title,
            "order_invariant": result.order_invariant,
            "run": run.how,
            "shown": run is result.shown,
            "unique": result.unique,
            "support_vectors": int(np.count_nonzero(run.coefficients)),
            "mirrored_difference": run.mirrored_difference,
            "found_bias": run.found_bias,
            "bias": run.bias,
            "kkt_violation": run.violation,
            "swap_error": run.swap_error,
        }
        for result in table.results
        for run in result.runs
    ]
    _write(directory / f"table{table.number}_summary.csv", runs)


def write_accuracy(tables: Sequence[AccuracyTable], directory: Path) -> None:
    """``table3.csv`` and ``table3_summary.csv``."""
    rows = [
        {
            "scenario": table.scenario,
            "repetition": r.number,
            "paper_K_P": ACCURACIES[table.scenario]["K_P"][r.number - 1],
            "paper_K_P^o": ACCURACIES[table.scenario]["K_P^o"][r.number - 1],
            "K_P": round(r.plain.accuracy, 6),
            "K_P^o": round(r.invariant.accuracy, 6),
            "C_K_P": r.plain.C,
            "C_K_P^o": r.invariant.C,
            "K_P_smallest_C": round(r.plain.accuracy_smallest, 6),
            "K_P^o_smallest_C": round(r.invariant.accuracy_smallest, 6),
        }
        for table in tables
        for r in table.repetitions
    ]
    _write(directory / "table3.csv", rows)
    summary = [
        {
            "scenario": table.scenario,
            "source": source,
            "mean_K_P": round(compared.mean_plain, 4),
            "mean_K_P^o": round(compared.mean_invariant, 4),
            "wins": compared.wins,
            "ties": compared.ties,
            "losses": compared.losses,
            "wilcoxon_p": compared.p_value,
        }
        for table in tables
        for source, compared in (
            ("pairity", table.compare()),
            ("pairity, smallest C of a tie", table.compare("accuracy_smallest")),
            ("paper, recomputed", table.compare_paper()),
        )
    ]
    _write(directory / "table3_summary.csv", summary)


# Figures ----------------------------------------------------------------------------------------

_OURS, _PAPER, _GREY = "#0b6e99", "#d9730d", "#9a9a9a"


def draw_support(table: SupportTable, path: Path) -> None:
    """Mirrored dual variables against each other: on the diagonal they are equal."""
    figure = Figure(figsize=(13, 6.8), layout="constrained")
    figure.suptitle(
        f"Table {table.number}: dual variables of pairs and of their mirror images"
        f" ({table.symmetry} labels, C = 1)"
    )
    axes = figure.subplots(2, 4).ravel()
    for panel, result in zip(axes, table.results, strict=False):
        ours = np.abs(result.shown.coefficients).reshape(2, -1)
        printed = np.abs(paper_coefficients(table.number, result.part)).reshape(2, -1)
        top = 1.08 * max(ours.max(), printed.max())
        panel.plot([0, top], [0, top], color=_GREY, linewidth=1, zorder=0)
        panel.scatter(*ours, color=_OURS, s=34, label="pairity")
        panel.scatter(*printed, color=_PAPER, s=34, marker="x", label="paper")
        panel.set_title(f"({result.part}) {result.title}", fontsize=9)
        panel.set(xlabel="alpha of (a, b)", ylabel="alpha of (b, a)", aspect="equal")
    for panel in axes[len(table.results) :]:
        panel.axis("off")
        panel.legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.savefig(path, dpi=130, format="png")


def draw_accuracy(tables: Sequence[AccuracyTable], path: Path) -> None:
    """Accuracy of both kernels, repetition by repetition, ours above the paper's."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    figure.suptitle(
        "Table 3: test accuracy of K_P (open) and of the order-invariant K_P^o (filled)"
    )
    panels = figure.subplots(2, len(tables), sharey=True, squeeze=False)
    for (ours, paper), table in zip(panels.T, tables, strict=True):
        title, printed = f"scenario {table.scenario}", ACCURACIES[table.scenario]
        mine = [(r.plain.accuracy, r.invariant.accuracy) for r in table.repetitions]
        theirs = list(zip(printed["K_P"], printed["K_P^o"], strict=True))
        _pair_lines(ours, f"{title}, pairity", mine, table.compare(), _OURS)
        _pair_lines(paper, f"{title}, paper", theirs, table.compare_paper(), _PAPER)
        paper.set_xlabel("repetition")
    for panel in panels[:, 0]:
        panel.set_ylabel("accuracy (%)")
    figure.savefig(path, dpi=130, format="png")


def _pair_lines(
    panel: Any,
    title: str,
    accuracies: list[tuple[float, float]],
    comparison: Comparison,
    color: str,
) -> None:
    numbers = np.arange(1, len(accuracies) + 1)
    plain, invariant = zip(*accuracies, strict=True)
    panel.vlines(numbers, plain, invariant, color=_GREY, linewidth=1, zorder=0)
    panel.scatter(numbers, plain, facecolors="white", edgecolors=color, s=30)
    panel.scatter(numbers, invariant, color=color, s=30)
    panel.set_title(
        f"{title}: {comparison.mean_plain:.1f} to {comparison.mean_invariant:.1f},"
        f" {comparison.wins} wins of {len(plain)}, p = {comparison.p_value:.1e}",
        fontsize=10,
    )
    panel.set(xlim=(0.3, len(plain) + 0.7), xticks=numbers)
    panel.tick_params(axis="x", labelsize=8)
