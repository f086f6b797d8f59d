"""Loops over chains: the moments of one object after another, each in the order of time.

``starts`` holds where the chains begin, and where the last one ends.  States are those of
:class:`pairity.kernels.drift.States`.  With A_i the transition to moment i, the matrix is

    S_ij = out_i' A_i ... A_(j+1) into_j    for i >= j, and symmetric.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from pairity.runtime.resources import njit


@njit(cache=True, nogil=True, inline="always")
def _move(state, decay, coupling, i):
    """``A_i state``, in place: from the last state on, each needs the one before it."""
    for place in range(len(state) - 1, 0, -1):
        state[place] = decay[i, place] * (state[place] + coupling[i, place] * state[place - 1])
    state[0] *= decay[i, 0]


@njit(cache=True, nogil=True, inline="always")
def _move_back(state, decay, coupling, i):
    """``A_i' state``, in place."""
    last = len(state) - 1
    for place in range(last):
        state[place] = decay[i, place] * state[place] + (
            coupling[i, place + 1] * decay[i, place + 1] * state[place + 1]
        )
    state[last] *= decay[i, last]


@njit(cache=True, nogil=True)
def chain_products(starts, decay, coupling, into, out, amounts, values):
    """``values = S amounts``: sums over the past forwards, over the future backwards."""
    n_states = decay.shape[1]
    state = np.empty(n_states)
    for chain in range(len(starts) - 1):
        state[:] = 0.0
        for i in range(starts[chain], starts[chain + 1]):
            _move(state, decay, coupling, i)
            total, amount = 0.0, amounts[i]
            for place in range(n_states):
                state[place] += amount * into[i, place]
                total += out[i, place] * state[place]
            values[i] = total
        state[:] = 0.0
        for i in range(starts[chain + 1] - 2, starts[chain] - 1, -1):
            total = 0.0
            for place in range(n_states):
                state[place] += amounts[i + 1] * out[i + 1, place]
            _move_back(state, decay, coupling, i + 1)
            for place in range(n_states):
                total += into[i, place] * state[place]
            values[i] += total


@njit(cache=True, nogil=True)
def factor_chains(starts, decay, coupling, into, out, noise, pivots, gains):
    """``S + diag(noise) = L diag(pivots) L'`` with ``L_ij = out_i' A_i ... A_(j+1) gains_j`` below 1.

    This is the filter of Kalman: ``pivots - noise`` are variances given the past of the chain.
    """
    n_states = decay.shape[1]
    spread = np.empty((n_states, n_states))
    seen = np.empty(n_states)
    for chain in range(len(starts) - 1):
        spread[:] = 0.0
        for i in range(starts[chain], starts[chain + 1]):
            for row in range(n_states):
                _move(spread[row], decay, coupling, i)
            for column in range(n_states):
                _move(spread[:, column], decay, coupling, i)
            pivot = noise[i]
            for row in range(n_states):
                total = 0.0
                for column in range(n_states):
                    total += spread[row, column] * out[i, column]
                seen[row] = into[i, row] - total
                pivot += out[i, row] * seen[row]
            pivots[i] = pivot
            for row in range(n_states):
                gains[i, row] = seen[row] / pivot
                for column in range(n_states):
                    spread[row, column] += gains[i, row] * seen[column]


@njit(cache=True, nogil=True)
def solve_chains(starts, decay, coupling, out, pivots, gains, right):
    """``(S + diag(noise))^-1 right``, in place, by the factors of :func:`factor_chains`."""
    n_states = decay.shape[1]
    state = np.empty(n_states)
    for chain in range(len(starts) - 1):
        state[:] = 0.0
        for i in range(starts[chain], starts[chain + 1]):
            _move(state, decay, coupling, i)
            value = right[i]
            for place in range(n_states):
                value -= out[i, place] * state[place]
            right[i] = value
            for place in range(n_states):
                state[place] += gains[i, place] * value
        state[:] = 0.0
        for i in range(starts[chain + 1] - 1, starts[chain] - 1, -1):
            value = right[i] / pivots[i]
            for place in range(n_states):
                value -= gains[i, place] * state[place]
            right[i] = value
            for place in range(n_states):
                state[place] += out[i, place] * value
            _move_back(state, decay, coupling, i)


@njit(cache=True, nogil=True)
def inverse_diagonals(starts, decay, coupling, out, pivots, gains, diagonal):
    """Diagonal of ``(S + diag(noise))^-1``: what later moments of the chain tell, backwards.

    With ``B_k = A_(k+1) (1 - gains_k out_k')`` and ``U_k = out_k out_k' / pivots_k + B_k' U_(k+1) B_k``
    it is ``1 / pivots_i + gains_i' A_(i+1)' U_(i+1) A_(i+1) gains_i``.
    """
    n_states = decay.shape[1]
    later = np.empty((n_states, n_states))
    row_sums, column = np.empty(n_states), np.empty(n_states)
    for chain in range(len(starts) - 1):
        later[:] = 0.0
        for i in range(starts[chain + 1] - 1, starts[chain] - 1, -1):
            # later is A_(i+1)' U_(i+1) A_(i+1)
            total = 0.0
            for row in range(n_states):
                row_sums[row] = 0.0
                for place in range(n_states):
                    row_sums[row] += later[row, place] * gains[i, place]
                total += gains[i, row] * row_sums[row]
            diagonal[i] = 1.0 / pivots[i] + total
            for row in range(n_states):
                for place in range(n_states):
                    later[row, place] += (
                        out[i, row] * out[i, place] * diagonal[i]
                        - row_sums[row] * out[i, place]
                        - out[i, row] * row_sums[place]
                    )
            for row in range(n_states):
                _move_back(later[row], decay, coupling, i)
            for place in range(n_states):
                for row in range(n_states):
                    column[row] = later[row, place]
                _move_back(column, decay, coupling, i)
                for row in range(n_states):
                    later[row, place] = column[row]


@njit(cache=True, nogil=True)
def meet(first, second, sign, weights, values, total):
    """``total = A'W A values``, A the rows with 1 at the first moment and the sign at the second."""
    total[:] = 0.0
    for pair in range(len(first)):
        a, b = first[pair], second[pair]
        pull = weights[pair] * (values[a] + sign * values[b])
        total[a] += pull
        total[b] += sign * pull
