"""Objectives in 60 decimal digits, from the features: what no rounding of the library can fool.

A plain twin of the certificate on the halved set J: kernels (5) of wide rows and their projections
(6) and (7), losses and conjugates as printed, nothing shared with the library but the numbers in.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

DIGITS = 60


@dataclass(frozen=True)
class Objectives:
    """Primal and dual (a minimum) of given dual variables; relative gap as certificates define it."""

    primal: Decimal
    dual: Decimal
    of_zero: Decimal

    @property
    def relative_gap(self):
        size = max(abs(self.primal), abs(self.dual), self.of_zero / 10**9)
        return float((self.primal + self.dual) / size) if size else 0.0


def decimals(values):
    return [Decimal(float(value)) for value in values]


def inner(x, z):
    return sum((p * q for p, q in zip(x, z, strict=True)), Decimal(0))


def _value(kernel, x, z):
    name, parameter = kernel
    if name == "polynomial":
        return inner(x, z) ** parameter
    squared = sum(((p - q) ** 2 for p, q in zip(x, z, strict=True)), Decimal(0))
    return (-squared / (2 * Decimal(parameter) ** 2)).exp()


def gram(kernel, pairs, sign):
    """Projected Gram matrix on J: ``(K(X, Z) + sign K(X', Z)) / 2``; the plain one for sign 0."""
    rows = [decimals(row) for row in np.asarray(pairs.to_rows())]
    mirrored = [decimals(row) for row in np.asarray(pairs.swap().to_rows())]
    if not sign:
        return [[_value(kernel, x, z) for z in rows] for x in rows]
    return [
        [(_value(kernel, x, z) + sign * _value(kernel, s, z)) / 2 for z in rows]
        for x, s in zip(rows, mirrored, strict=True)
    ]


def losses(loss, targets, weights, decisions):
    total = Decimal(0)
    for y, c, f in zip(targets, weights, decisions, strict=True):
        if loss == "hinge":
            total += c * max(Decimal(0), 1 - y * f)
        elif loss == "logistic":
            total += c * _log1p_exp(-y * f)
        elif loss == "squared":
            total += c * (y - f) ** 2 / 2
        else:
            total += c * max(Decimal(0), abs(y - f) - loss)
    return total


def _log1p_exp(x):
    return (1 + x.exp()).ln() if x <= 0 else x + (1 + (-x).exp()).ln()


def _entropy(u):
    return u * u.ln() if u > 0 else Decimal(0)


def conjugates(loss, targets, weights, theta):
    total = Decimal(0)
    for y, c, t in zip(targets, weights, theta, strict=True):
        if loss == "hinge":
            total -= y * t
        elif loss == "logistic":
            u = min(max(y * t / c, Decimal(0)), Decimal(1))
            total += c * (_entropy(u) + _entropy(1 - u))
        elif loss == "squared":
            total += t * t / (2 * c) - y * t
        else:
            total += loss * abs(t) - y * t
    return total


def _best_bias(loss, targets, weights, values):
    """Minimiser over the bias of a convex function: its corners, or a search by thirds."""
    if loss == "hinge":
        corners = [y - g for y, g in zip(targets, values, strict=True)]
    elif loss == "squared":
        total = sum(c * (y - g) for y, c, g in zip(targets, weights, values, strict=True))
        corners = [total / sum(weights)]
    elif loss == "logistic":
        corners = [_by_thirds(loss, targets, weights, values)]
    else:
        corners = [
            y - g + side for y, g in zip(targets, values, strict=True) for side in (-loss, loss)
        ]

    def cost(bias):
        return losses(loss, targets, weights, [g + bias for g in values])

    return min(corners, key=cost)


def _by_thirds(loss, targets, weights, values):
    low, high = -max(values) - 60, -min(values) + 60

    def cost(bias):
        return losses(loss, targets, weights, [g + bias for g in values])

    for _ in range(140):
        third = (high - low) / 3
        if cost(low + third) < cost(high - third):
            high -= third
        else:
            low += third
    return (low + high) / 2


def objectives(kernel, pairs, theta, targets, weights, loss, *, sign, bias):
    """Primal and dual at ``theta`` on J; ``weights`` are those of J, ``loss`` a name or epsilon."""
    with localcontext() as context:
        context.prec = DIGITS
        if not isinstance(loss, str):
            loss = Decimal(float(loss))
        theta, targets, weights = map(decimals, (theta, targets, weights))
        values = [inner(row, theta) for row in gram(kernel, pairs, sign)]
        shift = _best_bias(loss, targets, weights, values) if bias else Decimal(0)
        quadratic = inner(theta, values) / 2
        decisions = [g + shift for g in values]
        return Objectives(
            quadratic + losses(loss, targets, weights, decisions),
            quadratic + conjugates(loss, targets, weights, theta),
            losses(loss, targets, weights, [Decimal(0)] * len(targets)),
        )
