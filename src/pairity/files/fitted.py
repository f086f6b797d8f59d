"""What ``fit`` leaves behind, declared, and models held against it.

A model that is saved or loaded is checked as ``fit`` would: parameters by what constructors say
they take and by the checks that ``fit`` itself begins with, fitted values by the table below.  What
belongs together is compared in :mod:`pairity.files.laws`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from pairity.calibration.classifier import CalibratedPairClassifier
from pairity.calibration.draw_classifier import PairDrawClassifier
from pairity.calibration.draws import DrawModel
from pairity.calibration.isotonic import Isotonic
from pairity.calibration.sigmoid import Sigmoid
from pairity.estimators.base import PairMachine
from pairity.estimators.ridge import PairRidge
from pairity.estimators.transductive import TransductivePairSVC
from pairity.estimators.two_labels import TwoLabels
from pairity.exceptions import ModelFileError
from pairity.files.annotations import Floats, Rows, Scalar, Table, Vector, fits, misfit
from pairity.files.registry import is_own, name_of
from pairity.files.values import is_scalar
from pairity.kernels.algebra import Kernel
from pairity.kernels.nystroem import FeatureError
from pairity.lowrank.model import LowRankModel
from pairity.model import PairModel
from pairity.pairs import Pairs
from pairity.solvers.certificate import Certificate
from pairity.solvers.switching import Switch
from pairity.transform.derived_columns import DerivedFeatures
from pairity.transform.object_transformer import ObjectTransformer
from pairity.tuning.classifiers import PairLogisticCV, PairSVCCV
from pairity.tuning.combination import Combination
from pairity.tuning.search import PairSearch

__all__ = ["check_values", "is_fitted", "parts_of"]

Texts: TypeAlias = tuple[str, ...]
Widths: TypeAlias = tuple[int, int, int]

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
    PairSVCCV: _SIGMOID,
    PairLogisticCV: _SIGMOID,
    CalibratedPairClassifier: {**_READ, **_HELD_OUT, **_SIGMOID, "curve_": Sigmoid | Isotonic},
    PairDrawClassifier: {**_READ, **_HELD_OUT, "draw_model_": DrawModel, "threshold_": float},
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
    "feature_names_in_": NDArray[Any],
    "memory": None,
    "steps": list[tuple[str, BaseEstimator | str | None]],
    "transform_input": list[str] | None,
}
#: Parameters that take values of several kinds, and mean the same wherever they occur.
_PARAMETERS: dict[str, Any] = {
    "class_weight": dict[Any, float] | str | None,
    "cv": int | BaseCrossValidator | list[Any] | tuple[Any, ...] | None,
    "estimator": BaseEstimator | None,
    "kernel": Kernel | str | list[Kernel | str] | tuple[Kernel | str, ...],
    "outcomes": list[Scalar] | tuple[Scalar, ...] | NDArray[Any] | None,
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
        if not is_own(type(part)):
            continue  # containers, plain values, and classes of users, which check themselves
        if not isinstance(part, BaseEstimator) or isinstance(part, Kernel):
            values = dict(_values_of(part))
            _check(part, misfit(type(part), values))
            if isinstance(part, BaseCrossValidator):
                _check(part, next((n for n, v in values.items() if not _means(n, v)), None))
        elif type(part).__module__.startswith("sklearn."):
            _check_foreign(part)
        else:
            _check_estimator(part)


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


def _check(owner: Any, name: str | None) -> None:
    if name is not None:
        raise ModelFileError(
            f"got a value of {name_of(type(owner))}.{name!s:.40} that no fit leaves there; expected"
            " one of another kind: fit the model again, and keep what is yours in ModelMetadata."
        )


def _means(name: str, value: Any) -> bool:
    return fits(value, _PARAMETERS.get(name, Any))


def _check_foreign(estimator: BaseEstimator) -> None:
    """An estimator of scikit-learn; it checks ranges itself, in ``fit``."""
    for name, value in vars(estimator).items():
        if not fits(value, _FOREIGN_VALUES.get(name, _FOREIGN)):
            _check(estimator, name)
    for _, step in getattr(estimator, "steps", []):
        if isinstance(step, BaseEstimator) and not hasattr(step, "fit"):  # a kernel, say
            _check(estimator, "steps")


def _check_estimator(estimator: BaseEstimator) -> None:
    parameters = estimator.get_params(deep=False)
    _check(estimator, misfit(type(estimator), parameters))
    lines = (FITTED.get(cls, {}) for cls in reversed(type(estimator).__mro__))
    hints = {name: hint for line in lines for name, hint in line.items()}
    for name, value in vars(estimator).items():
        known = name in parameters or name in hints
        if not known or not fits(value, hints.get(name, Any)) or not _means(name, value):
            _check(estimator, name)
    check_parameters = getattr(estimator, "_check_parameters", None)
    if check_parameters is not None:
        check_parameters()
