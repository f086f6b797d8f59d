"""One system on one task in a process of its own: ``python -m benchmarks.worker``.

Reads a JSON request on standard input, writes an .npz file with times, peak memory and the dual
variables.  A first fit on a small task of the same kind loads and compiles what there is to.
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.systems import SYSTEMS
from benchmarks.tasks import Task
from pairity import Pairs

N_PREDICTIONS = 20_000
N_NEW_OBJECTS = 200
#: How often work is done, unless all of it together took these seconds.
_REPETITIONS, _SHORT = 3, 5.0


def _new_pairs(task: Task) -> Pairs:
    rng = np.random.default_rng(task.seed + 1)
    objects = rng.normal(size=(N_NEW_OBJECTS, task.n_features))
    first = rng.integers(0, N_NEW_OBJECTS, N_PREDICTIONS)
    second = (first + rng.integers(1, N_NEW_OBJECTS, N_PREDICTIONS)) % N_NEW_OBJECTS
    even, odd = rng.normal(size=(N_PREDICTIONS, 1)), np.ones((N_PREDICTIONS, 1))
    symmetric, antisymmetric = even if task.group == "both" else None, odd if task.group else None
    return Pairs(objects, first, second, symmetric, antisymmetric)


def _warm_up(system, task: Task) -> None:
    # the same kind of work, small: complete for complete tasks, sparse for sparse ones
    small = replace(task, n_objects=80, n_pairs=None)
    if task.n_pairs is not None:
        small = replace(task, n_objects=200, n_pairs=6000 if task.loss == "squared" else 2600)
    if task.once:
        small = replace(task, n_objects=6200)
    small = replace(small, n_features=min(task.n_features, 40), C=min(task.C, 10.0))
    model = system.fit(small, *system.prepare(small, *small.data()))
    if task.kind == "interaction":
        system.predict(model, system.prepare_prediction(_new_pairs(small)))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work gives, and its seconds: the median of three where it is short."""
    seconds: list[float] = []
    while len(seconds) < _REPETITIONS and sum(seconds) < _SHORT:
        started = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - started)
    return found, statistics.median(seconds)


def main() -> None:
    request = json.load(sys.stdin)
    system, task = SYSTEMS[request["system"]], Task(**request["task"])
    _warm_up(system, task)
    pairs, labels = task.data()
    prepared = system.prepare(task, pairs, labels)
    model, fit_seconds = _timed(lambda: system.fit(task, *prepared))
    outcome = {"fit_seconds": fit_seconds}
    if hasattr(model, "n_iter_"):  # ThunderSVM does not count
        outcome["n_iter"] = float(np.max(model.n_iter_))
    if request.get("predict"):
        new = system.prepare_prediction(_new_pairs(task))
        _, outcome["predict_seconds"] = _timed(lambda: system.predict(model, new))
    outcome["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    np.savez(request["output"], theta=system.theta(task, model, len(pairs)), **outcome)


if __name__ == "__main__":
    main()
