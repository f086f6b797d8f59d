"""Walking forward in time: tuned and fitted on the past, scored on what came next, and so on.

The test years are taken in blocks of four.  Before each block ratings are tuned and every model is
fitted to the twenty years before it; the penalties of the machines and the sizes of the trees are
tuned once, before the first block, on the last four years of its past.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from experiments.football.elo import GOALS, PLAIN, Rating, Ratings
from experiments.football.features import odd_features
from experiments.football.forecasters import Ours, Table, machines, trees
from experiments.football.matches import Matches, read_matches
from pairity import Pairs
from pairity.model_selection import log_loss, ranked_probability_score, reliability_curve
from pairity.runtime.resources import set_thread_count

#: What others are compared with: the strongest forecaster without machine learning.
REFERENCE = "Elo with goal margins"
#: The default of PairDrawClassifier.
MAIN = "decided games, logistic"
OUTCOMES = (-1, 0, 1)


@dataclass(frozen=True)
class Split:
    """First years of the blocks, and the year after the last one; ratings start with the first match."""

    name: str
    starts: tuple[int, ...]
    end: int
    past: int = 20  # years to fit to
    check: int = 4  # years to tune on

    def blocks(self, matches: Matches) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Rows of the past and of the test, block by block."""
        for start, stop in zip(self.starts, [*self.starts[1:], self.end], strict=True):
            yield rows_of(matches, start - self.past, start), rows_of(matches, start, stop)


def rows_of(matches: Matches, start: int, stop: int) -> np.ndarray:
    """Matches of the years from ``start`` to before ``stop``."""
    return np.flatnonzero((matches.year >= start) & (matches.year < stop))


SPLITS = (
    Split("2010 to 2026", (2010, 2014, 2018, 2022), 2027),
    Split("1990 to 2009", (1990, 1994, 1998, 2002, 2006), 2010),
)


def run_alone(job: tuple[Split, Path]) -> dict:
    """One split in a process of its own, on one thread."""
    split, folder = job
    set_thread_count(1)
    with threadpool_limits(1):
        return run_split(read_matches(folder), split)


def run_split(matches: Matches, split: Split) -> dict:
    """All forecasters on one split: sizes, scores, settings, and what was learnt of home."""
    goals, plain = Ratings(matches, GOALS), Ratings(matches, PLAIN)
    tuned: dict[str, Any] = {}
    found: list[dict[str, np.ndarray]] = []
    home, settings, misses, tests = [], {}, np.zeros(2, dtype=int), []
    for past, test in split.blocks(matches):
        ratings = goals.best(past), plain.best(past)
        table = Table(matches, *odd_features(matches, ratings, ("rating", "plain rating")))
        if not tuned:
            tuned = _tune(table, past, split)
        for model in tuned.values():
            model.fit(table, past)
        chances = {
            "base rates, home and neutral": _base_rates(matches, past, test),
            "Elo": _rated(matches, ratings[1], test),
            REFERENCE: _rated(matches, ratings[0], test),
            **{method: model.predict_proba(table, test) for method, model in tuned.items()},
            **_ablations(table, past, test, tuned[MAIN]),
        }
        found.append(chances)
        tests.append(test)
        settings[str(matches.year[test[0]])] = [asdict(rating.setting) for rating in ratings]
        home.append(_home_advantage(table, past, tuned[MAIN], ratings[0]))
        misses += _swap_misses(table, test, tuned[MAIN])
    test = np.concatenate(tests)
    together = {method: np.vstack([block[method] for block in found]) for method in found[0]}
    return {
        "split": {**asdict(split), "starts": list(split.starts)},
        "sizes": {"test": len(test), "past": len(past)},
        "tuned": {method: model.setting for method, model in tuned.items()},
        "rated": settings,
        "scores": _scores(together, matches.outcome[test], matches.month[test]),
        "home": home,
        "swap": {"not mirrored": int(misses[0]), "sums that are not 1": int(misses[1])},
        "reliability": _reliability(together[MAIN], matches.outcome[test]),
    }


def _tune(table: Table, past: np.ndarray, split: Split) -> dict[str, Any]:
    """Of each kind the candidate that, fitted before the check years, forecasts them best."""
    late = past[table.matches.year[past] >= split.starts[0] - split.check]
    early = np.setdiff1d(past, late)
    outcome = table.matches.outcome[late]

    def best(candidates: Sequence[Any]) -> Any:
        losses = [
            log_loss(outcome, one.fit(table, early).predict_proba(table, late))
            for one in candidates
        ]
        return candidates[int(np.argmin(losses))]

    return {
        MAIN: best(machines("logistic")),
        "decided games, hinge": best(machines("hinge")),
        "-1, 0 and 1, squared": best(machines("ridge")),
        "boosted trees, both orders": best(trees()),
    }


