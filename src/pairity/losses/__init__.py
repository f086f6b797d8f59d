"""Losses: what a decision value costs, its conjugate in the dual, and its prox; one home for all."""

from pairity.losses.loss import Logistic, Loss, PiecewiseLinear, Squared, epsilon_insensitive, hinge
from pairity.losses.piecewise import Cells

__all__ = [
    "Cells",
    "Logistic",
    "Loss",
    "PiecewiseLinear",
    "Squared",
    "epsilon_insensitive",
    "hinge",
]
