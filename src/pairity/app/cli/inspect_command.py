"""``pairity inspect``, and what all commands say: for people, or as JSON for machines."""

from __future__ import annotations

import json
import math
import sys
from typing import Any, TextIO

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pairity.app.cli.console import make_console
from pairity.app.cli.errors import bad_input
from pairity.app.cli.options import Settings
from pairity.estimators.unwrap import ahead, describe_layers, layers, machine_of
from pairity.io import ModelFile, Recipe, read_model_file
from pairity.model_selection.searches import at_the_edge
from pairity.pairs.from_tables import text_of

#: Entries of a list that people get to see.
_MOST_SHOWN = 12
#: Letters of a formula that people get to see.
_MOST_LETTERS = 90


class Formula(str):
    """A text of which people get to see the beginning, machines all."""

    def shown(self) -> str:
        """At most one line of a wide terminal."""
        whole = len(self) <= _MOST_LETTERS
        return str(self) if whole else f"{self[:_MOST_LETTERS]}... ({len(self):,} letters; --json)"


def describe_model(model: Any) -> dict[str, Any]:
    """Learner, kernel, support, certificate."""
    machine = machine_of(model)
    content: dict[str, Any] = {"estimator": describe_layers(model)}
    given = [name for name in ("symmetry", "C", "alpha") if hasattr(machine, name)]
    content |= {name: getattr(machine, name) for name in given}
    if getattr(machine, "_model", None) is not None:
        content["kernel"] = Formula(repr(machine._model.kernel))
    content |= _describe_search(model)
    if hasattr(model, "classes_"):
        content["labels"] = model.classes_.tolist()
    content |= meaning_of(model)
    if hasattr(machine, "feature_widths_"):
        kinds = ("objects", "symmetric", "antisymmetric")
        content["features"] = dict(zip(kinds, machine.feature_widths_, strict=True))
    if hasattr(machine, "support_pairs_"):
        content["support pairs"] = len(machine.support_pairs_)
        content["support objects"] = machine.support_pairs_.n_objects
    lost = [
        {"mean": error.share, "largest": error.largest, "features": error.n_components}
        for error in getattr(machine, "approximation_", ())
    ]
    if lost:
        content["Nystroem error"] = lost[0] if len(lost) == 1 else lost
    certificate = getattr(machine, "certificate_", None)
    if certificate is not None:
        content["objective"] = float(machine.objective_)
        content["steps"] = int(machine.n_iter_)
        content["certificate"] = {
            "holds": bool(certificate.holds),
            "primal": float(certificate.primal),
            "dual": -float(certificate.dual),
            "relative gap": float(certificate.relative_gap),
            certificate.measure: float(certificate.violation),
            "tolerance": float(certificate.tol),
        }
    return content


def meaning_of(model: Any, names: Any = None) -> dict[str, str]:
    """What says that the first object is ahead, of an antisymmetric model, by names of labels."""
    if getattr(machine_of(model), "symmetry", None) != "antisymmetric":
        return {}
    try:
        what = ahead(model) if names is None else f"label {text_of(list(names)[-1])}"
    except ValueError:
        return {
            "meaning": "not known: nothing says which label means that the first object is ahead"
        }
    return {"meaning": f"{what}: the first object is ahead"}


def _describe_search(model: Any) -> dict[str, Any]:
    """What a search chose, and how good that is on held-out pairs."""
    whole = next((layer for layer in layers(model) if hasattr(layer, "members_")), None)
    if whole is not None:
        members = {
            name: {"weight": one.weight, "held-out loss": one.loss, "loss without it": one.without}
            for name, one in whole.members_.items()
        }
        notes = {
            f"note on {name}": edge
            for name, one in whole.members_.items()
            if hasattr(one.model, "cv_results_") and (edge := at_the_edge(one.model))
        }
        return {"members": members, "held-out loss": -float(whole.best_score_), **notes}
    search = next((layer for layer in layers(model) if hasattr(layer, "cv_results_")), None)
    if search is None:
        return {}
    content: dict[str, Any] = {}
    if getattr(search, "combination_", None) is not None:
        content["shares of kernels"] = dict(search.combination_.weights)
    scores = {}
    for column, values in search.cv_results_.items():
        name = column.removeprefix("mean_test_")
        if name not in (column, "score"):
            is_loss = any(word in name for word in ("loss", "error", "brier"))  # kept negated
            value = (-1.0 if is_loss else 1.0) * float(values[search.best_index_])
            scores[name.removeprefix("neg_").replace("_", " ")] = value
    if hasattr(search, "_strength") and (edge := at_the_edge(search)):
        content["note"] = edge
    return content | {"held-out scores": scores or float(search.best_score_)}


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


def print_json(content: dict[str, Any], stream: TextIO | None = None) -> None:
    """One JSON object on standard output, or on another stream."""
    stream = stream or sys.stdout
    text = json.dumps(_plain(content), ensure_ascii=False, indent=2)
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # JSON has its own way to write letters that are not there
        text = json.dumps(_plain(content), indent=2)
    print(text, file=stream)


def say(settings: Settings, title: str, content: dict[str, Any]) -> None:
    """What a command has found or done; on standard error where results are on standard output."""
    stream = sys.stderr if settings.to_stdout else sys.stdout
    if settings.as_json:
        print_json(content, stream)
    else:
        print_summary(make_console(stream), title, content)


def print_summary(console: Console, title: str, content: dict[str, Any]) -> None:
    """Two columns: what, and its value; on a terminal with style and folded to its width."""
    rows = [(name, text) for name, value in content.items() if (text := _shown(value))]
    if not console.is_terminal:
        width = max(len(name) for name, _ in rows)
        lines = (f"{name:<{width}}  {text}" for name, text in rows)
        print(title, *lines, sep="\n", file=console.file)
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
    return value.shown() if isinstance(value, Formula) else str(value)


# ``pairity inspect`` ----------------------------------------------------------------------------


def run_inspect(settings: Settings) -> None:
    """Open, describe, say."""
    with bad_input():
        found = read_model_file(settings.model)
        content = {**describe_model(found.model), **_saved(found)}
    say(settings, str(settings.model), content)


def _saved(found: ModelFile) -> dict[str, Any]:
    """What is kept beside the model."""
    metadata, recipe = found.metadata, found.metadata.extra.get("recipe")
    content: dict[str, Any] = {
        "training": metadata.training or None,
        "feature names": metadata.feature_names,
    }
    if isinstance(recipe, Recipe):
        names = {name: getattr(recipe.columns, name) for name in ("first", "second", "label", "id")}
        is_filled = recipe.symmetric_filling is not None
        content["columns"] = {name: value for name, value in names.items() if value is not None}
        if recipe.labels is not None:  # by the names that the files have for them
            content["labels"] = recipe.labels.names
            content |= meaning_of(found.model, recipe.labels.names)
        content["missing numbers"] = "filled with medians, and flagged" if is_filled else None
    content |= {
        "objects kept": None if metadata.ids is None else len(metadata.ids),
        "written by": found.written_by,
        "checksum": found.checksum,
        "bytes": found.n_bytes,
    }
    return {name: value for name, value in content.items() if value is not None}
