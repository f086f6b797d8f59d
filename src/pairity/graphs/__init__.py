"""Graphs around pairs: what the neighbours of a pair say, and predictions as edge attributes.

========================  ==================================================================
``Pairs.from_graph``      edges of a networkx graph or an adjacency matrix as pairs
``with_neighbour_means``  group features from the edges around a pair, (48)-(55)
``write_predictions``     values of pairs as an attribute of the edges
``prediction_matrix``     values of pairs as a sparse matrix
========================  ==================================================================

Diffusion over the arcs of a graph (56) is a kernel: :class:`pairity.kernels.Diffusion`.
"""

from pairity.graphs.neighbours import with_neighbour_means
from pairity.graphs.predictions import prediction_matrix, write_predictions

__all__ = ["prediction_matrix", "with_neighbour_means", "write_predictions"]
