"""``pairity fit``."""

from __future__ import annotations

import importlib
import importlib.util
import time
from pathlib import Path
from typing import Any

import numpy as np

import pairity
from pairity.cli.console import make_console, show_stages
from pairity.cli.data import Training, read_training
from pairity.cli.errors import InputError, bad_input
from pairity.cli.learners import make_estimator
from pairity.cli.outputs import new_paths
from pairity.cli.settings import FitSettings
from pairity.cli.summary import describe_model, print_json, print_summary
from pairity.files import ModelMetadata

__all__ = ["run_fit"]


def run_fit(settings: FitSettings) -> None:
    """Read, train, save, say."""
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
        pairity.save(model, staged[0], _metadata(training, summary))
        if settings.report is not None:
            enter("writing the report")
            _write_report(model, training, staged[1])
    content = {**describe_model(model), **summary}
    content["seconds"] = round(time.perf_counter() - start, 2)
    content["model"] = str(settings.output)
    if settings.report is not None:
        content["report"] = str(settings.report)
    if settings.as_json:
        print_json(content)
    else:
        print_summary(console, f"trained on {settings.pairs}", content)


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


def _metadata(training: Training, summary: dict[str, Any]) -> ModelMetadata:
    objects = training.objects
    return ModelMetadata(
        feature_names=training.recipe.feature_names(objects),
        ids=objects.ids,
        objects=objects.numbers,
        training=summary,
        extra={"recipe": training.recipe},
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
