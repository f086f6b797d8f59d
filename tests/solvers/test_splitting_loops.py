"""The entrywise passes of splitting against the loss they are compiled from."""

import numpy as np

from pairity.losses.hinge import HingeCells
from pairity.solvers._splitting_loops import project_cells


def test_cells_are_projected_by_the_prox_of_the_loss(rng):
    shape = (7, 7)
    cells = HingeCells(*(rng.uniform(0, 1, shape) * (rng.random(shape) < 0.7) for _ in range(2)))
    point = rng.normal(size=shape)
    feasible, reflected = np.empty(shape), np.empty(shape)
    project_cells(point, 0.3, cells.low, cells.high, cells.bend, feasible, reflected)
    assert (feasible == cells.prox(point, 0.3)).all()
    assert (reflected == feasible + feasible - point).all()
