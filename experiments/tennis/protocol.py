"""Hyperparameters from the training years, then every later week from all matches before it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.tennis import elo
from experiments.tennis.experience import with_experience
from experiments.tennis.walks import remembered, walked_in_parts
from pairity import PairLogistic, Pairs
from pairity.kernels import Additive, Drift, Identity, Kernel, Linear
from pairity.model_selection import walk_forward

#: First day that is foretold, first day of the last training year; days of periods.
START, TUNING, MONTH, WEEK, YEAR = "2011-08-28", "2010-08-28", 28.0, 7.0, 365.25
#: Violation of a probability that is left: a hundredth, of single matches.
TOLERANCE = 0.01


class Candidate(NamedTuple):
    """Strengths that drift: their kernel of time, and C; with or without experience beside them."""

    name: str
    time: Kernel
    strength: float
    experienced: bool = True

    @property
    def model(self) -> PairLogistic:
        kernel = Additive(Identity()) * self.time
        kernel = kernel + Linear() if self.experienced else kernel
        return PairLogistic("antisymmetric", kernel=kernel, C=self.strength, tol=TOLERANCE)

    def seen(self, matches: Pairs) -> Pairs:
        """The matches as the model sees them."""
        return with_experience(matches, weeks(matches)) if self.experienced else matches


_LONG, _FORM = Drift(20.0 * YEAR), 0.1 * Drift(0.25 * YEAR)
CANDIDATES = [
    Candidate("drift, wiener, 10 years, C 2", Drift(10.0 * YEAR, "wiener"), 2.0, False),
    Candidate("drift, exponential, 20 years, C 2", _LONG, 2.0, False),
    Candidate("with experience, exponential, 20 years, C 0.75", _LONG, 0.75),
    Candidate("with experience, exponential, 20 years, C 1.5", _LONG, 1.5),
    Candidate("with experience, exponential, 10 years, C 0.75", Drift(10.0 * YEAR), 0.75),
    Candidate("with experience, exponential, 20 years, and form, C 0.75", _LONG + _FORM, 0.75),
]


def days(date: str) -> float:
    """Days since 1970."""
    return float(np.datetime64(date).astype("datetime64[D]").astype(int))


def weeks(matches: Pairs) -> np.ndarray:
    """The week of each match, counted from the first day that is foretold."""
    return np.floor((matches.time - days(START)) / WEEK)


def tuned(matches: Pairs) -> list[dict[str, Any]]:
    """Scores of the candidates over the last training year."""
    past = matches[matches.time < days(START)]
    wins, table = np.ones(len(past)), []
    for candidate in CANDIDATES:
        start = time.process_time()
        walked = walk_forward(
            candidate.model, candidate.seen(past), wins, start=TUNING, every=MONTH
        )
        seconds = time.process_time() - start
        table.append({"model": candidate.name, **walked.scores(), "seconds": seconds})
        print(table[-1], flush=True)
    return table


def run(matches: Pairs, folder: Path | None = None, processes: int = 1) -> dict[str, Any]:
    """Tune both on the training years, foretell, and score; a folder keeps what is done."""
    candidates = remembered(
        None if folder is None else folder / "tuning.json", lambda: tuned(matches)
    )
    best = min(range(len(candidates)), key=lambda row: candidates[row]["log_loss"])
    chosen = CANDIDATES[best]
    walk = walked_in_parts(chosen.model, chosen.seen(matches), days(START), folder, processes)
    tested, losses = walk.pop("rows"), -np.log(walk.pop("won"))
    ours = {"model": chosen.name, **_scores(losses), **walk}
    validated = (matches.time >= days(TUNING)) & (matches.time < days(START))
    ratings, by_name = [], {"drift": losses}
    for name, periods in (("week", weeks(matches)), ("match", np.arange(len(matches)))):
        for kind, settings in (("plain", elo.PLAIN), ("shrinking", elo.SHRINKING)):
            setting = elo.tuned(matches, validated, periods, settings)
            found = elo.log_losses(matches, setting, periods)[tested]
            by_name[f"{kind} Elo, by {name}"] = found
            row = {"elo": kind, "periods": name, **setting._asdict(), **_scores(found)}
            ratings.append(row)
    return {
        "candidates": candidates,
        "drift": ours,
        "ratings": ratings,
        "matches": len(tested),
        "years": _by_year(matches.time[tested], by_name),
    }


def _scores(losses: np.ndarray) -> dict[str, float]:
    """Log-loss and accuracy of probabilities that winners were given."""
    ahead = np.exp(-losses)
    accuracy = float(np.mean((ahead > 0.5) + 0.5 * (ahead == 0.5)))
    return {"log_loss": float(losses.mean()), "accuracy": accuracy}


def _by_year(times: np.ndarray, losses: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """Log-loss of each method, year by year."""
    years = times.astype("datetime64[D]").astype("datetime64[Y]").astype(str)
    return [
        {"year": year, "matches": int(np.sum(years == year))}
        | {name: float(values[years == year].mean()) for name, values in losses.items()}
        for year in np.unique(years).tolist()
    ]
