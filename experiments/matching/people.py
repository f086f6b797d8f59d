"""Persons made up, and second records with errors, after Febrl's data generator.

Names, streets and places have frequencies like 1, 1/2, 1/3, ...  Half of the second table are second
records of persons of the first, with one to five errors each; one in twenty is a relative of another
(the same last name and address), the rest are strangers.  An error is a letter inserted, lost,
replaced or exchanged with its neighbour, a value lost, first and last name exchanged, words of an
address exchanged.  (P. Christen, Febrl, KDD 2008.)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_STARTS = ["b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p"]
_STARTS += ["r", "s", "sh", "st", "t", "th", "tr", "v", "w"]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ie", "oo"]
_ENDS = ["n", "r", "l", "s", "t", "ck", "nd", "ll", "ns", "rt", "m"]
#: Fields that errors fall on.
FIELDS = (
    "given_name",
    "surname",
    "street_number",
    "address",
    "suburb",
    "postcode",
    "date_of_birth",
)


def people(n: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two tables of n records; "b7" of the second is "a7" of the first where 7 is below n / 2."""
    random = np.random.default_rng(seed)
    every = _originals(n + n // 2, random)
    table, others = every[:n].copy(), every[n:].reset_index(drop=True)
    relatives = others[: n // 20]
    for field in ("surname", "street_number", "address", "suburb", "postcode"):
        others.loc[: len(relatives) - 1, field] = table[field].to_numpy()[n // 2 :][
            : len(relatives)
        ]
    other = pd.concat([table[: n // 2], others], ignore_index=True)[:n]
    other = _with_errors(other, random)
    table.insert(0, "id", [f"a{row}" for row in range(n)])
    other.insert(0, "id", [f"b{row}" for row in range(n)])
    return table, other.iloc[random.permutation(n)].reset_index(drop=True)


def _originals(n: int, random: np.random.Generator) -> pd.DataFrame:
    suburbs = _words(1500, random)
    suburb = _drawn(len(suburbs), n, random)
    kinds = np.array(["street", "road", "avenue", "place", "court", "close"])
    streets = _words(4000, random)[_drawn(4000, n, random)]
    days = random.integers(0, 30_000, n)
    dates = np.datetime_as_string(np.datetime64("1925-01-01") + days)
    return pd.DataFrame(
        {
            "given_name": _words(1500, random)[_drawn(1500, n, random)],
            "surname": _words(8000, random)[_drawn(8000, n, random)],
            "street_number": random.integers(1, 300, n).astype(str),
            "address": [f"{s} {k}" for s, k in zip(streets, random.choice(kinds, n), strict=True)],
            "suburb": suburbs[suburb],
            "postcode": (1000 + 5 * suburb).astype(str),
            "date_of_birth": dates,
        },
        dtype=object,
    )


def _words(number: int, random: np.random.Generator) -> np.ndarray:
    """Distinct words of one or two syllables and an end."""
    found: dict[str, None] = {}
    while len(found) < number:
        starts, vowels = (random.choice(part, (number, 2)) for part in (_STARTS, _VOWELS))
        ends, syllables = random.choice(_ENDS, number), random.integers(1, 3, number)
        for start, vowel, end, count in zip(starts, vowels, ends, syllables, strict=True):
            word = "".join(a + b for a, b in zip(start[:count], vowel[:count], strict=True)) + end
            found[str(word)] = None
    return np.array(list(found)[:number], dtype=object)


def _drawn(number: int, n: int, random: np.random.Generator) -> np.ndarray:
    weights = 1.0 / np.arange(1, number + 1)
    return random.choice(number, n, p=weights / weights.sum())


def _with_errors(table: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    rows = table.to_dict("records")
    for row, number in zip(rows, random.integers(1, 6, len(rows)), strict=True):
        for _ in range(number):
            _spoil(row, random)
    return pd.DataFrame(rows, columns=table.columns, dtype=object)


def _spoil(row: dict[str, str], random: np.random.Generator) -> None:
    """One error."""
    chance, field = random.random(), FIELDS[random.integers(len(FIELDS))]
    if chance < 0.1:
        row["given_name"], row["surname"] = row["surname"], row["given_name"]
    elif chance < 0.15:
        row["address"] = " ".join(reversed(row["address"].split()))
    elif chance < 0.3:
        row[field] = ""
    elif row[field]:
        row[field] = _ERRORS[random.integers(len(_ERRORS))](row[field], random)


def _insert(text: str, random: np.random.Generator) -> str:
    place = random.integers(len(text) + 1)
    return text[:place] + _like(text, random) + text[place:]


def _lose(text: str, random: np.random.Generator) -> str:
    place = random.integers(len(text))
    return text[:place] + text[place + 1 :]


def _replace(text: str, random: np.random.Generator) -> str:
    place = random.integers(len(text))
    return text[:place] + _like(text, random) + text[place + 1 :]


def _exchange(text: str, random: np.random.Generator) -> str:
    place = random.integers(max(1, len(text) - 1))
    return text[:place] + text[place : place + 2][::-1] + text[place + 2 :]


def _like(text: str, random: np.random.Generator) -> str:
    letters = _DIGITS if any(letter.isdigit() for letter in text) else _LETTERS
    return letters[random.integers(len(letters))]


_ERRORS: list[Callable[[str, np.random.Generator], str]] = [_insert, _lose, _replace, _exchange]
