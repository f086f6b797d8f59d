"""Everyday sizes: every kernel family, shape and loss against scikit-learn on the doubled rows.

The peer is its ``SVC`` with the same kernel: built in, or the Gram matrix of the doubled rows, whose
making counts; for the logistic loss that is a yardstick.  The linear kernel with the logistic loss
meets ``LogisticRegression``, with the quickest of its solvers that reach the same certificate.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from benchmarks import regressions
from benchmarks.tasks import SIGMA, Task
from pairity import PairLogistic, Pairs, PairSVC
from pairity.kernels import (
    Additive,
    Gaussian,
    Kernel,
    Linear,
    MetricLearning,
    Polynomial,
    Tensor,
)

SIZES = (200, 1000, 5000)
LOSSES = ("hinge", "logistic")
GROUPS = ("", "both")
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "gaussian": Gaussian(SIGMA),
    "polynomial": Polynomial(2),
    "tensor": Tensor(Gaussian(SIGMA)),
    "metric": MetricLearning(Gaussian(SIGMA)),
    "additive": Additive(Gaussian(SIGMA)),
    "sum": 0.5 * Gaussian(SIGMA) + 0.4 * Additive(Gaussian(SIGMA)) + 0.1 * Linear(),
}
#: The same with group features, where a kernel would not look at them otherwise.
WITH_GROUPS: dict[str, Kernel] = {
    "tensor": Tensor(Gaussian(SIGMA), Linear(), Polynomial(2)),
    "metric": MetricLearning(Gaussian(SIGMA), Linear(), Polynomial(2)),
    "additive": Additive(Gaussian(SIGMA)) + 0.1 * Linear(),
}
#: Kernels that scikit-learn has itself.
BUILT_IN: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "gaussian": {"kernel": "rbf", "gamma": 1.0 / (2.0 * SIGMA**2)},
    "polynomial": {"kernel": "poly", "degree": 2, "gamma": 1.0},
}
#: Solvers of LogisticRegression that are tried.
LINEAR_SOLVERS = ("lbfgs", "liblinear", "newton-cholesky")
#: Seconds for the repetitions of a cell, and how many at least and at most: code that ran a dozen
#: times is not yet specialised by the interpreter.
_SECONDS, _LEAST, _MOST = 1.0, 3, 200


@dataclass(frozen=True)
class Cell:
    """One piece of everyday work."""

    kernel: str
    shape: str  # "complete", "sparse" (10 pairs per object) or "once" (every object in one pair)
    n_pairs: int
    loss: str
    group: str = ""

    @property
    def name(self) -> str:
        """What is shown."""
        with_group = ", group features" if self.group else ""
        return f"{self.n_pairs} pairs, {self.shape}, {self.kernel}{with_group}, {self.loss}"

    @property
    def symmetry(self) -> str:
        """The law: distances are symmetric, all else is who beats whom."""
        return "symmetric" if self.kernel in ("metric", "tensor") else "antisymmetric"

    @property
    def pair_kernel(self) -> Kernel:
        """Ours, and that of the Gram matrix of the peer."""
        plain = KERNELS[self.kernel]
        return WITH_GROUPS.get(self.kernel, plain) if self.group else plain

    def data(self) -> tuple[Pairs, np.ndarray]:
        """Pairs with labels; as many as asked for, or the complete set nearest to that."""
        sizes = {
            "complete": round((2 * self.n_pairs) ** 0.5) + 1,
            "sparse": self.n_pairs // 5,
            "once": 2 * self.n_pairs,
        }
        some = self.n_pairs if self.shape == "sparse" else None
        once = self.shape == "once"
        task = Task(self.name, self.symmetry, sizes[self.shape], some, group=self.group, once=once)
        return task.data()

    def ours(self, pairs: Pairs, labels: np.ndarray) -> Any:
        """Fitted and certified."""
        maker = PairLogistic if self.loss == "logistic" else PairSVC
        return maker(self.symmetry, kernel=self.pair_kernel, C=1.0).fit(pairs, labels)

    def peers(
        self, pairs: Pairs, labels: np.ndarray
    ) -> dict[str, Callable[[Pairs, np.ndarray], Any]]:
        """Calls of the peers by name."""
        if self.kernel != "linear" or self.loss != "logistic":
            return {"SVC": self._machine}
        rows, doubled = pairs.with_mirrored().to_rows(), self._doubled(labels)
        models = regressions.peers(rows, doubled, LINEAR_SOLVERS)
        return {name: partial(self._regression, model) for name, model in models.items()}

    def _doubled(self, labels: np.ndarray) -> np.ndarray:
        sign = -1.0 if self.symmetry == "antisymmetric" else 1.0
        return np.concatenate([labels, sign * labels])

    def _regression(self, model: Any, pairs: Pairs, labels: np.ndarray) -> Any:
        return model.fit(pairs.with_mirrored().to_rows(), self._doubled(labels))

    def _machine(self, pairs: Pairs, labels: np.ndarray) -> Any:
        options, doubled = BUILT_IN.get(self.kernel), pairs.with_mirrored()
        table = doubled.to_rows()
        if options is None:
            options, table = {"kernel": "precomputed"}, self.pair_kernel.gram(doubled)
        return SVC(C=1.0, cache_size=2000, **options).fit(table, self._doubled(labels))


def cells(full: bool) -> Iterator[Cell]:
    """All of them, or all but the largest size."""
    for n_pairs in SIZES if full else SIZES[:2]:
        for shape in ("complete", "sparse", "once"):
            for kernel in KERNELS:
                for group in GROUPS:
                    for loss in LOSSES:
                        yield Cell(kernel, shape, n_pairs, loss, group)


def everyday(full: bool) -> list[dict]:
    """Median seconds of ours and theirs, fitted in turn."""
    rows = []
    for cell in cells(full):
        print(f"  {cell.name} ...", end=" ", flush=True)
        found = measured(cell)
        rows += found
        print(", ".join(f"{row['system']} {row['fit_seconds']:.3g} s" for row in found), flush=True)
    return rows


def measured(cell: Cell) -> list[dict]:
    """A row for us and one for each peer."""
    pairs, labels = cell.data()
    calls = {"pairity": cell.ours, **cell.peers(pairs, labels)}
    wall: dict[str, list[float]] = {system: [] for system in calls}
    processor: dict[str, list[float]] = {system: [] for system in calls}
    model = cell.ours(pairs, labels)  # loads what there is to load
    started = time.perf_counter()
    while len(wall["pairity"]) < _MOST:
        for system, call in calls.items():
            begun, begun_processor = time.perf_counter(), time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # of the peers
                call(pairs, labels)
            wall[system].append(time.perf_counter() - begun)
            processor[system].append(time.process_time() - begun_processor)
        enough = len(wall["pairity"]) >= _LEAST or time.perf_counter() - started > 5.0 * _SECONDS
        if enough and time.perf_counter() - started > _SECONDS:
            break
    return [
        {
            "system": system,
            "task": cell.name,
            "n_pairs": len(pairs),
            "n_objects": pairs.n_objects,
            "fit_seconds": statistics.median(wall[system]),
            "processor_seconds": statistics.median(processor[system]),
            **({"violation": model.certificate_.violation} if system == "pairity" else {}),
        }
        for system in calls
    ]


def table(rows: list[dict]) -> list[list[str]]:
    """How many times longer the quickest peer takes: over shapes, with and without group features."""
    seconds: dict[str, dict[str, float]] = {}
    for row in rows:
        seconds.setdefault(row["task"], {})[row["system"]] = row["fit_seconds"]
    found: dict[tuple[str, int, str], list[tuple[float, str]]] = {}
    for cell in cells(full=True):
        if cell.name in seconds:
            ours, peers = seconds[cell.name].pop("pairity"), seconds[cell.name].values()
            key = cell.kernel, cell.n_pairs, cell.loss
            found.setdefault(key, []).append((min(peers) / ours, cell.name))
    shown = []
    for (kernel, n_pairs, loss), measured_cells in found.items():
        least, where = min(measured_cells)
        middle = statistics.median(ratio for ratio, _ in measured_cells)
        shape = where.split(", ")[1] + (", group features" if "group features" in where else "")
        shown.append([kernel, f"{n_pairs:,}", loss, f"{middle:.3g}x", f"{least:.3g}x ({shape})"])
    return shown
