"""Settings of the whole suite; generators live in ``cases``, plain twins in ``naive``."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from pairity.runtime.threads import set_thread_count

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

    return LoadFileScheduling(config, log)


@pytest.fixture
def rng():
    """A generator of the test's own."""
    return np.random.default_rng(20260)


@pytest.fixture
def threads():
    """Set the number of threads; the default comes back afterwards."""
    yield set_thread_count
    set_thread_count(None)
