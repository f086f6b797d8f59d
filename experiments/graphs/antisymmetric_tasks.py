"""Antisymmetric tasks: directed graphs in which an arc says which of its two nodes leads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.graphs.known import Draw, Task
from pairity import Pairs

#: Football: years whose matches are the arcs, years before them that describe the teams, teams.
PLAYED, DESCRIBED, TEAMS = (2018, 2022), (2010, 2017), 60


def _as_draw(features: pd.DataFrame, arcs: pd.DataFrame) -> Draw:
    """Arcs with columns first, second, margin and home summed over each unordered pair.

    Repeated meetings are one arc; the sign of the summed margins is its label, and pairs that are
    level have none.
    """
    place = pd.Series(np.arange(len(features)), index=features.index)
    first, second = place[arcs["first"]].to_numpy(), place[arcs["second"]].to_numpy()
    sign = np.where(first < second, 1.0, -1.0)
    table = pd.DataFrame(
        {
            "low": np.minimum(first, second),
            "high": np.maximum(first, second),
            "margin": sign * arcs.margin.to_numpy(),
            "home": sign * arcs.home.to_numpy(),
        }
    )
    merged = table.groupby(["low", "high"]).agg({"margin": "sum", "home": "mean"}).reset_index()
    merged = merged[merged.margin != 0]
    values = features.to_numpy(dtype=np.float64)
    home = merged[["home"]].to_numpy() if merged.home.any() else None
    pairs = Pairs(
        (values - values.mean(axis=0)) / values.std(axis=0),
        merged.low.to_numpy(),
        merged.high.to_numpy(),
        antisymmetric=home,
    )
    return Draw(pairs, np.sign(merged.margin.to_numpy()))


def _same_draw(data: Any, rng: np.random.Generator) -> Draw:
    return data


# Language models: whose answers do people prefer? -----------------------------------------------


def _read_models(folder: Path) -> Draw:
    folder = folder / "antisymmetric_llmfao"
    votes = pd.read_csv(folder / "comparisons.csv")
    answers = pd.read_csv(folder / "responses.csv")
    models = pd.read_csv(folder / "models.csv").set_index("id")
    answers = answers.assign(length=answers.result.fillna("").str.len())
    means = answers.groupby("model")[["length", "duration", "rate"]].mean()
    features = np.log1p(means)
    size = models["name"][means.index].str.extract(r"(\d+)B\b")[0].astype(float)
    features["size"] = np.log(size).fillna(np.log(size).mean())
    features["size_unknown"] = size.isna().astype(float)
    arcs = pd.DataFrame(
        {"first": votes.model_x, "second": votes.model_y, "margin": votes.y, "home": 0.0}
    )
    return _as_draw(features, arcs)


# Football: which national team won more of their matches? ---------------------------------------


def _within(matches: pd.DataFrame, years: tuple[int, int]) -> pd.DataFrame:
    return matches[matches.date.str[:4].astype(int).between(*years)]


def _read_football(folder: Path) -> Draw:
    matches = pd.read_csv(folder / "antisymmetric_intl_football" / "results.csv")
    played, before = _within(matches, PLAYED), _within(matches, DESCRIBED)
    history = _team_history(before)
    count = pd.concat([played.home_team, played.away_team]).value_counts(sort=False)
    count = count[count.index.isin(history.index)].sort_index()
    teams = count.sort_values(ascending=False, kind="stable").index[:TEAMS]
    played = played[played.home_team.isin(teams) & played.away_team.isin(teams)]
    arcs = pd.DataFrame(
        {
            "first": played.home_team,
            "second": played.away_team,
            "margin": played.y,
            "home": 1.0 - played.neutral,
        }
    )
    return _as_draw(history.loc[teams], arcs)


def _team_history(matches: pd.DataFrame) -> pd.DataFrame:
    """Goals for and against, share of wins, number of matches: all from years before the arcs."""
    sides = [
        pd.DataFrame(
            {
                "team": matches[f"{us}_team"],
                "scored": matches[f"{us}_score"],
                "conceded": matches[f"{them}_score"],
                "won": (sign * matches.y > 0).astype(float),
            }
        )
        for us, them, sign in (("home", "away", 1), ("away", "home", -1))
    ]
    grouped = pd.concat(sides).groupby("team")
    return grouped.mean().assign(matches=np.log(grouped.size()))


TASKS = (
    Task(
        "models",
        "Language models: which is preferred?",
        "antisymmetric",
        "accuracy",
        False,
        _read_models,
        _same_draw,
    ),
    Task(
        "football",
        "National football teams: which wins?",
        "antisymmetric",
        "accuracy",
        False,
        _read_football,
        _same_draw,
    ),
)
