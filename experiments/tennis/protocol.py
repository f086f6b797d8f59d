"""Hyperparameters from the training years, then every later week from all matches before it."""

from __future__ import annotations

import resource
import time
from typing import Any, NamedTuple

import numpy as np

from experiments.tennis import elo
from pairity import PairLogistic, Pairs
from pairity.kernels import Drift, Identity, Kernel
from pairity.model_selection import walk_forward

#: First day that is foretold, first day of the last training half-year; days of periods.
START, TUNING, MONTH, WEEK, YEAR = "2011-08-28", "2011-02-28", 28.0, 7.0, 365.25
#: Violation of a probability that is left: a hundredth, of single matches.
TOLERANCE = 0.01


class Candidate(NamedTuple):
    """Strengths that drift: their kernel of time, and C."""

    name: str
    time: Kernel
    strength: float

    @property
    def model(self) -> PairLogistic:
        kernel = Identity() * self.time
        return PairLogistic("antisymmetric", kernel=kernel, C=self.strength, tol=TOLERANCE)


CANDIDATES = [
    Candidate(f"{kind}, {years:g} years, C {c:g}", Drift(years * YEAR, kind), c)
    for kind, years, c in (
        ("wiener", 10.0, 2.0),
        ("wiener", 5.0, 2.0),
        ("wiener", 5.0, 1.0),
        ("exponential", 20.0, 4.0),
        ("exponential", 20.0, 2.0),
        ("exponential", 10.0, 2.0),
    )
]


def days(date: str) -> float:
    """Days since 1970."""
    return float(np.datetime64(date).astype("datetime64[D]").astype(int))


def weeks(matches: Pairs) -> np.ndarray:
    """The week of each match, counted from the first day that is foretold."""
    return np.floor((matches.time - days(START)) / WEEK)


def tuned(matches: Pairs) -> tuple[Candidate, list[dict[str, Any]]]:
    """The candidate with the least log-loss over the last training months."""
    past = matches[matches.time < days(START)]
    wins, table = np.ones(len(past)), []
    for candidate in CANDIDATES:
        start = time.process_time()
        walked = walk_forward(candidate.model, past, wins, start=TUNING, every=MONTH)
        seconds = time.process_time() - start
        table.append({"model": candidate.name, **walked.scores(), "seconds": seconds})
        print(table[-1], flush=True)
    best = min(range(len(table)), key=lambda row: table[row]["log_loss"])
    return CANDIDATES[best], table


def run(matches: Pairs) -> dict[str, Any]:
    """Tune both on the training years, foretell, and score."""
    chosen, candidates = tuned(matches)
    watch, wall = time.process_time(), time.perf_counter()
    walked = walk_forward(
        chosen.model, matches, np.ones(len(matches)), start=START, every=WEEK, callback=_say
    )
    ours = {
        "model": chosen.name,
        **walked.scores(),
        "processor seconds": time.process_time() - watch,
        "seconds": time.perf_counter() - wall,
        "peak megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "certificate": str(walked.model.certificate_),
    }
    tested = np.sort(walked.rows)
    validated = (matches.time >= days(TUNING)) & (matches.time < days(START))
    ratings = [
        {"periods": name, **_rated(matches, validated, tested, periods, settings)}
        for name, periods in (("week", weeks(matches)), ("match", np.arange(len(matches))))
        for settings in (elo.PLAIN, elo.SHRINKING)
    ]
    return {"candidates": candidates, "drift": ours, "ratings": ratings, "matches": len(tested)}


def _rated(
    matches: Pairs,
    validated: np.ndarray,
    tested: np.ndarray,
    periods: np.ndarray,
    settings: list[elo.Setting],
) -> dict[str, Any]:
    """An Elo tuned on the training years; its ratings change at the end of each period."""
    setting = elo.tuned(matches, validated, periods, settings)
    losses = elo.log_losses(matches, setting, periods)[tested]
    ahead = np.exp(-losses)
    accuracy = float(np.mean((ahead > 0.5) + 0.5 * (ahead == 0.5)))
    return {**setting._asdict(), "log_loss": float(losses.mean()), "accuracy": accuracy}


def _say(period: int, model: PairLogistic) -> None:
    if period % 20 == 0:
        print(f"week {period}: {model.certificate_}", flush=True)
