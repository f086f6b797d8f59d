"""Packages whose public names are loaded on first use, so that importing one thing stays cheap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any


def attach(
    package: str, homes: dict[str, str], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package: names by the modules that hold them."""

    def load(name: str) -> Any:
        if name in homes:
            home = homes[name]
            home = home if home.startswith("pairity.") else f"{package}.{home}"
            return getattr(import_module(home), name)
        if name in modules:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load, lambda: sorted([*homes, *modules])
