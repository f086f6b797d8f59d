"""Acceleration of fixed-point iterations."""

import numpy as np

from pairity.solvers.splitting import AndersonAcceleration


def steps_to_converge(acceleration, slope, target, most=500):
    point = np.zeros_like(target)
    for step in range(most):
        image = target + slope @ (point - target)
        residual = image - point
        if np.abs(point - target).max() < 1e-8:
            return step
        point = image if acceleration is None else acceleration.next_point(image, residual)
    return most


def test_linear_maps_take_about_as_many_steps_as_dimensions():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    slope = basis @ np.diag([0.99, 0.97, 0.9, 0.5, 0.3, -0.4]) @ basis.T
    target = rng.normal(size=6)
    plain = steps_to_converge(None, slope, target, most=5000)
    accelerated = steps_to_converge(AndersonAcceleration(memory=6), slope, target)
    assert plain > 500
    assert accelerated < 20


def test_a_growing_residual_is_taken_back():
    acceleration = AndersonAcceleration(memory=2)
    first = acceleration.next_point(np.array([1.0]), np.array([1.0]))
    second = acceleration.next_point(np.array([1.5]), np.array([0.5]))
    assert first == 1.0
    assert second != 1.5  # extrapolated
    assert acceleration.next_point(np.array([9.0]), np.array([7.0])) == 1.5  # the plain step