def _base_rates(matches: Matches, past: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Shares of the past, at home and on neutral ground (where the order says nothing)."""
    outcome = matches.outcome

    def shares(rows: np.ndarray) -> np.ndarray:
        return np.array([np.mean(outcome[rows] == value) for value in OUTCOMES])

    at_home = shares(past[matches.home[past] > 0])
    neutral = shares(past[matches.home[past] == 0])
    neutral = 0.5 * (neutral + neutral[::-1])
    return np.where(matches.home[test, np.newaxis] > 0, at_home, neutral)


def _rated(matches: Matches, rating: Rating, test: np.ndarray) -> np.ndarray:
    return rating.draws.probabilities(rating.ahead(matches)[test])


def _ablations(
    table: Table, past: np.ndarray, test: np.ndarray, main: Ours
) -> dict[str, np.ndarray]:
    """The main machine with fewer features, at the same penalty."""
    without_home = [name for name in table.names if not name.startswith("home")]
    found = {}
    for method, names, identity in (
        ("logistic, ratings and home only", ["rating", "plain rating", "home"], 0.0),
        ("logistic without home", without_home, main.identity),
    ):
        some = table.with_columns(names)
        found[method] = Ours(main.estimator, identity).fit(some, past).predict_proba(some, test)
    return found


def _scores(found: dict[str, np.ndarray], outcome: np.ndarray, months: np.ndarray) -> list[dict]:
    rows = []
    for method, chances in found.items():
        row: dict[str, Any] = {"method": method}
        for name, score in (("rps", ranked_probability_score), ("log-loss", log_loss)):
            mine, theirs = (
                score(outcome, one, average=False) for one in (chances, found[REFERENCE])
            )
            row[name] = float(mine.mean())
            row[f"{name} difference"] = float((mine - theirs).mean())
            row[f"{name} error"] = clustered_error(mine - theirs, months)
        row["accuracy"] = float(np.mean(chances.argmax(axis=1) - 1 == outcome))
        rows.append(row)
    return rows


def clustered_error(values: np.ndarray, clusters: np.ndarray) -> float:
    """Standard error of a mean when values of one cluster (a month) may go together."""
    off = np.bincount(clusters - clusters.min(), values - values.mean())
    return float(np.sqrt((off**2).sum()) / len(values))


def _home_advantage(table: Table, past: np.ndarray, main: Ours, rating: Rating) -> dict:
    """Two equal teams, at home and on neutral ground; and how many rating points home is worth."""
    equal = np.zeros((2, len(table.names)))
    equal[0, table.names.index("home")] = 1.0
    at_home, neutral = main.model_.predict_proba(main.equal_teams(equal))
    per_rating, per_home = _weights(table.with_columns(["rating", "home"]), past, main)
    return {
        "at home": at_home.tolist(),
        "neutral": neutral.tolist(),
        "points learned": float(400.0 * per_home / per_rating),
        "points tuned for Elo": rating.setting.home,
    }


def _weights(table: Table, past: np.ndarray, main: Ours) -> np.ndarray:
    """What a step of each feature is worth to the machine, fitted to decided games without teams."""
    decided = past[table.matches.outcome[past] != 0.0]
    features, nobody = table.features[decided], np.zeros(len(decided), dtype=int)
    pairs = Pairs(np.zeros((2, 1)), nobody, nobody + 1, antisymmetric=features)
    model = clone(main.estimator).fit(pairs, table.matches.outcome[decided])
    steps = np.eye(features.shape[1])
    nobody = np.zeros(len(steps), dtype=int)
    return model.decision_function(Pairs(np.zeros((2, 1)), nobody, nobody + 1, antisymmetric=steps))


def _swap_misses(table: Table, test: np.ndarray, model: Ours) -> np.ndarray:
    """Probabilities that are not mirrored exactly, and rows that do not add up to 1."""
    pairs = model.pairs(table, test)
    there, back = model.model_.predict_proba(pairs), model.model_.predict_proba(pairs.swap())
    return np.array(
        [np.count_nonzero(there != back[:, ::-1]), np.count_nonzero(there.sum(axis=1) != 1.0)]
    )


def _reliability(probabilities: np.ndarray, outcome: np.ndarray) -> dict:
    found = {}
    for column, name in enumerate(("loss", "draw", "win")):
        curve = reliability_curve(outcome == column - 1, probabilities[:, column])
        found[name] = {
            key: np.asarray(getattr(curve, key)).tolist()
            for key in ("low", "high", "count", "weight", "predicted", "observed", "lower", "upper")
        }
        found[name]["calibration error"] = curve.calibration_error
    return found
