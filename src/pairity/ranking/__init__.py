"""From pairs to objects: rankings of antisymmetric models, groups of symmetric ones.

==================  ==============================================================================
``rank_objects``    scores, ranks and intervals from an antisymmetric model, with the share of its
                    preferences that no ranking can explain, and the strongest cycles
``rank_observed``   the same from observed outcomes alone
``hodge_rank``      the least-squares scores and the gradient, curl and harmonic parts of outcomes
``group_objects``   groups of matching objects from a symmetric model
==================  ==============================================================================

``flow`` holds preferences as a flow on the graph of comparisons, ``hodge`` and ``curl`` split it,
``triangles`` and ``cycles`` look for what goes round, ``intervals`` resample, ``matching`` groups.
"""

from pairity.ranking.cycles import Cycle, CycleSearch, strongest_cycles
from pairity.ranking.flow import PreferenceFlow, model_flow, observed_flow
from pairity.ranking.hodge import HodgeParts, decompose, hodge_rank
from pairity.ranking.matching import Grouping, group_objects
from pairity.ranking.rank import rank_objects, rank_observed
from pairity.ranking.result import Ranking

__all__ = [
    "Cycle",
    "CycleSearch",
    "Grouping",
    "HodgeParts",
    "PreferenceFlow",
    "Ranking",
    "decompose",
    "group_objects",
    "hodge_rank",
    "model_flow",
    "observed_flow",
    "rank_objects",
    "rank_observed",
    "strongest_cycles",
]
