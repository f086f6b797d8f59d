"""Solvers: problems, solutions, certificates, and how the optimum is found."""

from typing import TYPE_CHECKING

from pairity.runtime.lazy import attach

if TYPE_CHECKING:
    from pairity.solvers.certificate import Certificate
    from pairity.solvers.choices import (
        SMO,
        Chunking,
        ConjugateGradients,
        Dense,
        LowRank,
        Newton,
        Primal,
        Spectral,
        Splitting,
    )
    from pairity.solvers.problem import Iterate

__all__ = [
    "SMO",
    "Certificate",
    "Chunking",
    "ConjugateGradients",
    "Dense",
    "Iterate",
    "LowRank",
    "Newton",
    "Primal",
    "Spectral",
    "Splitting",
]

_HOMES = dict.fromkeys(__all__, "choices") | {"Certificate": "certificate", "Iterate": "problem"}
__getattr__, __dir__ = attach(__name__, _HOMES)
