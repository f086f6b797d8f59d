"""Run workers and judge their solutions on one and the same problem."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.tasks import Task
from pairity.kernels.classes import project
from pairity.operators import PairOperator
from pairity.operators.blockwise import operator_within
from pairity.pairs.parity import Parity
from pairity.runtime.resources import Budget
from pairity.solvers.certificate import certify
from pairity.solvers.problem import AnyProblem

PARITY = {parity.sign: parity for parity in Parity}
ROOT = Path(__file__).resolve().parent.parent


def run(system: str, task: Task, *, predict: bool = False, timeout: float = 3600.0) -> dict | None:
    """Times, memory and KKT violation of one system on one task; None if it failed.

    A system that is not done by the timeout has that time and ``unfinished``: a lower bound.
    """
    with tempfile.TemporaryDirectory() as folder:
        output = str(Path(folder) / "outcome.npz")
        request = {
            "system": system,
            "task": task.to_dict(),
            "output": output,
            "predict": predict,
        }
        print(f"  {task.name}: {system} ...", end=" ", flush=True)
        try:
            finished = subprocess.run(
                [sys.executable, "-m", "benchmarks.worker"],
                input=json.dumps(request),
                text=True,
                cwd=ROOT,
                timeout=timeout,
                capture_output=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"not finished after {timeout:.0f} s", flush=True)
            return {
                "system": system,
                "task": task.name,
                "n_pairs": len(task.data()[1]),
                "n_objects": task.n_objects,
                "fit_seconds": timeout,
                "unfinished": True,
            }
        if finished.returncode != 0:
            print("failed:", finished.stderr.strip().splitlines()[-1:], flush=True)
            return None
        with np.load(output) as found:
            row = {key: float(found[key]) for key in found.files if key != "theta"}
            theta = found["theta"]
    row.update(system=system, task=task.name, n_pairs=len(theta) // 2, n_objects=task.n_objects)
    row.update(C=task.C, symmetry=task.symmetry)
    row["violation"], row["dual"] = judge(task, theta)
    print(f"{row['fit_seconds']:.3f} s, violation {row['violation']:.1e}", flush=True)
    return row


def judge(task: Task, theta: np.ndarray) -> tuple[float, float]:
    """KKT violation and dual value on I, recomputed: the maximal violating pair of (26).

    For ridge regression: the relative residual of the linear system on J.
    """
    pairs, targets = task.data()
    sign = -1.0 if task.symmetry == "antisymmetric" else 1.0
    if task.loss == "squared":
        loss, n = task.losses(targets).times(2.0), len(pairs)
        halved = theta[:n] + sign * theta[n:]
        values = PairOperator(task.kernel, pairs).product(halved)
        dual = 0.5 * float(halved @ values) + float(np.sum(loss.conjugate(halved)))
        return loss.violation(halved, values), dual
    if task.loss == "logistic":  # shares of bounds on I are those on J
        loss, n = task.losses(targets).times(2.0), len(pairs)
        halved, kernel = theta[:n] + sign * theta[n:], project(task.kernel, PARITY[sign], pairs)
        operator = operator_within(kernel, pairs, Budget(4000.0))
        problem = AnyProblem(operator, loss, task.symmetry != "antisymmetric")
        found = certify(problem, halved, 1e-3)
        return found.violation, found.dual
    full, both = pairs.with_mirrored(), np.concatenate([targets, sign * targets])
    loss = task.losses(both)
    values = operator_within(task.kernel, full, Budget(4000.0)).product(theta)
    # peers keep their duals in single precision: what is that close to a bound is on it
    snapped = theta.copy()
    for bound in (loss.low, loss.high, np.zeros(len(theta))):
        snapped = np.where(np.abs(theta - bound) < 1e-6 * task.C, bound, snapped)
    low, high = loss.bias_interval(snapped, values)
    dual = 0.5 * float(theta @ values) + float(np.sum(loss.conjugate(theta)))
    return max(0.0, low - high), dual


def machine() -> dict:
    """Facts that the times depend on."""
    model = ""
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "")
    import numba
    import scipy
    import sklearn

    return {
        "processor": model or platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }
