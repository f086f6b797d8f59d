"""Settings of the whole suite; generators live in ``cases``, plain twins in ``naive``."""

import gc
import os

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its BLAS must be there to be limited
from hypothesis import HealthCheck, settings
from threadpoolctl import threadpool_limits

from pairity.runtime.resources import set_thread_count

if "PYTEST_XDIST_WORKER" in os.environ:
    # One core for each process: threads of BLAS and OpenMP that wait for a core that another
    # process has take up to ten times the processor time of the work itself.
    threadpool_limits(1)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for processes that tests start

settings.register_profile(
    "pairity",
    derandomize=True,
    deadline=None,
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("pairity")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Whole files to each process: fits that the tests of a file share are made once."""
    from xdist.scheduler import LoadFileScheduling

    config.option.loadscopereorder = False  # the order below
    return LoadFileScheduling(config, log)


#: Files that take long for the number of their tests: they begin, so that no process is left alone
#: with one of them at the end.
SLOW_FILES = (
    "test_distributed_fit",
    "test_documents",
    "test_resilience",
    "test_distributed_commands",
    "test_memory",
    "test_automatic",
    "test_site",
    "test_faults",
    "test_careless",
    "test_hostile",
    "test_swap_law",
    "test_scikit_learn_checks",
    "test_interrupts",
    "test_demo",
    "test_commands",
    "test_report_chromium",
    "test_changed_files",
    "test_examples",
    "test_football",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    rank = {name: number for number, name in enumerate(SLOW_FILES)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What stays to the end, thousands of tests among it, is not looked through for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def rng():
    """A generator of the test's own."""
    return np.random.default_rng(20260)


@pytest.fixture
def threads():
    """Set the number of threads, those of BLAS too; the defaults come back afterwards."""
    limits = []

    def set_all(count):
        set_thread_count(count)
        limits.append(threadpool_limits(count, user_api="blas"))

    yield set_all
    for limit in reversed(limits):
        limit.restore_original_limits()
    set_thread_count(None)
