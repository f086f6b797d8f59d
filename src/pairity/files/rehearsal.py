"""A model that is saved or loaded, tried out: values, laws, and decisions about a few pairs.

Whatever passes here behaves as a model that ``fit`` could have made: it decides about pairs of its
widths with finite numbers, and obeys its swap law bit for bit.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from pairity.calibration.trainer import parity_of
from pairity.estimators.base import PairMachine
from pairity.exceptions import KernelError, ModelFileError
from pairity.files.fitted import check_values, parts_of
from pairity.files.laws import check_laws
from pairity.files.registry import is_own
from pairity.pairs import Pairs
from pairity.transform.base import PairTransformer

__all__ = ["check_model"]

#: Support pairs that a model is asked about.
_ASKED = 4
#: Columns of dense tables that are made up.
_MOST_COLUMNS = 100_000


def check_model(model: Any) -> None:
    """Refuse a model that no ``fit`` could have made."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            parts = list(parts_of(model))
            check_values(parts)
            check_laws(parts)
            if all(is_own(type(part)) for part in parts if isinstance(part, BaseEstimator)):
                _rehearse(model)
    except ModelFileError:
        raise
    except Exception as error:  # whatever parts that do not fit lead to
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise ModelFileError(
            f"got a model that cannot be used ({said}); expected one as fit leaves it."
        ) from None


def _rehearse(model: Any) -> None:
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    if not isinstance(steps[0], PairTransformer) and not hasattr(steps[0], "feature_widths_"):
        return  # a transformer of plain tables
    own = _support_of(steps[0])
    try:
        _decide(model, _made_up(steps[0].feature_widths_) if own is None else own)
    except KernelError:
        if own is not None:
            raise  # others may be refused: objects that a matrix of similarities has no row for


def _support_of(model: Any) -> Pairs | None:
    """Some support pairs of a model that is asked about pairs as they are."""
    while not isinstance(model, PairMachine):
        model = getattr(model, "best_estimator_", getattr(model, "estimator_", None))
        if model is None or isinstance(model, Pipeline):
            return None
    pairs = getattr(model, "support_pairs_", None)
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
    return Pairs(objects, [0, 1, 0, 1], [1, 0, 0, 1], *group)


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
