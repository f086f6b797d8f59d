"""What a fitted model says: rankings and groups, explanations, which symmetry the data speak for.

=============================  ================================================================
``rank_objects``               scores, ranks, intervals, ties and ranges of ranks from an
                               antisymmetric model, with the share of its preferences that no
                               ranking can explain, and the strongest cycles
``rank_observed``              the same from observed outcomes alone
``hodge_rank``                 the least-squares scores and the gradient, curl and harmonic parts
                               of outcomes
``trajectories``               how far objects are ahead of one another at several times, with
                               intervals; ``plot_trajectories`` draws them
``group_objects``              groups of matching objects from a symmetric model
``top_partners``               the best partners of each object, not all pairs scored where the
                               kernel allows it
``influential_pairs``          the training pairs that drive each decision, and by how much: the
                               contributions add up to the decision
``contributions``              all of them, as a matrix
``even_odd_parts``             values of a model split into what stays and what changes sign
                               under a swap
``explain_pair``               contributions of features to one prediction, which add up to it
``permutation_importance``     what a score loses when a feature is shuffled, objects and group
                               features each in the way that respects the swap
``plot_importance``            the same as a picture
``posterior``                  variances and covariances of a fitted function
``conformal``                  sets and intervals of any model, from folds that never leak objects
``effects``                    effects of columns in original units, with errors, intervals and tests
``judges``                     how reliable each judge is, and how much each prefers the first position
``parity_report``              which law the data speak for: pairs observed in both orders, and
                               models that obey one law, the other or a mixture, on pairs held out
=============================  ================================================================
"""

from pairity.inspection.column_effects import Effects, effects
from pairity.inspection.comparison import Comparison, Difference, MirroredPairs, ModelScore
from pairity.inspection.conformal_sets import Conformal, conformal
from pairity.inspection.feature_contributions import PairExplanation, explain_pair
from pairity.inspection.flow import PreferenceFlow, model_flow, observed_flow
from pairity.inspection.hodge import (
    Cycle,
    CycleSearch,
    HodgeParts,
    decompose,
    hodge_rank,
    strongest_cycles,
)
from pairity.inspection.importance import (
    Columns,
    PermutationImportance,
    permutation_importance,
    plot_importance,
)
from pairity.inspection.influence import (
    EvenOddParts,
    Influences,
    contributions,
    even_odd_parts,
    influential_pairs,
)
from pairity.inspection.judge_reliability import Judges, judges
from pairity.inspection.linear_part import posterior
from pairity.inspection.matching import Grouping, group_objects
from pairity.inspection.partners import Partners, top_partners
from pairity.inspection.rank import rank_objects, rank_observed
from pairity.inspection.ranking import Certainty, Ranking
from pairity.inspection.strengths_over_time import Trajectories, plot_trajectories, trajectories
from pairity.inspection.which_symmetry import ParityReport, parity_report

__all__ = [
    "Certainty",
    "Columns",
    "Comparison",
    "Conformal",
    "Cycle",
    "CycleSearch",
    "Difference",
    "Effects",
    "EvenOddParts",
    "Grouping",
    "HodgeParts",
    "Influences",
    "Judges",
    "MirroredPairs",
    "ModelScore",
    "PairExplanation",
    "ParityReport",
    "Partners",
    "PermutationImportance",
    "PreferenceFlow",
    "Ranking",
    "Trajectories",
    "conformal",
    "contributions",
    "decompose",
    "effects",
    "even_odd_parts",
    "explain_pair",
    "group_objects",
    "hodge_rank",
    "influential_pairs",
    "judges",
    "model_flow",
    "observed_flow",
    "parity_report",
    "permutation_importance",
    "plot_importance",
    "plot_trajectories",
    "posterior",
    "rank_objects",
    "rank_observed",
    "strongest_cycles",
    "top_partners",
    "trajectories",
]
