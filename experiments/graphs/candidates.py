"""The kernels that are compared, each with a description of pairs and at most four settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from experiments.graphs.known import Known
from pairity import Pairs
from pairity.kernels import (
    Balanced,
    Diffusion,
    Gaussian,
    Kernel,
    Linear,
    SkewBalanced,
    with_neighbour_means,
)

#: Widths of Gaussian kernels, in median distances of the known pairs.
WIDTHS = (0.25, 0.5, 1.0, 2.0)
#: Diffusion: width of the base kernel, with the strength of the exponential, of von Neumann's
#: series, or the number of terms of a finite one.
EXPONENTIAL = ((0.25, 4.0), (0.25, 12.0), (1.0, 4.0), (1.0, 12.0))
NEUMANN = ((0.25, 0.9), (0.25, 0.99), (1.0, 0.9), (1.0, 0.99))
FINITE = ((0.25, 4), (0.25, 16), (1.0, 4), (1.0, 16))
#: Rows from which a median distance is estimated.
_ROWS = 400

Setting = tuple[float, float]


@dataclass(frozen=True)
class Candidate:
    """One row of the table: all pairs described by what is known, and a kernel on them."""

    name: str
    group: str
    describe: Callable[[Known], Pairs]
    kernel: Callable[[Known, Any], Kernel]  # of known described pairs and a setting
    settings: tuple[Any, ...]


def median_distance(pairs: Pairs) -> float:
    """Median distance of (at most 400 evenly spaced) rows of X_ab; 1 where most rows are equal."""
    chosen = np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), _ROWS)).astype(int))
    return float(np.median(pdist(pairs[chosen].to_rows()))) or 1.0


# Descriptions ------------------------------------------------------------------------------------


def _as_given(known: Known) -> Pairs:
    return known.pairs


def _with_objects(pairs: Pairs, objects: np.ndarray) -> Pairs:
    return Pairs(objects, pairs.first, pairs.second, pairs.symmetric, pairs.antisymmetric)


def _nodes_alone(known: Known) -> Pairs:
    return Pairs(np.eye(known.pairs.n_objects), known.pairs.first, known.pairs.second)


def _with_indicators(known: Known) -> Pairs:
    objects = np.hstack([known.pairs.objects, np.eye(known.pairs.n_objects)])
    return _with_objects(known.pairs, objects)


def _one_hop(known: Known) -> Pairs:
    return with_neighbour_means(known.pairs, known.edges)


def _two_hops(known: Known) -> Pairs:
    return with_neighbour_means(known.pairs, known.edges, hops=2)


# Kernels -----------------------------------------------------------------------------------------


def _linear(known: Known, setting: Any) -> Kernel:
    return Linear()


def _gaussian(known: Known, width: float) -> Kernel:
    return Gaussian(width * median_distance(known.pairs[known.rows]))


def _base(known: Known, width: float) -> Kernel:
    """The plain kernel with the parity of the task; its width is relative to that of all arcs."""
    gaussian = Gaussian(width * median_distance(known.pairs))
    return SkewBalanced(gaussian) if known.symmetry == "antisymmetric" else Balanced(gaussian)


def _unit(kernel: Kernel, arcs: Pairs) -> Kernel:
    """A kernel scaled to a total variance of 1 over all arcs, so that one grid of C suits all."""
    gram = kernel(arcs)
    return (1.0 / float(np.diagonal(gram).mean() - gram.mean())) * kernel


def _diffusion(known: Known, width: float, **options: Any) -> Kernel:
    return _unit(Diffusion(_base(known, width), known.pairs, **options), known.pairs)


def _count_exponential(known: Known, setting: Setting) -> Kernel:
    width, strength = setting
    return _diffusion(known, width, strength=strength)


def _shared_exponential(known: Known, setting: Setting) -> Kernel:
    width, strength = setting
    return _diffusion(known, width, strength=strength, mask="shared", self_loops=False)


def _von_neumann(known: Known, setting: Setting) -> Kernel:
    width, strength = setting
    return _diffusion(known, width, series="von_neumann", strength=strength)


def _finite(known: Known, setting: Setting) -> Kernel:
    width, length = setting
    return _diffusion(known, width, series=(1.0,) * int(length), mask="shared")


def _plain_and_diffusion(known: Known, setting: Setting) -> Kernel:
    return _gaussian(known, setting[0]) + _count_exponential(known, setting)


CANDIDATES = (
    Candidate("node effects (linear)", "plain", _nodes_alone, _linear, (None,)),
    Candidate("plain Gaussian", "plain", _as_given, _gaussian, WIDTHS),
    Candidate("Gaussian with node indicators", "plain", _with_indicators, _gaussian, WIDTHS),
    Candidate("neighbour means, 1 hop", "means", _one_hop, _gaussian, WIDTHS),
    Candidate("neighbour means, 2 hops", "means", _two_hops, _gaussian, WIDTHS),
    Candidate(
        "diffusion: exponential, count", "diffusion", _as_given, _count_exponential, EXPONENTIAL
    ),
    Candidate(
        "diffusion: exponential, zero diagonal",
        "diffusion",
        _as_given,
        _shared_exponential,
        EXPONENTIAL,
    ),
    Candidate("diffusion: von Neumann", "diffusion", _as_given, _von_neumann, NEUMANN),
    Candidate("diffusion: finite, nonincreasing", "diffusion", _as_given, _finite, FINITE),
    Candidate("plain + diffusion", "diffusion", _as_given, _plain_and_diffusion, EXPONENTIAL),
)


def described(candidate: Candidate, known: Known) -> Known:
    """The same knowledge, with the candidate's description of the pairs."""
    return replace(known, pairs=candidate.describe(known))
