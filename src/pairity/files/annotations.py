"""Whether a value is what an annotation says.

Constructors of kernels, estimators and records say in their annotations what they take: that is
the schema of model files, and what ``fit`` leaves behind is declared in the same language
(:mod:`pairity.files.fitted`).  Numbers count as what they can stand for: a whole one for a ``float``.
"""

from __future__ import annotations

import numbers
from collections.abc import Collection
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pairity.files.values import is_scalar

__all__ = ["Floats", "Rows", "Scalar", "Table", "Vector", "fits", "misfit"]

#: Arrays with their number of dimensions, or any number of them.
Floats: TypeAlias = NDArray[np.floating[Any]]
Vector = Annotated[NDArray[np.float64], 1]
Table = Annotated[NDArray[np.float64], 2]
Rows = Annotated[NDArray[np.integer[Any]], 1]


class Scalar:
    """Stands for one number, text or date: a label, say."""


def misfit(cls: type[Any], values: dict[str, Any]) -> str | None:
    """Name of a value that the constructor of a class does not say it takes; None if all fit."""
    own_type: Any = cls
    hints = _hints(own_type)
    return next((n for n, value in values.items() if not fits(value, hints.get(n, Any))), None)


@cache
def _hints(cls: Any) -> dict[str, Any]:
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
