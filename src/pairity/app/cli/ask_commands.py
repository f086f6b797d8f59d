"""``pairity predict``: a model asked about pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.outputs import new_paths
from pairity.app.cli.training_data import read_objects, recipe_of, refuse_many_tables
from pairity.distributed.predictions import result_columns
from pairity.io import Objects, Recipe, read_model_file, read_table, write_table
from pairity.io.tables import kind_of
from pairity.pairs.from_tables import text_of


@dataclass(frozen=True, eq=False)
class Asked:
    """The model, how tables become pairs, its objects or other ones, and where tables go."""

    model: Any
    recipe: Recipe
    objects: Objects
    staged: Sequence[Path]


@contextmanager
def asked(settings: Settings) -> Iterator[Asked]:
    """What a command works with, while its outputs are staged."""
    outputs = new_paths(settings.outputs(), settings.inputs(), force=settings.force)
    with bad_input(), outputs as staged:
        for path in settings.outputs():
            kind_of(path)
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings)
        yield Asked(found.model, recipe, read_objects(found, recipe, settings), staged)


def run_predict(settings: Settings) -> None:
    """Read, predict, write, say."""
    if settings.distributed is not None:
        from pairity.app.cli.distributed_commands import run_distributed_predict

        run_distributed_predict(settings, settings.distributed)
        return
    refuse_many_tables(settings.sources)
    with asked(settings) as given:
        model, recipe = given.model, given.recipe
        frame = read_table(settings.pairs, recipe.columns.ends)
        pairs = recipe.pairs(frame, given.objects, settings.pairs.name)
        table = _table(frame, recipe, result_columns(model, pairs, label_names(model, recipe)))
        write_table(table, given.staged[0])
    content: dict[str, Any] = {"pairs": len(table), "predictions": str(settings.output)}
    if "label" in table:
        counts = table["label"].map(text_of, na_action="ignore").value_counts().sort_index()
        content["labels"] = {str(label): int(count) for label, count in counts.items()}
    content |= _agreement(frame, recipe, table, model)
    say(settings, f"predictions of {settings.model}", content)


def label_names(model: Any, recipe: Recipe) -> list[Any] | None:
    """Names of the labels in the order of the model's; None where these are the labels themselves."""
    if recipe.labels is None or not hasattr(model, "classes_"):
        return None
    names: list[Any] = recipe.labels.of(model.classes_).tolist()
    return names


def refuse_taken(results: Iterable[str], recipe: Recipe) -> None:
    """Refuse columns of ids whose names columns of results have."""
    taken = [name for name in results if name in recipe.columns.ends]
    if taken:
        raise InputError(
            f"got a column of ids named {taken[0]!r}, as a column of results is; expected another name:"
            " rename it in the table of pairs."
        )


def _table(frame: Any, recipe: Recipe, results: dict[str, Any]) -> Any:
    refuse_taken(results, recipe)
    ids = recipe.columns.ends
    if "label" in results:
        results["label"] = pd.arrays.ArrowExtensionArray(results["label"])
    columns: dict[str, Any] = {name: frame[name].to_numpy(dtype=object) for name in ids}
    return pd.DataFrame(columns | results).astype({name: frame[name].dtype for name in ids})


def _agreement(frame: Any, recipe: Recipe, table: Any, model: Any) -> dict[str, Any]:
    """How often predictions agree with the labels of the table, where it has some of the model's."""
    label = recipe.columns.label
    if label is None or label not in frame.columns:
        return {}
    if "value" in table:
        truth = pd.to_numeric(frame[label], errors="coerce").to_numpy()
        known = np.isfinite(truth)
        errors = np.abs(truth - table["value"].to_numpy())[known]
        return {"mean absolute error": float(errors.mean())} if known.any() else {}
    names = label_names(model, recipe) or model.classes_.tolist()
    truth, said = (
        column.map(text_of).to_numpy(dtype=object) for column in (frame[label], table["label"])
    )
    known = np.isin(truth, [text_of(name) for name in names])
    if not known.any():
        return {}
    share = float((truth == said)[known].mean())
    return {"pairs with a label": int(known.sum()), "agree with it": share}
