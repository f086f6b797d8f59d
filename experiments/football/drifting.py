"""``python -m experiments.football.drifting``: goal margins by strengths that drift, no other features.

Ridge regression of ``sign(goals) |goals|^0.7`` on teams whose strengths drift and on who is at home,
updated every month with all matches before it; win, draw and loss by an ordered logit of the margin
over its predictive deviation, fitted to the forecasts of earlier years.  Lengthscale and penalty are
those with the least log-loss from 2006 to 2009; the test years are those of ``make football``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.football.__main__ import DATA, RESULTS
from experiments.football.matches import Matches, read_matches
from experiments.football.protocol import SPLITS, rows_of
from pairity import PairRidge, Pairs
from pairity.inspection import posterior
from pairity.kernels import Additive, Drift, Identity, Linear
from pairity.model_selection import log_loss, ranked_probability_score
from pairity.model_selection.curves import fit_draws, smoothed_outcomes

#: First year that is foretold, years of matches before it, years that draws are fitted to.
FIRST, BEFORE, CALIBRATED = 1998, 30, 12
#: Years to choose by, months of a period there and in the test.
CHOICE, QUARTER, MONTH = (2006, 2010), 3, 1
POWER = 0.7


class Setting(NamedTuple):
    """Days over which strengths drift away, and the penalty."""

    lengthscale: float
    alpha: float

    @property
    def model(self) -> PairRidge:
        kernel = Additive(Identity()) * Drift(self.lengthscale) + Linear()
        return PairRidge("antisymmetric", kernel=kernel, alpha=self.alpha)


SETTINGS = [
    Setting(7_300.0, 1.5),
    Setting(14_000.0, 1.0),
    Setting(30_000.0, 0.5),
    Setting(60_000.0, 0.3),
]


def as_pairs(matches: Matches) -> Pairs:
    """Teams by their names; at home, and at home in a game that counts."""
    home = np.column_stack([matches.home, matches.home * (1.0 - matches.friendly)])
    teams = np.array(matches.teams)
    ends, objects = (matches.first, matches.second), np.zeros((len(teams), 0))
    return Pairs(objects, *ends, None, home, ids=teams, time=matches.day.astype(float))


def standardised_margins(
    matches: Matches, setting: Setting, years: tuple[int, int], months: int
) -> np.ndarray:
    """Margins over their predictive deviations, each from earlier periods; NaN before them."""
    pairs, margin = as_pairs(matches), np.sign(matches.goals) * np.abs(matches.goals) ** POWER
    past = rows_of(matches, years[0] - BEFORE, years[0])
    model = setting.model.fit(pairs[past], margin[past])
    later, scores = rows_of(matches, *years), np.full(len(matches), np.nan)
    periods = matches.month[later] // months
    for period in np.unique(periods):
        rows = later[periods == period]
        known = posterior(model)
        deviation = np.sqrt(known.noise + known.variance(pairs[rows]))
        scores[rows] = model.predict(pairs[rows]) / deviation
        model.update(pairs[rows], margin[rows])
    return scores


def forecasts(matches: Matches, scores: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Probabilities of loss, draw and win, by the years before those of the test."""
    start = int(matches.year[test].min())
    past = rows_of(matches, max(FIRST, start - CALIBRATED), start)
    weights = np.ones(len(past))
    draws = fit_draws(scores[past], smoothed_outcomes(matches.outcome[past], weights), weights)
    return draws.probabilities(scores[test])


def scored(matches: Matches, scores: np.ndarray, blocks: list[np.ndarray]) -> dict[str, float]:
    """Log-loss and ranked probability score of blocks of years."""
    chances = np.vstack([forecasts(matches, scores, block) for block in blocks])
    outcome = matches.outcome[np.concatenate(blocks)]
    return {
        "log-loss": log_loss(outcome, chances),
        "rps": ranked_probability_score(outcome, chances),
        "accuracy": float(np.mean(chances.argmax(axis=1) - 1 == outcome)),
        "matches": len(outcome),
    }


def run(matches: Matches) -> dict[str, Any]:
    """Choose on the years before the test, then foretell it month by month."""
    chosen, table = SETTINGS[0], []
    for setting in SETTINGS:
        scores = standardised_margins(matches, setting, (FIRST, CHOICE[1]), QUARTER)
        table.append({**setting._asdict(), **scored(matches, scores, [rows_of(matches, *CHOICE)])})
        print(table[-1], flush=True)
        if table[-1]["log-loss"] == min(row["log-loss"] for row in table):
            chosen = setting
    split, start = SPLITS[0], time.process_time()
    scores = standardised_margins(matches, chosen, (FIRST, split.end), MONTH)
    test = scored(matches, scores, [block for _, block in split.blocks(matches)])
    seconds = time.process_time() - start
    return {"candidates": table, "chosen": chosen._asdict(), split.name: test, "seconds": seconds}


def main() -> None:
    """Run, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the shared data")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder for the file")
    arguments = parser.parse_args()
    text = json.dumps(run(read_matches(arguments.data)), indent=1) + "\n"
    (arguments.output / "football-drift.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
