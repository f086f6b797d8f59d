"""Thread counts: where they come from, and that all work is done exactly once."""

import threading

import numpy as np
import pytest
import threadpoolctl

from pairity.runtime.resources import (
    get_thread_count,
    one_blas_thread,
    run_in_ranges,
    run_together,
    stop_if_abandoned,
)


def test_count_set_wins(threads, monkeypatch):
    monkeypatch.setenv("PAIRITY_NUM_THREADS", "7")
    assert get_thread_count() == 7
    threads(3)
    assert get_thread_count() == 3
    threads(None)
    assert get_thread_count() == 7


@pytest.mark.parametrize("nonsense", ["", "0", "-2", "many"])
def test_nonsense_in_the_environment_is_ignored(monkeypatch, nonsense):
    monkeypatch.setenv("PAIRITY_NUM_THREADS", nonsense)
    assert get_thread_count() >= 1


def test_less_than_one_thread_is_refused(threads):
    with pytest.raises(ValueError, match="got 0 threads; expected at least 1"):
        threads(0)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize(("n_rows", "step"), [(0, 3), (1, 3), (10, 3), (9, 3), (4, 0)])
def test_every_row_is_done_once(threads, count, n_rows, step):
    threads(count)
    done = np.zeros(n_rows, dtype=int)

    def work(start, stop):
        done[start:stop] += 1

    run_in_ranges(work, n_rows, step)
    assert (done == 1).all()


@pytest.mark.parametrize("count", [1, 2])
def test_errors_come_out(threads, count):
    threads(count)

    def fail(start, stop):
        raise RuntimeError("inside")

    with pytest.raises(RuntimeError, match="inside"):
        run_in_ranges(fail, 5, 1)


def test_results_come_in_the_order_of_the_items():
    assert run_together(lambda item: item * item, range(7), 2) == [0, 1, 4, 9, 16, 25, 36]


def test_a_failure_ends_the_tasks_beside_it_and_those_to_come():
    """Without the word to stop, the second task would never end."""
    started, begun = threading.Event(), []

    def work(item):
        begun.append(item)
        if item == 0:
            assert started.wait(10)
            raise KeyboardInterrupt
        started.set()
        while True:
            stop_if_abandoned()

    with pytest.raises(KeyboardInterrupt):
        run_together(work, range(50), 2)
    assert len(begun) <= 3


def test_ranges_that_have_not_begun_never_begin(threads):
    threads(2)
    done = []

    def work(start, stop):
        if start == 0:
            raise KeyboardInterrupt
        done.append(start)
        threading.Event().wait(0.02)

    with pytest.raises(KeyboardInterrupt):
        run_in_ranges(work, 100, 1)
    assert len(done) < 50


def test_nothing_is_abandoned_outside_tasks():
    stop_if_abandoned()


def blas_threads():
    pools = threadpoolctl.threadpool_info()
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


def test_blas_has_one_thread_until_the_last_fit_ends():
    """Two fits whose beginnings and ends overlap leave the limits as they were."""
    with threadpoolctl.threadpool_limits(2, "blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert blas_threads() == {1}
        first.__exit__(None, None, None)
        assert blas_threads() == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == {2}
