"""Losses: what a decision value costs, its conjugate in the dual, and its prox; one home for all."""

from pairity.losses.base import Loss
from pairity.losses.cells import Cells
from pairity.losses.logistic import Logistic
from pairity.losses.piecewise import PiecewiseLinear, epsilon_insensitive, hinge
from pairity.losses.squared import Squared

__all__ = [
    "Cells",
    "Logistic",
    "Loss",
    "PiecewiseLinear",
    "Squared",
    "epsilon_insensitive",
    "hinge",
]
