"""``--distributed``: fit a low-rank model of pairs in many Parquet files, predict a folder of them."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

import pairity
from pairity import distributed
from pairity.app.cli.ask_commands import label_names, refuse_taken
from pairity.app.cli.console import make_console, show_stages
from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.fit_command import make_low_rank, metadata_of, say_trained
from pairity.app.cli.inspect_command import say
from pairity.app.cli.options import Settings
from pairity.app.cli.outputs import check_place, new_folder, new_paths
from pairity.app.cli.training_data import (
    read_objects,
    recipe_of,
    table_of_objects,
    training_columns,
)
from pairity.app.cli.workers import ParquetPairs, check_address, workers_of
from pairity.distributed import write_predictions
from pairity.io import LabelNames, Objects, Recipe, labels_of_column, read_model_file
from pairity.io.recipe import refuse_missing
from pairity.pairs.from_tables import as_objects, refuse_repeated, text_of


def run_distributed_fit(settings: Settings, address: str) -> None:
    """Look, train on the workers, save, say."""
    _refuse_options(settings)
    check_address(address)
    _check_checkpoint(settings)
    start = time.perf_counter()
    with bad_input():
        pairs = ParquetPairs(settings.sources, training_columns(settings))
    others = settings.inputs()[1:]
    with (
        new_paths(settings.outputs(), [*pairs.files, *others], force=settings.force) as staged,
        show_stages(make_console(), "reading", 3) as enter,
        bad_input(),
    ):
        model = make_low_rank(settings, identity=settings.objects is None)
        model.verbose = settings.verbose or sys.stderr.isatty()
        data, objects, recipe = _read_objects(settings, pairs)
        with workers_of(address) as client:
            data = data.using(
                client,
                checkpoint=settings.checkpoint,
                every=settings.checkpoint_every or 1,
                resume=settings.resume,
            ).with_objects(client)
            objects = objects or _named(data.ids, pairs)
            labels = _Labels(settings)
            enter("training")
            distributed.fit(model, data.with_labels(labels.choose), settings.label)
            n_workers, n_parts = len(client.nthreads()), len(data.parts(client, data.columns))
        enter("saving")
        model.verbose = settings.verbose
        recipe = replace(recipe, labels=labels.names)
        summary = {
            "pairs": pairs.n_pairs,
            "objects": len(objects.texts),
            "tables": [*pairs.names, *(path.name for path in others)],
            "files of pairs": len(pairs.files),
            "parts": n_parts,
            "workers": n_workers,
        }
        if labels.counts:
            summary["label counts"] = labels.counts
        pairity.save(model, staged[0], metadata_of(objects, recipe, summary))
    say_trained(settings, model, summary, start)


def _read_objects(settings: Settings, pairs: ParquetPairs) -> tuple[Any, Objects | None, Recipe]:
    """Pairs for workers, and their objects; None where the pairs say which there are."""
    if settings.objects is None:
        return pairs.dataset(), None, Recipe(pairs.columns, identity=True)
    objects, columns, _ = table_of_objects(settings, pairs.columns)
    assert objects.numbers is not None
    refuse_missing(
        objects.numbers,
        columns.features or (),
        objects.name,
        "none with --distributed: fill them in or drop those objects.",
    )
    ids = pairs.ids_as_here(objects)
    objects = replace(objects, ids=as_objects(ids))
    return pairs.dataset(ids, objects.numbers), objects, Recipe(columns, identity=False)


def _named(ids: Any, pairs: ParquetPairs) -> Objects:
    """Objects that the pairs name; model files know ids by their texts."""
    listed = pd.Index(ids).tolist()
    texts = as_objects(map(text_of, listed))
    refuse_repeated(
        texts.tolist(),
        "got the id {value!r} as values of {count} types in {source}; expected one type: write the"
        " columns of ids alike in all files.",
        ", ".join(pairs.names),
    )
    return Objects(as_objects(listed), texts, None, "the pairs")


class _Labels:
    """Labels of a model for those of the files, as ``pairity fit`` chooses them."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.names: LabelNames | None = None
        self.counts: dict[str, int] = {}

    def choose(self, counts: Counter[Any]) -> Mapping[Any, Any]:
        """The label of the model for each of these; two texts at most."""
        by_text: Counter[str] = Counter()
        for label, count in counts.items():
            by_text[text_of(label)] += count
        if len(by_text) > 2:
            listed = ", ".join(sorted(by_text)[:5])
            raise InputError(
                f"got {len(by_text)} labels in column {self._settings.label!r}: {listed}; expected 2:"
                " leave the rows of others out of the files; for numbers use --learner ridge or svr."
            )
        column = pd.Series(list(counts), name=self._settings.label)
        labels = labels_of_column(
            column,
            positive=self._settings.positive,
            says_who_is_ahead=self._settings.symmetry == "antisymmetric",
        )
        self.names, self.counts = labels.names, dict(sorted(by_text.items()))
        return dict(zip(counts, np.asarray(labels.values).tolist(), strict=True))


