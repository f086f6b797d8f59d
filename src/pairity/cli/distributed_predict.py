"""``pairity predict --distributed``: a folder of predictions, written by workers."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from pairity.cli.cluster import check_address, workers_of
from pairity.cli.console import make_console, show_stages
from pairity.cli.data import read_objects, recipe_of
from pairity.cli.errors import InputError, bad_input
from pairity.cli.outputs import new_folder
from pairity.cli.parquet_pairs import ParquetPairs
from pairity.cli.predict import refuse_taken, with_columns
from pairity.cli.settings import PredictSettings
from pairity.cli.summary import print_json, print_summary
from pairity.distributed import write_predictions
from pairity.files import read_model_file
from pairity.tables import Recipe

__all__ = ["run_distributed_predict"]


def run_distributed_predict(settings: PredictSettings, address: str) -> None:
    """Look, let the workers predict, say."""
    check_address(address)
    console = make_console()
    start = time.perf_counter()
    with bad_input():
        found = read_model_file(settings.model)
        recipe = with_columns(recipe_of(found, settings.model), settings)
        _refuse_filled(recipe)
        refuse_taken(("decision", "label", "value"), recipe)
        pairs = ParquetPairs(settings.sources, replace(recipe.columns, label=None))
        objects = read_objects(found, recipe, settings.objects, settings.id)
        data = pairs.dataset(pairs.ids_as_here(objects), recipe.object_table(objects))
    inputs = [settings.model, *pairs.files]
    inputs += [settings.objects] if settings.objects is not None else []
    with (
        new_folder(settings.output, inputs, "part-*.parquet", force=settings.force) as folder,
        show_stages(console, "predicting", 1),
        bad_input(),
        workers_of(address) as client,
    ):
        files = write_predictions(
            found.model, data.using(client), folder, label_names=_names(found.model, recipe)
        )
        n_workers = len(client.nthreads())
    content: dict[str, Any] = {
        "pairs": pairs.n_pairs,
        "predictions": str(settings.output),
        "files": len(files),
        "workers": n_workers,
        "seconds": round(time.perf_counter() - start, 2),
    }
    if settings.as_json:
        print_json(content)
    else:
        print_summary(console, f"predictions of {settings.model}", content)


def _names(model: Any, recipe: Recipe) -> list[Any] | None:
    """Names of the labels in the order of the model's."""
    if recipe.labels is None or not hasattr(model, "classes_"):
        return None
    named: list[Any] = recipe.labels.of(model.classes_).tolist()
    return named


def _refuse_filled(recipe: Recipe) -> None:
    """Refuse a model that fills missing numbers of pairs: workers do not."""
    grouped = recipe.columns.symmetric or recipe.columns.antisymmetric
    if grouped and recipe.symmetric_filling is not None:
        raise InputError(
            "got a model that fills missing numbers of pairs with --distributed; expected one that was"
            " trained without --impute: predict without --distributed."
        )
