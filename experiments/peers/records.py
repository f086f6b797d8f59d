"""Two restaurant guides, 533 and 331 records, 112 places in both: Splink, dedupe, recordlinkage.

Each is set up as its own guide advises for such columns, once, without looking at the matches but
for the labels that dedupe needs: one half of the matches, and what it asks about, twice as often.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from experiments.quality.task import DATA

COLUMNS = ("name", "addr", "city", "phone", "type")
Found = set[tuple[str, str]]


def cleaned() -> list[pd.DataFrame]:
    """The two tables with telephone numbers as digits, which the guides write in two ways."""
    return [
        table.assign(phone=table["phone"].str.replace(r"\D", "", regex=True)) for table in guides()
    ]


def guides() -> tuple[pd.DataFrame, pd.DataFrame]:
    """The two tables."""
    records = pd.read_csv(DATA / "symmetric_restaurants" / "records.csv", dtype=str)
    sides = (records[records.source == side] for side in ("fodors", "zagats"))
    left, right = (table.drop(columns="source").reset_index(drop=True) for table in sides)
    return left, right


def truth() -> list[tuple[str, str]]:
    """All places that both describe."""
    table = pd.read_csv(DATA / "symmetric_restaurants" / "matches.csv", dtype=str)
    return list(table.iloc[:, :2].itertuples(index=False, name=None))


def scores(found: Iterable[tuple[str, str]], true: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Precision, recall and F1."""
    found, true = set(found), set(true)
    right = len(found & true)
    precision, recall = right / max(1, len(found)), right / len(true)
    f1 = 2.0 * right / max(1, len(found) + len(true))
    return {"precision": precision, "recall": recall, "f1": f1}


def with_pairity() -> Found:
    """``pairity match``, no labels."""
    from pairity.matching import match

    table = match(*guides()).to_frame()
    return set(zip(table["first"], table["second"], strict=True))


def with_splink() -> Found:
    """Fellegi and Sunter by EM, two rounds of blocking, links above one half."""
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    tables = [table.rename(columns={"id": "unique_id"}) for table in cleaned()]
    rules = [block_on("phone"), block_on("substr(name, 1, 3)"), block_on("substr(addr, 1, 4)")]
    settings = SettingsCreator(
        link_type="link_only",
        blocking_rules_to_generate_predictions=rules,
        comparisons=[
            cl.JaroWinklerAtThresholds("name", [0.92, 0.8]),
            cl.JaroWinklerAtThresholds("addr", [0.92, 0.8]),
            cl.JaroWinklerAtThresholds("city", [0.9]),
            cl.LevenshteinAtThresholds("phone", [1, 2]),
            cl.JaroWinklerAtThresholds("type", [0.9]),
        ],
    )
    database = DuckDBAPI()
    linker = Linker([database.register(table) for table in tables], settings, log_level="ERROR")
    linker.training.estimate_probability_two_random_records_match([block_on("phone")], recall=0.8)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=0)
    for rule in (block_on("phone"), block_on("substr(name, 1, 3)")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    links = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    ends = links[["unique_id_l", "unique_id_r"]].itertuples(index=False, name=None)
    return {(a, b) if a.startswith("F") else (b, a) for a, b in ends}


def with_recordlinkage() -> Found:
    """Sorted neighbourhoods by name, similarities, the unsupervised classifier (ECM)."""
    import recordlinkage

    left, right = (table.set_index("id") for table in cleaned())
    indexer = recordlinkage.Index()
    indexer.sortedneighbourhood("name", window=9)
    indexer.block("phone")
    pairs = indexer.index(left, right)
    compare = recordlinkage.Compare()
    for column in COLUMNS:
        compare.string(column, column, method="jarowinkler", threshold=0.85, label=column)
    features = compare.compute(pairs, left, right)
    return set(recordlinkage.ECMClassifier().fit_predict(features).tolist())


def with_dedupe(seed: int = 0) -> Found:
    """Its questions answered by one half of the matches; a match of the other half is called none."""
    import dedupe
    from dedupe import variables

    left, right = (
        {row["id"]: {name: row[name] or None for name in COLUMNS} for row in rows}
        for rows in (table.fillna("").to_dict("records") for table in cleaned())
    )
    linker = dedupe.RecordLink([variables.String(name, has_missing=True) for name in COLUMNS])
    np.random.seed(seed)  # noqa: NPY002 - what dedupe draws from
    linker.prepare_training(left, right, sample_size=2000)
    known = [(left[a], right[b]) for a, b in labelled()]
    for _ in range(2 * len(known)):
        asked = linker.uncertain_pairs()
        same = asked[0] in known
        linker.mark_pairs({"match": asked if same else [], "distinct": [] if same else asked})
    linker.mark_pairs({"match": known, "distinct": []})
    linker.train()
    return {tuple(pair) for pair, _ in linker.join(left, right, threshold=0.5)}


def labelled(seed: int = 0) -> list[tuple[str, str]]:
    """One half of the matches, drawn."""
    pairs = truth()
    order = np.random.default_rng(seed).permutation(len(pairs))
    return [pairs[place] for place in order[: len(pairs) // 2]]


METHODS = {
    "pairity match": with_pairity,
    "Splink": with_splink,
    "recordlinkage, ECM": with_recordlinkage,
    "dedupe, half of the matches as labels": with_dedupe,
}
