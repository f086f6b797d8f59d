"""``python -m benchmarks.memory [--only WORD] [--limits 150 300]``: is the memory limit kept?

Every run is a fresh process that imports, makes its data, and only then has its peak resident
size watched; the increase over what was resident before counts.  A run keeps its limit where the
peak is at most 1.2 times the limit plus 100 MB (compiled code, buffers of libraries).  A refusal
(MemoryError) keeps it as well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import pairity
from benchmarks import regret
from benchmarks.measure import machine
from pairity.kernels import Additive, Derived, Gaussian, Linear, MetricLearning, Nystroem, Product
from pairity.pairs import Pairs

__all__ = ["RUNS", "allowed", "measure", "peak_of"]

ROOT = Path(__file__).resolve().parent.parent
LIMITS = (150, 300, 600, 1200)

Data = tuple[Pairs, np.ndarray]
Run = tuple[Callable[[], Data], Callable[[Pairs, np.ndarray, float], object]]


# Data ---------------------------------------------------------------------------------------------


def _objects(m: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(m, 8))


def _margins(pairs: Pairs) -> np.ndarray:
    objects, generator = np.asarray(pairs.objects), np.random.default_rng(1)
    a, b = objects[pairs.first], objects[pairs.second]
    clear = a[:, 0] - b[:, 0] + a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    return clear + generator.normal(size=len(pairs))


def complete(m: int) -> Callable[[], Data]:
    """All pairs of m objects."""

    def make() -> Data:
        pairs = Pairs.complete(_objects(m))
        return pairs, _margins(pairs)

    return make


def drawn(n: int, m: int, group: int = 0) -> Callable[[], Data]:
    """So many pairs of m objects, with group features of both kinds."""

    def make() -> Data:
        generator = np.random.default_rng(2)
        first = generator.integers(m, size=n)
        second = (first + generator.integers(1, m, size=n)) % m
        features = [generator.normal(size=(n, group)) for _ in range(2)] if group else [None, None]
        pairs = Pairs(_objects(m), first, second, *features)
        return pairs, _margins(pairs)

    return make


def once(n: int) -> Callable[[], Data]:
    """Every object in one pair alone."""

    def make() -> Data:
        pairs = Pairs(_objects(2 * n), np.arange(n), np.arange(n, 2 * n))
        return pairs, _margins(pairs)

    return make


# Runs ---------------------------------------------------------------------------------------------


def fit(name: str, kernel: Any = None, symmetry: str = "antisymmetric", **options: Any) -> Any:
    """Fit an estimator; classifiers get signs."""

    def run(pairs: Pairs, margins: np.ndarray, limit: float) -> object:
        regression = any(word in name for word in ("Ridge", "SVR", "Regressor"))
        targets = margins if regression else np.sign(margins)
        given = dict(options) if kernel is None else {"kernel": kernel, **options}
        if name in ("TransductivePairSVC", "LaplacianPairSVC"):
            targets = np.where(np.arange(len(pairs)) % 4, 0.0, targets)
        return getattr(pairity, name)(symmetry, memory_limit=limit, **given).fit(pairs, targets)

    return run


def rank(name: str, kernel: Any, n_objects: int) -> Any:
    """Fit within the limit, then rank many objects."""

    def run(pairs: Pairs, margins: np.ndarray, limit: float) -> object:
        model = fit(name, kernel)(pairs, margins, limit)
        return pairity.inspection.rank_objects(model, _objects(n_objects), n_cycles=5)

    return run


def report(name: str, kernel: Any) -> Any:
    """Fit within the limit, then gather a report."""

    def run(pairs: Pairs, margins: np.ndarray, limit: float) -> object:
        from pairity.app.report import gather

        model = fit(name, kernel)(pairs, margins, limit)
        return gather(model, pairs, np.sign(margins))

    return run


def grid(problem: regret.Problem) -> Any:
    """A problem of the grid of regrets, by the automatic choice."""

    def run(pairs: Pairs, labels: np.ndarray, limit: float) -> object:
        return problem.model("auto").set_params(memory_limit=limit).fit(pairs, labels)

    return run


_SUM = Additive(Gaussian("median")) + Product(Gaussian("median"))
_DERIVED = Derived(Gaussian("median"), ("difference",))

RUNS: dict[str, Run] = {
    **{
        f"{name} auto, {where}": (data, fit(name))
        for name in ("PairRidgeCV", "PairSVCCV", "PairLogisticCV")
        for where, data in {
            "complete 200": complete(200),
            "20,000 of 1,000": drawn(20_000, 1_000),
            "5,000 with group features": drawn(5_000, 300, 3),
            "5,000 of 10,000": once(5_000),
        }.items()
    },
    **{
        f"{name}, {where}": (data, fit(name))
        for name in ("PairClassifierCV", "PairRegressorCV")
        for where, data in {
            "complete 200": complete(200),
            "5,000 with group features": drawn(5_000, 300, 3),
            "5,000 of 10,000": once(5_000),
        }.items()
    },
    "PairSVCCV auto symmetric, complete 200": (complete(200), fit("PairSVCCV", None, "symmetric")),
    "PairSVCCV gaussian, complete 300": (complete(300), fit("PairSVCCV", "gaussian")),
    "PairLogisticCV sum, complete 200": (complete(200), fit("PairLogisticCV", _SUM)),
    **{
        f"{name} {called}, {where}": (data, fit(name, kernel))
        for name in ("PairSVC", "PairLogistic", "PairRidge", "PairSVR")
        for called, kernel in {
            "gaussian": "gaussian",
            "linear": "linear",
            "sum": _SUM,
            "derived": _DERIVED,
        }.items()
        for where, data in {
            "complete 200": complete(200),
            "20,000 of 1,000": drawn(20_000, 1_000),
            "5,000 of 10,000": once(5_000),
        }.items()
        if called in ("gaussian", "sum") or where == "20,000 of 1,000"
    },
    **{
        f"{name} gaussian, 5,000 with group features": (drawn(5_000, 300, 3), fit(name, "gaussian"))
        for name in ("PairSVC", "PairLogistic", "PairRidge")
    },
    "PairSVC tensor symmetric, complete 300": (
        complete(300),
        fit("PairSVC", "tensor", "symmetric"),
    ),
    "PairSVC metric symmetric, 20,000 of 1,000": (
        drawn(20_000, 1_000),
        fit("PairSVC", MetricLearning(Linear()), "symmetric"),
    ),
    "PairSVC smo, 20,000 of 1,000": (
        drawn(20_000, 1_000),
        fit("PairSVC", "gaussian", solver="smo"),
    ),
    "PairSVC Nystroem, 20,000 of 1,000": (
        drawn(20_000, 1_000),
        fit("PairSVC", Product(Nystroem(Gaussian("median"), 100))),
    ),
    "PairRidge leave-one-out, 5,000 of 300": (
        drawn(5_000, 300),
        fit("PairRidge", _SUM, leave_one_out=True, solver="dense"),
    ),
    "TransductivePairSVC gaussian, 5,000 of 300": (
        drawn(5_000, 300),
        fit("TransductivePairSVC", "gaussian"),
    ),
    "TransductivePairSVC sum, 5,000 of 300": (drawn(5_000, 300), fit("TransductivePairSVC", _SUM)),
    "LaplacianPairSVC gaussian, 3,000 of 300": (
        drawn(3_000, 300),
        fit("LaplacianPairSVC", "gaussian"),
    ),
    "LaplacianPairSVC gaussian, 5,000 of 300": (
        drawn(5_000, 300),
        fit("LaplacianPairSVC", "gaussian"),
    ),
    "rank_objects 1,500 by gaussian": (drawn(5_000, 300), rank("PairSVC", "gaussian", 1_500)),
    "rank_objects 400 by derived": (drawn(2_000, 300), rank("PairRidge", _DERIVED, 400)),
    "rank_objects 1,500 by sum": (drawn(2_000, 300), rank("PairSVC", _SUM, 1_500)),
    # small ones, which tests run with limits of 40 to 100 MB
    "quick: PairRidgeCV auto": (complete(80), fit("PairRidgeCV", alphas=2, cv=2)),
    "quick: PairLogistic sum": (drawn(3_000, 80), fit("PairLogistic", _SUM)),
    "quick: PairSVC once": (once(2_500), fit("PairSVC", "gaussian", C=0.01)),
    "quick: rank_objects": (drawn(500, 50), rank("PairSVC", "gaussian", 1_000)),
    "quick: leave-one-out": (
        drawn(3_000, 80),
        fit("PairRidge", _SUM, leave_one_out=True, solver="dense"),
    ),
    **{f"grid: {one.name}": (one.data, grid(one)) for one in regret.problems()},
    "report gaussian, complete 100": (complete(100), report("PairSVC", "gaussian")),
    "report derived, complete 100": (complete(100), report("PairLogistic", _DERIVED)),
}


# Measurement --------------------------------------------------------------------------------------


def allowed(limit: float) -> float:
    """Peak in megabytes that a limit allows."""
    return 1.2 * limit + 100.0


def _resident() -> float:
    with open("/proc/self/statm", encoding="ascii") as facts:
        return int(facts.read().split()[1]) * 4096 / 1e6


def _highest() -> float:
    with open("/proc/self/status", encoding="ascii") as facts:
        line = next(line for line in facts if line.startswith("VmHWM:"))
    return float(line.split()[1]) * 1024 / 1e6


def peak_of(work: Callable[[], object]) -> tuple[float, str]:
    """Megabytes that some work adds at its peak, and why it was refused, if it was."""
    peak, done = [_resident()], threading.Event()
    before = peak[0]
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    reset = _highest() <= before + 1.0

    def sample() -> None:
        while not done.wait(0.002):
            peak[0] = max(peak[0], _resident())

    sampler = threading.Thread(target=sample, daemon=True)
    sampler.start()
    refused = ""
    try:
        work()
    except MemoryError as error:
        refused = str(error)
    done.set()
    sampler.join()
    return (_highest() if reset else max(peak[0], _resident())) - before, refused


def measure(name: str, limit: float, *, warm: bool = False) -> dict[str, Any]:
    """Peak of one run in a process of its own; ``warm`` loads compiled code before it counts."""
    command = [sys.executable, "-m", "benchmarks.memory", "--run", name, "--limits", str(limit)]
    command += ["--warm"] if warm else []
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise RuntimeError(f"{name} at {limit} MB failed: {finished.stderr[-2000:]}")
    return json.loads(finished.stdout.splitlines()[-1])


def _run_here(name: str, limit: float, *, warm: bool) -> dict[str, Any]:
    make, run = RUNS[name]
    pairs, margins = make()
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if warm:
            with suppress(MemoryError):
                run(pairs[:40].without_unused_objects(), margins[:40], limit)
        peak, refused = peak_of(lambda: run(pairs, margins, limit))
    return {
        "peak": peak,
        "refused": refused,
        "seconds": time.perf_counter() - started,
        "warnings": sorted({str(item.message) for item in caught}),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--only", action="append", help="runs whose name has this in it")
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS, help="megabytes")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help="load compiled code before counting")
    parser.add_argument("--output", type=Path, help="JSON file for what was measured")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(_run_here(arguments.run, arguments.limits[0], warm=arguments.warm)))
        return
    print(f"{'run':<52}{'limit':>7}{'peak':>8}{'ratio':>7}{'allowed':>9}{'seconds':>9}")
    rows: list[dict[str, Any]] = []
    for name in RUNS:
        if arguments.only and not any(word in name for word in arguments.only):
            continue
        for limit in arguments.limits:
            found = measure(name, limit, warm=arguments.warm)
            rows.append({"run": name, "limit": limit, **found})
            verdict = "refused" if found["refused"] else ""
            if found["peak"] > allowed(limit):
                verdict = "TOO MUCH"
            warned = " ".join(text for text in found["warnings"] if "memory" in text)
            print(
                f"{name:<52}{limit:>7.0f}{found['peak']:>8.0f}{found['peak'] / limit:>7.2f}"
                f"{allowed(limit):>9.0f}{found['seconds']:>9.1f} {verdict} {warned[:60]}",
                flush=True,
            )
    if arguments.output:
        kept = {"machine": machine(), "rows": rows}
        arguments.output.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def summary(rows: list[dict[str, Any]]) -> list[list[str]]:
    """By limit: runs, how many were refused or exceeded it, and the largest peaks."""
    shown = []
    for limit in sorted({row["limit"] for row in rows}):
        of_limit = [row for row in rows if row["limit"] == limit]
        exceeded = sum(row["peak"] > limit for row in of_limit)
        refused = sum(bool(row["refused"]) for row in of_limit)
        largest = max(of_limit, key=lambda row: row["peak"])
        counts = [f"{limit:.0f} MB", str(len(of_limit)), str(refused), str(exceeded)]
        shown.append([*counts, f"{largest['peak']:.0f} MB ({largest['run'].split(': ')[-1]})"])
    return shown


if __name__ == "__main__":
    main()
