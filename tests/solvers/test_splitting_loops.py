"""The entrywise passes of splitting against the loss they are compiled from."""

import numpy as np

from pairity.losses import Cells
from pairity.solvers._splitting_loops import (
    combine_steps,
    grid_violation,
    project_cells,
    relax,
    remember_step,
)


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


def test_steps_are_remembered_and_combined(rng):
    """More numbers than one block, in both precisions."""
    for dtype, error in ((np.float64, 1e-12), (np.float32, 1e-4)):
        images, residuals = rng.normal(size=(2, 3, 2500)).astype(dtype)
        image, residual, last_image, last_residual = rng.normal(size=(4, 2500)).astype(dtype)
        kept = images.copy(), residuals.copy()
        products, pull = remember_step(
            1, image, residual, last_image, last_residual, images, residuals
        )
        assert (images[1] == image - last_image).all()
        assert (residuals[1] == residual - last_residual).all()
        assert (images[[0, 2]] == kept[0][[0, 2]]).all()
        assert (residuals[[0, 2]] == kept[1][[0, 2]]).all()
        wide = residuals.astype(float)
        np.testing.assert_allclose(products, wide @ wide[1], atol=2500 * error)
        np.testing.assert_allclose(pull, wide @ residual.astype(float), atol=2500 * error)
        gamma = rng.normal(size=3).astype(dtype)
        expected = image.astype(float) - gamma.astype(float) @ images.astype(float)
        np.testing.assert_allclose(combine_steps(image, gamma, images), expected, atol=10 * error)


def test_the_map_and_its_residual(rng):
    point, smooth, feasible = rng.normal(size=(3, 4, 5))
    image, residual = relax(point, smooth, feasible, 1.5)
    assert (residual == 1.5 * (smooth - feasible)).all()
    assert (image == point + residual).all()


def test_the_ends_of_the_bias_interval_cell_by_cell(rng):
    """Values on bounds, at bends and between, against the words of the docstring."""
    low, bend, high = np.sort(rng.integers(-2, 3, size=(3, 300)), axis=0).astype(float)
    above, below = np.sort(rng.normal(size=(2, 300)), axis=0)
    feasible = np.clip(rng.integers(-2, 3, size=300), low, high)
    values = rng.normal(size=300)
    ends = zip(low, bend, high, below, above, feasible, values, strict=True)
    rising, falling = [], []
    for least, middle, most, until, beyond, z, value in ends:
        if z < most:
            rising.append((until if z < middle else beyond) - value)
        if z > least:
            falling.append((beyond if z > middle else until) - value)
    found = grid_violation(feasible, values, low, bend, high, below, above)
    assert found == (max(rising), min(falling))
