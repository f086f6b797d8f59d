"""Coefficients of a fitted function that is linear in the columns of wide rows.

``f = rows @ coefficients + constant`` for the rows ``[x_a | x_ab | x~_ab | x_b]`` of formula (1),
whatever scaling the kernel does inside: each coefficient is the value at a row of one unit less that at
a row of zeros.  Effects with errors and tests are in :mod:`pairity.inspection.column_effects`.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from pairity.kernels.classes import project
from pairity.operators.explicit_rows import explicit_form
from pairity.pairs.arrays import Vector
from pairity.pairs.data import Pairs
from pairity.pairs.parity import Parity
from pairity.training.model import Model, PairModel

#: Support pairs on which the function is compared with its coefficients, and how far it may be off.
_TRIED, _TOLERANCE = 200, 1e-8


def row_coefficients(model: Model) -> Vector | None:
    """One coefficient per column of wide rows; None where the function is not linear in them."""
    if not isinstance(model, PairModel) or model.support.time is not None:
        return None
    support = model.support
    if not explicit_form(project(model.kernel, model.parity, support), support):
        return None
    width = 2 * support.n_object_features + support.n_symmetric + support.n_antisymmetric
    units = sp.eye_array(width + 1, width, format="csr")
    rows = units if sp.issparse(support.objects) else units.toarray()
    probes = Pairs.from_rows(rows, support.n_symmetric, support.n_antisymmetric)
    values = model.decisions(_with_one_name(probes, support))
    coefficients = values[:-1] - values[-1]
    if model.parity is not None:
        # the swap law, which rounding at a row of zeros may miss: columns of the other parity have none
        start, odd = support.n_object_features, model.parity is Parity.ODD
        middle, end = start + support.n_symmetric, width - start
        coefficients[slice(start, middle) if odd else slice(middle, end)] = 0.0
        coefficients[end:] = -coefficients[:start] if odd else coefficients[:start]
    some = np.unique(np.linspace(0, len(support) - 1, min(_TRIED, len(support))).astype(np.intp))
    seen = _with_one_name(support[some], support)
    decisions = model.decisions(seen)
    rest = decisions - seen.to_rows() @ coefficients
    size = max(float(np.abs(decisions).max(initial=0.0)), float(np.abs(rest).max(initial=0.0)))
    return coefficients if np.ptp(rest) <= _TOLERANCE * size else None


def _with_one_name(pairs: Pairs, support: Pairs) -> Pairs:
    """The same pairs with one id for all objects, so that what a name adds is the same everywhere."""
    if support.ids is None:
        return pairs
    ids = np.repeat(support.ids[:1], pairs.n_objects)
    groups = pairs.symmetric, pairs.antisymmetric
    return Pairs(pairs.objects, pairs.first, pairs.second, *groups, ids=ids)
