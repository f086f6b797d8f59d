"""Objects at times: the moments of each object as a chain, and products along it in one pass.

A kernel ``Identity() * Drift(...)``, or a sum of such, couples moments of the same object alone, and is
a product with states that go from moment to moment (:mod:`pairity.kernels.drift`).  What is not Markov,
a Gaussian kernel of time say, has few features of time to rounding: states that stay as they are.  A
product then takes O(n) for n pairs, however many objects there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import add, mul
from typing import Any

import numpy as np

from pairity.kernels.algebra import Kernel, NamedObjects
from pairity.kernels.atoms import Atoms, Factor, Monomial, expand
from pairity.kernels.drift import States
from pairity.operators._chain_loops import (
    chain_products,
    factor_chains,
    inverse_diagonals,
    meet,
    solve_chains,
)
from pairity.operators.group_features import few_features
from pairity.pairs.arrays import Matrix, Places, Vector
from pairity.pairs.data import Pairs
from pairity.runtime.resources import run_in_ranges

#: Parts of the work that chains are cut into.
_PARTS = 8
#: By how much patterns of signs may differ from multiples of one another.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ChainForm:
    """``sum_ends pattern[e, c] k_identity(e, c) sum_terms weight k_time``: what a kernel is made of.

    Ends e are the two of the left pair, c those of the right pair; a kernel of time that is None is
    constant.
    """

    identity: Kernel
    pattern: Matrix  # (2, 2), the largest entry being 1
    terms: tuple[tuple[Kernel | None, float], ...]

    @property
    def sign(self) -> float | None:
        """s where the pattern is ``(1, s)' (1, s)``: +1 for sums, -1 for differences; else None."""
        s = float(np.sign(self.pattern[0, 1]))
        square = np.array([[1.0, s], [s, 1.0]])
        return s if s and np.allclose(self.pattern, square, rtol=0.0, atol=_ROUNDING) else None


@dataclass(frozen=True, eq=False)
class Split:
    """A kernel as a part that couples moments of the same object alone, and the rest."""

    form: ChainForm
    rest: Kernel | None


@dataclass(eq=False, repr=False)
class PartOfKernel(Kernel):
    """A weighted sum of monomials: what is left of a kernel when some of it goes another way."""

    terms: tuple[tuple[Monomial, float], ...]

    def formula(self, atoms: Atoms) -> Any:
        """The monomials, written with atoms again."""
        return reduce(add, (_value(atoms, monomial) * weight for monomial, weight in self.terms))

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"PartOfKernel({len(self.terms)} monomials)"


