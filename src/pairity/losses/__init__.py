"""Losses: what a wrong decision value costs, and its convex conjugate."""

from pairity.losses.hinge import Hinge, HingeCells

__all__ = ["Hinge", "HingeCells"]
