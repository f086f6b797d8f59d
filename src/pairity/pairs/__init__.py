"""Pairs of objects and all that makes them: rows, tables, graphs, and which objects are the same."""

from typing import TYPE_CHECKING

from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.pairs.data import Pairs
    from pairity.pairs.neighbours import with_neighbour_means

__all__ = ["Pairs", "with_neighbour_means"]

__getattr__, __dir__ = attach(__name__, {"Pairs": "data", "with_neighbour_means": "neighbours"})
