"""Everything beyond plain values as JSON, and back: numbers of NumPy, dates, pairs, models.

Kernels, estimators, splitters and records are written as the name of their class in the registry and
what they are made of, and built again by their own constructors, which check what they are given.
Importing this module declares all of them.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
import warnings
from dataclasses import fields, is_dataclass
from inspect import getattr_static
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import BaseCrossValidator

from pairity.estimators.machine import PairMachine
from pairity.estimators.stored_trees import StoredTrees
from pairity.exceptions import ModelFileError, PairityWarning
from pairity.io.registry import class_of, is_registered, name_of
from pairity.io.values import (
    TYPE_NAMES,
    Decoder,
    Encoder,
    decodes,
    encodes,
    is_name,
    refuse_value,
    scalar_type,
)
from pairity.kernels.algebra import EntrywiseProduct, Kernel, Sum
from pairity.kernels.object_kernels import Callable
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.solvers.choices import SMO, Splitting

_OPTIONS_OF_SOLVERS = ("selection", "iterates", "shrinking", "cache_size", "precision")


# Numbers and arrays of NumPy, and what ids and labels are made of -------------------------------


@encodes(np.generic, subclasses=True)
def _scalar(encoder: Encoder, value: np.generic, where: str) -> Any:
    if value.dtype.kind == "U":
        return {"$": "scalar", "type": "text", "value": str(value)}
    name = TYPE_NAMES.get(value.dtype.newbyteorder("<"))
    if name is None:
        raise ModelFileError(f"got {where} of type {value.dtype}; expected a number or a text.")
    # dates as counts of their unit
    plain = value.view(np.int64).item() if value.dtype.kind in "Mm" else value.item()
    return {"$": "scalar", "type": name, "value": encoder.value(plain, where)}


@decodes("scalar")
def _read_scalar(decoder: Decoder, type: Any, value: Any) -> Any:
    value = decoder.value(value)
    if type == "text":
        return np.str_(_expect(value, str))
    dtype = scalar_type(type)
    wanted = {"b": bool, "f": float}.get(dtype.kind, int)
    count = np.array(_expect(value, wanted), dtype=np.int64 if dtype.kind in "Mm" else dtype)
    return count.view(dtype)[()]


def _expect(value: Any, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise ModelFileError(f"got {type(value).__name__}; expected {kind.__name__}.")
    return value


@encodes(np.ndarray, subclasses=True)
def _array(encoder: Encoder, value: Any, where: str) -> Any:
    if type(value) is not np.ndarray:
        raise ModelFileError(
            f"got {type(value).__name__} as {where}; expected a plain array: convert it before saving."
        )
    return {"$": "array", "place": encoder.array(value, where)}


decodes("array")(lambda decoder, place: decoder.array(place))


def _as_text(tag: str, kind: type[Any], write: Any, read: Any) -> None:
    """Values that have a text form of their own."""
    encodes(kind)(lambda encoder, value, where: {"$": tag, "value": write(value)})
    decodes(tag)(lambda decoder, value: read(_expect(value, str)))


_as_text("bytes", bytes, bytes.hex, bytes.fromhex)
for _tag in ("date", "time", "datetime"):
    _kind = getattr(datetime, _tag)
    _as_text(_tag, _kind, _kind.isoformat, _kind.fromisoformat)
_as_text("decimal", decimal.Decimal, str, decimal.Decimal)
_as_text("uuid", uuid.UUID, str, uuid.UUID)


@encodes(datetime.datetime, subclasses=True)
def _timestamp(encoder: Encoder, value: Any, where: str) -> Any:
    if not hasattr(value, "unit"):  # not of pandas
        return refuse_value(encoder, value, where)
    return {"$": "timestamp", "value": value.isoformat(), "unit": value.unit}


@decodes("timestamp")
def _read_timestamp(decoder: Decoder, value: Any, unit: Any) -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise ModelFileError("got dates of pandas; expected pandas: pip install pandas.") from None
    if type(value) is not str or unit not in ("s", "ms", "us", "ns"):
        raise ModelFileError("got a date that cannot be read; expected a text and a unit.")
    return pd.Timestamp(value).as_unit(unit)


# Parity, sparse tables and pairs ----------------------------------------------------------------


encodes(Parity)(lambda encoder, value, where: {"$": "parity", "value": value.value})
decodes("parity")(lambda decoder, value: Parity(value))


@encodes(sp.sparray, sp.spmatrix, subclasses=True)
def _sparse(encoder: Encoder, value: Any, where: str) -> Any:
    is_matrix = isinstance(value, sp.spmatrix)
    rows = (sp.csr_matrix if is_matrix else sp.csr_array)(value)
    names = ("data", "indices", "indptr")
    return {
        "$": "sparse",
        "form": "matrix" if is_matrix else "array",
        "shape": [int(n) for n in rows.shape],
        **{name: encoder.array(getattr(rows, name), where) for name in names},
    }


@decodes("sparse")
def _read_sparse(
    decoder: Decoder, form: Any, shape: Any, data: Any, indices: Any, indptr: Any
) -> Any:
    data, indices, indptr = map(decoder.array, (data, indices, indptr))
    n_rows, n_columns = shape
    sound = (
        all(type(n) is int and 0 <= n < 1 << 48 for n in shape)
        and data.ndim == indices.ndim == indptr.ndim == 1
        and indices.dtype.kind == indptr.dtype.kind == "i"
        and data.dtype.kind in "biuf"
        and len(indptr) == n_rows + 1
        and len(indices) == len(data) == indptr[-1]
        and indptr[0] == 0
        and (np.diff(indptr) >= 0).all()
        and (not len(indices) or 0 <= indices.min() <= indices.max() < n_columns)
    )
    if not sound:
        raise ModelFileError("got a sparse table whose parts do not fit together.")
    make = sp.csr_matrix if form == "matrix" else sp.csr_array
    return make((data, indices, indptr), shape=(n_rows, n_columns))


@encodes(Pairs)
def _pairs(encoder: Encoder, value: Pairs, where: str) -> Any:
    names = ("objects", "first", "second", "symmetric", "antisymmetric", "ids")
    parts = {name: encoder.value(getattr(value, name), f"{where}.{name}") for name in names}
    pairs = {"$": "pairs", **parts}
    if value.time is None:
        return pairs
    times = encoder.value(value.time, f"{where}.time")
    return {"$": "pairs at times", "pairs": pairs, "time": times}


@decodes("pairs at times")
def _read_pairs_at_times(decoder: Decoder, pairs: Any, time: Any) -> Pairs:
    found = decoder.value(pairs)
    if not isinstance(found, Pairs):
        raise ModelFileError("got times of something else than pairs; expected pairs.")
    return found.at(decoder.value(time))


@decodes("pairs")
def _read_pairs(
    decoder: Decoder,
    objects: Any,
    first: Any,
    second: Any,
    symmetric: Any,
    antisymmetric: Any,
    ids: Any,
) -> Pairs:
    *parts, ids = map(decoder.value, (objects, first, second, symmetric, antisymmetric, ids))
    if ids is not None:  # they are hashed, and shown
        if not isinstance(ids, np.ndarray) or ids.ndim != 1:
            raise ModelFileError("got ids of another kind; expected one column.")
        if not all(map(is_name, ids.tolist())):
            raise ModelFileError("got an id that is no number, text or date; expected one of them.")
    return Pairs(*parts, ids=ids)


# Objects of registered classes ------------------------------------------------------------------


def _registered_name(value: Any, where: str) -> str:
    name = name_of(type(value))
    if name is None:
        raise ModelFileError(
            f"got an object of {type(value).__name__} as {where}, a class that model files do not"
            " know; expected one of Pairity's, or one of yours after pairity.io.register(class)."
        )
    return name


def _registered_class(name: Any, base: type[Any]) -> type[Any]:
    if type(name) is not str or not is_registered(name):
        shown = repr(name[:60]) if type(name) is str else f"of the type {type(name).__name__}"
        raise ModelFileError(
            f"got an object of the class {shown}; expected one that this version of Pairity knows,"
            " or one of yours after pairity.io.register(class)."
        )
    cls = class_of(name)
    if not issubclass(cls, base):
        raise ModelFileError(f"got {name!r} in the place of another kind of object.")
    return cls


def _encoded(encoder: Encoder, values: dict[str, Any], where: str) -> dict[str, Any]:
    # sorted: the same model gives the same bytes, however it came about
    items = sorted(values.items())
    return {name: encoder.value(value, f"{where}.{name}") for name, value in items}


def _decoded(decoder: Decoder, items: Any) -> dict[str, Any]:
    return {name: decoder.value(item) for name, item in items.items()}


@encodes(Kernel, subclasses=True)
def _kernel(encoder: Encoder, value: Kernel, where: str) -> Any:
    if isinstance(value, Callable):
        raise ModelFileError(
            f"got the function {getattr(value.function, '__name__', value.function)!r} as kernel of"
            f" {where}; expected a kernel that is plain data, since files hold no code: use"
            " Precomputed with its values, or write it as a kernel class and register that."
        )
    name = _registered_name(value, where)
    return {"$": "kernel", "name": name, "parameters": _encoded(encoder, value.parameters(), name)}


@decodes("kernel")
def _read_kernel(decoder: Decoder, name: Any, parameters: Any) -> Any:
    cls = _registered_class(name, Kernel)
    values = _decoded(decoder, parameters)
    if issubclass(cls, Sum | EntrywiseProduct):
        (parts,) = values.values()
        if type(parts) is not tuple or not parts or not all(isinstance(k, Kernel) for k in parts):
            raise ModelFileError("got a sum or product of something else than kernels.")
    return cls(**values)


@encodes(BaseEstimator, subclasses=True)
def _estimator(encoder: Encoder, value: BaseEstimator, where: str) -> Any:
    name = _registered_name(value, where)
    parameters = value.get_params(deep=False)
    for parameter, what, kind in (
        ("callback", "a callback", "code"),
        ("memory", "a folder for its cache", "paths"),
    ):
        if parameters.get(parameter) is not None:
            raise ModelFileError(
                f"got {name} with {what}; expected none, since files hold no {kind}: call"
                f" model.set_params({parameter}=None) before saving."
            )
    state = {key: entry for key, entry in vars(value).items() if key not in parameters}
    return {
        "$": "estimator",
        "name": name,
        "parameters": _encoded(encoder, parameters, name),
        "state": _encoded(encoder, state, name),
        "version": _foreign_version(type(value)),
    }


@encodes(HistGradientBoostingClassifier, HistGradientBoostingRegressor)
def _boosted(encoder: Encoder, value: BaseEstimator, where: str) -> Any:
    """Fitted trees as plain arrays; a file holds none of scikit-learn's own classes of trees."""
    if not StoredTrees.stand_for(value):
        return _estimator(encoder, value, where)
    try:
        return _record(encoder, StoredTrees.of(value), where)
    except ValueError as error:
        raise ModelFileError(str(error)) from None


