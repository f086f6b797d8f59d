"""How far models without plain dual variables are from their optima, in 120 digits.

Machines smooth along a graph, and low-rank models.  The primal value is that of the model as it
stands, bias included; the lower bound is found from the numbers of the problem alone.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

import numpy as np

from exact import decimals, gram, inner, losses
from exact_optimum import DIGITS, Problem, optimum, product, solved
from pairity.solvers.low_rank.form import FeatureMap


@dataclass(frozen=True)
class Truth:
    """True relative gap of a model, and how much of it may be the looseness of its bound."""

    gap: float
    loose: float


def _truth(primal, problem):
    """Of a matrix with a negative eigenvalue (a Laplacian that is rounded) there is no bound."""
    found = optimum(problem)
    if primal < found.bound:
        return Truth(0.0, math.inf)
    return Truth(found.gap(primal), found.looseness(primal))


def _rows(matrix):
    return [decimals(row) for row in np.asarray(matrix)]


def _times(left, right):
    columns = list(zip(*right, strict=True))
    return [[inner(row, column) for column in columns] for row in left]


# Machines that are smooth along a graph ---------------------------------------------------------


def bent(kernel, penalty, chosen):
    """``K - K (1 + M K)^-1 M K`` between the chosen rows."""
    smoothed = _times(penalty, kernel)
    matrix = [
        [value + (row == column) for column, value in enumerate(values)]
        for row, values in enumerate(smoothed)
    ]
    correction = solved(matrix, [[row[column] for column in chosen] for row in smoothed])
    corrections = _times([kernel[row] for row in chosen], correction)
    return [
        [kernel[row][column] - corrections[i][j] for j, column in enumerate(chosen)]
        for i, row in enumerate(chosen)
    ]


def laplacian_truth(kernel, pairs, theta, shift, labels, weight, penalty, *, sign, bias):
    """Truth of coefficients ``theta`` at all pairs; labels are 0 where there are none.

    ``penalty`` is the Laplacian with its factor, its floats taken as exact numbers.
    """
    with localcontext() as context:
        context.prec = DIGITS
        penalty = _rows((np.asarray(penalty) + np.asarray(penalty).T) / 2.0)
        plain = gram(kernel, pairs, sign)
        theta, chosen = decimals(theta), np.flatnonzero(labels).tolist()
        values = product(plain, theta)
        norm = inner(theta, values) + inner(values, product(penalty, values))
        targets, weights = decimals(labels[chosen]), [Decimal(weight)] * len(chosen)
        decisions = [values[row] + Decimal(shift) for row in chosen]
        primal = norm / 2 + losses("hinge", targets, weights, decisions)
        matrix = bent(plain, penalty, chosen)
        return _truth(primal, Problem(matrix, targets, weights, "hinge", bias))


# Low-rank models --------------------------------------------------------------------------------


def _outer(one, two):
    return [p * q for p in one for q in two]


def pair_features(form, pairs, tables, columns):
    """Features of each pair, block after block, and ``columns`` of group features."""
    sign = Decimal(int(form.parity.sign))
    tables = [_rows(table) for table in tables]
    rows = []
    for a, b, group in zip(pairs.first, pairs.second, columns, strict=True):
        row = []
        for block in form.bilinear:
            one, two, scale = tables[block.table][a], tables[block.table][b], Decimal(block.scale)
            both = zip(_outer(one, two), _outer(two, one), strict=True)
            row += [scale * (p + sign * q) / 2 for p, q in both]
        for block in form.strengths:
            one, two, scale = tables[block.table][a], tables[block.table][b], Decimal(block.scale)
            row += [scale * (p + sign * q) for p, q in zip(one, two, strict=True)]
        rows.append(row + decimals(group))
    return rows


def low_rank_truth(model, pairs, columns, targets, weight, loss):
    """Truth of a low-rank model, whose single-precision features are taken as exact numbers."""
    with localcontext() as context:
        context.prec = DIGITS
        form, maps = model.form, map(FeatureMap, model.form.kernels, model.bases)
        tables = [learned(pairs.objects) for learned in maps]
        features = pair_features(form, pairs, tables, columns)
        parameters = decimals(model.parameters)
        shift = parameters.pop() if form.has_bias else Decimal(0)
        targets, weights = decimals(targets), [Decimal(weight)] * len(targets)
        loss = loss if isinstance(loss, str) else Decimal(loss)
        decisions = [value + shift for value in product(features, parameters)]
        total = losses(loss, targets, weights, decisions)
        primal = inner(parameters, parameters) / 2 + total
        matrix = [product(features, row) for row in features]
        return _truth(primal, Problem(matrix, targets, weights, loss, form.has_bias))
