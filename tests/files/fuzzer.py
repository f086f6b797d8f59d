"""Forged files, opened: each is refused, or its model behaves as one that ``fit`` could have made.

As a script it opens any number of them, from one of them on to see it again:
``python tests/files/fuzzer.py NUMBER [SEED [FIRST]]``.
"""

import contextlib
import os
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import forging
import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import pairity
from pairity import Pairs
from pairity.exceptions import ModelFileError
from pairity.model_selection.held_out import parity_of

#: What a file may take: seconds of the processor, megabytes beyond those of the process.
SECONDS, MEGABYTES = 2.0, 200.0
#: What code that runs would show up as.
EVENTS = {
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect"),
    *(
        "open",
        "os.mkdir",
        "os.remove",
        "os.rename",
        "shutil.rmtree",
        "ctypes.dlopen",
        "pickle.find_class",
    ),
}


class Watch:
    """An audit hook: anything that a file makes the process do outside of the library."""

    def __init__(self):
        self.on, self.seen, self.own = False, [], ()
        package = os.path.abspath(Path(pairity.__file__).parent)
        self.known = (sys.prefix, sys.base_prefix, package, "/proc", "/sys")
        sys.addaudithook(self._look)

    def _look(self, event, arguments):
        if not self.on or event not in EVENTS:
            return
        subject = str(arguments[0]) if arguments else ""
        if event == "pickle.find_class":
            # compiled loops that were kept on disk
            harmless = subject.split(".")[0] in {
                "numba",
                "llvmlite",
                "numpy",
                "builtins",
                "copyreg",
            }
        else:
            place = os.path.abspath(subject)
            harmless = place.startswith(self.known) or subject in self.own or subject.isdigit()
        if not harmless:
            self.seen.append((event, subject))

    @contextlib.contextmanager
    def watching(self, *own):
        self.on, self.own = True, own
        try:
            yield
        finally:
            self.on = False


class TooSlow(BaseException):
    """A refit that takes long: the file asked for many steps, which the user sees."""


def some_input(model, seed=0):
    """Pairs, or rows for a pipeline whose first step is a transformer of plain columns."""
    steps = [step for _, step in getattr(model, "steps", [("model", model)])]
    first = next(step for step in steps if step is not None and step != "passthrough")
    if hasattr(first, "feature_widths_"):
        return some_pairs(first.feature_widths_, seed)
    return np.round(np.random.default_rng(seed).normal(size=(8, first.n_features_in_)), 3)


def some_pairs(widths, seed=0):
    generator = np.random.default_rng(seed)
    objects, symmetric, antisymmetric = widths
    first, second = np.array([0, 1, 2, 3, 0, 1, 2, 4]), np.array([1, 2, 3, 0, 2, 3, 4, 0])
    return Pairs(
        np.round(generator.normal(size=(5, objects)), 3),
        first,
        second,
        np.round(generator.normal(size=(8, symmetric)), 3),
        np.round(generator.normal(size=(8, antisymmetric)), 3),
    )


def says_why(error):
    """Whether an error is a sentence of the kind that the library documents."""
    return isinstance(error, ValueError | MemoryError) and re.search(
        r"expected|must be|should be|requires|Invalid|supported|is not|are not in", str(error)
    )


def _faults_of_transformer(model, pairs):
    """A file may hold a transformer alone, or a pipeline of them."""
    for action in (model.transform, repr, clone, str):
        try:
            action(pairs if action == model.transform else model)
        except Exception as error:
            if action != model.transform or not says_why(error):
                yield f"{action}: {type(error).__name__}: {error}"


def faults_of_use(model):
    """What goes wrong when a model is used."""
    pairs = some_input(model)
    mirrored = pairs.swap() if isinstance(pairs, Pairs) else None
    name = "decision_function" if hasattr(model, "decision_function") else "predict"
    if not hasattr(model, "predict"):
        yield from _faults_of_transformer(model, pairs)
        return
    try:
        values = getattr(model, name)(pairs)
        swapped = values if mirrored is None else getattr(model, name)(mirrored)
        labels = model.predict(pairs)
    except Exception as error:
        if not says_why(error):
            yield f"{name}: {type(error).__name__}: {error}"
    else:
        parity = None if mirrored is None else parity_of(model)
        if np.isnan(
            values
        ).any():  # huge finite weights may overflow, and obey the law all the same
            yield f"decisions that are no numbers: {values}"
        elif parity is not None and not (values == parity.sign * swapped).all():
            yield f"the swap law is broken by {np.abs(values - parity.sign * swapped).max()}"
        if len(labels) != len(pairs):
            yield "labels of another length"
    for action in (repr, clone, str, _shown_certificate):
        try:
            action(model)
        except Exception as error:
            yield f"{action.__name__}: {type(error).__name__}: {error}"


