"""Real data that comes with the package: no download, no network.

===========================  =============  =====================================================
``load_train_choice``        antisymmetric  which of two train offers a traveller takes
``load_restaurants``         symmetric      whether two records are the same restaurant
``load_digit_pairs``         symmetric      whether two images show the same digit
===========================  =============  =====================================================

Each returns a frozen :class:`PairDataset` (digits: one to train on and one to test on, with no
digit in common).  ``groups`` are what must stay together in a split for it to be free of leaks.
"""

from pairity.datasets.dataset import PairDataset
from pairity.datasets.digits import DigitPairs, load_digit_pairs
from pairity.datasets.restaurants import load_restaurants
from pairity.datasets.train_choice import load_train_choice

__all__ = [
    "DigitPairs",
    "PairDataset",
    "load_digit_pairs",
    "load_restaurants",
    "load_train_choice",
]
