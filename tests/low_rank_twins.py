"""Plain twins of low-rank models: pair features as whole vectors, problems as whole matrices."""

import warnings

import numpy as np
import scipy.sparse as sp

import cases
from pairity import PairLogistic, PairRidge, Pairs, PairSVC, PairSVR
from pairity.kernels import Gaussian, Linear, Nystroem, Polynomial, Product
from pairity.pairs.parity import SYMMETRIES

LEARNERS = ["svc", "svr", "logistic", "ridge"]
BOTH = ["symmetric", "antisymmetric"]
EXACT = {"svc": "chunking", "svr": "chunking", "logistic": "newton", "ridge": "dense"}


# Pair features of a form ------------------------------------------------------------------------


def pair_features(form, pairs, tables):
    """A row for each pair: all its features, block after block, as the form of a model says.

    ``tables`` hold the features phi of the objects, one table for each kernel of the form.
    """
    sign = form.parity.sign
    rows = []
    for place in range(len(pairs)):
        a, b = pairs.first[place], pairs.second[place]
        parts = []
        for block in form.bilinear:
            one, two = tables[block.table][a], tables[block.table][b]
            product = np.outer(one, two)
            parts.append(block.scale * (product + sign * product.T).ravel() / 2.0)
        for block in form.strengths:
            one, two = tables[block.table][a], tables[block.table][b]
            parts.append(block.scale * (one + sign * two))
        parts += [group.scale * group_row(group.factors, pairs, place) for group in form.groups]
        if form.has_bias:
            parts.append(np.ones(1))
        rows.append(np.concatenate(parts))
    return np.array(rows)


def group_row(factors, pairs, place):
    """Products of columns, one out of each factor."""
    row = np.ones(1)
    for factor in factors:
        columns = factor_row(factor, pairs, place)
        degree = factor.kernel.degree if isinstance(factor.kernel, Polynomial) else 1
        for _ in range(degree):
            row = np.array([x * y for x in row for y in columns])
    return row


def factor_row(factor, pairs, place):
    if factor.role == "derived":
        assert factor.parts == ("difference",)
        return pairs.objects[pairs.first[place]] - pairs.objects[pairs.second[place]]
    return getattr(pairs, factor.role)[place]


def explicit_tables(form, pairs):
    return [_dense(kernel.explicit(pairs.objects)) for kernel in form.kernels]


def _dense(table):
    return table.toarray() if sp.issparse(table) else np.asarray(table)


def nystroem_twin(k, landmarks):
    """``k(x, Z) k(Z, Z)^+ k(Z, z)`` of a plain kernel k of two vectors."""
    inverse = np.linalg.pinv(
        np.array([[k(x, z) for z in landmarks] for x in landmarks]), rcond=1e-10, hermitian=True
    )

    def approximated(x, z):
        left = np.array([k(x, landmark) for landmark in landmarks])
        right = np.array([k(landmark, z) for landmark in landmarks])
        return float(left @ inverse @ right)

    return approximated


# Problems ---------------------------------------------------------------------------------------


def learner(kind, symmetry, kernel, strength=1.0, **options):
    """One of the four estimators; ridge regression with a constant."""
    if kind == "ridge":
        options = {"fit_intercept": True, **options}
        return PairRidge(symmetry, kernel=kernel, alpha=1.0 / strength, **options)
    types = {"svc": PairSVC, "svr": PairSVR, "logistic": PairLogistic}
    return types[kind](symmetry, kernel=kernel, C=strength, **options)


def some_pairs(seed=1, n=60, m=14, group=False):
    """Pairs of distinct objects with three features, and two of each kind of group features."""
    return cases.random_pairs(seed, n=n, m=m, widths=(3, 2, 2) if group else (3, 0, 0))


def targets_of(kind, pairs, symmetry, seed=5):
    """Labels or numbers that the features explain in part."""
    rng = np.random.default_rng([seed, len(pairs)])
    x = np.asarray(pairs.objects)[:, 0]
    a, b = x[pairs.first], x[pairs.second]
    values = (a - b if symmetry == "antisymmetric" else a * b) + 0.4 * rng.normal(size=len(pairs))
    if kind in ("svr", "ridge"):
        return values
    labels = np.where(values > 0.0, 1, -1)
    if symmetry == "symmetric":
        labels[:2] = 1, -1  # both of them present
    return labels


def kernel_of(group=False):
    """Few landmark features of objects, and group features where there are some."""
    objects = Nystroem(Product(Gaussian(1.5)), 8)
    return objects + 0.5 * Linear() if group else objects


def decisions(model, pairs):
    """Decision values of a classifier, predictions of a regressor."""
    return model.decision_function(pairs) if hasattr(model, "classes_") else model.predict(pairs)


def primal(kind, symmetry, psi, w, y, strength, weights=None, epsilon=0.1, bias=0.0):
    """``1/2 |w|^2 + 2 C sum c_i loss_i`` on the halved set, as the books write the losses."""
    f = psi @ w + bias
    losses = {
        "svc": lambda: np.maximum(0.0, 1.0 - y * f),
        "svr": lambda: np.maximum(0.0, np.abs(y - f) - epsilon),
        "logistic": lambda: np.logaddexp(0.0, -y * f),
        "ridge": lambda: 0.5 * (y - f) ** 2,
    }[kind]()
    c = 2.0 * strength * (np.ones(len(y)) if weights is None else weights)
    return 0.5 * float(w @ w) + float(c @ losses)


def quietly(fit, *arguments, **options):
    """A fit that may stop short of its tolerance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*arguments, **options)


def mirrored(values, symmetry):
    """What the values of swapped pairs must be."""
    return SYMMETRIES[symmetry].sign * values


def with_self_pairs(pairs, n=4):
    """The first pairs again, their first objects against themselves."""
    a = pairs.first[:n]
    none = np.zeros((n, pairs.n_antisymmetric))
    return Pairs(pairs.objects, a, a, pairs.symmetric[:n], none)
