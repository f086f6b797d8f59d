"""Compiled loops, kept on disk where there is a place to keep them.

Numba keeps compiled code beside the module or in a folder of the user, and refuses to compile
where neither can be written: a read-only installation without a home folder, a container.  There
loops are compiled anew in each process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with options by keyword; without a cache where none can be written."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=cache, **options)(function)
        except RuntimeError as error:
            if not (cache and str(error).startswith("cannot cache function")):
                raise
            return numba.njit(**options)(function)

    return compiled
