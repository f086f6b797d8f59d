"""Compiled loops where nothing can be kept on disk."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import pairity
from pairity.runtime._exponential import exponential, with_widest_vectors
from pairity.runtime.resources import njit

CODE = """
import numpy as np
import pairity
from pairity.operators._operator_loops import _is_tensor
pairity.PairSVC, pairity.PairRidge  # imports all loops
print(pairity.__file__, _is_tensor._cache.cache_path, _is_tensor(np.zeros((1, 4))))
"""


@pytest.fixture
def sealed(tmp_path):
    """A copy of the package in which no compiled file can be kept, by root either."""
    package = tmp_path / "pairity"
    shutil.copytree(
        Path(pairity.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_bytes(b"")  # a file where a folder would be made
    return tmp_path


def test_an_installation_that_cannot_be_written_without_a_home(sealed):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    variables = {**kept, "HOME": "/dev/null/nobody", "PYTHONPATH": str(sealed)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
        cwd=sealed,
        env=variables,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == f"{sealed / 'pairity' / '__init__.py'} None False\n"


def test_other_refusals_of_the_compiler_are_not_hidden(monkeypatch):
    def refuse(**options):
        raise RuntimeError("out of order")

    monkeypatch.setattr(numba, "njit", refuse)
    with pytest.raises(RuntimeError, match="out of order"):
        njit(cache=True)(len)


def test_a_cache_is_used_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))
    doubled = njit(cache=True)(_doubled)
    assert doubled(2.0) == 4.0
    assert list(tmp_path.rglob("*.nbi"))


def _doubled(value):
    return value + value


@njit(nogil=True)
def exponentials(out, x):
    with_widest_vectors()
    for j in range(len(out)):
        out[j] = exponential(x[j])


@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-15), (np.float32, 2e-7)])
def test_exponentials_of_vectors_and_of_what_is_left_over(dtype, error):
    """One after the other, and many at a time: the same bits, and the precision that is promised."""
    x = np.concatenate([[0.0], -np.geomspace(1e-9, 80.0, 500)]).astype(dtype)
    out, alone = np.empty_like(x), np.empty_like(x)
    exponentials(out, x)
    for j in range(len(x)):
        exponentials(alone[j : j + 1], x[j : j + 1])
    np.testing.assert_array_equal(out, alone)
    np.testing.assert_allclose(out, np.exp(x.astype(np.longdouble)), rtol=error, atol=0.0)


def test_loops_of_exponentials_ask_for_the_widest_vectors():
    exponentials(np.empty(1), np.zeros(1))
    code = exponentials.inspect_llvm(exponentials.signatures[0])
    assert '"prefer-vector-width"="512"' in code
