"""Which work is measured, in the short and in the full run."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from benchmarks.measure import run
from benchmarks.report import LOGISTIC
from benchmarks.tasks import Task
from pairity import PairSVC

PEERS = ("intelex", "scikit-learn", "thundersvm")


def complete(symmetry: str, full: bool) -> list[dict]:
    """All pairs of 300 objects; prediction of 20,000 new pairs by the same models."""
    task = Task(f"complete 300, {symmetry}", symmetry, 300)
    systems = ("pairity", "intelex", *(("scikit-learn", "thundersvm") if full else ()))
    return _rows(systems, task, predict=True)


def regression(full: bool) -> list[dict]:
    """Support vector regression on all pairs of 300 objects."""
    systems = ("pairity", "intelex", *(("scikit-learn",) if full else ()))
    rows = []
    for symmetry in ("antisymmetric", "symmetric"):
        task = Task(f"regression 300, {symmetry}", symmetry, 300, loss="epsilon")
        rows += _rows(systems, task, timeout=3600.0 if full else 600.0)
    return rows


def ridge() -> list[dict]:
    """1.024 M pairs of 2,967 objects, the sizes of Viljanen et al. 2022."""
    rows = []
    for name in ("tensor", "metric"):
        task = Task(
            f"ridge 1,024,000 of 2,967, {name} kernel",
            "symmetric",
            2967,
            1_024_000,
            loss="squared",
            pair_kernel=name,
        )
        rows += _rows(("pairity",), task)
    return rows


def sparse() -> list[dict]:
    """Few pairs per object."""
    rows = []
    for n_pairs in (5_000, 20_000):
        task = Task(f"sparse {n_pairs} of 1,000 objects", "antisymmetric", 1000, n_pairs)
        rows += _rows(("pairity", *PEERS), task)
    return rows


def _shapes() -> list[Task]:
    """Outside the home regime: group features, sums of kernels, incomplete sets, rare objects."""
    odd = {"symmetry": "antisymmetric"}
    return [
        Task("complete 200, even and odd group feature", **odd, n_objects=200, group="both"),
        Task("complete 300, even and odd group feature", **odd, n_objects=300, group="both"),
        Task("complete 200, home or away", **odd, n_objects=200, group="home"),
        Task("complete 300, home or away", **odd, n_objects=300, group="home"),
        Task("20,000 pairs of 40,000 objects", **odd, n_objects=40_000, once=True),
        Task("complete 300, sum of three kernels", **odd, n_objects=300, pair_kernel="sum"),
        Task("complete 300, metric learning", "symmetric", 300, pair_kernel="metric"),
        Task("50,000 of 1,000 objects", **odd, n_objects=1000, n_pairs=50_000),
        Task("200,000 of 2,000 objects", **odd, n_objects=2000, n_pairs=200_000),
    ]


def _peer_can(task: Task) -> bool:
    """Whether a peer has the kernel itself, and finishes in minutes."""
    return task.pair_kernel == "gaussian" and (task.n_pairs or 0) <= 20_000


def shapes(full: bool) -> list[dict]:
    """Those shapes with both losses; peers that have the kernel beside the hinge."""
    rows = []
    for task in _shapes():
        systems = ("pairity", "intelex") if full or _peer_can(task) else ("pairity",)
        rows += _rows(systems, task, timeout=3600.0 if full else 150.0)
    for task in [*_shapes(), Task("complete 300", "antisymmetric", 300)]:
        logistic = replace(task, name=f"{task.name}{LOGISTIC}", loss="logistic")
        rows += _rows(("pairity",), logistic)
    return rows


@contextmanager
def busy_machine(n_processes: int = 4) -> Iterator[None]:
    """So many processes that never rest, until the end."""
    never_rest = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(never_rest) for _ in range(n_processes)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def busy(full: bool) -> list[dict]:
    """The same work idle and beside four busy processes: what is left of the ratios."""
    tasks = [
        Task("complete 150", "antisymmetric", 150),
        Task("complete 150, even and odd group feature", "antisymmetric", 150, group="both"),
    ]
    rows = []
    for task in tasks:
        rows += _rows(("pairity", "intelex"), task)
        with busy_machine():
            beside = replace(task, name=f"{task.name}, four busy processes")
            rows += _rows(("pairity", "intelex"), beside)
    return rows


def strengths(full: bool) -> list[dict]:
    """Larger C on the same shapes; a peer has a quarter more time than we took, 30 s at least."""
    chosen = [*_shapes(), Task("20,000 of 1,000 objects", "antisymmetric", 1000, 20_000)]
    rows = []
    for C in (10.0, 100.0):
        for shape in chosen:
            task = replace(shape, name=f"{shape.name}, C = {C:g}", C=C)
            ours = _rows(("pairity",), task, timeout=1200.0)
            rows += ours
            if ours and task.pair_kernel == "gaussian":
                patience = max(30.0, 1.25 * ours[0]["fit_seconds"])
                rows += _rows(("intelex",), task, timeout=3600.0 if full else patience)
            logistic = replace(task, name=f"{task.name}{LOGISTIC}", loss="logistic")
            rows += _rows(("pairity",), logistic, timeout=600.0)
    return rows


def penalties(full: bool) -> list[dict]:
    """The whole range of C on all pairs of 150 objects."""
    rows = []
    for C in (0.01, 1.0, 100.0, 10_000.0):
        task = Task(f"complete 150, C = {C:g}", "antisymmetric", 150, C=C)
        rows += _rows(("pairity", "intelex"), task, timeout=3600.0 if full else 100.0)
    return rows


def growth(full: bool) -> list[dict]:
    """Training time over the number of pairs."""
    rows = []
    sizes = {"pairity": (75, 150, 300, 600), "scikit-learn": (40, 60, 90, 130)}
    if full:
        sizes["pairity"] = (75, 150, 300, 600, 1000)
    for system, objects in sizes.items():
        for n_objects in objects:
            rows += _rows((system,), Task(f"growth {n_objects}", "antisymmetric", n_objects))
    for kernel, symmetry in (("sum", "antisymmetric"), ("metric", "symmetric")):
        for n_objects in (75, 110, 150, 210, 300):
            name = f"growth {n_objects}, {kernel}"
            rows += _rows(("pairity",), Task(name, symmetry, n_objects, pair_kernel=kernel))
    return rows


def large() -> list[dict]:
    """Work that no peer finishes: published figures stand beside it."""
    rows = []
    for n_objects in (1000, 2000):
        task = Task(f"complete {n_objects:,}, antisymmetric", "antisymmetric", n_objects)
        rows += _rows(("pairity",), task)
    for n_objects in (1000, 2500):
        name = f"double interval, {n_objects:,} objects"
        task = Task(name, "symmetric", n_objects, None, 1000.0, "double_interval", 500)
        rows += _rows(("pairity",), task)
    return rows


def small() -> list[dict]:
    """Everyday sizes in one process: Pairity against scikit-learn on the halved Gram matrix."""
    from sklearn.svm import SVC

    rows = []
    for n_objects, n_pairs in ((60, 200), (200, 1000)):
        for symmetry in ("antisymmetric", "symmetric"):
            task = Task(f"small {n_pairs}, {symmetry}", symmetry, n_objects, n_pairs)
            pairs, labels = task.data()
            first, second = pairs.first, pairs.second

            def ours(pairs=pairs, labels=labels, task=task):
                PairSVC(task.symmetry, kernel=task.kernel, C=task.C).fit(pairs, labels)

            def theirs(pairs=pairs, labels=labels, task=task, first=first, second=second):
                gram = task.kernel.on_features(pairs.objects, pairs.objects)
                sign = 1.0 if task.symmetry == "symmetric" else -1.0
                straight = gram[np.ix_(first, first)] * gram[np.ix_(second, second)]
                crossed = gram[np.ix_(first, second)] * gram[np.ix_(second, first)]
                halved = 0.5 * (straight + sign * crossed)
                SVC(kernel="precomputed", C=2 * task.C, cache_size=1000).fit(halved, labels)

            for system, call in (("pairity", ours), ("scikit-learn, halved Gram", theirs)):
                rows.append(
                    {
                        "system": system,
                        "task": task.name,
                        "n_pairs": n_pairs,
                        "n_objects": n_objects,
                        "fit_seconds": _median_seconds(call),
                    }
                )
    return rows


def _median_seconds(call, repetitions: int = 25) -> float:
    call()
    times = []
    for _ in range(repetitions):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def _rows(
    systems: tuple[str, ...], task: Task, *, predict: bool = False, timeout: float = 3600.0
) -> list[dict]:
    found = [run(system, task, predict=predict, timeout=timeout) for system in systems]
    return [row for row in found if row is not None]
