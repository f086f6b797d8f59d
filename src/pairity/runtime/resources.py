"""What a fit runs on: memory, threads, and compiled loops.

One budget is asked by every part before it makes large arrays.  Work for several threads is cut into
row ranges that do not depend on their number, and every row is computed by one thread alone: results
are the same bits for any number of threads.

Ctrl-C reaches the main thread alone.  Work that it waits for in other threads is abandoned: what
has not begun never begins, and what runs long looks for the word at :func:`stop_if_abandoned`.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, TypeVar

from threadpoolctl import ThreadpoolController

#: Share of the available memory that a fit may use by default.
_SHARE = 0.6


def available_megabytes() -> float:
    """Memory that can be had without swapping, in megabytes."""
    try:
        facts = os.open("/proc/meminfo", os.O_RDONLY)
        try:
            _, found, rest = os.read(facts, 512).partition(b"MemAvailable:")
        finally:
            os.close(facts)
        if found:
            return float(rest.split(None, 1)[0]) / 1e3
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2e6
    except (ValueError, OSError, AttributeError):
        return 4000.0


def default_limit(given: float | None) -> float:
    """The limit that was given, or a share of what is free, in megabytes.

    Under one that was given, large arrays go back to the system as soon as they are freed.
    """
    if given is None:
        return _SHARE * _recently_available()
    _give_back_large_arrays(given)
    return float(given)


def _recently_available() -> float:
    """What was free a moment ago: fits of a millisecond follow one another."""
    now = time.monotonic()
    if now - _last_look[0] > _BELIEVED:
        _last_look[:] = now, available_megabytes()
    return _last_look[1]


#: Seconds for which what is free is believed; when it was looked at last, and what was seen.
_BELIEVED, _last_look = 0.1, [float("-inf"), 0.0]


def give_back() -> None:
    """Hand freed memory back to the system, for the stage of a fit that follows.

    The C library of Linux keeps arrays of less than 32 MB for itself when they are freed, in pieces
    that a larger array does not fit into: as much again as the limit.
    """
    if _malloc_trim is not None:
        _malloc_trim(ctypes.c_size_t(0))


def _give_back_large_arrays(limit: float) -> None:
    """Have arrays from a share of the limit on mapped one by one, from now on.

    Their pages are then fetched from the system each time, which takes a few per cent of a fit.
    Under a large limit what the C library keeps does not count.
    """
    size = int(1e6 * _MAPPED_SHARE * min(limit, 1e6))
    if _mallopt is not None and size < _MOST_KEPT:
        _mallopt(ctypes.c_int(_M_MMAP_THRESHOLD), ctypes.c_int(max(size, _LEAST_MAPPED)))


#: Share of a limit; bytes of an array that the C library of Linux keeps at most by itself, and that
#: are worth a mapping; number of the option there.
_MAPPED_SHARE, _MOST_KEPT, _LEAST_MAPPED, _M_MMAP_THRESHOLD = 1 / 32, 2**25, 1_000_000, -3


def _in_c_library(name: str) -> Callable[..., object] | None:
    """A function of the C library, where it has it."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):  # another C library
        return None


_malloc_trim, _mallopt = map(_in_c_library, ("malloc_trim", "mallopt"))


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


# Threads and compiled loops ---------------------------------------------------------------------

#: Numbers that a compiled loop may go over before it returns to Python, where Ctrl-C is heard:
#: a fraction of a second.
ENTRIES_PER_CALL = 50_000_000

Item = TypeVar("Item")
Result = TypeVar("Result")

_threads: int | None = None
_abandoned = threading.local()


class _Abandoned(BaseException):
    """Ends a task whose caller no longer waits for it."""


def stop_if_abandoned() -> None:
    """End the task of :func:`run_together` that this thread runs, if its caller has gone."""
    event = getattr(_abandoned, "event", None)
    if event is not None and event.is_set():
        raise _Abandoned


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


