"""Data that comes with the package, real and made: no download, no network.

===========================  =============  =====================================================
``load_train_choice``        antisymmetric  which of two train offers a traveller takes
``load_restaurants``         symmetric      whether two records are the same restaurant
``load_digit_pairs``         symmetric      whether two images show the same digit
``make_tournament``          antisymmetric  who beats whom: an order, a circle, or both
``make_double_interval``     symmetric      whether two bit patterns start alike
``make_scenario``            both           the four scenarios of Section 6 of the paper
===========================  =============  =====================================================

Each returns a frozen :class:`PairDataset` (digits: one to train on and one to test on, with no
digit in common).  ``groups`` are what must stay together in a split for it to be free of leaks.
"""

from pairity.datasets.made import make_double_interval, make_scenario, make_tournament
from pairity.datasets.real import (
    DigitPairs,
    PairDataset,
    load_digit_pairs,
    load_restaurants,
    load_train_choice,
)

__all__ = [
    "DigitPairs",
    "PairDataset",
    "load_digit_pairs",
    "load_restaurants",
    "load_train_choice",
    "make_double_interval",
    "make_scenario",
    "make_tournament",
]
