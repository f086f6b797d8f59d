"""The entrywise passes of splitting against the loss they are compiled from."""

import numpy as np

from pairity.losses import Cells
from pairity.solvers._splitting_loops import project_cells


def test_cells_are_projected_by_the_prox_of_the_loss(rng):
    shape = (7, 7)
    low, bend, high = np.sort(rng.normal(size=(3, *shape)) * (rng.random(shape) < 0.7), axis=0)
    above, below = np.sort(rng.normal(size=(2, *shape)), axis=0)
    cells = Cells(low, bend, high, below, above)
    point = rng.normal(size=shape)
    feasible, right = np.empty(shape), np.empty(shape)
    project_cells(point, 0.25, *cells.parts(), feasible, right)
    assert (feasible == cells.prox(point, 0.25)).all()
    assert (right == 4.0 * (feasible + feasible - point)).all()