@decodes("estimator")
def _read_estimator(
    decoder: Decoder, name: Any, parameters: Any, state: Any, version: Any
) -> BaseEstimator:
    cls = _registered_class(name, BaseEstimator)
    if version != _foreign_version(cls):
        warnings.warn(
            f"the file holds {name} of scikit-learn {version!s:.20}, and"
            f" {_foreign_version(cls)} is installed; expected the same: compare predictions, or save"
            " the model again.",
            PairityWarning,
            stacklevel=2,
        )
    parameters = _decoded(decoder, parameters)
    if issubclass(cls, PairMachine):
        parameters = _with_solver_object(parameters)
    if parameters.get("memory") is not None:
        parameters["memory"] = None  # a folder of pickles, which fit would open
        warnings.warn(
            f"the file holds {name} with a folder for its cache, which is left out; expected"
            " none: pass it to set_params(memory=...) if it is yours.",
            PairityWarning,
            stacklevel=2,
        )
    estimator: BaseEstimator = cls(**parameters)
    for key, value in _decoded(decoder, state).items():
        # what a class defines itself is not set: methods, properties, inner workings of Python
        defined = getattr_static(cls, key, None)
        if not key.isidentifier() or key.startswith("__") or hasattr(type(defined), "__get__"):
            raise ModelFileError(
                f"got a fitted value {key[:60]!r} of {cls.__name__}; expected another."
            )
        setattr(estimator, key, value)
    return estimator


