"""Tables as figures (PNG)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pairity.reproduce.accuracy_table import AccuracyTable
from pairity.reproduce.comparison import Comparison
from pairity.reproduce.paper import ACCURACIES
from pairity.reproduce.render import paper_coefficients
from pairity.reproduce.support_tables import SupportTable

__all__ = ["draw_accuracy", "draw_support"]

_OURS, _PAPER, _GREY = "#0b6e99", "#d9730d", "#9a9a9a"


def _save(figure: Figure, path: Path) -> None:
    FigureCanvasAgg(figure)
    figure.savefig(path, dpi=130, format="png")


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
        panel.set_xlabel("alpha of (a, b)")
        panel.set_ylabel("alpha of (b, a)")
        panel.set_aspect("equal")
    for panel in axes[len(table.results) :]:
        panel.axis("off")
        panel.legend(*axes[0].get_legend_handles_labels(), loc="center", frameon=False)
    _save(figure, path)


def draw_accuracy(tables: Sequence[AccuracyTable], path: Path) -> None:
    """Accuracy of both kernels, repetition by repetition, ours above the paper's."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    figure.suptitle(
        "Table 3: test accuracy of K_P (open) and of the order-invariant K_P^o (filled)"
    )
    panels = figure.subplots(2, len(tables), sharey=True, squeeze=False)
    for column, table in enumerate(tables):
        plain = [r.plain.accuracy for r in table.repetitions]
        invariant = [r.invariant.accuracy for r in table.repetitions]
        printed = ACCURACIES[table.scenario]
        title = f"scenario {table.scenario}"
        _pair_lines(
            panels[0, column], f"{title}, pairity", plain, invariant, table.compare(), _OURS
        )
        paper = table.compare_paper()
        _pair_lines(
            panels[1, column], f"{title}, paper", printed["K_P"], printed["K_P^o"], paper, _PAPER
        )
    for panel in panels[:, 0]:
        panel.set_ylabel("accuracy (%)")
    for panel in panels[1]:
        panel.set_xlabel("repetition")
    _save(figure, path)


def _pair_lines(
    panel: Any,
    title: str,
    plain: Sequence[float],
    invariant: Sequence[float],
    comparison: Comparison,
    color: str,
) -> None:
    numbers = np.arange(1, len(plain) + 1)
    panel.vlines(numbers, plain, invariant, color=_GREY, linewidth=1, zorder=0)
    panel.scatter(numbers, plain, facecolors="white", edgecolors=color, s=30)
    panel.scatter(numbers, invariant, color=color, s=30)
    panel.set_title(
        f"{title}: {comparison.mean_plain:.1f} to {comparison.mean_invariant:.1f},"
        f" {comparison.wins} wins of {len(plain)}, p = {comparison.p_value:.1e}",
        fontsize=10,
    )
    panel.set_xlim(0.3, len(plain) + 0.7)
    panel.set_xticks(numbers)
    panel.tick_params(axis="x", labelsize=8)
