"""Pairs, kernels, estimators and records as JSON, and back.

Each is written as the name of its class in the registry and what it is made of, and built again by
its own constructor, which checks what it is given.  Importing this module declares all of them.
"""

from __future__ import annotations

import datetime
import warnings
from dataclasses import fields, is_dataclass
from inspect import getattr_static
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator

from pairity.exceptions import ModelFileError, PairityWarning
from pairity.files.registry import class_of, is_registered, name_of
from pairity.files.values import (
    Decoder,
    Encoder,
    check_keys,
    decodes,
    encodes,
    encodes_family,
    is_scalar,
    refuse_value,
)
from pairity.kernels.algebra import EntrywiseProduct, Kernel, Sum
from pairity.kernels.elementary import Callable
from pairity.pairs import Pairs
from pairity.parity import Parity

__all__ = ["Decoder", "Encoder"]


@encodes(Parity)
def _parity(encoder: Encoder, value: Parity, where: str) -> Any:
    return {"$": "parity", "value": value.value}


@decodes("parity")
def _read_parity(decoder: Decoder, item: dict[str, Any]) -> Parity:
    check_keys(item, "value")
    return Parity(item["value"])


# Sparse tables and pairs ------------------------------------------------------------------------


@encodes_family(sp.sparray, sp.spmatrix)
def _sparse(encoder: Encoder, value: Any, where: str) -> Any:
    rows = (sp.csr_matrix if isinstance(value, sp.spmatrix) else sp.csr_array)(value)
    return {
        "$": "sparse",
        "form": "matrix" if isinstance(value, sp.spmatrix) else "array",
        "shape": [int(n) for n in rows.shape],
        **{
            name: encoder.arrays.add(getattr(rows, name), where)
            for name in ("data", "indices", "indptr")
        },
    }


