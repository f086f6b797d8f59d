"""One process, 1 M pairs of 20,000 objects: a low-rank PairSVC beside Nystroem features of pairs.

The kernel is the same for all: a Gaussian of the concatenated rows, made antisymmetric.  Pairity
approximates it by r features of *objects* and their r x r products; the peers by R features of
*pairs*, ``(phi(ab) - phi(ba)) / 2``, exactly antisymmetric without doubled rows.  R = 32,640 would be
as many parameters as r = 256, and 130 GB; the peers get what the memory holds.  Every candidate runs
in a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.scale.data import Tournament

N_OBJECTS, N_PAIRS, N_TEST = 20_000, 1_000_000, 200_000
SIGMA, C = 4.0, 0.1


def ours(tournament: Tournament, rank: int) -> dict:
    from pairity import Pairs, PairSVC
    from pairity.kernels import Gaussian, Nystroem, Product

    first, second, won = tournament.draw(N_PAIRS, 0)
    model = PairSVC("antisymmetric", kernel=Product(Nystroem(Gaussian(SIGMA), rank)), C=C, tol=1e-3)
    small = Pairs(tournament.objects, first[:2000], second[:2000])
    PairSVC("antisymmetric", kernel=model.kernel, C=C).fit(small, won[:2000])  # compiled code
    started = time.perf_counter()
    model.fit(Pairs(tournament.objects, first, second), won)
    fitted = time.perf_counter()
    first, second, won = tournament.draw(N_TEST, 10_000)
    accuracy = model.score(Pairs(tournament.objects, first, second), won)
    return {
        "fit, s": fitted - started,
        "prediction of 200,000, s": time.perf_counter() - fitted,
        "accuracy": accuracy,
        "relative gap": model.certificate_.relative_gap,
        "steps": model.n_iter_,
        "trace lost": model.approximation_[0].share,
    }


def peer(tournament: Tournament, name: str, n_components: int, allowed: float) -> dict:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC

    objects = tournament.objects.astype(np.float32)
    first, second, won = tournament.draw(N_PAIRS, 0)
    gamma = 1.0 / (2.0 * SIGMA**2)
    started = time.perf_counter()
    rows = np.hstack([objects[first[:100_000]], objects[second[:100_000]]])
    features = Nystroem(gamma=gamma, n_components=n_components, random_state=0).fit(rows)

    def antisymmetric(first, second):
        out = np.empty((len(first), n_components), dtype=np.float32)
        for start in range(0, len(first), 50_000):
            a, b = objects[first[start : start + 50_000]], objects[second[start : start + 50_000]]
            straight = features.transform(np.hstack([a, b]))
            out[start : start + 50_000] = (straight - features.transform(np.hstack([b, a]))) / 2.0
        return out

    table = antisymmetric(first, second)
    transformed = time.perf_counter()
    if name == "LinearSVC":
        model = LinearSVC(C=2.0 * C, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=300)
    else:
        model = SGDClassifier(
            alpha=1.0 / (2.0 * C * N_PAIRS), fit_intercept=False, average=True, tol=1e-4
        )
    model.fit(table, won)
    fitted = time.perf_counter()
    del table
    first, second, won = tournament.draw(N_TEST, 10_000)
    return {
        "features, s": transformed - started,
        "fit, s": fitted - started,
        "accuracy": float(np.mean(model.predict(antisymmetric(first, second)) == won)),
        "epochs": int(model.n_iter_),
    }


CANDIDATES = [
    ("ours", 32),
    ("ours", 64),
    ("ours", 128),
    ("ours", 192),
    ("ours", 256),
    ("SGD", 256),
    ("SGD", 1000),
    ("LinearSVC", 256),
    ("LinearSVC", 1000),
    ("SGD", 2500),
]


def candidate(name: str, size: int) -> dict:
    tournament = Tournament(N_OBJECTS)
    found = ours(tournament, size) if name == "ours" else peer(tournament, name, size, 0.0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"name": name, "size": size, "peak memory, MB": peak, **found}


def run(allowed: float = 300.0) -> list[dict]:
    """Every candidate in a process of its own; one that takes longer than allowed is left out."""
    found = []
    for name, size in CANDIDATES:
        command = [sys.executable, "-m", "benchmarks.scale.one_process", name, str(size)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=allowed)
        except subprocess.TimeoutExpired:
            found.append({"name": name, "size": size, "stopped after, s": allowed})
            continue
        if done.returncode:
            found.append({"name": name, "size": size, "failed": done.stderr[-300:]})
        else:
            found.append(json.loads(done.stdout))
        print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    print(json.dumps(candidate(sys.argv[1], int(sys.argv[2]))))
