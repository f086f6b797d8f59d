"""Ctrl-C at random moments of commands: what it costs.

Starts ``pairity fit``, ``predict``, ``rank`` and ``fit --report`` again and again as processes of
their own, sends SIGINT (or, with ``--signal TERM``, SIGTERM) at a moment drawn between the start
and the end, and looks at what is there afterwards: the exit code (that of the signal, or 0 where
the command had finished), the outputs (all old with the code of the signal, all new with 0), and
whether anything was left behind.  Prints a table.

    python experiments/interrupts.py [--command fit] [--moments 200] [--processes 2] [--signal INT]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

COLUMNS = [
    "--first",
    "first",
    "--second",
    "second",
    "--label",
    "label",
    "--symmetry",
    "antisymmetric",
    "--force",
]
TABLES = ["--objects", "objects.csv", "--id", "id"]
FIT = ["fit", "pairs.csv", *COLUMNS, *TABLES, "--output", "out.pairity"]
COMMANDS = {
    "fit": FIT,
    "predict": ["predict", "model.pairity", "pairs.csv", "--output", "out.csv", "--force"],
    "rank": ["rank", "model.pairity", "--output", "out.csv", "--force"],
    "fit --report": [*FIT, "--report", "out.html"],
}
OLD = b"what was there"
#: Seconds from a signal to the end that deserve a look.
SLOW = 5.0


@dataclass(frozen=True)
class Outcome:
    """What one interrupt led to."""

    code: int
    outputs: str  # "old", "new" or "mixed"
    left: tuple[str, ...]
    wait: float  # seconds from the start to the signal
    seconds: float  # from the signal to the end
    said: str


def make_tables(folder: Path, n_objects: int = 20, n_pairs: int = 200) -> None:
    """Objects with features, and pairs of them of which one wins."""
    rng = np.random.default_rng(0)
    ids = [f"object {number}" for number in range(n_objects)]
    features = rng.normal(size=(n_objects, 3))
    columns = {f"x{column}": features[:, column] for column in range(3)}
    pd.DataFrame({"id": ids, **columns}).to_csv(folder / "objects.csv", index=False)
    first = rng.integers(n_objects, size=n_pairs)
    second = (first + rng.integers(1, n_objects, size=n_pairs)) % n_objects
    won = features[first, 0] - features[second, 0] + rng.normal(size=n_pairs) > 0
    named = {"first": np.array(ids)[first], "second": np.array(ids)[second]}
    pd.DataFrame({**named, "label": np.where(won, 1, -1)}).to_csv(folder / "pairs.csv", index=False)


def start(arguments: list[str], folder: Path) -> subprocess.Popen[str]:
    """A command that hears signals, even if this process was started in the background."""

    def hear() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)

    return subprocess.Popen(
        [sys.executable, "-m", "pairity", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear,
    )


def interrupt(name: str, model: bytes, tables: Path, wait: float, number: int) -> Outcome:
    """Start a command over old outputs and interrupt it after so many seconds."""
    arguments = COMMANDS[name]
    outputs = [entry for entry in arguments if entry.startswith("out.")]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for table in ("objects.csv", "pairs.csv"):
            (folder / table).write_bytes((tables / table).read_bytes())
        (folder / "model.pairity").write_bytes(model)
        for output in outputs:
            (folder / output).write_bytes(OLD)
        before = {path.name for path in folder.iterdir()}
        process = start(arguments, folder)
        time.sleep(wait)
        process.send_signal(number)
        sent = time.monotonic()
        said = process.communicate()[1]
        seconds = time.monotonic() - sent
        are_old = {(folder / output).read_bytes() == OLD for output in outputs}
        state = "mixed" if len(are_old) > 1 else "old" if are_old == {True} else "new"
        left = tuple(sorted({path.name for path in folder.iterdir()} - before))
        return Outcome(process.returncode, state, left, wait, seconds, said)


def judge(outcome: Outcome, number: int) -> str:
    """In which way an outcome is right, or that it is wrong."""
    ended = outcome.code in (128 + number, -number)  # shells know both as 128 + number
    if outcome.left or outcome.outputs == "mixed":
        return "WRONG"
    if ended and outcome.outputs == "old":
        return "interrupted" if "Traceback" not in outcome.said else "interrupted, traceback"
    if outcome.code == 0 and outcome.outputs == "new":
        return "finished"
    if "site module" in outcome.said or "Fatal Python error" in outcome.said:
        return "Python not up yet"
    return "WRONG"


def main() -> int:
    """Interrupt all commands and print what came of it; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=200, help="in all")
    parser.add_argument("--processes", type=int, default=2, help="at a time")
    parser.add_argument("--signal", choices=["INT", "TERM"], default="INT")
    parser.add_argument("--command", choices=[*COMMANDS], help="this one alone")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    number = getattr(signal, f"SIG{options.signal}")
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.processes) as pool:
        folder = Path(place)
        make_tables(folder)
        subprocess.run(
            [sys.executable, "-m", "pairity", *FIT], cwd=folder, check=True, capture_output=True
        )
        os.rename(folder / "out.pairity", folder / "model.pairity")
        model = (folder / "model.pairity").read_bytes()
        print(f"{'command':<14}{'seconds':>8}  outcomes; longest wait after the signal")
        wrong = 0
        chosen = [options.command] if options.command else [*COMMANDS]
        for name in chosen:
            arguments = COMMANDS[name]
            started = time.monotonic()
            subprocess.run(
                [sys.executable, "-m", "pairity", *arguments],
                cwd=folder,
                check=True,
                capture_output=True,
            )
            whole = time.monotonic() - started
            waits = [rng.uniform(0.0, 1.05 * whole) for _ in range(options.moments // len(chosen))]
            outcomes = list(
                pool.map(lambda wait: interrupt(name, model, folder, wait, number), waits)  # noqa: B023
            )
            counts = Counter(judge(outcome, number) for outcome in outcomes)
            listed = ", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items()))
            longest = max(outcome.seconds for outcome in outcomes)
            print(f"{name:<14}{whole:>8.2f}  {listed}; {longest:.2f} s", flush=True)
            for outcome in outcomes:
                usual = judge(outcome, number) in ("interrupted", "finished")
                if not usual or outcome.seconds > SLOW:
                    print("   ", outcome, flush=True)
            wrong += counts["WRONG"]
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
