"""The memory limit: budgets, what is done where it is short, and peaks of whole fits."""

import json
import os
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import cases
from pairity import PairLogistic, PairRidge, PairRidgeCV, Pairs, PairSVC
from pairity.estimators.unwrap import limit_of
from pairity.exceptions import PairityWarning
from pairity.inspection import rank_objects
from pairity.kernels import Additive, Gaussian, Linear, MetricLearning, Product
from pairity.losses import hinge
from pairity.model_selection import search
from pairity.model_selection.landmark_ridge import kernel_columns, plan_landmarks
from pairity.operators.blockwise import Blockwise, operator_within
from pairity.operators.pair_operator import PairOperator
from pairity.operators.restricted import Resident
from pairity.runtime import resources
from pairity.runtime.resources import Budget, megabytes_of
from pairity.solvers.polish import Block, polish

ROOT = Path(__file__).resolve().parent.parent
SUM = Additive(Gaussian(1.3)) + Product(Gaussian(0.7))


def test_budget_counts_bytes():
    assert megabytes_of(1000, 500) == pytest.approx(4.0)
    assert megabytes_of(1000, 500, copies=3, itemsize=4) == pytest.approx(6.0)
    budget = Budget(8.0)
    assert budget.holds(1000, 1000)
    assert not budget.holds(1001, 1000)
    assert budget.columns(1000) == pytest.approx(1000.0)
    assert budget.side(copies=4.0) == pytest.approx(500.0)
    assert budget.share(0.5).without(1.0).megabytes == pytest.approx(3.0)
    with pytest.raises(
        MemoryError, match=r"^3 pairs need about 9 MB and the .* 8 MB; expected less\.$"
    ):
        budget.refuse("3 pairs", 9.0, "less")


def test_limit_of_what_is_inside():
    class Around:
        steps = [("last", PairSVC("symmetric", memory_limit=7.0))]

    assert limit_of(Around()) == 7.0
    assert limit_of(PairSVC("symmetric")) is None


#: Calls in a process of their own each, forked from one that has imported what they need.
FORKED = """
import json, os

{work}

for arguments in {arguments}:
    if (child := os.fork()) == 0:
        print(json.dumps(work(*arguments)), flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""

#: Arrays of 8 MB between small ones that stay; the C library keeps what was freed between them.
SCATTERED = """
import numpy as np
from pairity.runtime.resources import default_limit, give_back

def resident():
    with open("/proc/self/statm") as facts:
        return int(facts.read().split()[1]) * 4096 / 1e6

def work(before, after):
    np.ones(2_500_000)
    eval(before)
    large = [(np.ones(1_000_000), np.ones(50_000)) for _ in range(20)]
    small = [pair[1] for pair in large]
    held = resident()
    del large
    eval(after)
    return held - resident()
"""

PEAK = """
from benchmarks import memory

def work(run, limit):
    return memory._run_here(run, limit, warm=True)
