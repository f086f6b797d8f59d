"""Diffusion over the arcs of a graph, formula (56), with its auxiliary graph and power series."""

from pairity.kernels.diffusion.diffusion import Diffusion

__all__ = ["Diffusion"]
