"""What a loader returns, and three sets of real data: digits, train choices, restaurants."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import HashingVectorizer

from pairity.pairs.arrays import Matrix, Places
from pairity.pairs.data import Pairs


@dataclass(frozen=True, eq=False)
class PairDataset:
    """Labelled pairs with the groups that a leak-free split keeps together.

    Attributes
    ----------
    name : str
        What the data are.
    pairs : Pairs
        The pairs.
    y : ndarray of int of shape (n,)
        Labels, +1 or -1.
    groups : ndarray of shape (n,)
        One value per pair; for ``GroupKFold`` and its kin.
    feature_names, symmetric_names : tuple of str
        Names of the object features and of the symmetric group features.
    provenance : str
        Source, licence and known results.
    object_groups : ndarray of shape (m,) or None
        One value per object; for ``ObjectKFold(object_groups=...)`` and its kin.
    """

    name: str
    pairs: Pairs
    y: NDArray[np.int64]
    groups: NDArray[Any]
    feature_names: tuple[str, ...]
    symmetric_names: tuple[str, ...] = ()
    provenance: str = ""
    object_groups: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.y)


def read_text(name: str) -> str:
    """A text file that comes with the package."""
    return (files("pairity.datasets") / "data" / name).read_text(encoding="utf-8")


def read_table(name: str) -> list[dict[str, str]]:
    """Rows of a CSV file that comes with the package."""
    return list(csv.DictReader(read_text(name).splitlines()))


def draw_pairs(n_objects: int, n_pairs: int | None, generator: np.random.Generator) -> Places:
    """Ends of pairs, shape (2, n), in random order; no unordered pair twice, all by default."""
    ends = np.stack(np.triu_indices(n_objects, 1), axis=1)
    if n_pairs is not None:
        if not 1 <= n_pairs <= len(ends):
            raise ValueError(
                f"got n_pairs={n_pairs} of {n_objects} objects; expected 1 to {len(ends)}, the number"
                " of their pairs: ask for fewer pairs or more objects."
            )
        ends = ends[generator.choice(len(ends), size=n_pairs, replace=False)]
    return generator.permuted(ends, axis=1).T


# Handwritten digits -----------------------------------------------------------------------------


_SIDE = 8  # pixels
_PROVENANCE = (
    "Images: scikit-learn's load_digits, the test part of the UCI set 'Optical Recognition of"
    " Handwritten Digits' (1,797 images of 8 x 8 pixels; CC BY 4.0). Pairs are drawn here."
)
_SYMMETRIC = ("distance", "angle", "row profile", "column profile", "shifted distance")


@dataclass(frozen=True)
class DigitPairs:
    """Pairs to train on and pairs to test on, with no digit (hence no image) in common."""

    train: PairDataset
    test: PairDataset


def load_digit_pairs(
    n_train: int = 2000,
    n_test: int = 2000,
    *,
    train_digits: Sequence[int] = (0, 1, 2, 3, 4),
    seed: int = 0,
) -> DigitPairs:
    """Pairs of digit images; ``y`` is +1 where both show the same digit, in half of the pairs.

    The test pairs are of the other digits: what is learnt is what makes two images alike, not
    what a known digit looks like.  Object features are the 64 pixels in [0, 1]; symmetric group
    features are five distances.  ``groups`` name the digit of the first image.

    Parameters
    ----------
    n_train, n_test : int
        Numbers of pairs, at least 2 each.
    train_digits : sequence of int
        Digits to train on, at least two; at least two others must be left to test on.
    seed : int
        Seed of the draw.
    """
    known = sorted(set(train_digits))
    unknown = [digit for digit in range(10) if digit not in known]
    if len(known) < 2 or len(unknown) < 2 or not set(known) <= set(range(10)):
        raise ValueError(
            f"got train_digits={tuple(train_digits)!r}; expected 2 to 8 different digits from 0 to"
            " 9: different digits are needed on both sides."
        )
    if min(n_train, n_test) < 2:
        raise ValueError(f"got n_train={n_train}, n_test={n_test}; expected at least 2 pairs each.")
    streams = np.random.default_rng(seed).spawn(2)
    return DigitPairs(
        train=_draw_digits("digits to train on", known, n_train, streams[0]),
        test=_draw_digits("digits to test on", unknown, n_test, streams[1]),
    )


def _draw_digits(
    name: str, allowed: list[int], n_pairs: int, generator: np.random.Generator
) -> PairDataset:
    """Pairs of the allowed digits, alternately the same and different."""
    images, digits = load_digits(return_X_y=True)
    images = images / 16.0
    pool = np.flatnonzero(np.isin(digits, allowed))
    same = np.arange(n_pairs) % 2 == 0
    first = generator.choice(pool, size=n_pairs)
    second = np.array(
        [
            generator.choice(pool[((digits[pool] == digits[a]) == alike) & (pool != a)])
            for a, alike in zip(first, same, strict=True)
        ]
    )
    distances = image_distances(images[first], images[second])
    return PairDataset(
        name=name,
        pairs=Pairs(images, first, second, symmetric=distances),
        y=np.where(same, 1, -1),
        groups=digits[first],
        feature_names=tuple(f"pixel {row},{col}" for row in range(_SIDE) for col in range(_SIDE)),
        symmetric_names=_SYMMETRIC,
        provenance=_PROVENANCE,
    )


def image_distances(left: Matrix, right: Matrix) -> Matrix:
    """Five distances of image pairs, shape (n, 5); each is the same for swapped images."""
    grids = left.reshape(-1, _SIDE, _SIDE), right.reshape(-1, _SIDE, _SIDE)
    lengths = np.sum(left**2, axis=1) * np.sum(right**2, axis=1)
    cosine = np.sum(left * right, axis=1) / np.sqrt(lengths)
    return np.column_stack(
        [
            np.linalg.norm(left - right, axis=1),
            np.arccos(np.clip(cosine, -1.0, 1.0)),
            np.linalg.norm(grids[0].sum(axis=2) - grids[1].sum(axis=2), axis=1),
            np.linalg.norm(grids[0].sum(axis=1) - grids[1].sum(axis=1), axis=1),
            _shifted_distance(*grids),
        ]
    )


def _shifted_distance(left: Matrix, right: Matrix) -> Matrix:
    """Smallest distance when either image is moved by at most one pixel; what comes in is empty."""
    distances = [
        np.linalg.norm(
            (padded[:, y : y + _SIDE, x : x + _SIDE] - other).reshape(len(other), -1), axis=1
        )
        for image, other in ((left, right), (right, left))
        for padded in (np.pad(image, ((0, 0), (1, 1), (1, 1))),)
        for y, x in product(range(3), repeat=2)
    ]
    return np.min(distances, axis=0)


# Stated choices between two train offers --------------------------------------------------------

_FEATURES = ("price", "time", "change", "comfort")


def load_train_choice() -> PairDataset:
    """2,929 choices of 235 travellers between two of 1,785 train offers.

    ``y`` is +1 where the first offer was taken.  Offers are described by price (cents of
    guilders), time (minutes), number of changes and comfort class (0 is best).  ``groups`` are
    the travellers: a traveller makes several choices, so a split must not cut through one.

    Examples
    --------
    >>> from pairity.datasets import load_train_choice
    >>> load_train_choice().pairs
    Pairs(2929 pairs of 1785 objects; features: 4 object, 0 symmetric, 0 antisymmetric)
    """
    table = read_table("train_choices.csv")
    rows = np.array(
        [[float(row[name + side]) for side in "12" for name in _FEATURES] for row in table]
    )
    return PairDataset(
        name="train choice",
        pairs=Pairs.from_rows(rows),
        y=np.array([int(row["y"]) for row in table]),
        groups=np.array([int(row["id"]) for row in table]),
        feature_names=_FEATURES,
        provenance=read_text("train_choices_PROVENANCE.md"),
    )


# Records of restaurants in two guides -----------------------------------------------------------

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
    row_of = {record["id"]: row for row, record in enumerate(records)}
    matches = [(row_of[m["a"]], row_of[m["b"]]) for m in read_table("restaurants_matches.csv")]
    trigrams = [{field: _trigrams(r[field]) for field in _TEXT_FIELDS} for r in records]
    nonmatches = _sample_nonmatches(records, trigrams, matches, nonmatches_per_match, seed)
    chosen = matches + nonmatches
    first, second = np.array(chosen).T
    # unit vectors of trigram counts; hashing learns nothing, so nothing can leak
    vectorizer = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 3), n_features=_HASHED_TRIGRAMS, alternate_sign=False
    )
    hashed = sp.csr_array(vectorizer.transform(record["name"] for record in records))
    similarities = [
        [_shared(trigrams[a][field], trigrams[b][field]) for field in _TEXT_FIELDS]
        + [float(_digits(records[a]) == _digits(records[b]))]
        for a, b in chosen
    ]
    return PairDataset(
        name="restaurants",
        pairs=Pairs(hashed, first, second, symmetric=similarities, ids=list(row_of)),
        y=np.repeat([1, -1], [len(matches), len(nonmatches)]),
        groups=np.array([_area(records[a]) for a in first]),
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
            if (a, b) not in known
            and any(_shared(trigrams[a][f], trigrams[b][f]) >= _ALIKE for f in ("name", "addr"))
        ]
        wanted = per_match * sum(_area(records[a]) == area for a, _ in matches)
        size = min(wanted, len(candidates))
        chosen = np.sort(generator.choice(len(candidates), size=size, replace=False))
        sampled += [candidates[index] for index in chosen]
    return sampled