def _value(atoms: Atoms, monomial: Monomial) -> Any:
    on_edges = [
        atoms.objects(kernel).on(edge // 2, edge % 2)
        for edge, kernels in enumerate(monomial.edges)
        for kernel in kernels
    ]
    return reduce(mul, [*on_edges, *(_factor(atoms, factor) for factor in monomial.factors)])


def _factor(atoms: Any, factor: Factor) -> Any:
    if factor.left_swapped:
        atoms = atoms.swap_left()
    if factor.right_swapped:
        atoms = atoms.swap_right()
    more = (factor.parts, factor.scaling) if factor.role == "derived" else ()
    return getattr(atoms, factor.role)(factor.kernel, *more)


@lru_cache(maxsize=64)
def split_kernel(kernel: Kernel, n_symmetric: int, n_antisymmetric: int) -> Split | None:
    """The chains in a kernel; None where there are none, or of objects that do not have one pattern."""
    by_time: dict[Kernel | None, Matrix] = {}
    identities, rest = set(), []
    for monomial, weight in expand(kernel, n_symmetric, n_antisymmetric).terms.items():
        place = _edge_of_identity(monomial)
        roles = [factor.role for factor in monomial.factors]
        if place is None or roles not in ([], ["time"]):
            rest.append((monomial, weight))
            continue
        identities.add(monomial.edges[place][0])
        time = monomial.factors[0].kernel if roles else None
        by_time.setdefault(time, np.zeros((2, 2)))[place // 2, place % 2] += weight
    if len(identities) != 1 or not any(time is not None for time in by_time):
        return None
    sizes = [float(np.abs(matrix).max()) for matrix in by_time.values()]
    patterns = [matrix / size for matrix, size in zip(by_time.values(), sizes, strict=True)]
    if any(np.abs(other - patterns[0]).max() > _ROUNDING for other in patterns):
        return None
    form = ChainForm(identities.pop(), patterns[0], tuple(zip(by_time, sizes, strict=True)))
    return Split(form, PartOfKernel(tuple(rest)) if rest else None)


def _edge_of_identity(monomial: Monomial) -> int | None:
    """The edge of a monomial that is a kernel of one edge, which tells objects apart."""
    places = [place for place, kernels in enumerate(monomial.edges) if kernels]
    if len(places) != 1 or len(monomial.edges[places[0]]) != 1:
        return None
    return places[0] if monomial.edges[places[0]][0].tells_apart else None


@dataclass(frozen=True, eq=False)
class Chains:
    """Moments of objects in the order of object and time, each once, with their states."""

    starts: Places  # (number of chains + 1,)
    states: States  # (number of moments, number of states)
    left: tuple[Places, Places]  # moments of the first and of the second objects of the left pairs
    right: tuple[Places, Places]
    chain_of: Places  # (number of moments,)
    times: Vector

    @classmethod
    def of(cls, form: ChainForm, left: Pairs, right: Pairs) -> Chains | None:
        """The moments of the objects of both sides; None where there are too many states."""
        sides = (left,) if right is left else (left, right)
        codes, times = _appearances(form.identity, sides)
        order = np.lexsort((times, codes))
        codes, times = codes[order], times[order]
        is_new = np.ones(len(order), dtype=np.bool_)
        is_new[1:] = (np.diff(codes) != 0) | (np.diff(times) != 0.0)
        number = np.empty(len(order), dtype=np.intp)
        number[order] = np.cumsum(is_new) - 1
        codes, times = codes[is_new], times[is_new]
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        states = _states(form, times, begins)
        if states is None:
            return None
        ends = np.split(number, np.cumsum([len(side) for side in sides for _ in range(2)])[:-1])
        starts = np.append(begins, len(codes))
        chain_of = np.cumsum(np.isin(np.arange(len(codes)), begins)) - 1
        return cls(starts, states, (ends[0], ends[1]), (ends[-2], ends[-1]), chain_of, times)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def megabytes(self) -> float:
        """What the states take."""
        return (sum(table.nbytes for table in self._tables) + 7 * self.times.nbytes) / 1e6

    @property
    def prior(self) -> Vector:
        """Variances of the moments: the diagonal of S."""
        return np.asarray(np.einsum("ij,ij->i", self.states.out, self.states.into))

    def product(self, amounts: Vector) -> Vector:
        """``S amounts``."""
        values = np.empty(len(self))
        self._along(chain_products, *self._tables, amounts, values)
        return values

    def met(self, sign: float, weights: Vector, values: Vector) -> Vector:
        """``A'W A values``: what pairs of the same list on both sides pass between their moments."""
        total = np.empty(len(self))
        meet(*self.left, sign, weights, values, total)
        return total

    @property
    def _tables(self) -> tuple[Matrix, ...]:
        states = self.states
        return states.decay, states.coupling, states.into, states.out

    def _along(self, loop: Any, *arguments: Any) -> None:
        """Run a loop over all chains, some of them on each core."""

        def run(first: int, last: int) -> None:
            loop(self.starts[first : last + 1], *arguments)

        n_chains = len(self.starts) - 1
        run_in_ranges(run, n_chains, -(-n_chains // _PARTS))

    def with_noise(self, noise: Vector) -> NoisyChains:
        """``S + diag(noise)``, factored."""
        pivots, gains = np.empty(len(self)), np.empty_like(self.states.out)
        self._along(factor_chains, *self._tables, noise, pivots, gains)
        return NoisyChains(self, noise, pivots, gains)


@dataclass(frozen=True, eq=False)
class NoisyChains:
    """``S + diag(noise) = L diag(pivots) L'``: every moment observed with noise."""

    chains: Chains
    noise: Vector
    pivots: Vector
    gains: Matrix

    @property
    def _factors(self) -> tuple[Matrix, ...]:
        states = self.chains.states
        return states.decay, states.coupling, states.out, self.pivots, self.gains

    def solve(self, right: Vector) -> Vector:
        """``(S + diag(noise))^-1 right``."""
        solution = right.copy()
        self.chains._along(solve_chains, *self._factors, solution)
        return solution

    def variances_from_others(self) -> Vector:
        """Variance of each moment given what was observed at all others of its chain."""
        inverse = np.empty(len(self.chains))
        self.chains._along(inverse_diagonals, *self._factors, inverse)
        return np.maximum(1.0 / inverse - self.noise, 0.0)


def _appearances(identity: Kernel, sides: tuple[Pairs, ...]) -> tuple[Places, Vector]:
    """Objects, as numbers, and times: of the first objects of a side, of the second ones, and so on."""
    named = [NamedObjects(side.objects, side.id_codes) for side in sides]
    tables: Any = identity.explicit_together(named)
    codes = [
        table.indices[ends].astype(np.intp)
        for table, side in zip(tables, sides, strict=True)
        for ends in (side.first, side.second)
    ]
    times = [side.clock[:, 0] for side in sides for _ in range(2)]
    return np.concatenate(codes), np.concatenate(times)


def _states(form: ChainForm, times: Vector, begins: Places) -> States | None:
    """States of all terms beside one another; nothing goes from chain to chain."""
    gaps = np.diff(times, prepend=times[:1])
    gaps[begins] = 0.0
    parts = []
    for kernel, weight in form.terms:
        states = _standing(np.ones((len(times), 1)))
        if kernel is not None:
            known = kernel.states(times, gaps) or _by_features(kernel, times)
            if known is None:
                return None
            states = known
        parts.append(States(states.decay, states.coupling, weight * states.into, states.out))
    if len(parts) == 1:
        return parts[0]
    names = ("decay", "coupling", "into", "out")
    return States(*(np.hstack([getattr(part, name) for part in parts]) for name in names))


def _standing(features: Matrix) -> States:
    """States that stay as they are: features of time."""
    return States(np.ones_like(features), np.zeros_like(features), features, features)


def _by_features(kernel: Kernel, times: Vector) -> States | None:
    """Few features of time, to rounding, of a kernel that is not Markov."""
    distinct, inverse = np.unique(times, return_inverse=True)
    features = few_features([kernel], [[distinct[:, np.newaxis]]])
    return None if features is None else _standing(features.table[inverse])