def _shown_certificate(model):
    inner = model.steps[-1][1] if hasattr(model, "steps") else model
    inner = getattr(inner, "estimator_", inner)
    return (
        str(inner.certificate_),
        inner.certificate_.holds,
        hash(inner.kernel) if isinstance(inner.kernel, str) else 0,
    )


def fault_of_refit(model, seconds):
    """What goes wrong when a loaded model is fitted again; None if nothing does."""

    def stop(*_):
        raise TooSlow

    pairs = some_input(model, seed=1)
    targets = np.array([1, -1, 1, 1, -1, 1, -1, -1])
    if hasattr(model, "unlabelled"):
        targets[::2] = 0
    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        model.fit(pairs, targets)
    except Exception as error:
        if not says_why(error):
            return f"fit: {type(error).__name__}: {error}"
    except TooSlow:
        return "slow"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    return None


def peak_megabytes(*, reset=False):
    """Largest resident size since the last reset; 0.0 where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1e3 if found else 0.0


def run(number, seed, directory, **options):
    """Open so many files; counts, the largest time and memory, and the faults."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _run(number, seed, directory, **options)


def _run(number, seed, directory, *, first=0, refit_every=1, most_seconds=SECONDS, say=None):
    trap = Path(directory) / "trap"
    trap.mkdir(exist_ok=True)
    path = Path(directory) / "forged.pairity"
    for stored in forging.STORED:  # whatever a first use imports and compiles
        list(faults_of_use(pairity.load(stored)))
        if refit_every == 1:
            fault_of_refit(pairity.load(stored), 600.0)
    watch, counts, faults, slowest, largest = Watch(), Counter(), [], 0.0, 0.0
    for place in range(first, first + number):
        dice = random.Random(f"{seed} {place}")
        content, done = forging.forged(dice, trap)
        path.write_bytes(content)
        before, found = peak_megabytes(reset=True), []
        start = time.process_time()
        with watch.watching(str(path)):
            try:
                model = pairity.load(path)
            except ModelFileError as error:
                counts["refused"] += 1
                if not re.fullmatch(r"got .*\S; expected .*\S", str(error)):
                    found.append(f"refused by {error}")
                model = None
            except NotFittedError as error:
                found.append(f"load: {error}")
                model = None
            if model is not None:
                counts["behaves"] += 1
                found += faults_of_use(model)
            seconds, megabytes = time.process_time() - start, peak_megabytes() - before
            if model is not None and place % refit_every == 0:
                fault = fault_of_refit(model, 5.0)
                counts["fitted again"] += fault is None
                if fault == "slow":
                    counts["slow to fit again"] += 1
                elif fault:
                    found.append(fault)
        found += [f"{event} {subject}" for event, subject in watch.seen]
        watch.seen.clear()
        if seconds > most_seconds:
            found.append(f"{seconds:.1f} seconds")
        if megabytes > MEGABYTES:
            found.append(f"{megabytes:.0f} megabytes")
        slowest, largest = max(slowest, seconds), max(largest, megabytes)
        if found:
            counts["faulty"] += 1
            faults.append((place, done, found))
            if say:
                say(f"{place} {done}: {found}")
    return counts, slowest, largest, faults


def main():
    number, seed, first = (*map(int, sys.argv[1:]), *(1000, 0, 0)[len(sys.argv) - 1 :])
    with tempfile.TemporaryDirectory() as directory:
        counts, slowest, largest, faults = run(number, seed, directory, first=first, say=print)
    print(dict(counts), f"slowest {slowest:.2f} s, largest {largest:.0f} MB, faults {len(faults)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
