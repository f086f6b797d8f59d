"""The laws at every level of vector instructions that this processor can pretend to have.

    python tests/portable.py [LEVEL ...]     all levels, or those whose names start so

Each level is a run of the law tests in a process of its own, with NumPy, OpenBLAS or Numba told to do
without newer instructions, or with another number of threads.  What was really in use is printed.
"""

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
#: Tests of what is promised with ``==``, and of what rounding must not change.
LAWS = (
    "kernels/test_kernel_classes.py",
    "estimators/test_swap_law.py",
    "estimators/test_writing_order.py",
    "estimators/test_transductive.py",
    "lowrank/test_low_rank_swap_law.py",
    "calibration/test_calibrated_classifier.py",
    "calibration/test_draw_classifier.py",
    "explain/test_influence.py",
    "explain/test_parts.py",
    "solvers/test_switching.py",
    "transform/test_object_transformer.py",
    "test_any_rounding.py",
    "test_probabilities.py",
    "test_threads.py",
)
#: Kernels of OpenBLAS for x86-64, from the oldest; newer ones are those it takes by itself.
CORE_TYPES = ("Prescott", "Nehalem", "Sandybridge", "Haswell")

PROBE = """
import json, numba, numpy, scipy.linalg, threadpoolctl
try:
    from numpy._core import _multiarray_umath as core
except ImportError:
    from numpy.core import _multiarray_umath as core
features = [name for name in core.__cpu_dispatch__ if core.__cpu_features__[name]]
blas = [pool["architecture"] for pool in threadpoolctl.threadpool_info() if "architecture" in pool]
numba_cpu = numba.config.CPU_NAME or "host"
print(json.dumps({"numpy": features, "openblas": sorted(set(blas)), "numba": numba_cpu}))
"""


@dataclass(frozen=True)
class Level:
    """A name, and the environment that makes the level."""

    name: str
    environment: dict[str, str]


def numpy_levels(present):
    """Features to switch off: the newest of those present, the two newest, ... all of them."""
    newest_first = list(reversed(present))
    return [newest_first[:count] for count in range(1, len(newest_first) + 1)]


def levels(present, machine, cache):
    """What to run, by the features of NumPy that are present and the kind of machine."""
    found = [Level(f"threads-{n}", {"PAIRITY_NUM_THREADS": f"{n}"}) for n in (1, 2)]
    for off in numpy_levels(present):
        name = f"numpy-without-{'-'.join(off)}"
        found.append(Level(name, {"NPY_DISABLE_CPU_FEATURES": " ".join(off)}))
    oldest = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
    found.append(Level("numba-generic", dict(oldest)))
    if present:
        oldest["NPY_DISABLE_CPU_FEATURES"] = " ".join(present)
    if machine in ("x86_64", "AMD64"):
        found += [Level(f"openblas-{core}", {"OPENBLAS_CORETYPE": core}) for core in CORE_TYPES]
        oldest["OPENBLAS_CORETYPE"] = CORE_TYPES[0]
    return [*found, Level("oldest", oldest)]


def processor():
    """The name that the processor gives itself."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    named = re.search(r"model name\s*:\s*(.+)", text)
    return named.group(1) if named else platform.processor() or platform.machine()


def probe(environment):
    """What NumPy, OpenBLAS and Numba have in use there."""
    answer = subprocess.run(
        [sys.executable, "-c", PROBE],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(answer.stdout)


def run(level):
    """Whether the laws hold there; a line says so, and what failed is named."""
    started, used = time.monotonic(), probe(level.environment)
    outcome = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rf", "--tb=line"]
        + [str(TESTS / name) for name in LAWS],
        env={**os.environ, **level.environment},
        capture_output=True,
        text=True,
        cwd=TESTS.parent,
    )
    held = outcome.returncode == 0
    print(
        f"{'held  ' if held else 'FAILED'} {level.name:24} {time.monotonic() - started:5.0f} s"
        f"  numpy {' '.join(used['numpy']) or 'baseline'}; openblas {' '.join(used['openblas'])};"
        f" numba {used['numba']}",
        flush=True,
    )
    if not held:
        print(outcome.stdout[-4000:] + outcome.stderr[-2000:], flush=True)
    return held


def main(wanted):
    """Run the levels wanted; 1 if a law fails at one of them."""
    present = probe({})["numpy"]
    print(f"{processor()} ({platform.machine()}), NumPy dispatches to {present or 'its baseline'}")
    with tempfile.TemporaryDirectory() as cache:
        chosen = [
            level
            for level in levels(present, platform.machine(), cache)
            if not wanted or level.name.startswith(tuple(wanted))
        ]
        if not chosen:
            print(f"got {' '.join(wanted)}, which names no level", file=sys.stderr)
            return 2
        held = [run(level) for level in chosen]
    print(f"{sum(held)} of {len(held)} levels hold all laws")
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
