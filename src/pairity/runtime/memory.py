"""How much memory a fit may use: one budget that every part asks before it makes large arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

#: Share of the available memory that a fit may use by default.
_SHARE = 0.6


def available_megabytes() -> float:
    """Memory that can be had without swapping, in megabytes."""
    try:
        with open("/proc/meminfo", encoding="ascii") as facts:
            for line in facts:
                if line.startswith("MemAvailable:"):
                    return float(line.split()[1]) / 1e3
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2e6
    except (ValueError, OSError, AttributeError):
        return 4000.0


def default_limit(given: float | None) -> float:
    """The limit that was given, or a share of what is free, in megabytes."""
    return _SHARE * available_megabytes() if given is None else float(given)


def give_back() -> None:
    """Hand freed memory back to the system, for the stage of a fit that follows.

    The C library of Linux keeps arrays of less than 32 MB for itself when they are freed, in pieces
    that a larger array does not fit into: as much again as the limit.
    """
    if _malloc_trim is not None:
        _malloc_trim(ctypes.c_size_t(0))


def _found_malloc_trim() -> Callable[..., object] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):  # another C library
        return None


_malloc_trim = _found_malloc_trim()


def megabytes_of(*shape: float, copies: float = 1.0, itemsize: int = 8) -> float:
    """Megabytes of so many arrays of a shape; of doubles unless told otherwise."""
    size = copies * itemsize / 1e6
    for length in shape:
        size *= length
    return size


@dataclass(frozen=True)
class Budget:
    """Megabytes that some work may use.

    What does not fit takes a cheaper way (fewer columns, smaller sets, a block at a time) and is
    refused only where there is none.
    """

    megabytes: float = float("inf")

    def holds(self, *shape: float, copies: float = 1.0, itemsize: int = 8) -> bool:
        """Whether so many arrays of a shape fit."""
        return megabytes_of(*shape, copies=copies, itemsize=itemsize) <= self.megabytes

    def columns(self, n_rows: float, *, copies: float = 1.0, itemsize: int = 8) -> float:
        """How many columns fit of so many arrays with ``n_rows`` rows."""
        return self.megabytes / megabytes_of(max(1.0, n_rows), copies=copies, itemsize=itemsize)

    def side(self, *, copies: float = 1.0) -> float:
        """The side of so many square matrices that fit."""
        return float((self.megabytes / megabytes_of(1.0, copies=copies)) ** 0.5)

    def share(self, part: float) -> Budget:
        """A part of it."""
        return Budget(part * self.megabytes)

    def without(self, megabytes: float) -> Budget:
        """What is left beside something that is held."""
        return Budget(max(0.0, self.megabytes - megabytes))

    def refuse(self, what: str, needed: float, remedy: str) -> NoReturn:
        """Say that something does not fit, and what to do."""
        raise MemoryError(
            f"{what} need about {_shown(needed)} MB and the memory limit is"
            f" {_shown(self.megabytes)} MB; expected {remedy}."
        )


def _shown(megabytes: float) -> str:
    return f"{megabytes:,.0f}" if megabytes >= 100.0 else f"{megabytes:.3g}"


#: For those who were given no limit.
UNLIMITED = Budget()
