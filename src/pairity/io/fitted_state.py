"""What ``fit`` leaves behind, declared, and models held against it.

A model that is saved or loaded is checked as ``fit`` would: parameters by what the annotations of
constructors say they take and by the checks that ``fit`` itself begins with, fitted values by the
table below, in the same language.  Numbers count as what they can stand for: a whole one for a
``float``.  What belongs together is compared in :mod:`pairity.io.laws`.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from pairity.estimators.derived_features import DerivedFeatures
from pairity.estimators.machine import PairMachine, TwoLabels
from pairity.estimators.neighbour_features import NeighbourMeans
from pairity.estimators.past_rates import PastRates
from pairity.estimators.ridge import PairRidge
from pairity.estimators.semi_supervised import TransductivePairSVC
from pairity.estimators.stored_trees import StoredTrees
from pairity.estimators.symmetrized import Symmetrized
from pairity.estimators.transformers import ObjectTransformer
from pairity.estimators.uncertainty import WithPosterior
from pairity.exceptions import ModelFileError
from pairity.io.registry import is_own, name_of
from pairity.io.values import is_scalar
from pairity.kernels.algebra import Kernel
from pairity.kernels.landmarks import FeatureError
from pairity.model_selection.automatic_model import AutomaticModel, Member
from pairity.model_selection.calibrated import CalibratedPairClassifier, PairDrawClassifier
from pairity.model_selection.combination import Combination
from pairity.model_selection.curves import DrawModel, Isotonic, Sigmoid
from pairity.model_selection.search import PairSearch
from pairity.model_selection.searches import PairLogisticCV, PairSVCCV
from pairity.pairs.data import Pairs
from pairity.solvers.certificate import Certificate
from pairity.solvers.low_rank.function import LowRankModel
from pairity.solvers.switching import Switch
from pairity.training.model import PairModel
from pairity.training.read import Observations

#: Arrays with their number of dimensions, or any number of them.
Floats: TypeAlias = NDArray[np.floating[Any]]
Vector = Annotated[NDArray[np.float64], 1]
Table = Annotated[NDArray[np.float64], 2]
Rows = Annotated[NDArray[np.integer[Any]], 1]
Texts: TypeAlias = tuple[str, ...]
Widths: TypeAlias = tuple[int, int, int]


class Scalar:
    """Stands for one number, text or date: a label, say."""


_READ = {"n_features_in_": int, "feature_widths_": Widths, "feature_names_in_": NDArray[Any]}
_HELD_OUT = {
    "calibration_rows_": Rows,
    "calibration_folds_": Rows,
    "calibration_decisions_": Vector,
    "calibration_pairs_": Pairs,
    "estimator_": BaseEstimator,
    "classes_": NDArray[Any],
    "slope_": float,
}
_SIGMOID = {"slope_": float, "offset_": float}

#: Fitted values by class; those of base classes come along.
FITTED: dict[type[Any], dict[str, Any]] = {
    PairMachine: {
        **_READ,
        "_dual": Vector,
        "_model": PairModel | LowRankModel,
        "approximation_": tuple[FeatureError, ...],
        "certificate_": Certificate,
        "dual_coef_": Vector,
        "intercept_": float,
        "n_iter_": int,
        "objective_": float,
        "support_": Rows,
        "support_pairs_": Pairs,
    },
    TwoLabels: {"classes_": NDArray[Any]},
    WithPosterior: {"observed_": Observations},
    PairRidge: {
        "alpha_": float,
        "coef_path_": Table,
        "loo_errors_": Vector,
        "loo_residuals_": Vector,
    },
    TransductivePairSVC: {
        "history_": list[Switch],
        "supervised_objective_": float,
        "transduction_": NDArray[Any],
    },
    PairSearch: {
        **_READ,
        "_held_out": tuple[Vector, Vector],
        "best_estimator_": PairMachine,
        "best_index_": int,
        "best_params_": dict[str, Any],
        "best_score_": float,
        "combination_": Combination | None,
        "cv_results_": dict[str, Any],
        "held_out_decisions_": Vector,
        "held_out_rows_": Rows,
        "kernel_": Kernel | str,
        "n_splits_": int,
        "refit_factor_": float,
    },
    AutomaticModel: {
        **_READ,
        "best_score_": float,
        "held_out_decisions_": Vector,
        "held_out_rows_": Rows,
        "members_": dict[str, Member],
        "n_splits_": int,
        "weights_": dict[str, float],
    },
    PairSVCCV: _SIGMOID,
    PairLogisticCV: _SIGMOID,
    CalibratedPairClassifier: {**_READ, **_HELD_OUT, **_SIGMOID, "curve_": Sigmoid | Isotonic},
    PairDrawClassifier: {**_READ, **_HELD_OUT, "draw_model_": DrawModel, "threshold_": float},
    Symmetrized: {
        **_READ,
        "_has_log_odds": bool,
        "_n_fitted": int,
        "classes_": NDArray[Any],
        "estimator_": BaseEstimator | StoredTrees,
        "rates_": PastRates | None,
    },
    NeighbourMeans: {**_READ, "graph_": Pairs},
    DerivedFeatures: {**_READ, "_even": Texts, "_odd": Texts},
    ObjectTransformer: {
        **_READ,
        "_widths_out": Widths,
        "antisymmetric_": BaseEstimator | None,
        "n_objects_seen_": int,
        "symmetric_": BaseEstimator | None,
        "transformer_": BaseEstimator | None,
    },
}
#: Of scikit-learn's classes: numbers, texts and arrays of numbers; nothing that names a folder.
_FOREIGN = Scalar | Floats | NDArray[np.integer[Any]] | tuple[float, ...] | list[float]
_FOREIGN_VALUES: dict[str, Any] = {
    "_scaler": BaseEstimator,
    "_sklearn_output_config": dict[str, str],
    "classes_": NDArray[Any],
    "feature_names_in_": NDArray[Any],
    "memory": None,
    "steps": list[tuple[str, BaseEstimator | str | None]],
    "trees": StoredTrees,
    "transform_input": list[str] | None,
}
#: Parameters that take values of several kinds, and mean the same wherever they occur.
_PARAMETERS: dict[str, Any] = {
    "boosting": BaseEstimator | None,
    "class_weight": dict[Any, float] | str | None,
    "cv": int | BaseCrossValidator | list[Any] | tuple[Any, ...] | None,
    "estimator": BaseEstimator | None,
    "kernel": Kernel | str | list[Kernel | str] | tuple[Kernel | str, ...],
    "outcomes": list[Scalar] | tuple[Scalar, ...] | NDArray[Any] | None,
    "positive": Scalar,
    "random_state": int | None,
    "splitter": BaseCrossValidator,
    "tie_label": Scalar,
    "transformer": BaseEstimator | None,
    "unlabelled": Scalar,
}


def check_values(parts: list[Any]) -> None:
    """Refuse values that no constructor takes and no ``fit`` leaves behind."""
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype == object and part.ndim != 1:
            raise ModelFileError("got a table of objects; expected one column of them.")
        if is_own(type(part)):  # others: plain values, and classes of users, which check themselves
            name = next(_misfits(part), None)
            if name is not None:
                raise ModelFileError(
                    f"got a value of {name_of(type(part))}.{name!s:.40} that no fit leaves there;"
                    " expected one of another kind: fit the model again, and keep what is yours in"
                    " ModelMetadata."
                )
            if hasattr(part, "_check_parameters"):
                part._check_parameters()


def _misfits(part: Any) -> Iterator[str]:
    """Names of the values that are not what a class says they are."""
    cls: Any = type(part)
    values = dict(_values_of(part))
    is_estimator = isinstance(part, BaseEstimator) and not isinstance(part, Kernel)
    if is_estimator and cls.__module__.startswith("sklearn."):  # which checks ranges itself, in fit
        hints = dict.fromkeys(values, _FOREIGN) | _FOREIGN_VALUES
        for _, step in getattr(part, "steps", []):
            if isinstance(step, BaseEstimator) and not hasattr(step, "fit"):  # a kernel, say
                yield "steps"
    else:
        hints = _hints_of(cls)
        if is_estimator:
            parameters = part.get_params(deep=False)
            tables = (FITTED.get(base, {}) for base in reversed(cls.__mro__))
            fitted = {name: hint for table in tables for name, hint in table.items()}
            yield from (name for name in values if name not in parameters | fitted)
            hints = hints | fitted
        if is_estimator or isinstance(part, BaseCrossValidator):
            yield from (n for n, one in values.items() if not fits(one, _PARAMETERS.get(n, Any)))
    yield from (name for name, value in values.items() if not fits(value, hints.get(name, Any)))


@cache
def _hints_of(cls: Any) -> dict[str, Any]:
    return get_type_hints(cls if is_dataclass(cls) else cls.__init__)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is what an annotation says."""
    if hint is Any:
        return True
    if hint is Scalar:
        return is_scalar(value)
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return fits(value, inside[0]) and value.ndim == inside[1]
    if origin is Union or origin is UnionType:
        return any(fits(value, choice) for choice in inside)
    if origin is not None:
        return _fits_container(value, origin, inside)
    return isinstance(value, _STANDS_FOR.get(hint, hint)) and not (
        hint in (int, float) and isinstance(value, bool | np.bool_)
    )


