"""Operators of kernels of objects at times: no Gram matrix of objects, nor of their moments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.kernels.algebra import Kernel
from pairity.operators.chains import ChainForm, Chains, split_kernel
from pairity.operators.explicit_operator import ExplicitOperator
from pairity.operators.explicit_rows import explicit_form
from pairity.operators.operator import KernelOperator, Rows
from pairity.pairs.arrays import Places, Vector, sums_at
from pairity.pairs.data import Pairs


class ChainOperator(KernelOperator):
    """``sum_ends pattern[e, c] S(e, c)``, S the kernel between moments, and a rest that knows no time.

    With the amounts v of the right pairs summed at their moments, a product is one pass along the
    chains, and a value of a pair is read off at its two moments.
    """

    is_costly, has_chains = False, True

    def __init__(
        self,
        kernel: Kernel,
        left: Pairs,
        right: Pairs | None,
        form: ChainForm,
        chains: Chains,
        rest: ExplicitOperator | None = None,
    ) -> None:
        super().__init__(kernel, left, right)
        self.form, self.chains, self.rest = form, chains, rest

    @property
    def object_megabytes(self) -> float:
        """What the moments take."""
        return self.chains.megabytes + (0.0 if self.rest is None else self.rest.object_megabytes)

    def product(self, vector: Vector) -> Vector:
        """``K vector``, shape (n_left,)."""
        return self.products(vector)[0]

    def products(self, vector: Vector, *, mirrored: bool = False) -> list[Vector]:
        """``K vector``, and with ``mirrored`` the same for the swapped left pairs as well."""
        totals = [np.zeros(self.shape[0]) for _ in range(2 if mirrored else 1)]
        if self.rest is not None:
            totals = self.rest.products(vector, mirrored=mirrored)
        for left, right in self._channels:
            amounts = np.zeros(len(self.chains))
            for end in (0, 1):
                if right[end]:
                    amounts += sums_at(self.chains.right[end], right[end] * vector, len(amounts))
            values = self.chains.product(amounts)
            for side, total in enumerate(totals):
                for end in (0, 1):
                    if left[end]:
                        total += left[end] * values[self.chains.left[end ^ side]]
        return totals

    @property
    def _channels(self) -> list[tuple[Vector, Vector]]:
        """The pattern as a sum of ``left' right``: one of them for sums and differences."""
        if self.form.sign is not None:
            signs = np.array([1.0, self.form.sign])
            return [(signs, signs)]
        return [(self.form.pattern[:, c], np.eye(2)[c]) for c in (0, 1)]

    def diagonal(self) -> Vector:
        """``K(left_i, left_i)``, of a matrix between the same pairs."""
        if self.right is not self.left:
            return super().diagonal()
        first, second = self.chains.left
        pattern = self.form.pattern
        whole = pattern[0, 0] + pattern[1, 1] + (first == second) * (pattern[0, 1] + pattern[1, 0])
        values = self.chains.prior[first] * whole
        return values if self.rest is None else values + self.rest.diagonal()

    def block(self, rows: Rows, columns: Rows, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Entries of some rows and columns: those of pairs that share an object are not 0."""
        chain, n_left, n_right = self.chains.chain_of, *self.shape
        left, right = np.arange(n_left)[rows], np.arange(n_right)[columns]
        if out is None:
            out = np.empty((len(left), len(right)))
        if self.rest is None:
            out[...] = 0.0
        else:
            self.rest.block(rows, columns, out)
        for e, c in np.argwhere(self.form.pattern):
            moments = self.chains.left[e][left], self.chains.right[c][right]
            shared = np.nonzero(chain[moments[0]][:, np.newaxis] == chain[moments[1]])
            values = self._between(moments[0][shared[0]], moments[1][shared[1]])
            out[shared] += self.form.pattern[e, c] * values
        return out

    def _between(self, one: Places, other: Places) -> Vector:
        """S between moments of the same objects, by the formulas of the kernels of time."""
        times = self.chains.times[one, np.newaxis], self.chains.times[other, np.newaxis]
        values = np.zeros(len(one))
        for kernel, weight in self.form.terms:
            values += weight * (1.0 if kernel is None else kernel.paired(*times))
        return values


def chain_operator(kernel: Kernel, left: Pairs, right: Pairs | None = None) -> ChainOperator | None:
    """The operator of a kernel of objects at times, whose rest goes by explicit features; or None."""
    if left.time is None or not len(left):
        return None
    split = split_kernel(kernel, left.n_symmetric, left.n_antisymmetric)
    if split is None:
        return None
    rest = None
    if split.rest is not None:
        form = explicit_form(split.rest, left)
        if not form or any(block.n_objects > 1 for block in form):
            return None
        rest = ExplicitOperator(split.rest, left, right, form)
    chains = Chains.of(split.form, left, left if right is None else right)
    return None if chains is None else ChainOperator(kernel, left, right, split.form, chains, rest)
