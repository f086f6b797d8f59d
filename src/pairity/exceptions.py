"""Warnings and errors that are Pairity's own."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "DoubledRowsWarning", "KernelError", "PairityWarning"]


class PairityWarning(UserWarning):
    """Base of the warnings that Pairity issues about data."""


class DoubledRowsWarning(PairityWarning):
    """The rows given to ``fit`` hold every pair together with its mirror image."""


class KernelError(ValueError):
    """A kernel that cannot serve: wrong class, wrong parity, or not positive semi-definite."""
