"""Warnings and errors that are Pairity's own."""

from __future__ import annotations

import sys
import warnings

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CalibrationWarning",
    "ConvergenceWarning",
    "DataError",
    "DoubledRowsWarning",
    "KernelError",
    "LeakageWarning",
    "ModelFileError",
    "PairityWarning",
    "SwapLawWarning",
    "levels_to_the_caller",
    "warn_the_caller",
]


class PairityWarning(UserWarning):
    """Base of the warnings that Pairity issues about data."""


class CalibrationWarning(PairityWarning):
    """Held-out decisions that are too few, or that say too little, for probabilities."""


class DoubledRowsWarning(PairityWarning):
    """The rows given to ``fit`` hold every pair together with its mirror image."""


class LeakageWarning(PairityWarning):
    """Folds that train on pairs which they test, in another row or in the other order."""


class SwapLawWarning(PairityWarning):
    """Something around an estimator of pairs that breaks its swap law."""


class DataError(ValueError):
    """A table of pairs, or of objects, that cannot be used; the sentence names the place."""


class KernelError(ValueError):
    """A kernel that cannot serve: wrong class, wrong parity, or not positive semi-definite."""


class ModelFileError(ValueError):
    """A file that is no sound model file, or a model that cannot be written to one."""


def levels_to_the_caller() -> int:
    """Levels of the stack, from the one that asks, up to the first that is not of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("pairity."):
        level, frame = level + 1, frame.f_back
    return level


def warn_the_caller(sentence: str, category: type[Warning] = PairityWarning) -> None:
    """Warn at the first line up the stack that is not of this package."""
    warnings.warn(sentence, category, stacklevel=levels_to_the_caller())


def gist(error: BaseException, longest: int = 160) -> str:
    """What an error says, on one line and not too long; its name if it says nothing."""
    return " ".join(str(error).split())[:longest] or type(error).__name__
