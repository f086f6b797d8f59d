"""A model that was loaded, asked about a few pairs: its decisions are finite and obey its swap law."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from pairity.estimators.transformers import PairTransformer
from pairity.estimators.unwrap import layers
from pairity.exceptions import KernelError, ModelFileError
from pairity.io.fitted_state import is_fitted
from pairity.model_selection.held_out import parity_of
from pairity.pairs.data import Pairs

#: Support pairs that a model is asked about, and columns of dense tables that are made up.
_ASKED, _MOST_COLUMNS = 4, 100_000


def rehearse(model: Any, first_step: Any) -> None:
    """Ask a model about some of its support pairs, or about pairs that are made up."""
    if not isinstance(first_step, PairTransformer) and not hasattr(first_step, "feature_widths_"):
        return  # a transformer of plain tables
    own = _support_of(first_step)
    try:
        _decide(model, _made_up(first_step.feature_widths_) if own is None else own)
    except KernelError:
        if own is not None:
            raise  # others may be refused: objects that a matrix of similarities has no row for


def steps_of(model: Any) -> list[Any]:
    """What a pipeline does, each step fitted; the model itself if it is none."""
    if not isinstance(model, Pipeline):
        return [model]
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    if not steps or any(isinstance(step, str) for step in steps):
        raise ModelFileError(
            "got a pipeline without a step that does something, or with a text for one; expected"
            " fitted estimators, or 'passthrough' between them."
        )
    for step in steps:
        if isinstance(step, BaseEstimator) and not is_fitted(step):
            raise ModelFileError(
                f"got a pipeline whose {type(step).__name__} is not fitted; expected a fitted one."
            )
    return steps


def _support_of(model: Any) -> Pairs | None:
    """Some support pairs of a model that is asked about pairs as they are."""
    *around, machine = layers(model)
    pairs = getattr(machine, "support_pairs_", None)
    if any(isinstance(layer, Pipeline) for layer in around):
        return None
    return pairs[:_ASKED] if pairs is not None and len(pairs) else None


def _made_up(widths: tuple[int, int, int]) -> Pairs:
    """Two objects, in both orders and each with itself; sparse ones if there are many columns."""
    if max(widths[1:]) > _MOST_COLUMNS:
        raise ModelFileError("got a model of more columns than tables have; expected fewer.")
    if widths[0] > _MOST_COLUMNS:
        objects = sp.csr_array(([1.0], ([1], [0])), shape=(2, widths[0]))
    else:
        objects = np.vstack([np.zeros(widths[0]), np.ones(widths[0])])
    signs = np.array([[1.0], [-1.0], [0.0], [0.0]])
    group = np.ones((4, widths[1])), signs * np.ones(widths[2])
    return Pairs(objects, [0, 1, 0, 1], [1, 0, 0, 1], *group, time=np.zeros(4))


def _decide(model: Any, pairs: Pairs) -> None:
    if not hasattr(model, "predict"):
        model.transform(pairs)
        return
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    values, swapped = (np.asarray(getattr(model, name)(side)) for side in (pairs, pairs.swap()))
    parity = parity_of(model)
    sound = (
        values.shape == (len(pairs),)
        and values.dtype == np.float64
        and np.isfinite(values).all()
        and (parity is None or (values == parity.sign * swapped).all())
        and len(model.predict(pairs)) == len(pairs)
    )
    if not sound:
        raise ModelFileError(
            "got a model whose decisions are not finite or break its swap law; expected one as fit"
            " leaves it."
        )
    if hasattr(model, "predict_proba"):
        model.predict_proba(pairs)
