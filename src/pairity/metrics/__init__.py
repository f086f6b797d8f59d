"""How good probabilities are: proper scores, and whether they mean what they say.

============================  ================================================================
``brier_score``               mean squared error of probabilities
``log_loss``                  mean of minus the logarithm of the probability of what happened
``ranked_probability_score``  squared error of cumulated probabilities, for ordered outcomes
``reliability_curve``         observed frequencies beside predicted ones, with Wilson intervals
``plot_reliability``          the same as a diagram
============================  ================================================================

Lower is better for the three scores.  All take probabilities as ``predict_proba`` gives them, and
``average=False`` gives one value a row, for paired comparisons of two models.
"""

from pairity.metrics.diagram import plot_reliability
from pairity.metrics.reliability import ReliabilityCurve, reliability_curve
from pairity.metrics.scores import brier_score, log_loss, ranked_probability_score

__all__ = [
    "ReliabilityCurve",
    "brier_score",
    "log_loss",
    "plot_reliability",
    "ranked_probability_score",
    "reliability_curve",
]
