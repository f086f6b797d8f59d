"""How much work a report may be."""

from __future__ import annotations

from dataclasses import dataclass

from pairity.validation import check_count

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Sizes at which a report draws a sample instead; it says so wherever it does.

    All limits are numbers, none is a time, so that the same seed gives the same page on a busy
    machine too.

    Attributes
    ----------
    pairs : int
        Pairs that are validated on: a random share of the unordered pairs, where there are more.
        Intervals of the ranking are left out then: they would be those of a smaller set.
    folds : int
        Folds of each setting; fewer where there are too few objects.
    objects : int
        Objects that are ranked or grouped, those observed most often.
    shown : int
        Objects of the matrix.
    refits : int
        Models fitted without a part of the pairs, for the intervals of the ranking.
    shuffles : int
        Times that each feature is shuffled.
    features : int
        Object features that are shuffled one by one; more are shuffled all together.
    explained : int
        Pairs whose decisions are taken apart, and pairs that importance is measured on.
    """

    pairs: int = 4000
    folds: int = 5
    objects: int = 150
    shown: int = 60
    refits: int = 10
    shuffles: int = 3
    features: int = 40
    explained: int = 400

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            check_count(getattr(self, name), name)
        if self.folds < 2 or self.refits < 2:
            raise ValueError(f"got {self}; expected at least 2 folds and 2 refits.")
