"""Two workers with 1.5 GB each: time per pass by the number of pairs, and a whole fit."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import psutil

from benchmarks.scale.data import Tournament
from pairity import Pairs, PairSVC, distributed
from pairity.distributed import PairDataset, write_predictions
from pairity.distributed.train import Job, assemble, survey
from pairity.kernels import Gaussian, Nystroem, Product
from pairity.losses.piecewise import LossRecipe
from pairity.pairs.parity import Parity

MEMORY = "1.5GB"
N_FILES = 20
SIGMA, C = 4.0, 0.01


@contextmanager
def cluster(n_workers: int = 2):
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=MEMORY,
            dashboard_address="127.0.0.1:0",
            silence_logs=40,
        ) as workers,
        Client(workers, set_as_default=False) as client,
    ):
        yield client


class Memory:
    """Largest resident size of each worker and of this process, looked at five times a second."""

    def __init__(self, client) -> None:
        self.pids = list(client.run(os.getpid).values())
        self.peaks: dict[int, float] = {}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._done.wait(0.2):
            for pid in (*self.pids, os.getpid()):
                try:
                    size = psutil.Process(pid).memory_info().rss / 1e6
                except psutil.Error:
                    continue
                self.peaks[pid] = max(size, self.peaks.get(pid, 0.0))

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *raised) -> None:
        self._done.set()
        self._thread.join()

    def report(self) -> dict:
        workers = [round(self.peaks.get(pid, 0.0)) for pid in self.pids]
        return {"workers, MB": workers, "this process, MB": round(self.peaks[os.getpid()])}


def dataset(folder: Path, n_files: int) -> PairDataset:
    files = sorted((folder / "pairs").iterdir())[:n_files]
    return PairDataset.from_parquet(
        files, first="a", second="b", objects=folder / "objects.parquet", id="id"
    )


def passes(client, folder: Path, kernel, n_files: int) -> dict:
    """Seconds of one pass (decisions and all sums) and of one product with curved pairs."""
    data = dataset(folder, n_files)
    started = time.perf_counter()
    found = survey(data, client, "won", None, odd=True, numeric=False)
    surveyed = time.perf_counter()
    recipe = LossRecipe("hinge", 2.0 * C)
    fitted = kernel.fitted_to(found.sample)
    job = Job(fitted, Parity.ODD, False, recipe, {-1: -1.0, 1: 1.0}, {})
    _, engine = assemble(found, client, job)
    engine.move_to(np.zeros(engine.layout.size), np.float32)
    engine.sums(2.0)
    loaded = time.perf_counter()
    rng = np.random.default_rng(0)
    direction = rng.normal(size=engine.layout.size) * 1e-3
    (matrix,) = engine.layout.matrices(direction)
    matrix -= matrix.T.copy()
    measured = []
    for _ in range(3):
        start = time.perf_counter()
        engine.move_to(direction, np.float32)
        engine.sums(2.0)
        middle = time.perf_counter()
        engine.curve(direction)
        measured.append((middle - start, time.perf_counter() - middle))
    best = np.min(measured, axis=0)
    return {
        "pairs": found.facts.n_pairs,
        "survey, s": surveyed - started,
        "load, s": loaded - surveyed,
        "pass, s": float(best[0]),
        "product with all pairs, s": float(best[1]),
        "parts": len(found.parts),
    }


def whole_fit(client, folder: Path, kernel, C: float, tol: float) -> dict:
    """Fit on all files, predictions written, accuracy on pairs never seen."""
    data = dataset(folder, N_FILES).using(client)
    with Memory(client) as memory:
        started = time.perf_counter()
        model = distributed.fit(
            PairSVC("antisymmetric", kernel=kernel, C=C, tol=tol, verbose=True), data, "won"
        )
        fitted = time.perf_counter()
        with tempfile.TemporaryDirectory() as target:
            files = write_predictions(model, data, Path(target) / "predictions")
            written = time.perf_counter()
            n_bytes = sum(file.stat().st_size for file in files)
    return {
        "steps": model.n_iter_,
        "fit, s": fitted - started,
        "predictions, s": written - fitted,
        "predictions, MB": n_bytes / 1e6,
        "relative gap": model.certificate_.relative_gap,
        "trace lost": model.approximation_[0].share,
        "memory": memory.report(),
        "model": model,
    }


def against_one_process(client, folder: Path, kernel, tournament: Tournament) -> dict:
    """The pairs of one file by two workers and by one process, to the same gap."""
    data = dataset(folder, 1).using(client)
    path = sorted((folder / "pairs").iterdir())[0]
    table = pd.read_parquet(path)
    first, second, won = (table[name].to_numpy() for name in ("a", "b", "won"))
    pairs = Pairs(tournament.objects, first, second)
    fitted = kernel.fitted_to(pairs[:50_000])
    far = distributed.fit(PairSVC("antisymmetric", kernel=fitted, C=C, tol=1e-3), data, "won")
    near = PairSVC("antisymmetric", kernel=fitted, C=C, tol=1e-3).fit(pairs, won)
    test = Pairs(tournament.objects, *tournament.draw(100_000, 10_001)[:2])
    one, two = far.decision_function(test), near.decision_function(test)
    return {
        "objectives": [far.certificate_.primal, near.certificate_.primal],
        "relative gaps": [far.certificate_.relative_gap, near.certificate_.relative_gap],
        "decisions apart, mean": float(np.mean(np.abs(one - two))),
        "decisions apart, largest": float(np.max(np.abs(one - two))),
        "decisions, spread": float(np.std(two)),
        "labels that differ": float(np.mean((one > 0) != (two > 0))),
    }


def run(n_pairs: int = 20_000_000, n_objects: int = 50_000, rank: int = 256) -> dict:
    """All of it, in folders that are deleted again."""
    tournament = Tournament(n_objects)
    kernel = Product(Nystroem(Gaussian(SIGMA), rank))
    found: dict = {"n_pairs": n_pairs, "n_objects": n_objects, "rank": rank, "passes": []}
    with tempfile.TemporaryDirectory() as place, cluster() as client:
        folder = Path(place)
        started = time.perf_counter()
        tournament.write(folder, n_pairs, N_FILES)
        found["writing, s"] = time.perf_counter() - started
        fit = whole_fit(client, folder, kernel, C, 1e-2)
        model = fit.pop("model")
        first, second, won = tournament.draw(200_000, 10_000)
        fit["test accuracy"] = model.score(Pairs(tournament.objects, first, second), won)
        found["fit"] = fit
        print(fit, flush=True)
        found["against one process"] = against_one_process(client, folder, kernel, tournament)
        print(found["against one process"], flush=True)
        for share in (2, 5, 10, 20):
            row = passes(client, folder, kernel, N_FILES * share // 20)
            found["passes"].append({**row, "objects": n_objects, "rank": rank, "workers": 2})
            print(found["passes"][-1], flush=True)
        half = Product(Nystroem(Gaussian(SIGMA), rank // 2))
        row = passes(client, folder, half, N_FILES // 4)
        found["passes"].append({**row, "objects": n_objects, "rank": rank // 2, "workers": 2})
        print(found["passes"][-1], flush=True)
    fewer = n_objects * 2 // 5
    with tempfile.TemporaryDirectory() as place, cluster() as client:
        Tournament(fewer).write(Path(place), n_pairs // 4, N_FILES)
        row = passes(client, Path(place), kernel, N_FILES)
        found["passes"].append({**row, "objects": fewer, "rank": rank, "workers": 2})
        print(found["passes"][-1], flush=True)
    return found
