"""``pairity fit``."""

from __future__ import annotations

import importlib
import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import pairity
from pairity.cli.console import make_console, show_stages
from pairity.cli.data import Training, read_training, refuse_many_tables
from pairity.cli.errors import InputError, bad_input
from pairity.cli.learners import make_estimator
from pairity.cli.outputs import new_paths
from pairity.cli.settings import FitSettings
from pairity.cli.summary import describe_model, print_json, print_summary
from pairity.files import ModelMetadata
from pairity.tables import Objects, Recipe

__all__ = ["metadata_of", "run_fit", "say_trained"]


def run_fit(settings: FitSettings) -> None:
    """Read, train, save, say."""
    if settings.distributed is not None:
        from pairity.cli.distributed_fit import run_distributed_fit

        run_distributed_fit(settings, settings.distributed)
        return
    _refuse_workers_only(settings)
    if settings.report is not None:
        _refuse_report()
    console = make_console()
    start = time.perf_counter()
    stages = 3 + int(settings.report is not None)
    with (
        new_paths(settings.outputs(), settings.inputs(), force=settings.force) as staged,
        show_stages(console, "reading", stages) as enter,
        bad_input(),
    ):
        training = read_training(settings)
        enter("training")
        model = make_estimator(settings, identity=training.recipe.identity)
        model.fit(training.pairs, training.labels.values)
        enter("saving")
        summary = training_summary(settings, training, model)
        pairity.save(model, staged[0], metadata_of(training.objects, training.recipe, summary))
        if settings.report is not None:
            enter("writing the report")
            _write_report(model, training, staged[1])
    say_trained(console, settings, model, {**summary, "seconds": time.perf_counter() - start})


def say_trained(
    console: Console, settings: FitSettings, model: Any, summary: dict[str, Any]
) -> None:
    """Print what was trained, and where it is."""
    content = {**describe_model(model), **summary}
    content["seconds"] = round(content["seconds"], 2)
    content["model"] = str(settings.output)
    if settings.report is not None:
        content["report"] = str(settings.report)
    if settings.as_json:
        print_json(content)
    else:
        print_summary(console, f"trained on {' '.join(map(str, settings.sources[:3]))}", content)


def training_summary(settings: FitSettings, training: Training, model: Any) -> dict[str, Any]:
    """What a model was trained on, kept with it."""
    pairs, labels = training.pairs, training.labels
    used = np.unique(np.concatenate([pairs.first, pairs.second]))
    summary: dict[str, Any] = {
        "pairs": len(pairs),
        "objects": len(training.objects.texts),
        "objects in pairs": len(used),
        "tables": [path.name for path in settings.inputs()],
    }
    if labels.counts:
        summary["label counts"] = labels.counts
    if labels.n_dropped:
        summary["rows left out"] = labels.n_dropped
    if hasattr(model, "score"):
        name = "accuracy on the training pairs" if labels.counts else "R^2 on the training pairs"
        summary[name] = float(model.score(pairs, labels.values))
    return summary


def metadata_of(objects: Objects, recipe: Recipe, summary: dict[str, Any]) -> ModelMetadata:
    """What predict, rank and inspect need beside the model."""
    return ModelMetadata(
        feature_names=recipe.feature_names(objects),
        ids=objects.ids,
        objects=objects.numbers,
        training=summary,
        extra={"recipe": recipe},
    )


def _refuse_workers_only(settings: FitSettings) -> None:
    refuse_many_tables(settings.sources)
    given = {
        "--checkpoint": settings.checkpoint is not None,
        "--checkpoint-every": settings.checkpoint_every is not None,
        "--resume": settings.resume,
    }
    for option, is_given in given.items():
        if is_given:
            raise InputError(
                f"got {option} without --distributed; expected both: only a fit with workers keeps"
                " checkpoints."
            )


def _refuse_report() -> None:
    if importlib.util.find_spec("pairity.report") is None:
        raise InputError("got --report, which this version of Pairity cannot write; leave it out.")


def _write_report(model: Any, training: Training, path: Path) -> None:
    """The one place that knows how a report is asked for."""
    report = importlib.import_module("pairity.report")
    report.write_report(
        model,
        training.pairs,
        training.labels.values,
        path,
        feature_names=training.recipe.feature_names(training.objects),
        label_names=training.recipe.labels,
    )
