"""Kernels from text: names, numbers, ``+``, ``*`` and nesting; nothing is evaluated.

A bare name, alone or in a formula, is the default kernel of that name
(:mod:`pairity.kernels.standardized`); with parentheses it is the class: ``gaussian(2)`` is
``Gaussian(2)``, ``product(gaussian(sigma=0.5))``.  Features are standardised once, for the whole
kernel of pairs: ``tensor(gaussian)`` is "tensor", and in ``standardized(gaussian + linear)`` the
Gaussian is not standardised again.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np

import pairity.kernels
from pairity.exceptions import gist
from pairity.kernels import Bilinear, Diffusion, Kernel, Standardized
from pairity.kernels.standardized import KERNEL_NAMES, as_kernel
from pairity.pairs.data import Pairs

#: Kernels that need a matrix, pairs or a function, which a text cannot give.
_NOT_TEXT = {"Callable", "Kernel", "Precomputed"}
#: Kernels made of kernels of pairs; all others are made of kernels of objects or of features.
_OF_PAIRS = {"Balanced", "Mixed", "Nystroem", "OrderInvariant", "SkewBalanced"}


def parse_kernel(text: str, arcs: Pairs | None = None) -> Any:
    """A kernel, or the name of a default one as it stands.

    ``bilinear('P.csv')`` reads the matrix P of K_P from a file of numbers; ``diffusion(kernel)`` spreads
    over the ``arcs``, the pairs of the training table.
    """
    if text in KERNEL_NAMES:
        return text
    try:
        kernel = _built(ast.parse(text.strip(), mode="eval").body)
        if isinstance(kernel, _Spread):
            if arcs is None:
                raise ValueError(
                    "got a diffusion kernel where there are no pairs; expected another one."
                )
            kernel = Diffusion(kernel.kernel, arcs, **kernel.options)
    except (SyntaxError, TypeError, RecursionError, MemoryError):
        kernel = None
    if not isinstance(kernel, Kernel):
        shown = " ".join(text.split())
        raise ValueError(
            f"got --kernel {shown}; expected one of {', '.join(KERNEL_NAMES)}, or a formula such as"
            " 'gaussian(2) + 0.5 * product(linear)'."
        )
    return kernel


class _Spread:
    """A diffusion kernel that waits for its arcs."""

    def __init__(self, kernel: Kernel, **options: Any) -> None:
        self.kernel, self.options = kernel, options


def _matrix(path: Any) -> Any:
    """A square table of numbers from a text file, parted by commas or spaces."""
    if not isinstance(path, str):
        raise TypeError("a file is named by a text")
    try:
        text = Path(path).read_text(encoding="utf-8").replace(",", " ")
        return np.loadtxt(text.splitlines(), ndmin=2)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"got bilinear({path!r}), which cannot be read ({gist(error)}); expected a file with the"
            " numbers of P, a row a line, parted by commas."
        ) from None


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _built(node: ast.AST, *, plain: bool = False) -> Any:
    """Value of a formula; anything but names, numbers, sums, products and calls is a TypeError.

    ``plain`` leaves the standardisation of default kernels out: something around does it.
    """
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_built(node.operand)
    if isinstance(node, ast.Tuple):
        return tuple(_built(entry) for entry in node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _built(node.left, plain=plain), _built(node.right, plain=plain)
        if not isinstance(left, Kernel) and not isinstance(right, Kernel):
            raise TypeError("numbers alone are no kernel")
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node, ast.Name):
        default = _default(node.id)
        if default is None:
            return _class(node.id)()
        return default.kernel if plain and isinstance(default, Standardized) else default
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _called(node, _class(node.func.id), plain=plain)
    raise TypeError("no such thing in a kernel")


def _called(node: ast.Call, kernel_class: Any, *, plain: bool) -> Any:
    """A kernel of some class; standardised as a whole where a default kernel inside it is."""
    inside = plain or kernel_class.__name__ not in _OF_PAIRS
    arguments = [_built(entry, plain=inside) for entry in node.args]
    options = {entry.arg: _built(entry.value, plain=inside) for entry in node.keywords if entry.arg}
    if len(options) != len(node.keywords):
        raise TypeError("no ** here")
    if kernel_class is Bilinear:
        return Bilinear(*map(_matrix, arguments))
    if kernel_class is Diffusion:
        return _Spread(*arguments, **options)
    kernel = kernel_class(*arguments, **options)
    done = plain or not inside or kernel_class is Standardized
    called = {id(inner.func) for inner in ast.walk(node) if isinstance(inner, ast.Call)}
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    defaults = (_default(name.id) for name in names if id(name) not in called)
    if done or not any(isinstance(default, Standardized) for default in defaults):
        return kernel
    return Standardized(kernel)


def _default(name: str) -> Kernel | None:
    """The default kernel of a name, written like its string or like its class."""
    known = name if name in KERNEL_NAMES else _snake(name)
    return as_kernel(known) if known in KERNEL_NAMES else None


def _class(name: str) -> Any:
    """A kernel class by one of the names that texts may use: ``DirectSum`` and ``direct_sum``."""
    names = {name for name in pairity.kernels.__all__ if name[0].isupper()} - _NOT_TEXT
    spellings = {_snake(name): name for name in names}
    if name not in names and name not in spellings:
        raise ValueError(
            f"got the kernel {name!r}; expected one of {', '.join(sorted(spellings))}."
        )
    return getattr(pairity.kernels, spellings.get(name, name))
