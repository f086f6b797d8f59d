"""``pairity predict``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pairity.cli.console import make_console
from pairity.cli.data import read_objects, recipe_of, refuse_many_tables
from pairity.cli.errors import InputError, bad_input
from pairity.cli.outputs import new_paths
from pairity.cli.settings import PredictSettings
from pairity.cli.summary import print_json, print_summary
from pairity.files import read_model_file
from pairity.pairs import Pairs
from pairity.tables import LabelNames, Recipe, read_table, write_table
from pairity.tables.identities import text_of
from pairity.tables.reading import kind_of

__all__ = ["predictions_of", "refuse_taken", "run_predict", "with_columns"]


def run_predict(settings: PredictSettings) -> None:
    """Read, predict, write, say."""
    if settings.distributed is not None:
        from pairity.cli.distributed_predict import run_distributed_predict

        run_distributed_predict(settings, settings.distributed)
        return
    refuse_many_tables(settings.sources)
    inputs = [settings.model, settings.pairs]
    inputs += [settings.objects] if settings.objects is not None else []
    with (
        bad_input(),
        new_paths([settings.output], inputs, force=settings.force) as staged,
    ):
        kind_of(settings.output)
        found = read_model_file(settings.model)
        recipe = with_columns(recipe_of(found, settings.model), settings)
        columns = recipe.columns
        frame = read_table(settings.pairs, (columns.first, columns.second))
        objects = read_objects(found, recipe, settings.objects, settings.id)
        pairs = recipe.pairs(frame, objects, settings.pairs.name)
        results = predictions_of(found.model, pairs, recipe.labels)
        table = _table(frame, recipe, results)
        write_table(table, staged[0])
    content: dict[str, Any] = {"pairs": len(table), "predictions": str(settings.output)}
    content |= _counts(table)
    content |= _agreement(frame, recipe, table, getattr(found.model, "classes_", None))
    if settings.as_json:
        print_json(content)
    else:
        print_summary(make_console(), f"predictions of {settings.model}", content)


def with_columns(recipe: Recipe, settings: PredictSettings) -> Recipe:
    """The recipe with the columns of ids that the table asked about has."""
    columns = recipe.columns
    first, second = settings.first or columns.first, settings.second or columns.second
    return replace(recipe, columns=replace(columns, first=first, second=second))


def predictions_of(model: Any, pairs: Pairs, names: LabelNames | None) -> dict[str, NDArray[Any]]:
    """Columns of results: decision, label and probabilities, or value."""
    if not hasattr(model, "classes_"):
        return {"value": model.predict(pairs)}
    results: dict[str, NDArray[Any]] = {}
    if hasattr(model, "decision_function"):
        results["decision"] = model.decision_function(pairs)
    labels = model.predict(pairs)
    results["label"] = labels if names is None else names.of(labels)
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(pairs)
        classes = model.classes_ if names is None else names.of(model.classes_)
        for place, label in enumerate(classes.tolist()):
            results[f"probability {text_of(label)}"] = chances[:, place]
    return results


def refuse_taken(results: Iterable[str], recipe: Recipe) -> None:
    """Refuse columns of ids whose names columns of results have."""
    taken = [name for name in results if name in (recipe.columns.first, recipe.columns.second)]
    if taken:
        raise InputError(
            f"got a column of ids named {taken[0]!r}, as a column of results is; expected another name:"
            " rename it in the table of pairs."
        )


def _table(frame: Any, recipe: Recipe, results: dict[str, NDArray[Any]]) -> Any:
    refuse_taken(results, recipe)
    ids = [recipe.columns.first, recipe.columns.second]
    columns: dict[str, Any] = {name: frame[name].to_numpy(dtype=object) for name in ids}
    return pd.DataFrame(columns | results).astype({name: frame[name].dtype for name in ids})


def _counts(table: Any) -> dict[str, Any]:
    if "label" not in table.columns:
        return {}
    counts = table["label"].map(text_of).value_counts().sort_index()
    return {"labels": {str(label): int(count) for label, count in counts.items()}}


def _agreement(frame: Any, recipe: Recipe, table: Any, classes: Any) -> dict[str, Any]:
    """How often predictions agree with the labels of the table, where it has some of the model's."""
    label = recipe.columns.label
    if label is None or label not in frame.columns:
        return {}
    if classes is None:
        truth = pd.to_numeric(frame[label], errors="coerce").to_numpy()
        known = np.isfinite(truth)
        errors = np.abs(truth - table["value"].to_numpy())[known]
        return {"mean absolute error": float(errors.mean())} if known.any() else {}
    names = classes if recipe.labels is None else recipe.labels.of(classes)
    truth = frame[label].map(text_of).to_numpy(dtype=object)
    said = table["label"].map(text_of).to_numpy(dtype=object)
    known = np.isin(truth, [text_of(name) for name in names.tolist()])
    if not known.any():
        return {}
    share = float((truth == said)[known].mean())
    return {"pairs with a label": int(known.sum()), "agree with it": share}
