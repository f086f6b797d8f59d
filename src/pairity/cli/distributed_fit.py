"""``pairity fit --distributed``: a low-rank model of pairs in many Parquet files."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pairity
from pairity.cli.cluster import check_address, workers_of
from pairity.cli.console import make_console, show_stages
from pairity.cli.data import table_of_objects, training_columns
from pairity.cli.errors import InputError, bad_input
from pairity.cli.fit import metadata_of, say_trained
from pairity.cli.learners import make_low_rank
from pairity.cli.outputs import new_paths
from pairity.cli.parquet_pairs import ParquetPairs
from pairity.cli.settings import FitSettings
from pairity.tables import LabelNames, Objects, Recipe, read_labels
from pairity.tables.identities import as_objects, text_of
from pairity.tables.missing import count_missing

__all__ = ["run_distributed_fit"]


def run_distributed_fit(settings: FitSettings, address: str) -> None:
    """Look, train on the workers, save, say."""
    _refuse_options(settings)
    check_address(address)
    _check_checkpoint(settings)
    console = make_console()
    start = time.perf_counter()
    with bad_input():
        pairs = ParquetPairs(settings.sources, training_columns(settings))
    inputs = [*pairs.files, *([] if settings.objects is None else [settings.objects])]
    with (
        new_paths(settings.outputs(), inputs, force=settings.force) as staged,
        show_stages(console, "reading", 3) as enter,
        bad_input(),
    ):
        model = make_low_rank(settings, identity=settings.objects is None)
        model.verbose = settings.verbose or sys.stderr.isatty()
        work = _read_objects(settings, pairs)
        with workers_of(address) as client:
            data = work.data.using(
                client,
                checkpoint=settings.checkpoint,
                every=settings.checkpoint_every or 1,
                resume=settings.resume,
            ).with_objects(client)
            objects = work.objects or _named(data.ids, pairs)
            labels = _Labels(settings)
            enter("training")
            model.fit(data.with_labels(labels.choose), settings.label)
            n_workers, n_parts = len(client.nthreads()), len(data.parts(client, data.columns))
        enter("saving")
        model.verbose = settings.verbose
        recipe = replace(work.recipe, labels=labels.names)
        summary = {
            "pairs": pairs.n_pairs,
            "objects": len(objects.texts),
            "tables": [*pairs.names, *(path.name for path in inputs[len(pairs.files) :])],
            "files of pairs": len(pairs.files),
            "parts": n_parts,
            "workers": n_workers,
        }
        if labels.counts:
            summary["label counts"] = labels.counts
        pairity.save(model, staged[0], metadata_of(objects, recipe, summary))
    say_trained(console, settings, model, {**summary, "seconds": time.perf_counter() - start})


@dataclass(frozen=True, eq=False)
class _Work:
    """Pairs for workers; ``objects`` is None where the pairs say which there are."""

    data: Any
    objects: Objects | None
    recipe: Recipe


def _read_objects(settings: FitSettings, pairs: ParquetPairs) -> _Work:
    if settings.objects is None:
        return _Work(pairs.dataset(), None, Recipe(pairs.columns, identity=True))
    objects, columns = table_of_objects(settings, settings.objects, pairs.columns)
    assert objects.numbers is not None
    missing = count_missing(objects.numbers, list(columns.features or ()))
    if missing:
        listed = ", ".join(f"{name!r} ({count})" for name, count in list(missing.items())[:5])
        raise InputError(
            f"got missing numbers in {objects.name}: column {listed}; expected none with --distributed:"
            " fill them in or drop those objects."
        )
    ids = pairs.ids_as_here(objects)
    objects = replace(objects, ids=as_objects(ids))
    recipe = Recipe(columns, identity=False)
    return _Work(pairs.dataset(ids, objects.numbers), objects, recipe)


def _named(ids: Any, pairs: ParquetPairs) -> Objects:
    """Objects that the pairs name; model files know ids by their texts."""
    listed = pd.Index(ids).tolist()
    texts = as_objects(map(text_of, listed))
    (text, count), *_ = Counter(texts.tolist()).most_common(1)
    if count > 1:
        raise InputError(
            f"got the id {text!r} as values of {count} types in {', '.join(pairs.names)}; expected one"
            " type: write the columns of ids alike in all files."
        )
    return Objects(as_objects(listed), texts, None, "the pairs")


class _Labels:
    """Labels of a model for those of the files, as ``pairity fit`` chooses them."""

    def __init__(self, settings: FitSettings) -> None:
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
        labels = read_labels(column, positive=self._settings.positive)
        self.names, self.counts = labels.names, dict(sorted(by_text.items()))
        return dict(zip(counts, np.asarray(labels.values).tolist(), strict=True))


def _refuse_options(settings: FitSettings) -> None:
    given = {
        "--tune": (settings.tune, "--kernel and --C (or --alpha)"),
        "--probabilities": (settings.probabilities, "--learner logistic, which has some"),
        "--report": (settings.report is not None, "none: it needs all pairs in one place"),
        "--draw": (settings.draw is not None, "two labels"),
        "--drop-label": (bool(settings.drop_label), "files without those rows"),
        "--impute": (settings.impute is not None, "tables without missing numbers"),
        "--symmetry none": (settings.symmetry == "none", "symmetric or antisymmetric"),
    }
    for option, (is_given, instead) in given.items():
        if is_given:
            raise InputError(f"got {option} with --distributed; expected {instead}.")


def _check_checkpoint(settings: FitSettings) -> None:
    """Refuse checkpoints that could not be written, or would replace something else."""
    path = settings.checkpoint
    if path is None:
        for option, given in (
            ("--resume", settings.resume),
            ("--checkpoint-every", settings.checkpoint_every is not None),
        ):
            if given:
                raise InputError(f"got {option} without --checkpoint; expected the file of it.")
        return
    _refuse_place(path, settings)
    if settings.resume and not path.exists():
        raise InputError(f"got --resume, but there is no {path}; leave it out to start.")
    if path.exists() and not (settings.resume or settings.force):
        raise InputError(
            f"{path} is there already; choose another name, --resume to go on from it, or --force to"
            " start anew."
        )


def _refuse_place(path: Path, settings: FitSettings) -> None:
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputError(f"got {path}, but there is no directory {parent}; make it first.")
    others = [*settings.sources, settings.output, settings.objects]
    if any(other is not None and path.resolve() == other.resolve() for other in others):
        raise InputError(
            f"got {path} as checkpoint and as something else; expected a file of its own."
        )
