"""Records of restaurants in two guides: which two are the same place?  Symmetric."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import HashingVectorizer

from pairity.datasets.dataset import PairDataset, read_table, read_text
from pairity.pairs import Pairs

__all__ = ["load_restaurants"]

Record = dict[str, str]
Candidate = tuple[int, int]

#: Telephone area codes of the five cities in the data (100 is a misprint for a place near Atlanta).
_CITIES = {
    "New York": ("212", "718"),
    "Los Angeles": ("213", "310", "818", "805"),
    "Atlanta": ("404", "770", "100"),
    "San Francisco": ("415",),
    "Las Vegas": ("702",),
}
_CITY_OF = {code: city for city, codes in _CITIES.items() for code in codes}
_TEXT_FIELDS = ("name", "addr", "city", "type")
_HASHED_TRIGRAMS = 1024
#: Pairs whose names or addresses share less than this part of their trigrams are no candidates.
_ALIKE = 0.1


def load_restaurants(nonmatches_per_match: int = 4, seed: int = 0) -> PairDataset:
    """112 matches among 864 records of two restaurant guides, and sampled near-misses.

    ``y`` is +1 for the same restaurant.  Non-matches are drawn, with the seed, from pairs of the
    same city area whose names or addresses are a little alike (blocking).  ``groups`` are the
    five areas: no record occurs in two of them, so splits by group share no object.

    Object features are hashed character trigrams of the name (sparse).  Symmetric group features
    are the shared parts (Jaccard index) of the trigrams of name, address, city and type, and
    whether the telephone numbers agree (which alone nearly decides).

    Parameters
    ----------
    nonmatches_per_match : int
        Non-matches drawn for each match of an area, as far as there are candidates.
    seed : int
        Seed of the draw.
    """
    if nonmatches_per_match < 1:
        raise ValueError(
            f"got nonmatches_per_match={nonmatches_per_match}; expected at least 1: a classifier"
            " needs both classes."
        )
    records = read_table("restaurants_records.csv")
    place = {record["id"]: row for row, record in enumerate(records)}
    matches = [(place[m["a"]], place[m["b"]]) for m in read_table("restaurants_matches.csv")]
    trigrams = [{field: _trigrams(r[field]) for field in _TEXT_FIELDS} for r in records]
    nonmatches = _sample_nonmatches(records, trigrams, matches, nonmatches_per_match, seed)
    chosen = np.array(matches + nonmatches)
    similarities = [
        [_shared(trigrams[a][field], trigrams[b][field]) for field in _TEXT_FIELDS]
        + [float(_digits(records[a]) == _digits(records[b]))]
        for a, b in chosen
    ]
    return PairDataset(
        name="restaurants",
        pairs=Pairs(
            _hashed_names(records),
            chosen[:, 0],
            chosen[:, 1],
            symmetric=similarities,
            ids=[record["id"] for record in records],
        ),
        y=np.repeat([1, -1], [len(matches), len(nonmatches)]),
        groups=np.array([_area(records[a]) for a in chosen[:, 0]]),
        feature_names=tuple(f"name trigram {place}" for place in range(_HASHED_TRIGRAMS)),
        symmetric_names=(*(f"{field} alike" for field in _TEXT_FIELDS), "same phone"),
        provenance=read_text("restaurants_PROVENANCE.md"),
    )


def _digits(record: Record) -> str:
    return re.sub(r"\D", "", record["phone"])


def _area(record: Record) -> str:
    return _CITY_OF[_digits(record)[:3]]


def _trigrams(text: str) -> frozenset[str]:
    """Runs of three characters, with the ends marked so that short texts have some."""
    padded = f"  {' '.join(text.lower().split())} "
    return frozenset(padded[start : start + 3] for start in range(len(padded) - 2))


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard index: symmetric bit for bit."""
    return len(left & right) / len(left | right)


def _hashed_names(records: Iterable[Record]) -> sp.csr_array:
    """Unit vectors of trigram counts; hashing learns nothing, so nothing can leak."""
    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), n_features=_HASHED_TRIGRAMS, alternate_sign=False
    )
    return sp.csr_array(vectorizer.transform(record["name"] for record in records))


def _sample_nonmatches(
    records: list[Record],
    trigrams: list[dict[str, frozenset[str]]],
    matches: list[Candidate],
    per_match: int,
    seed: int,
) -> list[Candidate]:
    """Near-misses, area by area, in the proportion of the matches."""
    areas: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for row, record in enumerate(records):
        areas[_area(record)][record["source"] == "zagats"].append(row)
    known = set(matches)
    generator = np.random.default_rng(seed)
    sampled: list[Candidate] = []
    for area in _CITIES:
        left, right = areas[area]
        candidates = [
            (a, b)
            for a in left
            for b in right
            if (a, b) not in known and _are_alike(trigrams[a], trigrams[b])
        ]
        wanted = per_match * sum(_area(records[a]) == area for a, _ in matches)
        size = min(wanted, len(candidates))
        for index in np.sort(generator.choice(len(candidates), size=size, replace=False)):
            sampled.append(candidates[index])
    return sampled


def _are_alike(left: dict[str, frozenset[str]], right: dict[str, frozenset[str]]) -> bool:
    return any(_shared(left[field], right[field]) >= _ALIKE for field in ("name", "addr"))
