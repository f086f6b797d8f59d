"""Plain twins of kernels of time and of strengths that drift: one pair of moments at a time."""

import math

import numpy as np


def drift(kind, lengthscale, period=None, origin=None):
    """``k(t, u)`` as the documentation writes it."""

    def value(t, u):
        apart = abs(t - u) / lengthscale
        if kind == "exponential":
            return math.exp(-apart)
        if kind == "matern":
            return (1.0 + math.sqrt(3.0) * apart) * math.exp(-math.sqrt(3.0) * apart)
        if kind == "wiener":
            return 1.0 + min(max(t - origin, 0.0), max(u - origin, 0.0)) / lengthscale
        if kind == "periodic":
            chord = period / math.pi * math.sin(math.pi * abs(t - u) / period)
            return math.exp(-(chord**2) / (2.0 * lengthscale**2))
        return math.exp(-(apart**2) / 2.0)

    return value


def strengths(k, left, right, sign):
    """Kernel of ``s_a(t) + sign s_b(t)``, halved as the projections are; ``sign`` 0: ac and bd."""
    gram = np.zeros((len(left), len(right)))
    for i, (a, b, t) in enumerate(zip(left.first, left.second, left.time, strict=True)):
        for j, (c, d, u) in enumerate(zip(right.first, right.second, right.time, strict=True)):
            straight, crossed = int(a == c) + int(b == d), int(a == d) + int(b == c)
            shared = straight if sign == 0 else 0.5 * (straight + sign * crossed)
            gram[i, j] = shared * k(t, u)
    return gram
