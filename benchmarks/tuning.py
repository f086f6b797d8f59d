"""The C path of PairSVCCV beside one fit, and beside GridSearchCV of a stock SVM.

``python -m benchmarks.tuning``: 7 values of C on 5 folds of all pairs of 300 objects (Gaussian
kernel, intransitive antisymmetric labels, 10 % flipped).  The peer is scikit-learn-intelex's SVC on
doubled rows; its whole search takes hours, so single fits of the first fold are measured from the
smallest C upwards until the time allowed is used up.  The last one
measured is counted for each C after it; single fits on all pairs at C = 1 took 50 to 69 s elsewhere,
so that the estimate is rather low.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import machine
from benchmarks.systems import CACHE_MB, TOL
from benchmarks.tasks import Task
from pairity import PairSVC, PairSVCCV
from pairity.model_selection import ObjectKFold, PairKFold

CS = np.logspace(-3.0, 3.0, 7)
N_FOLDS = 5


def seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def ours(task: Task) -> dict:
    """Single fits at each C, and searches over all of them, in one process that is warm."""
    pairs, labels = task.data()
    PairSVC(task.symmetry, kernel=task.kernel, C=1.0).fit(pairs, labels)
    single = [
        seconds(lambda C=C: PairSVC(task.symmetry, kernel=task.kernel, C=C).fit(pairs, labels))
        for C in CS
    ]
    searches = {}
    for splitter in (PairKFold(N_FOLDS), ObjectKFold(N_FOLDS)):
        search = PairSVCCV(task.symmetry, kernel=task.kernel, Cs=CS, cv=splitter, patience=None)
        name = type(splitter).__name__
        searches[name] = {"seconds": seconds(lambda s=search: s.fit(pairs, labels))}
        searches[name]["best C"] = search.best_params_["C"]
        searches[name]["accuracy"] = search.cv_results_["mean_test_accuracy"].tolist()
    return {"single": single, "searches": searches}


def peer(task: Task, allowed: float) -> dict:
    """Fits of the stock SVM on the doubled training rows of the first fold, C ascending."""
    from sklearnex.svm import SVC

    pairs, labels = task.data()
    train, _ = next(iter(PairKFold(N_FOLDS).split(pairs, labels)))
    rows = pairs[train].with_mirrored().to_rows()
    both = np.concatenate([labels[train], -labels[train]])
    measured: list[float] = []
    for C in CS:
        model = SVC(C=C, gamma=task.gamma, tol=TOL, cache_size=CACHE_MB)
        measured.append(seconds(lambda m=model: m.fit(rows, both)))
        if sum(measured) > allowed:
            break
    estimate = N_FOLDS * (sum(measured) + (len(CS) - len(measured)) * measured[-1])
    return {"measured": measured, "whole search, estimated": estimate, "rows": len(rows)}


def markdown(found: dict) -> str:
    hardest = max(found["ours"]["single"])
    bound = found["peer"]["whole search, estimated"]
    lines = [
        "# The C path",
        "",
        __doc__.split("\n\n")[1].replace("\n", " "),
        "",
        f"{found['machine']}",
        "",
        "| C | one fit of PairSVC, s | one fold of the peer, s |",
        "|---|---|---|",
    ]
    for place, C in enumerate(CS):
        theirs = found["peer"]["measured"]
        shown = f"{theirs[place]:.1f}" if place < len(theirs) else "not measured"
        lines.append(f"| {C:g} | {found['ours']['single'][place]:.2f} | {shown} |")
    lines += ["", "| 7 C x 5 folds | seconds | over the hardest single fit | peer, estimated |"]
    lines.append("|---|---|---|---|")
    for name, search in found["ours"]["searches"].items():
        took = search["seconds"]
        lines.append(f"| {name} | {took:.1f} | {took / hardest:.1f} | {bound / took:.0f} times |")
    lines += [
        "",
        f"Whole search of the peer, estimated from the fits above: about {bound:.0f} s"
        f" ({found['peer']['rows']} rows a fold).",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tuning", description=__doc__)
    parser.add_argument("--allowed", type=float, default=150.0, help="seconds for the peer")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    task = Task("tuning", "antisymmetric", 300)
    found = {"machine": machine(), "ours": ours(task), "peer": peer(task, arguments.allowed)}
    (arguments.output / "tuning.json").write_text(json.dumps(found, indent=1) + "\n")
    (arguments.output / "tuning.md").write_text(markdown(found))
    print(markdown(found))


if __name__ == "__main__":
    main()
