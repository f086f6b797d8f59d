"""How much memory a fit may use."""

from __future__ import annotations

import os

__all__ = ["available_megabytes"]


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
