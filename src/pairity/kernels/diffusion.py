"""Diffusion over the arcs of a graph, formula (56), in forms that are positive semi-definite.

One of the two orders of an arc stands for the node of the auxiliary graph, as in the paper; which one
depends on the features of the objects alone.  A pair is recognised by the features of its two objects,
in either order, and comes with the sign +1 if it is written like its node and -1 if it is written the
other way.  Nothing computed on the nodes can then depend on how, or in which order, they were given.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from dataclasses import dataclass
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from pairity.exceptions import KernelError
from pairity.kernels.algebra import Kernel
from pairity.kernels.atoms import Atoms
from pairity.kernels.auxiliary import (
    DENSE_ARCS,
    AuxiliaryGraph,
    Coefficients,
    Series,
    as_series,
)
from pairity.kernels.classes import LAW_TOLERANCE, measure_laws, parity_of, project
from pairity.kernels.elementary import spread_sample
from pairity.pairs.arrays import Features, Matrix, Places, Vector, distinct_rows, joined, places_of
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity, unordered, unordered_keys
from pairity.runtime.resources import available_megabytes
from pairity.runtime.validation import check_choice, check_positive

#: Auxiliary graphs kept: a search over strengths and series uses one again and again.
_KEPT = 2
#: Arcs on which the parity of a base kernel that came from outside is measured.
_SAMPLE = 48
#: Bytes that one edge of the auxiliary graph takes while its matrix is made.
_BYTES_PER_EDGE = 60.0
#: Object tables whose places are remembered.
_REMEMBERED = 4
#: One auxiliary graph for equal arcs and base kernels, and fingerprints of arcs.
_graphs: OrderedDict[tuple[Any, ...], AuxiliaryGraph] = OrderedDict()
_digests: WeakKeyDictionary[Pairs, bytes] = WeakKeyDictionary()
_lock = RLock()


@dataclass(eq=False, repr=False)
class Diffusion(Kernel):
    r"""Diffusion kernel on an auxiliary graph whose nodes are arcs, formula (56).

    Two arcs are joined if they share an object, and weighted by the base kernel.  With A the sparse
    matrix of these weights the kernel is

        K_diff = f(strength A),    f(x) = sum_l lambda_l x^l,

    and it is balanced or skew-balanced like its base (Theorem 5): swapping a pair multiplies its row
    by +1 or -1, bit for bit.

    The kernel is *transductive*: it is defined between the arcs it was made with, in either order,
    and pairs are recognised by the features of their two objects.  Give it training and test arcs
    together (no labels are involved); any other pair is refused.

    Theorem 5(b) as printed does not hold: the literal construction, ``mask="shared"`` and
    ``normalise=False`` with coefficients, may have negative eigenvalues.  It is available and
    checked.  These are positive semi-definite for all arcs:

    ========================================  =======================================================
    ``mask="count"``, with self-loops         any series: A = K o (B'B) / 2, no negative eigenvalue
    ``normalise=True``, nonincreasing series  |A| <= 1, and the alternating series is positive
    ``series="exponential"``                  any mask, any diagonal of A
    ``series="von_neumann"``                  any mask, any diagonal of A, strength < 1 / radius
    ========================================  =======================================================

    Parameters
    ----------
    kernel : Kernel
        Base kernel, balanced or skew-balanced: ``Tensor(k1)``, ``SkewBalanced(Gaussian())``, ...
    arcs : Pairs
        The nodes of the auxiliary graph, in either order; objects with features of their own.
    series : "exponential", "von_neumann" or sequence of float
        ``e^x``; ``1 / (1 - x)``; or the coefficients lambda_0, lambda_1, ... of (56).
    strength : float
        Factor on A: how far similarity spreads.
    mask : {"count", "shared"}
        Weight of two arcs: half the number of objects that they share (1 for an arc with itself),
        or 1 if they share one, as in the paper.
    self_loops : bool
        Base similarity of an arc to itself, the diagonal of A: the kernel's, or none.
    normalise : bool
        Divide A by the roots of its row sums of absolute values: comparable strengths for all graphs.

    Examples
    --------
    >>> import numpy as np
    >>> from pairity import Pairs
    >>> from pairity.kernels import Diffusion, Linear, SkewBalanced
    >>> path = Pairs(np.array([[0.0], [1.0], [3.0], [4.0]]), first=[0, 1, 2], second=[1, 2, 3])
    >>> kernel = Diffusion(SkewBalanced(Linear()), path)
    >>> K = kernel(path)
    >>> bool((kernel(path.swap(), path) == -K).all())
    True
    """

    kernel: Kernel
    arcs: Pairs
    series: Any = "exponential"
    strength: float = 1.0
    mask: str = "count"
    self_loops: bool = True
    normalise: bool = True

    def check(self) -> None:
        """Refuse parameters out of range, arcs that cannot be nodes, and what is not PSD."""
        if not isinstance(self.kernel, Kernel) or not isinstance(self.arcs, Pairs):
            raise KernelError(
                f"got Diffusion({self.kernel!r}, {type(self.arcs).__name__}); expected a balanced or"
                " skew-balanced kernel and the Pairs between which similarity spreads."
            )
        check_positive(self.strength, "strength")
        check_choice(self.mask, "mask", ("count", "shared"))
        super().check()
        (series, strength), graph = self._power_series, self.auxiliary_graph
        series.refuse_reach(strength, graph.radius)
        if isinstance(series, Coefficients):
            _refuse_negative(self, series, graph)

    @property
    def auxiliary_graph(self) -> AuxiliaryGraph:
        """Base similarities of the arcs; made once for equal arcs and base kernels."""
        options = bool(self.self_loops), bool(self.normalise)
        with _lock:
            key = (_digest(self.arcs), self.kernel.token, self.mask, *options)
            if key not in _graphs:
                # the graph keeps the kernel, and so the arrays whose identity is part of the key
                kernel = self.kernel.detached()
                parity = _parity(kernel, self.arcs)
                base, arcs = project(kernel, parity, self.arcs), ArcSet(self.arcs)
                _graphs[key] = AuxiliaryGraph(base, parity, arcs, self.mask, *options)
                while len(_graphs) > _KEPT:
                    _graphs.popitem(last=False)
            _graphs.move_to_end(key)
            return _graphs[key]

    @property
    def swap_parity(self) -> Parity:  # type: ignore[override]
        """That of the base kernel."""
        return self.auxiliary_graph.parity

    def formula(self, atoms: Atoms) -> Any:
        """A kernel that knows its pairs."""
        return atoms.known(self)

    def on_pairs(self, left: Pairs, right: Pairs) -> Matrix:
        """Entries of the diffusion matrix, with the signs of the orders, formulas (68), (69)."""
        (rows, row_signs), (columns, column_signs) = map(self._located, (left, right))
        values = self.auxiliary_graph.entries(*self._power_series, rows, columns)
        return values * row_signs[:, np.newaxis] * column_signs

    def paired_on_pairs(self, left: Pairs, right: Pairs) -> Matrix:
        """The same, pair by pair."""
        (rows, row_signs), (columns, column_signs) = map(self._located, (left, right))
        values = self.auxiliary_graph.paired_entries(*self._power_series, rows, columns)
        return values * (row_signs * column_signs)

    def products(self, lefts: list[Pairs], right: Pairs, weights: Matrix) -> list[Matrix]:
        """``sum_j K(left_i, right_j) weights_j`` for lists of left pairs, by one action on all arcs."""
        graph = self.auxiliary_graph
        nodes, signs = self._located(right)
        spread = np.zeros(len(graph))
        np.add.at(spread, nodes, signs * weights)
        values = graph.apply(*self._power_series, spread)
        return [signs * values[nodes] for nodes, signs in map(self._located, lefts)]

    @property
    def _power_series(self) -> tuple[Series, float]:
        return as_series(self.series), float(self.strength)

    def _located(self, pairs: Pairs) -> tuple[Places, Matrix]:
        """Nodes of pairs, and the signs that their orders bring along."""
        graph = self.auxiliary_graph
        nodes, signs = graph.arcs.locate(pairs)
        return nodes, signs if graph.parity is Parity.ODD else np.ones(len(nodes))


def _digest(pairs: Pairs) -> bytes:
    """Fingerprint of the content: copies that scikit-learn makes are recognised."""
    if pairs not in _digests:
        table: Any = pairs.objects
        parts = [table.indptr, table.indices, table.data] if sp.issparse(table) else [table]
        parts += [pairs.first, pairs.second, pairs.symmetric, pairs.antisymmetric]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(repr((part.shape, part.dtype.str)).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        _digests[pairs] = digest.digest()
    return _digests[pairs]


def _parity(kernel: Kernel, arcs: Pairs) -> Parity:
    """Parity of the base kernel: from its formula, or else as measured on some arcs."""
    known = parity_of(kernel, arcs.n_symmetric, arcs.n_antisymmetric)
    if known is not None:
        return known
    laws = measure_laws(kernel, spread_sample(arcs, _SAMPLE))
    if laws.balanced <= LAW_TOLERANCE:
        return Parity.EVEN
    if laws.skew_balanced <= LAW_TOLERANCE:
        return Parity.ODD
    raise KernelError(
        f"got {kernel!r} as base of a diffusion kernel, which is neither balanced nor skew-balanced;"
        f" expected one of them: wrap it, Balanced({kernel!r}) or SkewBalanced({kernel!r})."
    )


# The check that Theorem 5(b) leaves out ---------------------------------------------------------


def _refuse_negative(diffusion: Diffusion, series: Coefficients, graph: AuxiliaryGraph) -> None:
    """Refuse coefficients for which ``f(strength A)`` has a negative eigenvalue."""
    strength = float(diffusion.strength)
    if graph.nonnegative or series.alternates_safely(strength * graph.radius):
        return
    lowest = graph.outermost[0]
    if lowest >= 0.0 or series.alternates_safely(strength * -lowest):
        return
    if len(graph) <= DENSE_ARCS:
        eigenvalues = graph.spectrum.values
    else:  # between the outermost eigenvalues any number may be one
        eigenvalues = np.linspace(lowest, graph.outermost[1], 10_001)
    values = series.on_spectrum(strength * eigenvalues)
    worst = int(np.argmin(values))
    if values[worst] < -1e-12 * len(graph) * np.abs(values).max():
        raise KernelError(
            f"got series={diffusion.series!r} with mask={diffusion.mask!r}, whose diffusion matrix has"
            f" the eigenvalue {values[worst]:.6g} (from {eigenvalues[worst]:.6g} of the base"
            " similarities); expected a positive semi-definite kernel, which Theorem 5(b) does not"
            " ensure: use mask='count' with self-loops, normalise=True with nonincreasing"
            " coefficients, series='exponential', or series='von_neumann'."
        )


# Arcs ------------------------------------------------------------------------------------------


class ArcSet:
    """Distinct unordered pairs of distinct objects, in the order of their content.

    Arcs come in either order; one may be there twice if its group features agree.  ``pairs`` are the
    nodes, each in the order that stands for it.
    """

    def __init__(self, arcs: Pairs) -> None:
        alone = arcs.first == arcs.second
        if alone.any() or not len(arcs):
            loop = f"arc {int(np.argmax(alone)) if len(arcs) else 0} from an object to itself"
            raise KernelError(
                f"got {loop if len(arcs) else 'no arcs'}; expected pairs of two different objects as"
                " nodes of the auxiliary graph: drop the others."
            )
        arcs = arcs.without_unused_objects()
        _refuse_equal_objects(arcs)
        self.pairs = _each_once(arcs.compact())
        self._keys = unordered_keys(self.pairs.first, self.pairs.second, self.pairs.n_objects)
        self._known: deque[tuple[Features, Places]] = deque(maxlen=_REMEMBERED)

    def __len__(self) -> int:
        return len(self.pairs)

    def locate(self, pairs: Pairs) -> tuple[Places, Vector]:
        """Node of each pair, and +1.0 or -1.0 for its order; pairs that are no nodes are refused."""
        places = self._object_places(pairs.objects)
        first, second = places[pairs.first], places[pairs.second]
        key = unordered_keys(first, second, self.pairs.n_objects)
        key[(first < 0) | (second < 0)] = -1
        node = places_of(key, self._keys)
        absent = node < 0
        if absent.any():
            raise KernelError(
                f"got {np.count_nonzero(absent)} pair(s) that are no nodes of the auxiliary graph,"
                f" the first in row {int(np.argmax(absent))}; expected pairs of the arcs that the"
                " kernel was made with: a diffusion kernel is transductive, so make it with the test"
                " arcs too (they need no labels)."
            )
        return node, np.where(first < second, 1.0, -1.0)

    def _object_places(self, objects: Features) -> Places:
        """Row of each object among those of the nodes; -1 for one that is not there."""
        for table, places in tuple(self._known):
            if table is objects:
                return places
        mine = self.pairs.objects
        if objects.shape[1] != mine.shape[1]:
            raise KernelError(
                f"got objects with {objects.shape[1]} features for a diffusion kernel on arcs of"
                f" objects with {mine.shape[1]}; expected the same features: pairs are recognised by"
                " them."
            )
        codes = distinct_rows(joined([mine, objects], 0)).inverse
        place_of_code = np.full(codes.max(initial=-1) + 1, -1, dtype=np.intp)
        place_of_code[codes[: mine.shape[0]]] = np.arange(mine.shape[0])
        places = place_of_code[codes[mine.shape[0] :]]
        self._known.append((objects, places))
        return places

    def sharing(self) -> tuple[Places, Places]:
        """Nodes i < j that share an object: the edges of the auxiliary graph."""
        n, m = len(self.pairs), self.pairs.n_objects
        ends = np.concatenate([self.pairs.first, self.pairs.second])
        degree = np.bincount(ends, minlength=m).astype(np.float64)
        needed = 1e-6 * _BYTES_PER_EDGE * float((degree**2).sum())
        if needed > available_megabytes():
            raise MemoryError(
                f"got {n} arcs with up to {int(degree.max())} at one object, whose auxiliary graph"
                f" needs about {needed:.0f} MB; expected fewer arcs at one object: leave some out."
            )
        incidence = sp.csr_array((np.ones(2 * n), (np.tile(np.arange(n), 2), ends)), shape=(n, m))
        shared = sp.coo_array(sp.triu(incidence @ incidence.T, 1))
        return shared.coords[0].astype(np.intp), shared.coords[1].astype(np.intp)


def _each_once(arcs: Pairs) -> Pairs:
    """Pairs with their objects in ascending order, sorted, none twice."""
    arcs = arcs.with_swapped(unordered(arcs.first, arcs.second)[2])
    arcs = arcs[np.lexsort((arcs.second, arcs.first))]
    repeated = np.zeros(len(arcs), dtype=np.bool_)
    repeated[1:] = (arcs.first[1:] == arcs.first[:-1]) & (arcs.second[1:] == arcs.second[:-1])
    features = np.hstack([arcs.symmetric, arcs.antisymmetric])
    if (features[1:] != features[:-1])[repeated[1:]].any():
        raise KernelError(
            "got a pair of objects twice with different group features; expected one node for each"
            " unordered pair: keep one of its rows, or average them."
        )
    return arcs[~repeated]


def _refuse_equal_objects(arcs: Pairs) -> None:
    """Two objects with the same features would be taken for one."""
    found = distinct_rows(arcs.objects)
    if len(found.representative) == arcs.n_objects:
        return
    seen = found.representative[found.inverse]
    twin = int(np.argmax(seen != np.arange(arcs.n_objects)))
    names = np.arange(arcs.n_objects) if arcs.ids is None else arcs.ids
    raise KernelError(
        f"got objects {names[[seen[twin]]].tolist()[0]!r} and {names[[twin]].tolist()[0]!r} with the"
        " same features; expected every object to have its own, since pairs are recognised by them:"
        " use row numbers as the one feature and Precomputed(...) in the base kernel."
    )
