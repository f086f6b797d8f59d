"""Leaderboards of votes: Pairity's models of names against linear models on the sparse design."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from benchmarks import regressions
from pairity import PairLogistic, Pairs, PairSVC
from pairity.kernels import Identity

#: Solvers of LogisticRegression for sparse rows.
_SOLVERS = ("lbfgs", "newton-cg", "liblinear")


@dataclass(frozen=True)
class Leaderboard:
    """Votes between models known by name, with odd group features (style of the answers)."""

    n_votes: int
    n_models: int = 100
    n_features: int = 0
    loss: str = "logistic"  # or "hinge"
    seed: int = 0

    @property
    def name(self) -> str:
        """What is shown."""
        many = f" of {self.n_models:,} models" if self.n_models != 100 else ""
        return f"{self.n_votes:,} votes{many}, {self.n_features} odd features, {self.loss}"

    def data(self) -> tuple[Pairs, np.ndarray]:
        """Winners drawn from the model of Bradley and Terry."""
        rng = np.random.default_rng(self.seed)
        first = rng.integers(0, self.n_models, self.n_votes)
        second = (first + rng.integers(1, self.n_models, self.n_votes)) % self.n_models
        strength = rng.normal(size=self.n_models)
        style = rng.normal(size=(self.n_votes, self.n_features))
        odds = strength[first] - strength[second] + style @ np.full(self.n_features, 0.3)
        labels = np.where(rng.random(self.n_votes) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)
        objects = np.zeros((self.n_models, 0))
        pairs = Pairs(objects, first, second, antisymmetric=style, ids=np.arange(self.n_models))
        return pairs, labels

    def ours(self, pairs: Pairs, labels: np.ndarray) -> Any:
        """Fitted and certified."""
        maker = PairLogistic if self.loss == "logistic" else PairSVC
        return maker("antisymmetric", kernel=Identity(), C=1.0).fit(pairs, labels)

    def peers(
        self, pairs: Pairs, labels: np.ndarray
    ) -> dict[str, Callable[[Pairs, np.ndarray], Any]]:
        """The same problem on the sparse design, whose making counts, with each solver that suits."""
        models: dict[str, Any]
        if self.loss == "logistic":
            models = {**regressions.peers(design(pairs), labels, _SOLVERS)}
        else:
            given = {"loss": "hinge", "dual": True, "fit_intercept": False}
            models = {"LinearSVC": LinearSVC(C=1.0, tol=1e-3, max_iter=1000, **given)}
        return {
            name: lambda pairs, labels, model=model: model.fit(design(pairs), labels)
            for name, model in models.items()
        }


def design(pairs: Pairs) -> sp.csr_matrix:
    """+1 for the model written first, -1 for the other one, and the group features."""
    n = len(pairs)
    ends = np.arange(0, 2 * n + 1, 2, dtype=np.int32)
    columns = np.column_stack([pairs.first, pairs.second]).astype(np.int32).ravel()
    signs = np.tile([1.0, -1.0], n)
    names = sp.csr_matrix((signs, columns, ends), shape=(n, pairs.n_objects))
    if not pairs.n_antisymmetric:
        return names
    return sp.hstack([names, sp.csr_matrix(np.sqrt(2.0) * pairs.antisymmetric)], format="csr")


def leaderboards(full: bool) -> list[dict]:
    """Least or median seconds of some runs, ours and theirs in turn; a process for each board."""
    boards = [Leaderboard(n_votes) for n_votes in (1000, 5389, 50_000)]
    boards.append(Leaderboard(1_000_000, n_features=4))
    if full:
        boards.append(Leaderboard(1_000_000, n_features=4, loss="hinge"))
        # games of many players, each of whom has few
        boards.append(Leaderboard(60_000, n_models=4000, loss="hinge"))
        boards.append(Leaderboard(600_000, n_models=20_000, loss="hinge"))
    fresh = {"mp_context": multiprocessing.get_context("spawn"), "max_tasks_per_child": 1}
    with ProcessPoolExecutor(1, **fresh) as processes:
        return [row for rows in processes.map(_measured, boards) for row in rows]


def _measured(board: Leaderboard) -> list[dict]:
    pairs, labels = board.data()
    board.ours(pairs, labels)
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # before any peer
    calls = {"pairity": board.ours, **board.peers(pairs, labels)}
    taken: dict[str, list[float]] = {system: [] for system in calls}
    # milliseconds vary more than seconds, and the interpreter specialises what ran a dozen times
    repetitions = 100 if board.n_votes <= 100_000 else 5
    repetitions = 1 if board.loss == "hinge" and board.n_features else repetitions
    for _ in range(repetitions):
        for system, call in calls.items():
            started = time.perf_counter()
            call(pairs, labels)
            taken[system].append(time.perf_counter() - started)
    # LinearSVC takes rows in another order each time: its luckiest one does not count
    typical = statistics.median if board.loss == "hinge" else min
    return [
        {
            "system": system,
            "task": board.name,
            "n_pairs": board.n_votes,
            "n_objects": board.n_models,
            "fit_seconds": typical(seconds),
            **({"peak_mb": peak_mb} if system == "pairity" else {}),
        }
        for system, seconds in taken.items()
    ]
