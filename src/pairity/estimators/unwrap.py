"""Looking inside what users hold: a pipeline, a search, a calibration, and the learner in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from pairity.pairs.parity import Parity
from pairity.training.labels import direction_of, refuse_ambiguous


def layers(model: Any, *, fitted: bool = True) -> Iterator[Any]:
    """A model and what is inside it, outermost first: what was fitted, or what would be."""
    names = ("best_estimator_", "estimator_") if fitted else ("estimator",)
    yield model
    steps = getattr(model, "steps", None)
    inner = [steps[-1][1]] if steps else [getattr(model, name, None) for name in names]
    for inside in filter(lambda one: one is not None, inner):
        within = list(layers(inside, fitted=fitted))
        # what an estimator of pairs holds that knows nothing of pairs is its own business
        if not hasattr(model, "symmetry") or any(hasattr(layer, "symmetry") for layer in within):
            yield from within
        return


def describe_layers(model: Any) -> str:
    """Names of an estimator and of what is inside: "CalibratedPairClassifier of PairSVC"."""
    return " of ".join(type(layer).__name__ for layer in layers(model))


def innermost(estimator: Any) -> Any:
    """The estimator of pairs inside pipelines, searches and other wrappers, fitted or not."""
    for layer in layers(estimator, fitted=False):
        if hasattr(layer, "symmetry"):
            return layer
    raise ValueError(
        f"got estimator {estimator!r}, which has no symmetry; expected an estimator of pairs such as"
        " PairSVC, alone or in a Pipeline or a search."
    )


def machine_of(model: Any) -> Any:
    """The fitted learner inside, without the steps of pipelines before it."""
    *_, machine = layers(model)
    return machine


def learner_of(model: Any) -> Any:
    """The fitted learner inside searches and calibrations; pipelines keep their other steps.

    Fitting a clone of it again holds the kernel and the strength that a search chose.
    """
    if isinstance(model, Pipeline):
        *before, (name, last) = model.steps
        return Pipeline([*before, (name, learner_of(last))])
    _, *inner = layers(model)
    return learner_of(inner[0]) if inner else model


def direction(model: Any, parity: Parity | None) -> float:
    """+1 where a value above 0 says that the first object is ahead, or the two are alike; or -1.

    Refused where labels of an antisymmetric model do not say it.
    """
    classes = getattr(model, "classes_", None)
    if classes is None or len(classes) != 2:  # numbers; draws are in their order
        return 1.0
    named = (getattr(layer, "positive", None) for layer in layers(model))
    positive = next((label for label in named if label is not None), None)
    if parity is Parity.ODD:
        refuse_ambiguous(classes, positive)
    return direction_of(classes, positive)


def ahead(model: Any) -> str:
    """What says that the first object of a pair is ahead."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return "values above 0"
    label = classes[-1] if direction(model, Parity.ODD) > 0.0 else classes[0]
    return f"label {label}"


def limit_of(model: Any) -> float | None:
    """The ``memory_limit`` of a model, or of what is inside it."""
    limits = (getattr(layer, "memory_limit", None) for layer in layers(model))
    return next((float(limit) for limit in limits if limit is not None), None)


def weight_name(model: Any) -> str:
    """What ``fit`` calls the weights of rows; a search hands them on."""
    is_search = hasattr(model, "estimator") and hasattr(model, "refit")
    if has_fit_parameter(model, "sample_weight") or is_search:
        return "sample_weight"
    if getattr(model, "steps", None):
        return f"{model.steps[-1][0]}__sample_weight"
    raise ValueError(
        f"got sample_weight for {type(model).__name__}, whose fit takes none; expected an estimator"
        " that can weigh rows: leave the weights out."
    )
