"""A kernel matrix between pairs of too many objects: every block from the objects of its own pairs.

Object Gram matrices take 8 m^2 bytes each.  Where objects appear once or twice there are more
entries in them than in the kernel matrix of the pairs; entries are then evaluated a square of
pairs at a time, with Gram matrices of the few objects in it, whenever they are asked for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pairity.kernels.algebra import Kernel
from pairity.operators.operator import KernelOperator, Rows
from pairity.operators.pair_operator import PairOperator
from pairity.operators.terms import gram_megabytes
from pairity.pairs.arrays import Matrix, Vector, batches
from pairity.pairs.data import Pairs
from pairity.runtime.resources import Budget

if TYPE_CHECKING:
    from pairity.operators.chain_operator import ChainOperator

#: Share of a budget for Gram matrices, and for those of one square of pairs.
_GRAMS_SHARE, _SQUARE_SHARE = 0.5, 0.1
#: Pairs of a square, at least and at most.
_FEWEST, _MOST = 64, 1024
#: Pairs up to which object Gram matrices cost nothing, and up to which that of the pairs is held.
_FEW, FEW_PAIRS = 100, 2500
#: Pairs up to which a costly matrix is held, and the share of the memory for one that is evaluated
#: anew for every product otherwise.
_MOST_RESIDENT, ANEW_SHARE = 12_000, 0.5
#: Entries of tiles that take as long as products through two objects, where a kernel of group
#: features takes many of them; entries for each three objects up to which training goes by tiles then.
_WORK_WITH_GROUPS, _ENTRIES_WITH_GROUPS = 1000, 0.4
#: Pairs beyond which every product would take minutes.
_MOST_PAIRS = 20_000


def operator_of(
    kernel: Kernel, left: Pairs, right: Pairs | None = None
) -> PairOperator | ChainOperator:
    """The kernel between pairs, by its explicit features where it has few, along chains in time."""
    from pairity.operators.explicit_rows import explicit_form

    form = explicit_form(kernel, left)
    if not form:
        return along_chains(kernel, left, right) or PairOperator(kernel, left, right)
    from pairity.operators.explicit_operator import ExplicitOperator

    return ExplicitOperator(kernel, left, right, form)


def along_chains(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> ChainOperator | None:
    """The operator of a kernel of objects at times, where its products go from moment to moment."""
    if left.time is None or not any(inner.of_time for inner in kernel.walk()):
        return None
    from pairity.operators.chain_operator import chain_operator

    return chain_operator(kernel, left, right)


def needs_no_gram(kernel: Kernel, pairs: Pairs) -> bool:
    """Whether products with a kernel go by features of one object at a time."""
    from pairity.operators.explicit_rows import explicit_form

    form = explicit_form(kernel, pairs)
    if not form:
        return along_chains(kernel, pairs[:1].without_unused_objects()) is not None
    return all(block.is_direct for block in form)


def operator_within(
    kernel: Kernel, left: Pairs, budget: Budget, right: Pairs | None = None
) -> KernelOperator:
    """The kernel between pairs: through all objects at once where that fits and pays."""
    operator = operator_of(kernel, left, right)
    if not isinstance(operator, PairOperator) or operator.goes_by_features:
        return operator
    needed = operator.object_megabytes
    fits = needed <= budget.share(_GRAMS_SHARE).megabytes
    if not (fits and _goes_through_objects(operator, left, right)):
        from pairity.operators.tiles import tiles_of

        tiles = tiles_of(kernel, left, right)
        if tiles is not None:
            return tiles
        if right is None and _objects_are_rare(left, None) and is_held(len(left), budget):
            return Blockwise(kernel, left, budget)
    if fits:
        return operator
    n = max(len(left), 0 if right is None else len(right))
    if n > _MOST_PAIRS:
        budget.refuse(
            f"{n} pairs of {left.n_objects} objects",
            needed / _GRAMS_SHARE,
            "a smaller problem, a larger memory_limit, or few features of objects in place of their"
            " Gram matrix: kernel=Nystroem(kernel, 256)",
        )
    return Blockwise(kernel, left, budget, right)


def products_between(
    kernel: Kernel, left: Pairs, right: Pairs, vector: Vector, *, mirrored: bool
) -> list[Vector]:
    """``K vector``, and with ``mirrored`` the same for the swapped left pairs: by what is cheaper."""
    operator = operator_of(kernel, left, right)
    if isinstance(operator, PairOperator) and _entries_are_fewer(operator):
        from pairity.operators.tiles import tiles_of

        sides = (left, left.swap()) if mirrored else (left,)
        tiles = [tiles_of(kernel, side, right) for side in sides]
        if all(each is not None for each in tiles):
            return [each.product(vector) for each in tiles if each is not None]
    return operator.products(vector, mirrored=mirrored)


def _entries_are_fewer(operator: PairOperator) -> bool:
    """Whether entries between pairs are less work than products through their objects."""
    if operator.is_explicit or min(operator.shape) <= _FEW:
        return False
    work = _WORK_WITH_GROUPS if operator.has_many_group_features else 1
    return math.prod(operator.shape) <= work * operator.left.n_objects * operator.right.n_objects


def _goes_through_objects(operator: PairOperator, left: Pairs, right: Pairs | None) -> bool:
    """Whether Gram matrices of objects are worth it: pairs whose group features are compared in other
    ways than by powers of inner products need none, where they are few, or have many objects."""
    if operator.features is not None:
        return True
    few = len(left) <= max(FEW_PAIRS, (_ENTRIES_WITH_GROUPS * left.n_objects**3) ** 0.5)
    grouped = few and (left.n_symmetric or left.n_antisymmetric)
    if (grouped and operator.has_many_group_features) or _objects_are_rare(left, right):
        return False
    return not operator.evaluates_group_kernels


def _objects_are_rare(left: Pairs, right: Pairs | None) -> bool:
    """Whether there are more entries between objects than between pairs."""
    sides = (left, left if right is None else right)
    return all(_FEW < len(side) < side.n_objects for side in sides)


def is_held(n_pairs: int, budget: Budget, share: float = ANEW_SHARE) -> bool:
    """Whether the costly matrix of so many pairs is held, in a share of the memory."""
    return n_pairs <= _MOST_RESIDENT and budget.share(share).holds(n_pairs, n_pairs)


class Blockwise(KernelOperator):
    """The matrix ``K(left_i, right_j)``, evaluated anew whenever a part of it is asked for."""

    #: Nothing is held between objects, so that a matrix in memory is worth it.
    is_costly = True

    def __init__(
        self, kernel: Kernel, left: Pairs, budget: Budget, right: Pairs | None = None
    ) -> None:
        super().__init__(kernel, left, right)
        # the objects of two squares of pairs, up to two for each pair
        one_pair = gram_megabytes(kernel, left[:1].without_unused_objects())
        fitting = (budget.share(_SQUARE_SHARE).megabytes / max(one_pair, 1e-12)) ** 0.5
        self._step = int(min(_MOST, max(_FEWEST, fitting)))

    def block(self, rows: Rows, columns: Rows, out: Matrix | None = None) -> Matrix:
        """Entries of some rows and columns, into ``out``."""
        left, right = self.left[rows], self.right[columns]
        if out is None:
            out = np.empty((len(left), len(right)))
        for down in batches(len(left), self._step):
            some = left[down].without_unused_objects()
            for across in batches(len(right), self._step):
                self._entries(some, right[across], out[down, across])
        return out

    def product(self, vector: Vector) -> Vector:
        """Matrix times vector; of a symmetric matrix every square serves twice."""
        used = np.flatnonzero(vector)
        total = np.zeros(len(self.left))
        if self.right is not self.left or 2 * len(used) < len(vector):
            right, weights = self.right[used], vector[used]
            for across in batches(len(right), self._step):
                some = right[across].without_unused_objects()
                for down in batches(len(self.left), self._step):
                    total[down] += self._entries(self.left[down], some) @ weights[across]
            return total
        parts = list(batches(len(self.left), self._step))
        for place, down in enumerate(parts):
            some = self.left[down].without_unused_objects()
            for across in parts[place:]:
                square = self._entries(some, self.left[across])
                total[down] += square @ vector[across]
                if across is not down:
                    total[across] += vector[down] @ square
        return total

    def _entries(self, left: Pairs, right: Pairs, out: Matrix | None = None) -> Matrix:
        """Entries of a square, through the objects in it."""
        few = (side.without_unused_objects() for side in (left, right))
        return PairOperator(self.kernel, *few).block(slice(None), slice(None), out)
