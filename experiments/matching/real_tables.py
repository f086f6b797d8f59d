"""The two raw tables of each real data set, and labelled pairs, written where a command reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.task import DATA


def products(folder: Path) -> None:
    """``amazon.csv``, ``google.csv``, ``labelled.csv`` (training and validation) and ``test.csv``."""
    source = DATA / "symmetric_amazon_google"
    _sides(source, folder, {"A": "amazon", "B": "google"})
    pairs = pd.read_csv(source / "pairs.csv")
    held = pairs.split == "test"
    pairs[~held].drop(columns="split").to_csv(folder / "labelled.csv", index=False)
    pairs[held].drop(columns="split").to_csv(folder / "test.csv", index=False)


def restaurants(folder: Path, seed: int = 0) -> None:
    """``fodors.csv``, ``zagats.csv``; ``matches.csv`` whole, and two halves of it, drawn."""
    source = DATA / "symmetric_restaurants"
    _sides(source, folder, {"fodors": "fodors", "zagats": "zagats"})
    pairs = pd.read_csv(source / "matches.csv")
    held = np.random.default_rng(seed).permutation(len(pairs)) < len(pairs) // 2
    pairs.to_csv(folder / "matches.csv", index=False)
    pairs[~held].to_csv(folder / "labelled-places.csv", index=False)
    pairs[held].to_csv(folder / "test-places.csv", index=False)


def _sides(source: Path, folder: Path, names: dict[str, str]) -> None:
    records = pd.read_csv(source / "records.csv", dtype=str)
    for side, name in names.items():
        table = records[records.source == side].drop(columns="source")
        table.to_csv(folder / f"{name}.csv", index=False)
