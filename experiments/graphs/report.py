"""Results as tables: mean and standard deviation over seeds, and differences seed by seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from experiments.graphs.baselines import BASELINES
from experiments.graphs.candidates import CANDIDATES
from experiments.graphs.run import TASKS
from experiments.tables import markdown_table

PLAIN, INDICATORS = "plain Gaussian", "Gaussian with node indicators"
METHODS = [method.name for method in (*BASELINES, *CANDIDATES)]


def values_of(results: dict, task: str, method: str, measure: str) -> np.ndarray:
    """One number in percent a seed, in the order of seeds."""
    key = "auc" if measure == "AUC" else "accuracy"
    return 100.0 * np.array(
        [
            score[key]
            for score in results["scores"]
            if score["task"] == task and score["method"] == method
        ]
    )


def task_names(results: dict) -> list[str]:
    """Tasks that were run, in their own order."""
    found = {row["task"] for row in results["sizes"]}
    return [name for name in TASKS if name in found]


def _sizes(results: dict) -> list[str]:
    rows = []
    for name in task_names(results):
        sizes = [row for row in results["sizes"] if row["task"] == name]
        means = {key: np.mean([row[key] for row in sizes]) for key in sizes[0] if key != "task"}
        share = f"{means['positive']:.0%}" if TASKS[name].symmetry == "symmetric" else ""
        cells = [f"{means[key]:.0f}" for key in ("nodes", "training", "test")]
        rows.append([f"`{name}`", TASKS[name].title, TASKS[name].symmetry, *cells, share])
    header = ["task", "question", "labels", "nodes", "training pairs", "test pairs", "positive"]
    return markdown_table(header, rows)


def _method_table(
    results: dict, names: list[str], heads: list[str], cell: Callable[[str, str], str]
) -> list[str]:
    rows = [[method, *(cell(name, method) for name in names)] for method in METHODS]
    return markdown_table(["", *heads], rows)


def _means(results: dict, names: list[str], measure: Callable[[str], str]) -> list[str]:
    def cell(name: str, method: str) -> str:
        values = values_of(results, name, method, measure(name))
        shown = f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"
        return f"**{shown}**" if method == best[name] else shown

    best = {}
    for name in names:
        means = [values_of(results, name, method, measure(name)).mean() for method in METHODS]
        best[name] = METHODS[int(np.argmax(means))]
    heads = [f"{name}, {measure(name)}" for name in names]
    return _method_table(results, names, heads, cell)


def _differences(results: dict, names: list[str], reference: str) -> list[str]:
    def cell(name: str, method: str) -> str:
        measure = TASKS[name].measure
        other = values_of(results, name, reference, measure)
        apart = values_of(results, name, method, measure) - other
        if method == reference:
            return ""
        return f"{apart.mean():+.1f} ({np.count_nonzero(apart > 0.0)})"

    return _method_table(results, names, names, cell)


def markdown(results: dict) -> str:
    """All tables, with a line on each."""
    names = task_names(results)
    symmetric = [name for name in names if TASKS[name].symmetry == "symmetric"]
    other = {"accuracy": "AUC", "AUC": "accuracy"}
    seeds = results["seeds"]
    lines = _sizes(results)
    lines += [f"Percent, mean ± standard deviation over {seeds} seeds; the best mean in bold.", ""]
    lines += _means(results, names, lambda name: TASKS[name].measure)
    for reference in (PLAIN, INDICATORS):
        lines += [
            f"Difference to {reference}, in points, and on how many of {seeds} seeds it is above 0.",
            "",
            *_differences(results, names, reference),
        ]
    lines += ["The other measure of the symmetric tasks, for the same machines.", ""]
    lines += _means(results, symmetric, lambda name: other[TASKS[name].measure])
    for name, reason in results["skipped"].items():
        lines += [f"`{name}` was skipped: {reason}.", ""]
    return "\n".join(lines)


def write_tables(results: dict, folder: Path, name: str) -> None:
    """JSON and Markdown."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    page = f"# Graphs\n\n{markdown(results)}"
    (folder / f"{name}.md").write_text(page, encoding="utf-8")
