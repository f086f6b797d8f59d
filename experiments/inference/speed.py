"""How long leaderboards take, each in a process of its own: a million votes, and real ones in the shell.

``python -m experiments.inference.speed`` is the process of the first.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT.parent / "shared" / "data" / "antisymmetric_llmfao"
N_VOTES, N_MODELS, N_STYLES, N_JUDGES = 1_000_000, 100, 4, 200
COMMAND = (
    "fit votes.csv --first model_x --second model_y --label y --draw 0 --symmetry antisymmetric"
    " --learner logistic --antisymmetric-feature length --antisymmetric-feature lines"
    " --ranking leaderboard.csv --by worker --effects effects.csv --output votes.pairity"
)


def million() -> dict[str, float]:
    """Seconds of each step on drawn votes."""
    from pairity import PairLogistic, Pairs
    from pairity.inspection import effects, rank_objects

    random = np.random.default_rng(0)
    first = random.integers(0, N_MODELS, N_VOTES)
    second = (first + random.integers(1, N_MODELS, N_VOTES)) % N_MODELS
    strength, style = random.normal(size=N_MODELS), random.normal(size=(N_VOTES, N_STYLES))
    odds = strength[first] - strength[second] + style @ np.full(N_STYLES, 0.3)
    won = np.where(random.random(N_VOTES) < 1.0 / (1.0 + np.exp(-odds)), 1, -1)
    judge = random.integers(0, N_JUDGES, N_VOTES)
    marks = [time.perf_counter()]
    pairs = Pairs(sp.eye_array(N_MODELS, format="csr"), first, second, antisymmetric=style)
    model = PairLogistic("antisymmetric", kernel="linear").fit(pairs, won)
    marks.append(time.perf_counter())
    table = effects(model, kinds=["antisymmetric"], clusters=judge)
    marks.append(time.perf_counter())
    flat = np.zeros((N_MODELS * (N_MODELS - 1) // 2, N_STYLES))
    everyone = Pairs.complete(pairs.objects, antisymmetric=flat)
    ranking = rank_objects(model, everyone, intervals="analytic", by=judge)
    marks.append(time.perf_counter())
    assert len(table) == N_STYLES
    assert ranking.certainty is not None
    return dict(zip(("fit", "effects", "ranking"), np.diff(marks).tolist(), strict=True))


def measured() -> dict[str, Any]:
    """Wall seconds and megabytes of both; the second includes starting Python."""
    many, said = _timed([sys.executable, "-m", "experiments.inference.speed"], ROOT)
    with tempfile.TemporaryDirectory() as place:
        _write_votes(Path(place) / "votes.csv")
        shell, _ = _timed([sys.executable, "-m", "pairity", *COMMAND.split()], Path(place))
    return {"million": many, "steps": json.loads(said), "shell": shell}


def _timed(command: Sequence[str], place: Path) -> tuple[dict[str, float], str]:
    """What a command in a folder took, and what it printed."""
    reading, writing = os.pipe()
    start = time.perf_counter()
    child = os.fork()
    if not child:
        os.dup2(writing, 1)
        os.chdir(place)
        os.execv(command[0], command)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as stream:
        said = stream.read()
    _, status, used = os.wait4(child, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"got exit status {status} of {' '.join(command)}; expected 0.")
    taken = {"seconds": seconds, "processor seconds": used.ru_utime + used.ru_stime}
    return taken | {"megabytes": used.ru_maxrss / 1024.0}, said


def _write_votes(path: Path) -> None:
    """Votes on language models, with how much longer the first answer is: 1,000 letters, lines."""
    answers = {(row["prompt"], row["model"]): row["result"] for row in _rows("responses.csv")}
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model_x", "model_y", "y", "worker", "length", "lines"])
        for vote in _rows("comparisons.csv"):
            one, two = (answers[vote["prompt"], vote[end]] for end in ("model_x", "model_y"))
            styles = (len(one) - len(two)) / 1000.0, one.count("\n") - two.count("\n")
            told = (vote[name] for name in ("model_x", "model_y", "y", "worker"))
            writer.writerow([*told, *styles])


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


if __name__ == "__main__":
    print(json.dumps(million()))
