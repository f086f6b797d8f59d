"""Symmetric tasks: is there a tie between two nodes, or is it a strong one?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from experiments.graphs.known import Draw, Task
from pairity import Pairs

#: Airports drawn for each seed, out of the busiest.
AIRPORTS, BUSIEST = 36, 100
#: Cora: clusters (papers) drawn for each seed, records of each, coordinates of a record.
CLUSTERS, RECORDS, COORDINATES = 10, 4, 10
#: Appearances together from which on a tie of Les Misérables is strong.
STRONG = 3


def _standardised(table: np.ndarray) -> np.ndarray:
    spread = table.std(axis=0)
    return (table - table.mean(axis=0)) / np.where(spread == 0.0, 1.0, spread)


def _all_pairs(features: np.ndarray, tied: np.ndarray) -> Draw:
    """Every pair of nodes, labelled by an adjacency matrix.

    No pair is chosen because it is an edge, so the set of pairs itself says nothing about edges.
    """
    pairs = Pairs.complete(features)
    return Draw(pairs, np.where(tied[pairs.first, pairs.second], 1.0, -1.0))


# US airports: is there a route? -----------------------------------------------------------------


def _read_airports(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    airports = pd.read_csv(folder / "symmetric_us_airports" / "airports.csv").set_index("id")
    routes = pd.read_csv(folder / "symmetric_us_airports" / "routes.csv")
    degree = pd.concat([routes.a, routes.b]).value_counts()
    airports = airports.assign(degree=degree).dropna(subset=["lat", "lon", "degree"])
    airports = airports.sort_values("degree", ascending=False, kind="stable").head(BUSIEST)
    place = pd.Series(np.arange(len(airports)), index=airports.index)
    routes = routes[routes.a.isin(place.index) & routes.b.isin(place.index)]
    tied = np.zeros((len(airports), len(airports)), dtype=bool)
    tied[place[routes.a], place[routes.b]] = True
    lat, lon = np.radians(airports.lat), np.radians(airports.lon)
    sphere = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return sphere, tied | tied.T


def _draw_airports(data: Any, rng: np.random.Generator) -> Draw:
    sphere, tied = data
    chosen = rng.permutation(len(sphere))[:AIRPORTS]
    return _all_pairs(_standardised(sphere[chosen]), tied[np.ix_(chosen, chosen)])


# Karate club: are two members friends? ----------------------------------------------------------


def _read_karate(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    graph = nx.karate_club_graph()
    side = np.array([1.0 if graph.nodes[node]["club"] == "Officer" else -1.0 for node in graph])
    features = np.hstack([side[:, np.newaxis], np.eye(len(side))])
    return features, nx.to_numpy_array(graph) > 0.0


def _draw_karate(data: Any, rng: np.random.Generator) -> Draw:
    return _all_pairs(*data)


# Les Misérables: is a tie strong? ---------------------------------------------------------------


def _read_novel(folder: Path) -> Draw:
    graph = nx.les_miserables_graph()
    pairs, weight = Pairs.from_graph(
        graph, features=np.eye(graph.number_of_nodes()), label="weight"
    )
    return Draw(pairs, np.where(weight >= STRONG, 1.0, -1.0))


def _draw_novel(data: Any, rng: np.random.Generator) -> Draw:
    return data


# Cora: do two records name the same paper? ------------------------------------------------------


def _read_cora(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of records that differ from one another, and their papers."""
    records = pd.read_csv(folder / "symmetric_cora_citations" / "records.csv", dtype=str)
    text = records[["title", "authors"]].fillna("").agg(" ".join, axis=1).str.lower()
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3), min_df=3).fit_transform(text)
    coordinates = TruncatedSVD(COORDINATES, random_state=0).fit_transform(grams)
    _, kept = np.unique(coordinates.round(6), axis=0, return_index=True)
    kept = np.sort(kept)
    return _standardised(coordinates[kept]), records.cluster.to_numpy()[kept]


def _draw_cora(data: Any, rng: np.random.Generator) -> Draw:
    coordinates, cluster = data
    names, counts = np.unique(cluster, return_counts=True)
    papers = rng.choice(names[counts >= RECORDS], CLUSTERS, replace=False)
    chosen = np.concatenate(
        [rng.permutation(np.flatnonzero(cluster == paper))[:RECORDS] for paper in papers]
    )
    return _all_pairs(coordinates[chosen], cluster[chosen, np.newaxis] == cluster[chosen])


TASKS = (
    Task(
        "airports",
        "US airports: is there a route?",
        "symmetric",
        "accuracy",
        True,
        _read_airports,
        _draw_airports,
    ),
    Task(
        "karate",
        "Karate club: are two members friends?",
        "symmetric",
        "AUC",
        True,
        _read_karate,
        _draw_karate,
    ),
    Task(
        "novel",
        "Les Misérables: is a tie strong?",
        "symmetric",
        "accuracy",
        False,
        _read_novel,
        _draw_novel,
    ),
    Task(
        "cora",
        "Cora: do two records name one paper?",
        "symmetric",
        "AUC",
        True,
        _read_cora,
        _draw_cora,
    ),
)
