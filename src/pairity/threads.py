"""Both cores for loops that release the interpreter lock.

Work is cut into row ranges that do not depend on the number of threads, and every row is
computed by one thread alone: results are the same bits for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

__all__ = ["get_thread_count", "run_in_ranges", "set_thread_count"]

_threads: int | None = None


def set_thread_count(count: int | None) -> None:
    """Set how many threads Pairity's own loops use; ``None`` for the default."""
    global _threads
    if count is not None and count < 1:
        raise ValueError(f"got {count} threads; expected at least 1, or None for the default.")
    _threads = count


def get_thread_count() -> int:
    """The number set, else ``PAIRITY_NUM_THREADS``, else the cores this process may use."""
    if _threads is not None:
        return _threads
    configured = os.environ.get("PAIRITY_NUM_THREADS", "")
    if configured.isdigit() and int(configured) > 0:
        return int(configured)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_in_ranges(task: Callable[[int, int], None], n_rows: int, rows_per_range: int) -> None:
    """Call ``task(start, stop)`` for ranges that together cover ``range(n_rows)``."""
    step = max(1, rows_per_range)
    ranges = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    threads = min(get_thread_count(), len(ranges))
    if threads <= 1:
        for start, stop in ranges:
            task(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for future in [pool.submit(task, start, stop) for start, stop in ranges]:
            future.result()
