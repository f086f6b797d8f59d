"""Progress of a long fit, on standard error: where it is, and about how long it will take."""

from __future__ import annotations

import math
import sys
import time

_SECONDS_BETWEEN_LINES = 2.0


def say(sentence: str) -> None:
    """Print one line on standard error."""
    print(f"pairity: {sentence}", file=sys.stderr, flush=True)


class Progress:
    """Prints a line every few seconds, with the time left at the present rate of decrease."""

    def __init__(self, tol: float, measure: str = "violation") -> None:
        self._tol, self._measure = tol, measure
        self._started = self._last = time.monotonic()
        self._phase = ""
        self._phase_start = (self._started, math.inf)

    def __call__(self, where: str, violation: float) -> None:
        """Take note of a violation; print if it is time."""
        now = time.monotonic()
        phase = where.split(",")[0]
        if phase != self._phase:
            self._phase, self._phase_start = phase, (now, violation)
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        line = f"{now - self._started:.0f} s, {where}, {self._measure} {violation:.2e}"
        left = self._seconds_left(now, violation)
        say(line if left is None else f"{line}, about {left:.0f} s left")

    def _seconds_left(self, now: float, violation: float) -> float | None:
        """Violations fall about geometrically: extrapolate their logarithm."""
        start, first = self._phase_start
        if not (0.0 < violation < 0.9 * first < math.inf) or violation <= self._tol:
            return None
        rate = math.log(first / violation) / (now - start)
        return math.log(violation / self._tol) / rate


class Steps:
    """Counts steps of known number; prints a line every few seconds. Safe to call from threads."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0
        self._started = self._last = time.monotonic()

    def __call__(self) -> None:
        """One step more."""
        self._done += 1
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        passed = now - self._started
        left = passed * (self._total - self._done) / self._done
        say(f"{passed:.0f} s, {self._what}: {self._done} done, about {left:.0f} s left")
