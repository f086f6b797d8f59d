"""Facts that have one home, and the walk of one fit, as docs/architecture.md says."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pairity
from pairity import Pairs, PairSVC

PACKAGE = Path(pairity.__file__).parent
PAGE = Path(__file__).resolve().parent.parent / "docs" / "architecture.md"
SOURCES = {
    str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}

#: How a fact looks in code, and the one file where it may.
HOMES = {
    "2C on the halved set": (r"1\.0 if parity is None else 2\.0", "pairs/parity.py"),
    "a doubled loss": (r"loss\.times\(2", None),
    "lifting, (34)": (r"concatenate\(\[theta, .*theta\]\)", "training/fit.py"),
    "the unordered pair": (r"minimum\((\w+\.)?first, (\w+\.)?second\)", "pairs/parity.py"),
    "inside a pipeline": (r"steps\[-1\]\[1\]", "estimators/unwrap.py"),
    "labels to signs": (r"def read_labels\(", "training/labels.py"),
    "columns of predictions": (r"def result_columns\(", "distributed/predictions.py"),
    "a name of a kernel": (r'"gaussian": ', "kernels/standardized.py"),
    "certificates": (r"def certify\(", "solvers/certificate.py"),
    "the swap law": (r"def impose\(", "pairs/parity.py"),
    "what is free": (r"MemAvailable|available_megabytes\(\) -> float", "runtime/resources.py"),
}


@pytest.mark.parametrize("fact", HOMES)
def test_a_fact_has_one_home(fact):
    pattern, home = HOMES[fact]
    files = [name for name, text in SOURCES.items() if re.search(pattern, text)]
    assert files == ([] if home is None else [home])


def test_the_homes_of_the_page_exist():
    for files, names in re.findall(
        r"^\| [^|]+ \| `([\w/]+\.py)`: ([^|]+) \|$", PAGE.read_text(), re.M
    ):
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"(def|class) {name}\b", SOURCES[files]), name


def files_run_by(function):
    """Files of the package in which some function is called, in the order of their first calls."""
    files = {}

    def note(frame, event, argument):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            files[str(Path(path).relative_to(PACKAGE))] = None

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return list(files)


def test_the_walk_is_the_one_that_is_written_down():
    objects = np.random.default_rng(0).normal(size=(20, 3))
    pairs = Pairs.complete(objects)
    y = np.where(objects[pairs.first, 0] > objects[pairs.second, 0], 1, -1)
    PairSVC("antisymmetric").fit(pairs, y)  # compiled loops are loaded
    written = re.findall(r"^\| `([\w/]+\.py)` \|", PAGE.read_text(), re.M)
    seen = files_run_by(lambda: PairSVC("antisymmetric").fit(pairs, y))
    assert sorted(seen) == sorted(written)


def test_importing_one_estimator_loads_half_of_what_it_did():
    count = "sum(name.startswith('pairity') for name in sys.modules)"
    code = f"import sys; from pairity import PairSVC; print({count})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 57
