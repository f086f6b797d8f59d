"""What a model is, as plain values: printed for people, or as JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["describe_model", "innermost", "print_json", "print_summary"]

#: Entries of a list that people get to see.
_MOST_SHOWN = 12


def innermost(model: Any) -> Any:
    """The fitted machine inside wrappers, searches and pipelines."""
    while True:
        inside = getattr(model, "estimator_", getattr(model, "best_estimator_", None))
        if inside is None and getattr(model, "steps", None):
            inside = model.steps[-1][1]
        if inside is None:
            return model
        model = inside


def describe_model(model: Any) -> dict[str, Any]:
    """Learner, kernel, support, certificate."""
    machine = innermost(model)
    found: dict[str, Any] = {"estimator": _names(model)}
    for name in ("symmetry", "C", "alpha"):
        if hasattr(machine, name):
            found[name] = getattr(machine, name)
    fitted = getattr(machine, "_model", None)
    if fitted is not None:
        found["kernel"] = repr(fitted.kernel)
    found |= _describe_search(model)
    if hasattr(model, "classes_"):
        found["labels"] = [_plain(label) for label in model.classes_.tolist()]
    if hasattr(machine, "feature_widths_"):
        widths = zip(
            ("objects", "symmetric", "antisymmetric"), machine.feature_widths_, strict=True
        )
        found["features"] = dict(widths)
    if hasattr(machine, "support_pairs_"):
        found["support pairs"] = len(machine.support_pairs_)
        found["support objects"] = machine.support_pairs_.n_objects
    lost = [
        {"mean": error.share, "largest": error.largest, "features": error.n_components}
        for error in getattr(machine, "approximation_", ())
    ]
    if lost:
        found["Nystroem error"] = lost[0] if len(lost) == 1 else lost
    certificate = getattr(machine, "certificate_", None)
    if certificate is not None:
        found["objective"] = float(machine.objective_)
        found["steps"] = int(machine.n_iter_)
        found["certificate"] = {
            "holds": bool(certificate.holds),
            "primal": float(certificate.primal),
            "dual": -float(certificate.dual),
            "relative gap": float(certificate.relative_gap),
            certificate.measure: float(certificate.violation),
            "tolerance": float(certificate.tol),
        }
    return found


def _describe_search(model: Any) -> dict[str, Any]:
    """What a search chose, and how good that is on held-out pairs."""
    while not hasattr(model, "cv_results_"):
        model = getattr(model, "estimator_", None)
        if model is None:
            return {}
    found: dict[str, Any] = {}
    combination = getattr(model, "combination_", None)
    if combination is not None:
        found["shares of kernels"] = dict(combination.weights)
    scores = {
        name.removeprefix("mean_test_").replace("_", " "): float(values[model.best_index_])
        for name, values in model.cv_results_.items()
        if name.startswith("mean_test_") and name != "mean_test_score"
    }
    found["held-out scores"] = scores or float(model.best_score_)
    return found


def _names(model: Any) -> str:
    """Names of an estimator and of what is inside, outermost first."""
    names = [type(model).__name__]
    for name in ("estimator_", "best_estimator_"):
        if hasattr(model, name):
            names.append(_names(getattr(model, name)))
            break
    return " of ".join(names)


def _plain(value: Any) -> Any:
    """A value that JSON has, or its text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return str(value)


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    text = json.dumps(_plain(content), ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # JSON has its own way to write letters that are not there
        text = json.dumps(_plain(content), indent=2)
    print(text)


def print_summary(console: Console, title: str, content: dict[str, Any]) -> None:
    """Two columns: what, and its value; on a terminal with style and folded to its width."""
    rows = [(name, text) for name, value in content.items() if (text := _shown(value))]
    if not console.is_terminal:
        width = max(len(name) for name, _ in rows)
        print(title, *(f"{name:<{width}}  {text}" for name, text in rows), sep="\n")
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(name, Text(text))
    console.print(Text(title, style="bold underline"), table)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        shown = {name: _shown(entry) for name, entry in value.items()}
        inner = {name: f"({shown[name]})" for name, entry in value.items() if type(entry) is dict}
        return "; ".join(f"{name}: {text}" for name, text in (shown | inner).items() if text)
    if isinstance(value, list | tuple):
        more = [f"... ({len(value)})"] if len(value) > _MOST_SHOWN else []
        return ", ".join([*map(_shown, value[:_MOST_SHOWN]), *more])
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return str(value)
