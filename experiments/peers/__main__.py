"""``python -m experiments.peers``: other packages on the same small tasks; print, keep.

They are in no extra: ``pip install choix evalica arena-rank splink recordlinkage dedupe 'BTrees<6.1'
metric-learn 'scikit-learn<1.8'`` into an environment of their own: dedupe 3.0.3 does not run with
BTrees 6.5, nor metric-learn 0.7.0 with scikit-learn 1.9.  Each method runs in a process of its own; a
package that is not there is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[1] / "results" / "peers.json"


def measured(task: str, method: str) -> dict[str, Any]:
    """One method on one task: figures, processor seconds of the work, versions apart."""
    from experiments.peers import distances, records, votes

    warnings.simplefilter("ignore")
    start = time.process_time()
    if task == "records":
        found: dict[str, Any] = records.scores(records.METHODS[method](), records.truth())
    elif task == "votes":
        found = {"log-loss": votes.log_loss(votes.METHODS[method])}
    else:
        found = {"AUC": distances.area(method)}
    return found | {"processor seconds": round(time.process_time() - start, 2)}


def main() -> None:
    """All methods on all tasks."""
    from experiments.peers import distances, records, votes

    kept: dict[str, Any] = {}
    for task, part in (("records", records), ("votes", votes), ("distances", distances)):
        for method in part.METHODS:
            command = [sys.executable, "-m", "experiments.peers", task, method]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"{task}, {method}: {done.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            found = json.loads(done.stdout.strip().splitlines()[-1])
            kept.setdefault(task, {})[method] = found
            print(f"{task}, {method}: {found}", flush=True)
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps(measured(*sys.argv[1:])))
    else:
        main()