@decodes("sparse")
def _read_sparse(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "form", "shape", "data", "indices", "indptr")
    data, indices, indptr = (decoder.arrays[item[name]] for name in ("data", "indices", "indptr"))
    n_rows, n_columns = item["shape"]
    whole = all(type(n) is int and 0 <= n < 1 << 48 for n in (n_rows, n_columns))
    sound = (
        whole
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
    make = sp.csr_matrix if item["form"] == "matrix" else sp.csr_array
    return make((data, indices, indptr), shape=(n_rows, n_columns))


_PARTS = ("objects", "first", "second", "symmetric", "antisymmetric", "ids")


@encodes(Pairs)
def _pairs(encoder: Encoder, value: Pairs, where: str) -> Any:
    parts = {name: encoder.value(getattr(value, name), f"{where}.{name}") for name in _PARTS}
    return {"$": "pairs", **parts}


@decodes("pairs")
def _read_pairs(decoder: Decoder, item: dict[str, Any]) -> Pairs:
    check_keys(item, *_PARTS)
    objects, first, second, symmetric, antisymmetric, ids = (
        decoder.value(item[name]) for name in _PARTS
    )
    if ids is not None:
        _refuse_ids(ids)
    return Pairs(objects, first, second, symmetric, antisymmetric, ids=ids)


def _refuse_ids(ids: Any) -> None:
    """Ids are hashed, and shown: values, or a few of them in a tuple."""
    if not isinstance(ids, np.ndarray) or ids.ndim != 1:
        raise ModelFileError("got ids of another kind; expected one column.")
    for value in ids.tolist():
        if not all(map(is_scalar, value if type(value) is tuple else (value,))):
            raise ModelFileError("got an id that is no number, text or date; expected one of them.")


# Objects of registered classes ------------------------------------------------------------------


def _registered_name(value: Any, where: str) -> str:
    name = name_of(type(value))
    if name is None:
        raise ModelFileError(
            f"got an object of {type(value).__name__} as {where}, a class that model files do not"
            " know; expected one of Pairity's, or one of yours after pairity.files.register(class)."
        )
    return name


def _registered_class(item: dict[str, Any], base: type[Any]) -> type[Any]:
    name = item["name"]
    if type(name) is not str or not is_registered(name):
        raise ModelFileError(
            f"got an object of the class {_shown(name)}; expected one that this version of Pairity"
            " knows,"
            " or one of yours after pairity.files.register(class)."
        )
    cls = class_of(name)
    if not issubclass(cls, base):
        raise ModelFileError(f"got {name!r} in the place of another kind of object.")
    return cls


def _shown(name: Any) -> str:
    return repr(name[:60]) if type(name) is str else f"of the type {type(name).__name__}"


def _encoded(encoder: Encoder, values: dict[str, Any], where: str) -> dict[str, Any]:
    # sorted: the same model gives the same bytes, however it came about
    items = sorted(values.items())
    return {name: encoder.value(value, f"{where}.{name}") for name, value in items}


def _decoded(decoder: Decoder, items: Any) -> dict[str, Any]:
    return {name: decoder.value(item) for name, item in items.items()}


@encodes_family(Kernel)
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
def _read_kernel(decoder: Decoder, item: dict[str, Any]) -> Kernel:
    check_keys(item, "name", "parameters")
    cls = _registered_class(item, Kernel)
    parameters = _decoded(decoder, item["parameters"])
    if issubclass(cls, Sum | EntrywiseProduct):
        (parts,) = parameters.values()
        if type(parts) is not tuple or not parts or not all(isinstance(k, Kernel) for k in parts):
            raise ModelFileError("got a sum or product of something else than kernels.")
    kernel: Kernel = cls(**parameters)
    return kernel


@encodes_family(BaseEstimator)
def _estimator(encoder: Encoder, value: BaseEstimator, where: str) -> Any:
    name = _registered_name(value, where)
    parameters = value.get_params(deep=False)
    if parameters.get("callback") is not None:
        raise ModelFileError(
            f"got {name} with a callback; expected none, since files hold no code: call"
            " model.set_params(callback=None) before saving."
        )
    if parameters.get("memory") is not None:
        raise ModelFileError(
            f"got {name} with a folder for its cache; expected none, since files hold no paths: call"
            " model.set_params(memory=None) before saving."
        )
    state = {key: entry for key, entry in vars(value).items() if key not in parameters}
    return {
        "$": "estimator",
        "name": name,
        "parameters": _encoded(encoder, parameters, name),
        "state": _encoded(encoder, state, name),
        "version": _foreign_version(type(value)),
    }


@decodes("estimator")
def _read_estimator(decoder: Decoder, item: dict[str, Any]) -> BaseEstimator:
    check_keys(item, "name", "parameters", "state", "version")
    cls = _registered_class(item, BaseEstimator)
    if item["version"] != _foreign_version(cls):
        warnings.warn(
            f"the file holds {item['name']} of scikit-learn {item['version']!s:.20}, and"
            f" {_foreign_version(cls)} is installed; expected the same: compare predictions, or save"
            " the model again.",
            PairityWarning,
            stacklevel=2,
        )
    parameters = _decoded(decoder, item["parameters"])
    if parameters.get("memory") is not None:
        parameters["memory"] = None  # a folder of pickles, which fit would open
        warnings.warn(
            f"the file holds {item['name']} with a folder for its cache, which is left out; expected"
            " none: pass it to set_params(memory=...) if it is yours.",
            PairityWarning,
            stacklevel=2,
        )
    estimator: BaseEstimator = cls(**parameters)
    for name, value in _decoded(decoder, item["state"]).items():
        _refuse_attribute(cls, name)
        setattr(estimator, name, value)
    return estimator


@encodes_family(BaseCrossValidator)
def _splitter(encoder: Encoder, value: BaseCrossValidator, where: str) -> Any:
    name = _registered_name(value, where)
    return {"$": "splitter", "name": name, "parameters": _encoded(encoder, vars(value), name)}


@decodes("splitter")
def _read_splitter(decoder: Decoder, item: dict[str, Any]) -> BaseCrossValidator:
    check_keys(item, "name", "parameters")
    cls = _registered_class(item, BaseCrossValidator)
    return cls(**_decoded(decoder, item["parameters"]))


def _foreign_version(cls: type[Any]) -> str | None:
    """Version of scikit-learn for its own classes, whose attributes may change with it."""
    return sklearn.__version__ if cls.__module__.startswith("sklearn.") else None


def _refuse_attribute(cls: type[Any], name: str) -> None:
    """Refuse to set what a class defines itself: methods, properties, inner workings of Python."""
    defined = getattr_static(cls, name, None)
    if not name.isidentifier() or name.startswith("__") or hasattr(type(defined), "__get__"):
        raise ModelFileError(
            f"got a fitted value {name[:60]!r} of {cls.__name__}; expected another."
        )


# Dates of pandas --------------------------------------------------------------------------------


@encodes_family(datetime.datetime)
def _timestamp(encoder: Encoder, value: Any, where: str) -> Any:
    if not hasattr(value, "unit"):
        return refuse_value(value, where)
    return {"$": "timestamp", "value": value.isoformat(), "unit": value.unit}


@decodes("timestamp")
def _read_timestamp(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "value", "unit")
    try:
        import pandas as pd
    except ImportError:
        raise ModelFileError("got dates of pandas; expected pandas: pip install pandas.") from None
    if type(item["value"]) is not str or item["unit"] not in ("s", "ms", "us", "ns"):
        raise ModelFileError("got a date that cannot be read; expected a text and a unit.")
    return pd.Timestamp(item["value"]).as_unit(item["unit"])


# Records: dataclasses ---------------------------------------------------------------------------


@encodes_family(object)
def _record(encoder: Encoder, value: Any, where: str) -> Any:
    if not is_dataclass(value) or isinstance(value, type):
        return refuse_value(value, where)
    name = _registered_name(value, where)
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    return {"$": "record", "name": name, "fields": _encoded(encoder, values, where)}


@decodes("record")
def _read_record(decoder: Decoder, item: dict[str, Any]) -> Any:
    check_keys(item, "name", "fields")
    cls = _registered_class(item, object)
    if not is_dataclass(cls):
        raise ModelFileError(f"got {item['name']!r} as a record; expected a dataclass.")
    return cls(**_decoded(decoder, item["fields"]))
