"""Explanations that people can check.

=============================  ================================================================
``influential_pairs``          the training pairs that drive each decision, and by how much: the
                               contributions add up to the decision
``contributions``              all of them, as a matrix
``even_odd_parts``             values of a model split into what stays and what changes sign
                               under a swap
``permutation_importance``     what a score loses when a feature is shuffled, objects and group
                               features each in the way that respects the swap
``plot_importance``            the same as a picture
=============================  ================================================================
"""

from pairity.explain.importance import PermutationImportance, permutation_importance
from pairity.explain.influence import Influences, contributions, influential_pairs
from pairity.explain.parts import EvenOddParts, even_odd_parts
from pairity.explain.plots import plot_importance
from pairity.explain.shuffling import Columns

__all__ = [
    "Columns",
    "EvenOddParts",
    "Influences",
    "PermutationImportance",
    "contributions",
    "even_odd_parts",
    "influential_pairs",
    "permutation_importance",
    "plot_importance",
]
