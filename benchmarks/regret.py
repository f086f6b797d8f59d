"""``python -m benchmarks.regret``: how much slower ``solver="auto"`` is than the best solver.

Over a grid of shapes, kernels, losses and C every solver of the package that suits a problem is
timed, each in a process of its own that is forked after everything was loaded, and given up once it
has taken several times as long as the automatic choice.  The regret of a problem is the time of the
automatic choice over that of the quickest fit that reached its certificate.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import machine
from benchmarks.tasks import SIGMA, Task
from pairity import PairLogistic, PairSVC
from pairity.kernels import Additive, Gaussian, Kernel, Linear, MetricLearning

SHAPES = {
    "complete 120": {"n_objects": 120},
    "6,000 of 600": {"n_objects": 600, "n_pairs": 6000},
    "4,000 pairs, objects once": {"n_objects": 8000, "once": True},
}
KERNELS: dict[str, tuple[Kernel, str]] = {
    "gaussian": (Gaussian(SIGMA), ""),
    "gaussian, group features": (Gaussian(SIGMA), "both"),
    "linear": (Linear(), ""),
    "sum": (0.5 * Gaussian(SIGMA) + 0.4 * Additive(Gaussian(SIGMA)) + 0.1 * Linear(), ""),
    "metric": (MetricLearning(Gaussian(SIGMA)), ""),
}
PENALTIES = (0.01, 1.0, 100.0)
SOLVERS = {"hinge": ("chunking", "splitting", "smo", "primal"), "logistic": ("newton", "primal")}
#: Times of the automatic choice, and seconds beside them for what a first fit has to load, after
#: which a solver is given up.
_PATIENCE, _GRACE = 2.5, 5.0
#: Fits are repeated once at least, unless one takes so many seconds, and for so many seconds or so
#: many times at the most: what takes milliseconds varies by as much as that.
_LONG, _SHORT, _MOST = 20.0, 1.0, 20
#: Seconds for the automatic choice.
_MOST_SECONDS = 120.0


@dataclass(frozen=True)
class Problem:
    """One cell of the grid."""

    shape: str
    kernel: str
    loss: str
    C: float

    @property
    def name(self) -> str:
        """What is shown."""
        return f"{self.shape}, {self.kernel}, {self.loss}, C = {self.C:g}"

    @property
    def symmetry(self) -> str:
        """Distances are symmetric, all else is who beats whom."""
        return "symmetric" if self.kernel == "metric" else "antisymmetric"

    def data(self) -> Any:
        """Pairs and labels."""
        group = KERNELS[self.kernel][1]
        return Task(self.name, self.symmetry, group=group, **SHAPES[self.shape]).data()

    def model(self, solver: str) -> Any:
        """Not fitted yet."""
        maker = PairSVC if self.loss == "hinge" else PairLogistic
        return maker(self.symmetry, kernel=KERNELS[self.kernel][0], C=self.C, solver=solver)


def problems() -> Iterator[Problem]:
    """The grid."""
    for shape in SHAPES:
        for kernel in KERNELS:
            for loss in SOLVERS:
                for C in PENALTIES:
                    yield Problem(shape, kernel, loss, C)


def _fit(problem: Problem, solver: str, results: Any) -> None:
    """Least seconds of some fits (the first one loads), and whether their certificate holds."""
    data = problem.data()
    best, holds, begun = np.inf, False, time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for repetition in range(_MOST):
            started = time.perf_counter()
            try:
                holds = bool(problem.model(solver).fit(*data).certificate_.holds)
            except (ValueError, MemoryError):  # a solver that does not suit the problem
                results.put((None, False))
                return
            ended = time.perf_counter()
            best = min(best, ended - started)
            if best > _LONG or (repetition and ended - begun > _SHORT):
                break
    results.put((best, holds))


def timed(problem: Problem, solver: str, patience: float) -> tuple[float | None, bool]:
    """Seconds, or None where a solver does not suit or takes longer; and whether it holds."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=_fit, args=(problem, solver, results))
    process.start()
    try:
        return results.get(timeout=patience)
    except Exception:  # queue.Empty: not done in time
        return None, False
    finally:
        process.kill()
        process.join()


def measured(problem: Problem) -> dict[str, Any]:
    """Times of all solvers on a problem."""
    auto, holds = timed(problem, "auto", _MOST_SECONDS)
    row: dict[str, Any] = {"problem": problem.name, "auto": auto, "holds": holds}
    patience = 2 * _PATIENCE * (auto or _MOST_SECONDS) + _GRACE
    for solver in SOLVERS[problem.loss]:
        seconds, reached = timed(problem, solver, patience)
        if seconds is not None and reached:
            row[solver] = seconds
    best = min([row[solver] for solver in SOLVERS[problem.loss] if solver in row], default=auto)
    row["regret"] = None if auto is None else auto / min(best, auto)
    return row


def table(rows: list[dict[str, Any]], facts: dict[str, Any]) -> str:
    """All problems as Markdown, the largest regret first."""
    solvers = ("auto", "chunking", "splitting", "smo", "newton", "primal")
    lines = [
        f"{len(rows)} problems; the certificate holds on {sum(row['holds'] for row in rows)};",
        f"largest regret {max(row['regret'] or np.inf for row in rows):.2f}, on"
        f" {sum((row['regret'] or np.inf) > 2.0 for row in rows)} of them above 2.",
        "",
        "| problem | regret | " + " | ".join(solvers) + " |",
        "|---|---|" + "---|" * len(solvers),
    ]
    for row in sorted(rows, key=lambda row: -(row["regret"] or np.inf)):
        seconds = (f"{row[s]:.3f}" if row.get(s) is not None else "" for s in solvers)
        regret = "" if row["regret"] is None else f"{row['regret']:.2f}"
        lines.append(f"| {row['problem']} | {regret} | " + " | ".join(seconds) + " |")
    lines += ["", "Seconds; empty where a solver does not suit, or took several times as long."]
    lines += [f"Machine: {', '.join(f'{key} {value}' for key, value in facts.items())}.", ""]
    return "\n".join(lines)


def figure(rows: list[dict[str, Any]], path: Path) -> None:
    """Sorted regrets."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    regrets = sorted(row["regret"] for row in rows if row["regret"] is not None)
    chart, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    axes.plot(np.arange(1, len(regrets) + 1), regrets, "o", markersize=3)
    axes.axhline(2.0, color="grey", linestyle="--", label="twice the time of the best solver")
    axes.set(xlabel="problems, sorted", ylabel='time of "auto" / best', ylim=(0.9, None))
    axes.legend()
    chart.savefig(path, dpi=150)
    plt.close(chart)


def main() -> None:
    """Run the grid and write table, figure and JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regret", description=__doc__)
    parser.add_argument("--only", default="", help="problems whose names hold this")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    chosen = [problem for problem in problems() if arguments.only in problem.name]
    rows, facts = [], machine()
    for number, problem in enumerate(chosen, 1):
        rows.append(measured(problem))
        print(f"{number}/{len(chosen)} {json.dumps(rows[-1])}", flush=True)
    if not arguments.only:
        (arguments.output / "regret.json").write_text(
            json.dumps({"machine": facts, "rows": rows}, indent=1) + "\n"
        )
        figure(rows, arguments.output / "regret.png")
    print(table(rows, facts))


if __name__ == "__main__":
    main()
