"""Is it the same thing?  Products of two shops, citations of papers, restaurants of two guides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from experiments.quality.task import Task
from experiments.quality.text import (
    coordinates,
    cosines,
    shared_words,
    trigram_weights,
    word_weights,
)
from pairity import Pairs
from pairity.datasets import load_restaurants
from pairity.model_selection import ObjectKFold, PairKFold, Repeated

#: Citations: matches and others drawn, matches of one paper at most, records of which fields.
CITATIONS, PER_PAPER = (2500, 15_000), 100
#: Singular coordinates of a text.
COORDINATES = 20
#: Restaurants: near misses for each match.
NEAR_MISSES = 12


#: Candidate pairs of products drawn, so that the whole experiment stays within its time.
PRODUCT_PAIRS = 5_700


def products(folder: Path) -> Task:
    """Offers of Amazon and of Google: the same product?  Half of the candidate pairs, drawn once."""
    folder = folder / "symmetric_amazon_google"
    records = pd.read_csv(folder / "records.csv").set_index("id")
    listed = pd.read_csv(folder / "pairs.csv")
    listed = listed.sample(PRODUCT_PAIRS, random_state=0).reset_index(drop=True)
    place = pd.Series(np.arange(len(records)), index=records.index)
    ends = place[listed.a].to_numpy(), place[listed.b].to_numpy()
    titles = records.title.str.lower().tolist()
    makers = records.manufacturer.fillna("").str.lower().tolist()
    words, trigrams = word_weights(titles), trigram_weights(titles)
    price = np.log1p(records.price.fillna(records.price.median()).to_numpy())
    table = np.column_stack(
        [coordinates(words, COORDINATES), price / 10.0, records.price.isna()]
    ).astype(float)
    symmetric = np.column_stack(
        [
            cosines(words, ends),
            cosines(trigrams, ends),
            shared_words(titles, ends),
            shared_words([_numbers(title) for title in titles], ends),
            cosines(trigram_weights(makers), ends),
            _maker_in_title(makers, titles, ends),
            np.abs(price[ends[0]] - price[ends[1]]),
        ]
    )
    return Task(
        name="products",
        question="do two shops offer the same product?",
        symmetry="symmetric",
        setting="pairs held out",
        pairs=Pairs(table, *ends, symmetric=symmetric, ids=records.index.to_numpy()),
        y=np.where(listed.y > 0, 1, -1),
        outer=PairKFold(5, new=(0, 1, 2), stratify=True, identity="content"),
        inner=PairKFold(3, new=(0, 1, 2), stratify=True, identity="content", random_state=1),
        why="a pair of records is on one side, as in the published split; records may recur",
        features=(
            "20 singular coordinates of the words of the title, price; likeness of titles, of"
            " numbers in them, of makers and of prices"
        ),
        measure="auc",
    )


def _numbers(title: str) -> str:
    """Words with a digit: versions, years, model numbers."""
    return " ".join(word for word in title.split() if any(letter.isdigit() for letter in word))


def _maker_in_title(
    makers: list[str], titles: list[str], ends: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Whether the maker of one record is named in the title of the other, as often it is."""

    def named(maker: str, title: str) -> bool:
        return bool(maker) and maker.split()[0] in title

    return np.array(
        [
            named(makers[a], titles[b]) + named(makers[b], titles[a])
            for a, b in zip(*ends, strict=True)
        ],
        dtype=float,
    )


def citations(folder: Path) -> Task:
    """Records of citations: the same paper?  Papers of training and test differ."""
    folder = folder / "symmetric_cora_citations"
    records = pd.read_csv(folder / "records.csv", dtype=str).fillna("")
    records = records.drop_duplicates(["title", "authors"]).reset_index(drop=True)
    listed = pd.read_csv(folder / "pairs.csv.gz")
    known = records.id.astype(int)
    listed = _draw_citations(listed[listed.a.isin(known) & listed.b.isin(known)], records)
    place = pd.Series(np.arange(len(records)), index=records.id.astype(int))
    ends = place[listed.a].to_numpy(), place[listed.b].to_numpy()
    fields = {
        name: records[columns].agg(" ".join, axis=1).str.lower().tolist()
        for name, columns in {
            "title": ["title"],
            "authors": ["authors"],
            "venue": ["book_title", "journal", "publisher", "institution", "tech"],
            "numbers": ["year", "date", "volume", "pages"],
        }.items()
    }
    trigrams = {name: trigram_weights(texts) for name, texts in fields.items()}
    table = np.hstack([coordinates(trigrams[name], COORDINATES) for name in ("title", "authors")])
    symmetric = np.column_stack(
        [
            *(cosines(weights, ends) for weights in trigrams.values()),
            shared_words(fields["title"], ends),
            shared_words(fields["authors"], ends),
        ]
    )
    papers = records.cluster.to_numpy()
    return Task(
        name="citations",
        question="do two citations name the same paper?",
        symmetry="symmetric",
        setting="both new",
        pairs=Pairs(table, *ends, symmetric=symmetric, ids=records.id.to_numpy(dtype=str)),
        y=np.where(listed.y > 0, 1, -1).astype(np.int64),
        outer=Repeated(ObjectKFold(2, object_groups=papers), 3),
        inner=ObjectKFold(3, object_groups=papers, random_state=1),
        why="all records of a paper are on one side, so that no paper of the test was trained on",
        features=(
            "20 singular coordinates each of title and authors; likeness of title, authors, venue,"
            " years and pages"
        ),
        common_scale=True,
        measure="auc",
        same_share=True,
        n_splits=5,
    )


def _draw_citations(listed: pd.DataFrame, records: pd.DataFrame) -> pd.DataFrame:
    """Matches, few of the papers that are cited most, and others, drawn once."""
    listed = listed.sample(frac=1.0, random_state=0)
    paper = listed.a.map(pd.Series(records.cluster.to_numpy(), index=records.id.astype(int)))
    matches = listed[listed.y == 1]
    matches = matches[matches.groupby(paper).cumcount() < PER_PAPER][: CITATIONS[0]]
    others = listed[listed.y == 0][: CITATIONS[1]]
    return pd.concat([matches, others]).reset_index(drop=True)


def restaurants(folder: Path) -> Task:
    """Records of two guides: the same place?  Telephone and address, which tell at once, are hidden."""
    data = load_restaurants(NEAR_MISSES)
    names = coordinates(data.pairs.objects, COORDINATES)
    told = [name in ("name alike", "type alike") for name in data.symmetric_names]
    symmetric = data.pairs.symmetric[:, told]
    pairs = Pairs(
        names, data.pairs.first, data.pairs.second, symmetric=symmetric, ids=data.pairs.ids
    )
    return Task(
        name="restaurants",
        question="do two guides describe the same restaurant?",
        symmetry="symmetric",
        setting="both new",
        pairs=pairs,
        y=data.y,
        outer=PairKFold(5, new=2),
        inner=PairKFold(3, new=2, random_state=1),
        why="whole cities are held out, and no record is in two of them",
        features=(
            "20 singular coordinates of the trigrams of the name; shared trigrams of name and kind"
            " of kitchen; neither telephone nor address"
        ),
        groups=data.groups,
        common_scale=True,
        measure="auc",
        n_splits=5,
    )
