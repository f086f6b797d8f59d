"""Results as a figure: a panel a task, a dot a method, a bar of one standard deviation."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.graphs.baselines import BASELINES
from experiments.graphs.candidates import CANDIDATES
from experiments.graphs.report import METHODS, PLAIN, task_names, values_of
from experiments.graphs.run import TASKS

_COLOURS = {
    "baseline": "#9a9a9a",
    "plain": "#37352f",
    "means": "#d9730d",
    "diffusion": "#0b6e99",
}


def draw(results: dict, path: Path) -> None:
    """Write the figure (PNG)."""
    names = task_names(results)
    rows = -(-len(names) // 3)
    figure = Figure(figsize=(13.5, 4.4 * rows), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(rows, 3, sharey=True, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _panel(panel, results, name)
    for panel in panels[len(names) :]:
        panel.axis("off")
    figure.suptitle(
        f"Labels of arcs: mean and standard deviation over {results['seeds']} seeds"
        " (dotted line: plain Gaussian)"
    )
    figure.savefig(path, dpi=130, format="png")


def _panel(panel, results: dict, name: str) -> None:
    task = TASKS[name]
    groups = {method.name: method.group for method in (*BASELINES, *CANDIDATES)}
    places = np.arange(len(METHODS))[::-1]
    for place, method in zip(places, METHODS, strict=True):
        values = values_of(results, name, method, task.measure)
        panel.errorbar(
            values.mean(),
            place,
            xerr=values.std(ddof=1),
            fmt="o",
            capsize=3,
            color=_COLOURS[groups[method]],
        )
    plain = values_of(results, name, PLAIN, task.measure).mean()
    panel.axvline(plain, color=_COLOURS["plain"], linestyle=":", linewidth=1)
    panel.set_yticks(places, METHODS, fontsize=8)
    panel.set_title(task.title, fontsize=10)
    panel.set_xlabel(f"{task.measure} (%)")
    panel.grid(axis="x", alpha=0.3)