def _refuse_options(settings: Settings) -> None:
    instead = {
        "tune": "--kernel and --C (or --alpha)",
        "probabilities": "--learner logistic, which has some",
        "report": "none: it needs all pairs in one place",
        "title": "none: there is no report",
        "name": "none: there is no report",
        "draw": "two labels",
        "drop_label": "files without those rows",
        "impute": "tables without missing numbers",
        "skip_unknown": "files without those rows",
        "neighbour_means": "none: they need all pairs in one place",
        "manifold": "--learner svc or logistic",
        "neighbors": "--learner svc or logistic",
        "groups": "none: nothing is validated there",
        "time": "one table of pairs: workers know no times",
        "decay": "one table of pairs: workers know no times",
    }
    for name, expected in instead.items():
        if getattr(settings, name) not in (None, False, ()):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"got {option} with --distributed; expected {expected}.")
    if settings.ids == "names":
        raise InputError("got --ids names with --distributed; expected a table of objects.")
    if settings.learner in ("transductive", "laplacian"):
        raise InputError(f"got --learner {settings.learner} with --distributed; expected another.")
    if settings.symmetry == "none":
        raise InputError(
            "got --symmetry none with --distributed; expected symmetric or antisymmetric."
        )


def _check_checkpoint(settings: Settings) -> None:
    """Refuse checkpoints that could not be written, or would replace something else."""
    path = settings.checkpoint
    if path is None:
        for option in ("resume", "checkpoint-every"):
            if getattr(settings, option.replace("-", "_")):
                raise InputError(f"got --{option} without --checkpoint; expected the file of it.")
        return
    check_place(path)
    others = [*settings.sources, settings.output, settings.objects]
    if any(other is not None and path.resolve() == other.resolve() for other in others):
        raise InputError(
            f"got {path} as checkpoint and as something else; expected a file of its own."
        )
    if settings.resume and not path.exists():
        raise InputError(f"got --resume, but there is no {path}; leave it out to start.")
    if path.exists() and not (settings.resume or settings.force):
        raise InputError(
            f"{path} is there already; choose another name, --resume to go on from it, or --force to"
            " start anew."
        )


# ``pairity predict --distributed`` --------------------------------------------------------------


def run_distributed_predict(settings: Settings, address: str) -> None:
    """Look, let the workers predict, say."""
    check_address(address)
    for name in ("scores", "odds", "time", "every", "skip_unknown"):
        if getattr(settings, name) not in (None, False, ()):
            raise InputError(
                f"got --{name.replace('_', '-')} with --distributed; expected one table of pairs, and"
                " --distributed left out."
            )
    start = time.perf_counter()
    with bad_input():
        found = read_model_file(settings.model)
        recipe = recipe_of(found, settings)
        grouped = recipe.columns.symmetric or recipe.columns.antisymmetric
        if grouped and recipe.symmetric_filling is not None:  # workers fill nothing
            raise InputError(
                "got a model that fills missing numbers of pairs with --distributed; expected one that"
                " was trained without --impute: predict without --distributed."
            )
        refuse_taken(("decision", "label", "value"), recipe)
        pairs = ParquetPairs(settings.sources, replace(recipe.columns, label=None))
        objects = read_objects(found, recipe, settings)
        data = pairs.dataset(pairs.ids_as_here(objects), recipe.object_table(objects))
    inputs = [*pairs.files, *settings.inputs()]
    with (
        new_folder(settings.output, inputs, "part-*.parquet", force=settings.force) as folder,
        show_stages(make_console(), "predicting", 1),
        bad_input(),
        workers_of(address) as client,
    ):
        names = label_names(found.model, recipe)
        files = write_predictions(found.model, data.using(client), folder, label_names=names)
        n_workers = len(client.nthreads())
    content = {
        "pairs": pairs.n_pairs,
        "predictions": str(settings.output),
        "files": len(files),
        "workers": n_workers,
        "seconds": round(time.perf_counter() - start, 2),
    }
    say(settings, f"predictions of {settings.model}", content)