def _with_solver_object(parameters: dict[str, Any]) -> dict[str, Any]:
    """Options of solvers that versions up to 0.1 kept as parameters of the estimator."""
    kept = {name: value for name, value in parameters.items() if name not in _OPTIONS_OF_SOLVERS}
    given = {name: value for name, value in parameters.items() if name in _OPTIONS_OF_SOLVERS}
    precision = given.pop("precision", "mixed")
    if precision != "mixed" and kept.get("solver") == "splitting":
        kept["solver"] = Splitting(precision)
    elif kept.get("solver") in ("auto", "smo") and given and SMO(**given) != SMO():
        kept["solver"] = SMO(**given)
    return kept


def _foreign_version(cls: type[Any]) -> str | None:
    """Version of scikit-learn for its own classes, whose attributes may change with it."""
    return sklearn.__version__ if cls.__module__.startswith("sklearn.") else None


@encodes(BaseCrossValidator, subclasses=True)
def _splitter(encoder: Encoder, value: BaseCrossValidator, where: str) -> Any:
    name = _registered_name(value, where)
    return {"$": "splitter", "name": name, "parameters": _encoded(encoder, vars(value), name)}


@decodes("splitter")
def _read_splitter(decoder: Decoder, name: Any, parameters: Any) -> Any:
    return _registered_class(name, BaseCrossValidator)(**_decoded(decoder, parameters))


@encodes(object, subclasses=True)
def _record(encoder: Encoder, value: Any, where: str) -> Any:
    if not is_dataclass(value) or isinstance(value, type):
        return refuse_value(encoder, value, where)
    name = _registered_name(value, where)
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    return {"$": "record", "name": name, "fields": _encoded(encoder, values, where)}


@decodes("record")
def _read_record(decoder: Decoder, name: Any, fields: Any) -> Any:
    cls = _registered_class(name, object)
    if not is_dataclass(cls) or issubclass(cls, BaseEstimator):  # those have entries of their own
        raise ModelFileError(f"got {name!r} as a record; expected a dataclass.")
    return cls(**_decoded(decoder, fields))
