"""Losses: what a wrong decision value costs, and its convex conjugate."""

from pairity.losses.hinge import Hinge

__all__ = ["Hinge"]
