"""A short random search for inputs that get past the door; see :mod:`hostile`."""

import signal
import warnings

import numpy as np
import pytest

import hostile
from pairity.exceptions import ConvergenceWarning

#: Attempts of one test, and tests; ``python tests/hostile.py 10`` runs many more.
ATTEMPTS, TESTS = 25, 12


@pytest.mark.parametrize("first", range(0, ATTEMPTS * TESTS, ATTEMPTS))
def test_nothing_but_answers_and_sentences_comes_out(first):
    for seed in range(first, first + ATTEMPTS):
        try:
            hostile.attempt(seed)
        except Exception as leak:
            pytest.fail(f"seed {seed}: {type(leak).__name__}: {leak}")


# The search itself: each kind of leak is seen ---------------------------------------------------


def leaky(exception=None, warning=None, value=0.0):
    def call(rng, pairs):
        if warning is not None:
            warnings.warn("something", warning, stacklevel=1)
        if exception is not None:
            raise exception
        hostile.check_values(np.array([value]))

    return call


@pytest.mark.parametrize(
    "call",
    [
        leaky(ZeroDivisionError("float division by zero")),
        leaky(ValueError("array must not contain infs or NaNs")),
        leaky(TypeError("'<' not supported between instances of 'int' and 'str'")),
        leaky(np.linalg.LinAlgError("SVD did not converge")),
        leaky(warning=RuntimeWarning),
        leaky(value=np.nan),
    ],
)
def test_leaks_are_seen(call, monkeypatch):
    monkeypatch.setattr(hostile, "CALLS", (call,))
    monkeypatch.setattr(hostile, "draw_pairs", lambda rng: None)
    with pytest.raises((hostile.LeakError, ArithmeticError)):
        hostile.attempt(0)


def test_answers_and_our_warnings_are_none(monkeypatch):
    monkeypatch.setattr(hostile, "CALLS", (leaky(warning=ConvergenceWarning),))
    monkeypatch.setattr(hostile, "draw_pairs", lambda rng: None)
    assert hostile.attempt(0) is None


def test_an_alarm_is_a_leak():
    with pytest.raises(hostile.LeakError, match="nothing after"):
        hostile._hung(signal.SIGALRM, None)
