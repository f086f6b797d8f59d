"""Which symmetry do I have?  What the data themselves say about the law of a task.

``parity_report(pairs, y)`` weighs two kinds of evidence: pairs that were observed in both orders
(:mod:`pairity.evidence.mirrored`), and models that obey one law, the other or a mixture, compared
on pairs held out (:mod:`pairity.evidence.comparison`).
"""

from pairity.evidence.comparison import Comparison, Difference, ModelScore
from pairity.evidence.mirrored import MirroredPairs
from pairity.evidence.report import ParityReport, parity_report

__all__ = [
    "Comparison",
    "Difference",
    "MirroredPairs",
    "ModelScore",
    "ParityReport",
    "parity_report",
]
