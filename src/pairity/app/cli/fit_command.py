"""``pairity fit``: read, train, save, say."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

import pairity
from pairity.app.cli.console import make_console, show_stages
from pairity.app.cli.errors import InputError, bad_input
from pairity.app.cli.inspect_command import describe_model, meaning_of, say
from pairity.app.cli.kernel_text import parse_kernel
from pairity.app.cli.options import STANDARD_OUTPUT, Settings
from pairity.app.cli.outputs import new_paths
from pairity.app.cli.prediction_scores import held_out_over_time
from pairity.app.cli.training_data import (
    Training,
    names_of_objects,
    read_training,
    refuse_many_tables,
)
from pairity.io import ModelMetadata, Objects, Recipe
from pairity.kernels import Gaussian, Kernel, Linear, Nystroem, Product, Standardized
from pairity.kernels.standardized import as_kernel
from pairity.model_selection import TimeSplit

#: Landmarks of the default kernel of a low-rank model.
_LANDMARKS = 256

#: Estimators by the names of learners; searches have two letters more.
_ESTIMATORS = {
    "svc": "PairSVC",
    "logistic": "PairLogistic",
    "ridge": "PairRidge",
    "svr": "PairSVR",
    "transductive": "TransductivePairSVC",
    "laplacian": "LaplacianPairSVC",
}
_TUNED = ("svc", "logistic", "ridge")
#: Splits of what is chosen or calibrated in the order of time.
_SPLITS_IN_TIME = 5


def make_estimator(settings: Settings, *, identity: bool, pairs: Any = None) -> Any:
    """Estimator as asked for, wrapped for probabilities or draws.

    Objects known by their ids alone (``identity``) get an effect each: Bradley-Terry.  ``pairs`` are
    the arcs that a diffusion kernel knows.
    """
    estimator = _estimator(settings, "linear" if identity else "gaussian", pairs)
    if settings.neighbour_means is not None:
        means = pairity.NeighbourMeans(hops=settings.neighbour_means)
        estimator = make_pipeline(means, estimator)
    if settings.draw is not None:
        return pairity.PairDrawClassifier(estimator, **_splits(settings))
    if settings.probabilities and not hasattr(estimator, "predict_proba"):
        return pairity.CalibratedPairClassifier(estimator, **_splits(settings))
    return estimator


def _splits(settings: Settings) -> dict[str, Any]:
    """What is chosen or calibrated on: later pairs, where times are given."""
    return {} if settings.time is None else {"cv": TimeSplit(_SPLITS_IN_TIME)}


def _contradictions(settings: Settings) -> Iterator[str]:
    """Options that do not go together, a sentence each."""
    learner, symmetry = settings.learner, settings.symmetry
    predicts_numbers = learner in ("svr", "ridge")
    options = vars(settings).items()
    given = {name for name, value in options if value is not None and value is not False}
    if {"encode", "impute"} <= given:
        yield "got --encode with --impute; expected one of them: --encode fills what is missing too."
    if {"encode", "distributed"} <= given:
        yield "got --encode with --distributed; expected columns of numbers there."
    if "tune" in given and given & {"penalty", "alpha"}:
        yield "got --tune with --C or --alpha; expected one of them: --tune chooses it."
    if {"tune", "tol"} <= given and "kernel" not in given:
        yield (
            "got --tol with --tune; expected --kernel beside them, or no --tol: the automatic model has"
            " several learners, each with a tolerance of its own."
        )
    if "objects" not in given:
        if "skip_unknown" in given:
            yield (
                "got --skip-unknown without --objects; expected a table of objects: without one every"
                " id is known."
            )
        if "encode" in given and not settings.symmetric_feature:
            yield "got --encode without --objects or --symmetric-feature; expected columns to encode."
        grouped = settings.symmetric_feature or settings.antisymmetric_feature
        if "impute" in given and not grouped:
            yield "got --impute without --objects or features of pairs; expected numbers to fill."
    if "penalty" in given and learner == "ridge":
        yield "got --C for --learner ridge; expected --alpha."
    if "alpha" in given and learner != "ridge":
        yield f"got --alpha for --learner {learner}; expected --C."
    if "probabilities" in given and predicts_numbers:
        yield f"got --probabilities for --learner {learner}; expected svc or logistic."
    if given & {"positive", "draw"} and predicts_numbers:
        what = f"--positive or --draw for --learner {learner}, which predicts numbers"
        yield f"got {what}; expected svc or logistic."
    if "draw" in given and symmetry != "antisymmetric":
        expected = "antisymmetric: a draw is between win and loss"
        yield f"got --draw with --symmetry {symmetry}; expected {expected}."
    if "decay" in given and "time" not in given:
        yield "got --decay without --time; expected both: pairs fade with their age."
    if {"decay", "tune"} <= given:
        yield "got --decay with --tune; expected one of them: searches weigh all pairs alike."
    if given & {"manifold", "neighbors"} and learner != "laplacian":
        yield f"got --manifold or --neighbors for --learner {learner}; expected laplacian."
    if given & {"report", "probabilities", "draw"} and learner in ("transductive", "laplacian"):
        what = f"--report, --probabilities or --draw for --learner {learner}"
        yield f"got {what}; expected svc or logistic."
    if {"tune", "neighbour_means"} <= given:
        yield "got --tune with --neighbour-means; expected --C (or --alpha) and --kernel."
    if "tune" in given and learner not in _TUNED:
        yield f"got --tune for --learner {learner}; expected one of {', '.join(_TUNED)}."
    if "ranking" not in given:
        for name in ("level", "by", "effects", "judges"):
            if name in given:
                yield f"got --{name} without --ranking; expected both."
    elif learner not in ("logistic", "ridge") or symmetry != "antisymmetric":
        what = f"--ranking with --learner {learner}, --symmetry {symmetry}"
        yield f"got {what}; expected logistic or ridge, antisymmetric."
    elif settings.time or settings.symmetric_feature or settings.distributed:
        yield (
            "got --ranking with --time, --symmetric-feature or --distributed; expected pairity rank"
            " after the fit, which says what is compared."
        )


def make_low_rank(settings: Settings, *, identity: bool) -> Any:
    """Estimator for workers: one whose kernel has few features of objects."""
    default: Any = "linear"
    if not identity:
        grouped = settings.symmetric_feature or settings.antisymmetric_feature
        inner = Standardized(Product(Gaussian("median")) + Linear()) if grouped else "gaussian"
        default = Nystroem(inner, _LANDMARKS)
    estimator = _estimator(settings, default)
    if _has_bare_gaussian(as_kernel(estimator.kernel)):
        raise InputError(
            f"got --kernel {settings.kernel} with --distributed; expected one with few features of"
            f" objects: wrap it, as in \"nystroem('gaussian', {_LANDMARKS})\"."
        )
    return estimator


def _has_bare_gaussian(kernel: Kernel) -> bool:
    """Whether a Gaussian is there that no landmarks stand for."""
    if isinstance(kernel, Nystroem):
        return False
    return isinstance(kernel, Gaussian) or any(map(_has_bare_gaussian, kernel.children()))


def _estimator(settings: Settings, default: Any, pairs: Any = None) -> Any:
    """One fit with this kernel if none is named; or a search that chooses, the automatic model."""
    for contradiction in _contradictions(settings):
        raise InputError(contradiction)
    if settings.tune and settings.kernel is None:
        regression = settings.learner == "ridge"
        automatic = pairity.PairRegressorCV if regression else pairity.PairClassifierCV
        return automatic(settings.symmetry, verbose=settings.verbose, **_splits(settings))
    kernel = default if settings.kernel is None else parse_kernel(settings.kernel, pairs)
    given = {"tol": settings.tol, "C": settings.penalty, "alpha": settings.alpha}
    given["decay"] = settings.decay
    given |= {"manifold": settings.manifold, "n_neighbors": settings.neighbors}
    options = {name: value for name, value in given.items() if value is not None}
    options |= _splits(settings) if settings.tune else {}
    name = _ESTIMATORS[settings.learner] + ("CV" if settings.tune else "")
    estimator = getattr(pairity, name)
    return estimator(settings.symmetry, kernel=kernel, verbose=settings.verbose, **options)


# ``pairity fit`` --------------------------------------------------------------------------------


def run_fit(settings: Settings) -> None:
    """Read, train, save, say."""
    for name in ("output", "report"):
        if getattr(settings, name) == STANDARD_OUTPUT:
            what = "a model" if name == "output" else "a report"
            raise InputError(f"got --{name} - for {what}; expected the name of a file.")
    if settings.distributed is not None:
        from pairity.app.cli.distributed_commands import run_distributed_fit

        run_distributed_fit(settings, settings.distributed)
        return
    _refuse_workers_only(settings)
    start = time.perf_counter()
    n_stages = 3 + (settings.report is not None) + (settings.ranking is not None)
    with (
        new_paths(settings.outputs(), settings.inputs(), force=settings.force) as staged,
        show_stages(make_console(), "reading", n_stages) as enter,
        bad_input(),
    ):
        training = read_training(settings)
        enter("training")
        identity = training.recipe.identity
        model = make_estimator(settings, identity=identity, pairs=training.pairs)
        model.fit(training.pairs, training.labels.values, **_groups(settings, training, model))
        enter("saving")
        summary = _summary(settings, training, model)
        pairity.save(model, staged[0], metadata_of(training.objects, training.recipe, summary))
        if settings.report is not None:
            from pairity.app.report import write_report

            enter("writing the report")
            write_report(
                model,
                training.pairs,
                training.labels.values,
                staged[1],
                feature_names=training.recipe.feature_names(training.objects),
                label_names=training.recipe.labels,
                object_names=names_of_objects(settings),
                groups=training.groups,
                dates=training.dates,
                title=settings.title,
            )
        ranked = _ranking(settings, training, model, staged, enter)
    say_trained(settings, model, summary | ranked, start)


def _ranking(
    settings: Settings, training: Training, model: Any, staged: Sequence[Path], enter: Any
) -> dict[str, Any]:
    """Write the ranking where it is asked for, as ``pairity rank`` would; what to say of it."""
    if settings.ranking is None:
        return {}
    from pairity.app.cli.ask_commands import Asked
    from pairity.app.cli.rank_command import write_ranking

    enter("ranking")
    places = dict(zip(settings.outputs(), staged, strict=True))
    given = Asked(model, training.recipe, training.objects, places)
    own = {name: getattr(settings, name) for name in ("level", "by", "effects", "judges")}
    own |= {"output": settings.ranking, "intervals": True}
    own["training"] = None if settings.by in (None, "object") else settings.pairs
    own |= dict.fromkeys(("pairs", "method", "threshold"))
    return write_ranking(given, Settings(**own)) | {"ranking": str(settings.ranking)}


def _groups(settings: Settings, training: Training, model: Any) -> dict[str, Any]:
    """Groups for a fit that validates; refused where nothing is validated."""
    if training.groups is None:
        return {}
    validates = has_fit_parameter(model, "groups")
    if not validates and settings.report is None:
        raise InputError(
            f"got --groups {settings.groups}, but nothing is validated; expected --tune,"
            " --probabilities, --draw or --report beside it."
        )
    if validates and settings.time is not None:
        raise InputError(
            f"got --groups {settings.groups} with --time {settings.time}; expected one of them: with"
            " --time whatever is chosen or calibrated is validated on later pairs, of any group."
        )
    return {"groups": training.groups} if validates else {}


def say_trained(settings: Settings, model: Any, summary: dict[str, Any], start: float) -> None:
    """What was trained, and where it is."""
    content = describe_model(model) | summary
    content |= {"seconds": round(time.perf_counter() - start, 2), "model": str(settings.output)}
    if settings.report is not None:
        content["report"] = str(settings.report)
    say(settings, f"trained on {' '.join(map(str, settings.sources[:3]))}", content)


def _summary(settings: Settings, training: Training, model: Any) -> dict[str, Any]:
    """What a model was trained on, kept with it."""
    pairs, labels, recipe = training.pairs, training.labels, training.recipe
    score = "accuracy" if labels.counts else "R^2"
    by_name: dict[str, Any] = {}  # labels, and what the last one means
    if labels.names is not None:
        names = labels.names.names
        by_name = {"labels": list(names)} | meaning_of(settings, names)
    encodings = [one for one in (recipe.encoding, recipe.symmetric_encoding) if one is not None]
    content = {
        "pairs": len(pairs),
        "objects": len(training.objects.texts),
        "objects in pairs": len(np.unique(np.concatenate([pairs.first, pairs.second]))),
        "tables": [path.name for path in settings.inputs()],
        "label counts": labels.counts or None,
        **by_name,
        "rows left out": labels.n_dropped or None,
        **training.left_out,
        "ids": _about_ids(recipe),
        "columns taken as": {k: kind for one in encodings for k, kind in one.kinds.items()} or None,
        **(held_out_over_time(model, training) if settings.tune else {}),
        f"{score} on the training pairs": float(model.score(pairs, labels.values))
        if hasattr(model, "score") and settings.learner not in ("transductive", "laplacian")
        else None,
    }
    return {name: value for name, value in content.items() if value is not None}


def _about_ids(recipe: Recipe) -> str | None:
    """What ids are where that is easily overlooked: beside features of pairs."""
    if recipe.names_only:
        return "names only: the model goes by features of pairs, and any pair can be asked about"
    if recipe.identity and (recipe.columns.symmetric or recipe.columns.antisymmetric):
        return "a feature each: only these objects can be asked about; --ids names makes them names"
    return None


def metadata_of(objects: Objects, recipe: Recipe, summary: dict[str, Any]) -> ModelMetadata:
    """What predict, rank and inspect need beside the model."""
    return ModelMetadata(
        feature_names=recipe.feature_names(objects),
        ids=objects.ids,
        objects=objects.numbers,
        training=summary,
        extra={"recipe": recipe},
    )


def _refuse_workers_only(settings: Settings) -> None:
    refuse_many_tables(settings.sources)
    for name in ("title", "name"):
        if getattr(settings, name) is not None and settings.report is None:
            raise InputError(f"got --{name} without --report; expected the report that it is for.")
    for name in ("checkpoint", "checkpoint_every", "resume"):
        if getattr(settings, name):
            raise InputError(
                f"got --{name.replace('_', '-')} without --distributed; expected both: only a fit with"
                " workers keeps checkpoints."
            )
