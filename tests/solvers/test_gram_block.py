"""Kernel values of working sets that follow one another are those of each set alone."""

import numpy as np
import pytest

from pairity import Pairs
from pairity.kernels import Gaussian
from pairity.kernels.classes import project
from pairity.operators.pair_operator import PairOperator
from pairity.pairs.parity import Parity
from pairity.solvers import chunking
from pairity.solvers.chunking import GramBlock


@pytest.fixture
def operator():
    pairs = Pairs.complete(np.random.default_rng(0).normal(size=(16, 3)))
    return PairOperator(project(Gaussian(1.2), Parity.ODD, pairs), pairs)


def sets(n, rng):
    """Sets that shrink, grow, are disjoint, and change by a few."""
    some = np.sort(rng.permutation(n)[:60])
    yield some
    yield some[5:40]
    yield np.union1d(some[8:40], rng.permutation(n)[:3])
    yield np.sort(rng.permutation(n)[:90])
    yield np.arange(n)
    yield some[:1]
    yield np.setdiff1d(np.arange(n), some)[:50]


@pytest.mark.parametrize(("small", "atol"), [(1000, 1e-15), (0, 1e-6), (45, 1e-6)])
def test_blocks_are_those_of_each_set(monkeypatch, operator, small, atol):
    monkeypatch.setattr(chunking, "_SMALL_SET", small)
    block, rng = GramBlock(operator, 1e-3), np.random.default_rng(1)
    for wanted in sets(len(operator.left), rng):
        order, gram = block.of(wanted)
        assert np.array_equal(np.sort(order), wanted)
        assert np.array_equal(gram, gram.T)
        assert gram.dtype == (np.float64 if len(wanted) <= small else np.float32)
        np.testing.assert_allclose(gram, operator.block(order, order), atol=atol)


def test_what_two_sets_share_is_not_evaluated_again(monkeypatch, operator):
    block, wanted = GramBlock(operator, 1e-3), np.arange(50)
    block.of(wanted)
    asked, plain = [], operator.block

    def count(rows, columns, out=None):
        asked.append(len(rows))
        return plain(rows, columns, out)

    monkeypatch.setattr(operator, "block", count)
    block.of(wanted[:30])
    assert not asked
    block.of(np.append(wanted[3:30], 70))
    assert asked == [1]