def run_in_ranges(
    task: Callable[[int, int], None], n_rows: int, rows_per_range: int, *, alone: bool = False
) -> None:
    """Call ``task(start, stop)`` for ranges that together cover ``range(n_rows)``.

    The calling thread works too, ``alone`` where all is done before another one would have woken up;
    ranges inside ranges run one after another.  Where several threads work, BLAS has one in each.
    """
    stop_if_abandoned()
    step = max(1, rows_per_range)
    if n_rows <= step:
        if n_rows:
            task(0, n_rows)
        return
    ranges = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    threads = 1 if alone else min(get_thread_count(), len(ranges))
    if threads <= 1 or getattr(_inside, "ranges", False):
        for start, stop in ranges:
            task(start, stop)
        return
    remaining, failed = iter(ranges), threading.Event()

    def work() -> None:
        _inside.ranges = True
        try:
            for start, stop in remaining:
                if failed.is_set():
                    break
                task(start, stop)
        except BaseException:
            failed.set()
            raise
        finally:
            _inside.ranges = False

    with one_blas_thread():
        others = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
        try:
            work()
        finally:
            wait(others)
    for other in others:
        other.result()


def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay from call to call: starting them takes as long as a small product."""
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="pairity")
    return _pools[threads]


_inside = threading.local()
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread, for work that :func:`run_in_ranges` spreads over the cores.

    Two threads of BLAS wait for each other at every step of a factorisation: beside other busy
    processes that takes ten times as long.  Fits in several threads share the limit, which ends with
    the last of them.
    """
    global _fits_on_one_thread
    with _blas_lock:
        if not _fits_on_one_thread:
            _limited.extend(_limit(library, 1) for library in _blas_libraries())
        _fits_on_one_thread += 1
    try:
        yield
    finally:
        with _blas_lock:
            _fits_on_one_thread -= 1
            if not _fits_on_one_thread:
                for library, threads in zip(_blas_libraries(), _limited, strict=True):
                    _limit(library, threads)
                _limited.clear()


_blas_lock = threading.Lock()
#: How many fits are under way; threads that each library of BLAS had before the first of them.
_fits_on_one_thread = 0
_limited: list[int | None] = []


def _limit(library: Any, threads: int | None) -> int | None:
    """Set the threads of a library, and return how many it had; None of one that does not say."""
    before: int | None = library.get_num_threads()
    if None not in (before, threads) and before != threads:
        library.set_num_threads(threads)
    return before


@cache
def _blas_libraries() -> list[Any]:
    return list(_libraries().select(user_api="blas").lib_controllers)


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


#: Rows that trees are grown on, or asked about, by one thread.
_ROWS_OF_ONE_THREAD = 20_000


@contextmanager
def threads_for_trees(n_rows: int) -> Iterator[None]:
    """OpenMP on one thread for few rows: threads that spin while they wait take ten times as long
    beside other busy processes."""
    few = n_rows <= _ROWS_OF_ONE_THREAD
    with _libraries().limit(limits=1, user_api="openmp") if few else nullcontext():
        yield


def run_together(
    task: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> list[Result]:
    """Results of long tasks that run beside one another; an interrupt ends those that run, too."""
    if threads == 1:
        return [task(item) for item in items]
    abandoned = threading.Event()

    def run(item: Item) -> Result:
        _abandoned.event = abandoned
        return task(item)

    return _run_in_threads(run, items, threads, abandoned)


def _run_in_threads(
    task: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    abandoned: threading.Event | None = None,
) -> list[Result]:
    pool = ThreadPoolExecutor(threads)
    try:
        return [future.result() for future in [pool.submit(task, item) for item in items]]
    except BaseException:
        if abandoned is not None:
            abandoned.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` with options by keyword; without a cache where none can be written.

    Numba keeps compiled code beside the module or in a folder of the user, and refuses to compile
    where neither can be written: a read-only installation without a home folder, a container.  There
    loops are compiled anew in each process.
    """

    import numba

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=cache, **options)(function)
        except RuntimeError as error:
            if not (cache and str(error).startswith("cannot cache function")):
                raise
            return numba.njit(**options)(function)

    return compiled
