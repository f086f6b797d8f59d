"""Raw tables of real data sets with ``labelled.csv`` and ``test.csv``, where a command reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.task import DATA

#: Labelled pairs of citations, drawn from those of half of the papers.
_LABELLED = 5000


def products(folder: Path) -> tuple[str, ...]:
    """Amazon and Google; labels of the published split, test pairs apart."""
    source = DATA / "symmetric_amazon_google"
    pairs = pd.read_csv(source / "pairs.csv")
    held = pairs.split == "test"
    _labels(folder, pairs.drop(columns="split"), ~held, held)
    return _sides(source, folder, {"A": "amazon.csv", "B": "google.csv"})


def restaurants(folder: Path, seed: int = 0) -> tuple[str, ...]:
    """Two guides; all matches are known, and one half of them, drawn, is for the test."""
    source = DATA / "symmetric_restaurants"
    pairs = pd.read_csv(source / "matches.csv")
    held = np.random.default_rng(seed).permutation(len(pairs)) < len(pairs) // 2
    _labels(folder, pairs, ~held, held)
    pairs.to_csv(folder / "all.csv", index=False)
    return _sides(source, folder, {"fodors": "fodors.csv", "zagats": "zagats.csv"})


def citations(folder: Path, seed: int = 0) -> tuple[str, ...]:
    """One table: labelled pairs are of citations of half of the papers, test pairs of the others."""
    source, random = DATA / "symmetric_cora_citations", np.random.default_rng(seed)
    records, pairs = pd.read_csv(source / "records.csv"), pd.read_csv(source / "pairs.csv.gz")
    papers = records.cluster.unique()
    half = set(random.permutation(papers)[: len(papers) // 2])
    paper = records.set_index("id").cluster
    first, second = (paper.loc[pairs[end]].isin(half).to_numpy() for end in ("a", "b"))
    known = np.flatnonzero(first & second)
    drawn = np.isin(np.arange(len(pairs)), random.permutation(known)[:_LABELLED])
    _labels(folder, pairs, drawn, ~first & ~second)
    records.drop(columns="cluster").to_csv(folder / "citations.csv", index=False)
    return ("citations.csv",)


def _labels(folder: Path, pairs: pd.DataFrame, labelled: np.ndarray, test: np.ndarray) -> None:
    pairs[labelled].to_csv(folder / "labelled.csv", index=False)
    pairs[test].to_csv(folder / "test.csv", index=False)


def _sides(source: Path, folder: Path, names: dict[str, str]) -> tuple[str, ...]:
    records = pd.read_csv(source / "records.csv", dtype=str)
    for side, name in names.items():
        table = records[records.source == side].drop(columns="source")
        table.to_csv(folder / name, index=False)
    return tuple(names.values())
