"""What a column of a table holds, told by its content: text, name, number, date, code or geo.

A column is a number, a date or a place on the globe where nearly all of its values can be read as one;
a code (a telephone number, a postcode, an ISBN, a model number) where values are single words with
digits, or digits with few signs between them, and repeat little; of the rest, short values of letters
are names, longer ones texts.  Everything is read from a sample of distinct values.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from enum import Enum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Texts = NDArray[Any]


class Kind(Enum):
    """What a column holds."""

    TEXT = "text"
    NAME = "name"
    NUMBER = "number"
    DATE = "date"
    CODE = "code"
    GEO = "geo"


#: Distinct values that are looked at, and the share of them that must be readable.
_LOOKED_AT, _NEARLY_ALL = 2000, 0.95
#: Words and letters of a name, on average, at most.
_WORDS_OF_A_NAME, _LETTERS_OF_A_NAME = 4.0, 32.0

_NUMBER = re.compile(
    r"[^\w.+-]{0,3}\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:e[+-]?\d+)?)\s*[^\d\s]{0,4}"
)
_CODE = re.compile(r"(?=.*\d)[\w./+() #-]{3,24}")
_GEO = re.compile(r"\s*\(?\s*([+-]?\d{1,2}(?:\.\d+))\s*[,; ]\s*([+-]?\d{1,3}(?:\.\d+))\s*\)?\s*")
_YEAR_FIRST = re.compile(r"(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?:[t ].*)?")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})")
_NOTHING = {"", "nan", "none", "null", "na", "n/a", "<na>", "nat", "-", "?"}


def plain_text(value: Any) -> str:
    """A value in lower case, without accents, one space between words; empty where it is missing."""
    if value is None or value != value:  # NaN is the one value that is not itself
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value.isoformat() if hasattr(value, "isoformat") else value)
    if not text.isascii():
        letters = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(letter for letter in letters if not unicodedata.combining(letter))
    text = " ".join(text.lower().split())
    return "" if text in _NOTHING else text


def plain_texts(values: Iterable[Any]) -> Texts:
    """Values as :func:`plain_text`, each distinct one read once."""
    listed = list(map(cache(plain_text), values))
    return np.fromiter(listed, dtype=object, count=len(listed))


def number_in(text: str) -> float:
    """The number that a text is, with a currency or a unit around it; NaN for another text."""
    read = _NUMBER.fullmatch(text)
    if read is None or not any(letter.isdigit() for letter in read[1]):
        return np.nan
    return float(read[1].replace(",", ""))


def day_in(text: str) -> float:
    """The date that a text is, in days; NaN for another text.  11/12/2001 is read day first."""
    read = _YEAR_FIRST.fullmatch(text)
    if read is not None:
        return _day(read[1], read[2], read[3])
    read = _YEAR_LAST.fullmatch(text)
    if read is None:
        return np.nan
    found = _day(read[3], read[2], read[1])
    return found if found == found else _day(read[3], read[1], read[2])


def _day(year: str, month: str, day: str) -> float:
    try:
        return float(date(int(year), int(month), int(day)).toordinal())
    except ValueError:
        return np.nan


def latitude_in(text: str) -> float:
    """The latitude of a text "latitude, longitude"; NaN for another text."""
    return _place_in(text)[0]


def longitude_in(text: str) -> float:
    """The longitude of a text "latitude, longitude"; NaN for another text."""
    return _place_in(text)[1]


def _place_in(text: str) -> tuple[float, float]:
    read = _GEO.fullmatch(text)
    if read is None or abs(float(read[1])) > 90.0 or abs(float(read[2])) > 180.0:
        return np.nan, np.nan
    return float(read[1]), float(read[2])


def readings(texts: Texts, read: Callable[[str], float]) -> NDArray[np.float64]:
    """What each text is read as, NaN where it is nothing of the kind."""
    return np.fromiter(map(cache(read), texts.tolist()), dtype=np.float64, count=len(texts))


def kind_of_column(texts: Texts) -> Kind | None:
    """What a column of plain texts holds; None for one without any value."""
    distinct = list(dict.fromkeys(text for text in texts.tolist() if text))
    if not distinct:
        return None
    sample = distinct[:: max(1, len(distinct) // _LOOKED_AT)]
    if _share(sample, latitude_in) >= _NEARLY_ALL:
        return Kind.GEO
    if _share(sample, day_in) >= _NEARLY_ALL:
        return Kind.DATE
    is_number = _share(sample, number_in) >= _NEARLY_ALL
    if is_number and not _are_digits_of_codes(sample):
        return Kind.NUMBER
    if is_number or np.mean([_is_code(text) for text in sample]) >= _NEARLY_ALL:
        return Kind.CODE
    words = np.mean([len(text.split()) for text in sample])
    letters = np.mean([len(text) for text in sample])
    is_name = words <= _WORDS_OF_A_NAME and letters <= _LETTERS_OF_A_NAME
    return Kind.NAME if is_name else Kind.TEXT


def _share(sample: Sequence[str], read: Callable[[str], float]) -> float:
    return float(np.mean([not np.isnan(read(text)) for text in sample]))


def _is_code(text: str) -> bool:
    """A word with digits, or digits with signs between them: more digits than words of letters have."""
    digits = sum(letter.isdigit() for letter in text)
    return bool(_CODE.fullmatch(text)) and (2 * digits >= len(text) or " " not in text)


def _are_digits_of_codes(sample: Sequence[str]) -> bool:
    """Whether whole numbers are names of something: leading zeros, or many digits of one length."""
    whole = [text for text in sample if text.isdigit()]
    if len(whole) < _NEARLY_ALL * len(sample):
        return False
    if any(text[0] == "0" and len(text) > 1 for text in whole):
        return True
    lengths = np.array([len(text) for text in whole])
    usual = int(np.median(lengths))
    return usual >= 5 and float(np.mean(lengths == usual)) >= 0.8
