"""Kernels from text: names, numbers, ``+``, ``*`` and nesting; nothing is evaluated.

A name alone is the default kernel of that name, on standardised features.  In a formula names are
the classes of :mod:`pairity.kernels`: ``gaussian(2)``, ``product(gaussian(sigma=0.5))``,
``standardized(linear + 0.5 * polynomial(2))``; a Gaussian without a width takes the median distance.
"""

from __future__ import annotations

import ast
import re
from typing import Any

import pairity.kernels
from pairity.kernels import Gaussian, Kernel
from pairity.kernels.resolve import KERNEL_NAMES

__all__ = ["parse_kernel"]

#: Kernels that need a matrix, pairs or a function, which a text cannot give.
_NOT_TEXT = {"Bilinear", "Callable", "Diffusion", "Kernel", "Precomputed"}


def parse_kernel(text: str) -> Any:
    """A kernel, or the name of a default one as it stands."""
    if text in KERNEL_NAMES:
        return text
    try:
        tree = ast.parse(text.strip(), mode="eval")
        kernel = _built(tree.body)
    except (SyntaxError, TypeError, RecursionError, MemoryError):
        kernel = None
    if not isinstance(kernel, Kernel):
        shown = " ".join(text.split())
        raise ValueError(
            f"got --kernel {shown}; expected one of {', '.join(KERNEL_NAMES)}, or a formula such as"
            " 'gaussian(2) + 0.5 * product(linear)'."
        )
    return kernel


def _classes() -> dict[str, Any]:
    """Kernel classes by the names that texts may use: ``DirectSum`` and ``direct_sum``."""
    found = {name for name in pairity.kernels.__all__ if name[0].isupper()} - _NOT_TEXT
    classes = {name: getattr(pairity.kernels, name) for name in found}
    return classes | {_snake(name): cls for name, cls in classes.items()}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _built(node: ast.AST) -> Any:
    """Value of a formula; anything but names, numbers, sums, products and calls is a TypeError."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, str):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_built(node.operand)
    if isinstance(node, ast.Tuple):
        return tuple(_built(entry) for entry in node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _built(node.left), _built(node.right)
        if not isinstance(left, Kernel) and not isinstance(right, Kernel):
            raise TypeError("numbers alone are no kernel")
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node, ast.Name):
        return Gaussian("median") if node.id.lower() == "gaussian" else _class(node.id)()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        arguments = [_built(entry) for entry in node.args]
        options = {entry.arg: _built(entry.value) for entry in node.keywords if entry.arg}
        if len(options) != len(node.keywords):
            raise TypeError("no ** here")
        return _class(node.func.id)(*arguments, **options)
    raise TypeError("no such thing in a kernel")


def _class(name: str) -> Any:
    classes = _classes()
    if name not in classes:
        raise ValueError(
            f"got the kernel {name!r}; expected one of"
            f" {', '.join(sorted(key for key in classes if key.islower()))}."
        )
    return classes[name]
