"""Pairs of objects and all that makes them: rows, tables, graphs, and which objects are the same."""

from typing import TYPE_CHECKING

from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.pairs.counts import Votes, votes_of_counts
    from pairity.pairs.data import Pairs
    from pairity.pairs.encoding import TableEncoding
    from pairity.pairs.neighbours import with_neighbour_means

__all__ = ["Pairs", "TableEncoding", "Votes", "votes_of_counts", "with_neighbour_means"]

_HOMES = {
    "Pairs": "data",
    "TableEncoding": "encoding",
    "Votes": "counts",
    "votes_of_counts": "counts",
    "with_neighbour_means": "neighbours",
}
__getattr__, __dir__ = attach(__name__, _HOMES)