_STANDS_FOR: dict[Any, Any] = {
    None: NoneType,
    float: numbers.Real,
    int: numbers.Integral,
    bool: (bool, np.bool_, numbers.Integral),
    sp.csr_array: (sp.csr_array, sp.csr_matrix),
}


def _fits_container(value: Any, origin: Any, inside: tuple[Any, ...]) -> bool:
    if origin is np.ndarray:
        (kind,) = get_args(inside[1])
        return isinstance(value, np.ndarray) and (
            kind is Any or np.issubdtype(value.dtype, get_origin(kind) or kind)
        )
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(key, inside[0]) and fits(entry, inside[1]) for key, entry in value.items()
        )
    if origin is tuple and Ellipsis not in inside:
        return (
            isinstance(value, tuple) and len(value) == len(inside) and all(map(fits, value, inside))
        )
    if isinstance(origin, type) and issubclass(origin, Collection):
        kinds = origin if origin in (tuple, list) else (list, tuple, np.ndarray)
        return isinstance(value, kinds) and all(fits(entry, inside[0]) for entry in value)
    return False  # functions, which files do not hold


def is_fitted(estimator: BaseEstimator) -> bool:
    """Whether an estimator has values besides its parameters."""
    return not set(vars(estimator)) <= set(estimator.get_params(deep=False))


def parts_of(value: Any) -> Iterator[Any]:
    """A value and all values inside it, each object once."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if is_scalar(value) or id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        waiting.extend(inner for _, inner in _values_of(value))


def _values_of(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Kernel):
        yield from value.parameters().items()
    elif StoredTrees.stand_for(value):
        yield "trees", StoredTrees.of(value)
    elif isinstance(value, BaseEstimator | BaseCrossValidator):
        yield from vars(value).items()
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, np.ndarray) and value.dtype == object:
        yield from enumerate(value.ravel().tolist())
    elif isinstance(value, Pairs):
        yield "ids", value.ids
    elif is_dataclass(value) and not isinstance(value, type):
        yield from ((field.name, getattr(value, field.name)) for field in fields(value))