"""


def in_processes_of_their_own(work, arguments, **environment):
    """What some work returns for each of its arguments."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED.format(work=work, arguments=arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_free_memory_is_looked_at_again_after_a_moment(monkeypatch):
    now, seen = [100.0], iter([1000.0, 500.0])
    monkeypatch.setattr(resources, "available_megabytes", lambda: next(seen))
    monkeypatch.setattr(resources.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(resources, "_last_look", [float("-inf"), 0.0])
    first = resources.default_limit(None)
    now[0] += 0.05
    assert resources.default_limit(None) == first
    now[0] += 0.1
    assert resources.default_limit(None) == first / 2.0
    assert resources.default_limit(77.0) == 77.0


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the C library of Linux")
def test_what_was_freed_is_given_back():
    """The settings of the C library are given, since Dask changes those of its own process."""
    on_request, with_a_limit, by_itself = in_processes_of_their_own(
        SCATTERED,
        [("None", "give_back()"), ("default_limit(100.0)", "None"), ("None", "None")],
        MALLOC_MMAP_THRESHOLD_=str(2**25),
        MALLOC_TRIM_THRESHOLD_=str(2**30),
        GLIBC_TUNABLES="",
    )
    assert on_request > 100.0
    assert with_a_limit > 100.0
    assert by_itself <= 100.0


def test_a_search_gives_back_what_each_stage_freed(monkeypatch):
    """Between the choice of a kernel, the folds and the fit that is kept."""
    calls = []
    monkeypatch.setattr(search, "give_back", lambda: calls.append("search"))
    path = "pairity.model_selection.strength_paths.give_back"
    monkeypatch.setattr(path, lambda: calls.append("path"))
    pairs = cases.distinct_pairs(3, n=40, m=30)
    PairRidgeCV("symmetric", alphas=2, cv=2).fit(pairs, np.arange(40.0))
    assert [calls[0], calls[1], calls[-1]] == ["search", "path", "search"]


def peak_of(work):
    """Megabytes that some work adds at its peak, of arrays alone."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_polish_holds_one_matrix_beside_that_of_its_block(dtype):
    n, rng = 1000, np.random.default_rng(0)
    gram = (np.eye(n) + 0.1 / n).astype(dtype)
    loss = hinge(np.where(rng.random(n) < 0.5, 1.0, -1.0), np.full(n, 10.0))
    block = Block(gram, np.zeros(n), loss, None)
    assert polish(block, loss.above) is not None
    assert peak_of(lambda: polish(block, loss.above)) < 1.2 * 8.0 * n * n / 1e6


@pytest.mark.parametrize("limit", [20.0, 60.0])
def test_intervals_keep_the_limit(limit):
    pairs = cases.distinct_pairs(3, n=2600, m=90)
    signs = np.where(np.random.default_rng(0).random(2600) < 0.5, 1, -1)
    model = PairLogistic("antisymmetric", kernel=SUM, memory_limit=limit).fit(pairs, signs)
    ranked = partial(rank_objects, intervals="analytic")
    assert peak_of(lambda: model.decision_std(pairs)) < 1.2 * limit
    assert peak_of(lambda: ranked(model, pairs)) < 1.2 * limit


def test_single_precision_is_widened_some_rows_at_a_time():
    pairs = cases.distinct_pairs(3, n=1500, m=60)
    operator = PairOperator(SUM, pairs)
    rounded = Resident(operator, np.float32)
    vector = np.random.default_rng(0).normal(size=1500)
    assert peak_of(lambda: rounded.product(vector)) < 0.3 * rounded.megabytes
    vector[700:] = 0.0
    assert peak_of(lambda: rounded.product(vector)) < 0.3 * rounded.megabytes


@pytest.mark.parametrize(
    "kernel",
    [SUM + Product(Gaussian(0.9)) * Linear(), MetricLearning(Gaussian(1.1) + Linear())],
    ids=str,
)
def test_blocks_are_those_of_all_objects(kernel, monkeypatch):
    monkeypatch.setattr("pairity.operators.blockwise._FEWEST", 4)
    pairs = cases.distinct_pairs(3, n=23, m=30)
    blocks = operator_within(kernel, pairs, Budget(1e-6))
    assert isinstance(blocks, Blockwise)
    whole = PairOperator(kernel, pairs)
    gram = whole.block(slice(None), slice(None))
    some = np.array([3, 1, 20])
    np.testing.assert_allclose(
        blocks.block(slice(None), some), gram[:, some], rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(blocks.diagonal(), np.diag(gram), rtol=1e-12)
    vector = np.random.default_rng(0).normal(size=23)
    np.testing.assert_allclose(blocks.product(vector), gram @ vector, rtol=0, atol=1e-12)
    vector[5:] = 0.0
    np.testing.assert_allclose(blocks.product(vector), gram @ vector, rtol=0, atol=1e-12)
    other = operator_within(kernel, pairs, Budget(1e-6), pairs[:7])
    np.testing.assert_allclose(other.product(vector[:7]), gram[:, :7] @ vector[:7], atol=1e-12)


def test_single_precision_is_summed_in_double():
    operator = PairOperator(SUM, cases.distinct_pairs(3, n=40, m=30))
    exact, rounded = Resident(operator), Resident(operator, np.float32)
    assert rounded.megabytes == exact.megabytes / 2
    vector = np.random.default_rng(0).normal(size=40)
    np.testing.assert_allclose(rounded.product(vector), exact.product(vector), atol=1e-5)
    vector[3:] = 0.0
    np.testing.assert_allclose(rounded.product(vector), exact.product(vector), atol=1e-5)
    assert rounded.rows(np.array([1])).dtype == np.float64


def test_objects_that_do_not_fit_give_the_same_model():
    objects = np.random.default_rng(1).normal(size=(300, 2))
    ring = Pairs(objects, np.arange(300), (np.arange(300) + 1) % 300)
    y = np.where(objects[ring.first, 0] > objects[ring.second, 0], 1, -1)
    ample, tight = (
        PairSVC("antisymmetric", kernel=Gaussian(1.0), tol=1e-8, memory_limit=limit).fit(ring, y)
        for limit in (1000.0, 1.0)
    )
    assert tight.certificate_.holds
    np.testing.assert_allclose(
        tight.decision_function(ring), ample.decision_function(ring), rtol=0, atol=1e-6
    )


def test_fewer_landmarks_are_said():
    assert plan_landmarks(1000, 5, 500, Budget(100.0)) == plan_landmarks(1000, 5, 500, Budget())
    single = plan_landmarks(1000, 5, 500, Budget(20.0))
    assert (single.n_landmarks, single.dtype, single.several) == (500, np.float32, False)
    with pytest.warns(
        PairityWarning, match="of 500 landmark pairs to keep to the memory limit of 10 MB"
    ):
        few = plan_landmarks(1000, 5, 500, Budget(10.0))
    assert 200 < few.n_landmarks < 500
    with pytest.raises(MemoryError, match="a kernel of your own in place of 'auto'"):
        plan_landmarks(100_000, 5, 500, Budget(10.0))


def test_columns_through_some_objects(monkeypatch):
    pairs = cases.distinct_pairs(3, n=40, m=30)
    basis = pairs[:9].without_unused_objects()
    plain = kernel_columns(SUM, pairs, basis, 2.0, np.float64)
    monkeypatch.setattr("pairity.model_selection.landmark_ridge._FEW_MEGABYTES", 0.0)
    monkeypatch.setattr("pairity.model_selection.landmark_ridge._PAIRS_AT_A_TIME", 7)
    parts = kernel_columns(SUM, pairs, basis, 2.0, np.float32)
    np.testing.assert_allclose(parts, plain, atol=1e-6)
    expected = 2.0 * PairOperator(SUM, pairs).block(slice(None), slice(None))[:, :9]
    np.testing.assert_allclose(plain, expected, rtol=1e-12, atol=1e-14)


def test_too_many_pairs_to_rank_are_refused():
    pairs = Pairs.complete(np.arange(6.0)[:, np.newaxis])
    model = PairSVC("antisymmetric", kernel="linear", memory_limit=40.0).fit(pairs, np.full(15, -1))
    assert rank_objects(model, np.arange(50.0)[:, np.newaxis]).ranks[0] == 50
    with pytest.raises(MemoryError, match=r"499500 pairs to compare need about 5.* fewer objects"):
        rank_objects(model, np.zeros((1000, 1)))


def test_dense_ridge_that_does_not_fit_is_refused():
    pairs = cases.distinct_pairs(3, n=100, m=30)
    model = PairRidge(
        "antisymmetric", kernel=SUM, solver="dense", memory_limit=0.3, leave_one_out=True
    )
    with pytest.raises(MemoryError, match=r"matrices of 100 pairs need .* solver='cg'"):
        model.fit(pairs, np.ones(100))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="peaks are those of Linux")
def test_peaks_keep_to_the_limit():
    """1.2 times the limit plus 100 MB, each in a process of its own."""
    limits = {
        "quick: PairRidgeCV auto": 40,
        "quick: PairLogistic sum": 40,
        "quick: PairSVC once": 60,
        "quick: rank_objects": 60,
    }
    found = in_processes_of_their_own(PEAK, list(limits.items()))
    for (run, limit), peak in zip(limits.items(), found, strict=True):
        assert not peak["refused"], run
        assert peak["peak"] <= 1.2 * limit + 100.0, run
