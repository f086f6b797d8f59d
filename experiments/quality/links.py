"""Is there a link?  Routes between airports of the United States."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.task import Task
from pairity import Pairs
from pairity.model_selection import ObjectKFold, PairKFold

#: Routes kept, and as many pairs without one.
ROUTES = 3500
#: Kilometres within which airports are neighbours.
NEAR = 200.0
EARTH = 6371.0


def routes(folder: Path) -> Task:
    """Routes between airports that have other routes, and as many random pairs without one."""
    folder = folder / "symmetric_us_airports"
    airports = pd.read_csv(folder / "airports.csv")
    airports = airports.dropna(subset=["lat", "lon"]).drop_duplicates(["lat", "lon"])
    place = pd.Series(np.arange(len(airports)), index=airports.id)
    flown = pd.read_csv(folder / "routes.csv")
    flown = flown[flown.a.isin(place.index) & flown.b.isin(place.index) & (flown.a != flown.b)]
    tied = np.zeros((len(airports), len(airports)), dtype=bool)
    tied[place[flown.a], place[flown.b]] = True
    tied |= tied.T
    first, second = _draw(tied, np.random.default_rng(0))
    kilometres = _distances(airports)
    state = airports.state.fillna("").to_numpy(dtype=str)
    crowd = np.log(np.sum(kilometres < NEAR, axis=1))
    pairs = Pairs(
        np.column_stack([airports.lat, airports.lon, crowd]),
        first,
        second,
        symmetric=np.column_stack(
            [np.log1p(kilometres[first, second]), state[first] == state[second]]
        ).astype(float),
        ids=airports.code.to_numpy(dtype=str),
    )
    return Task(
        name="routes",
        question="is there a route between two airports?",
        symmetry="symmetric",
        setting="both seen",
        pairs=pairs,
        y=np.where(tied[first, second], 1, -1),
        outer=PairKFold(5),
        inner=PairKFold(3, random_state=1),
        why="a pair of airports is on one side; both airports have other pairs in training",
        features="latitude, longitude, airports nearby; distance, same state; no count of routes",
        identities=True,
        n_splits=3,
        feature_names=("latitude", "longitude", "log airports nearby"),
    )


def new_airport(folder: Path) -> Task:
    """The same routes, for an airport of which no route is known."""
    return replace(
        routes(folder),
        name="new-airport",
        question="is there a route from a new airport to a known one?",
        setting="one new",
        outer=ObjectKFold(5, new=1),
        inner=ObjectKFold(3, new=1, random_state=1),
        why="no pair of the new airport is trained on; test pairs have exactly one",
    )


def _draw(tied: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Ends of routes and of as many pairs without one, drawn once, shape (2, n)."""
    ends = np.stack(np.triu_indices(len(tied), 1))
    linked = tied[ends[0], ends[1]]
    chosen = [
        rng.choice(np.flatnonzero(which), ROUTES, replace=False) for which in (linked, ~linked)
    ]
    return ends[:, np.concatenate(chosen)]


def _distances(airports: pd.DataFrame) -> np.ndarray:
    """Great-circle distances in kilometres."""
    lat, lon = np.radians(airports.lat.to_numpy()), np.radians(airports.lon.to_numpy())
    sphere = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return EARTH * np.arccos(np.clip(sphere @ sphere.T, -1.0, 1.0))
