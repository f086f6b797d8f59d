"""Write a report to a file."""

from __future__ import annotations

import os
from typing import Any

from pairity.files.writing import whole_file
from pairity.pairs import Pairs
from pairity.report.data import ReportData
from pairity.report.gather import gather
from pairity.report.limits import Limits
from pairity.report.page import render

__all__ = ["write_report"]


def write_report(
    model: Any,
    pairs: Pairs,
    y: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    feature_names: Any = None,
    label_names: Any = None,
    objects: Any = None,
    groups: Any = None,
    object_groups: Any = None,
    test: tuple[Pairs, Any] | None = None,
    test_name: str = "pairs set aside",
    limits: Limits | None = None,
    random_state: int = 0,
) -> ReportData:
    """Write what a fitted model has learned, and how sure that is, as one HTML page.

    The learner is fitted again on folds, with the kernel and the strength of the model, to measure
    it on pairs whose objects are both known, one new, or both new.  The page needs no network; the
    same arguments give the same bytes.  It appears whole or not at all.  The numbers are returned.

    Parameters
    ----------
    model : fitted estimator
        ``PairSVC``, ``PairLogistic``, ``PairSVR``, ``PairRidge``, their tuned forms
        (``PairSVCCV``, ...), ``CalibratedPairClassifier``, ``PairDrawClassifier``, or a pipeline or
        search around one.
    pairs : Pairs
        What it was fitted to; their ids name objects on the page.
    y : array-like of shape (n,)
        Labels or targets.
    path : str or path-like
        Where to; an existing file is replaced in one step.
    title : str, optional
        Heading of the page.
    feature_names : sequence of str, or mapping, optional
        Names of object, symmetric and antisymmetric features, in this order; or a mapping with the
        keys ``objects``, ``symmetric`` and ``antisymmetric``.
    label_names : mapping, or object with ``values`` and ``names``, optional
        What labels are called on the page: ``{1: "won", -1: "lost"}``.
    objects : array-like, or Pairs, optional
        Objects to rank or to group, all pairs of which are compared; or the pairs to compare, with
        the group features that the model needs.  By default the objects of ``pairs``, those in most
        pairs first.
    groups : array-like of shape (n,), optional
        Pairs of one group (a traveller's choices) are never on both sides of a split.
    object_groups : array-like of shape (m,), optional
        Objects of one group (images of a digit) are new together.
    test : (pairs, y), optional
        Pairs that were set aside before: the model itself is measured on them too.
    test_name : str
        What they are called.
    limits : Limits, optional
        How much work the report may be.
    random_state : int
        Seed of folds, samples and shuffles.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from pairity import Pairs, PairSVC
    >>> from pairity.report import write_report
    >>> games = Pairs.complete(np.random.default_rng(0).normal(size=(12, 2)))
    >>> won = np.where(games.objects[games.first, 0] > games.objects[games.second, 0], 1, -1)
    >>> model = PairSVC("antisymmetric", "linear").fit(games, won)
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     numbers = write_report(model, games, won, os.path.join(directory, "report.html"))
    >>> numbers.settings[0].name, numbers.swap.holds
    ('both objects seen', True)
    """
    data = gather(
        model,
        pairs,
        y,
        title=title,
        feature_names=feature_names,
        label_names=label_names,
        objects=objects,
        groups=groups,
        object_groups=object_groups,
        test=test,
        test_name=test_name,
        limits=limits,
        random_state=random_state,
    )
    page = render(data).encode("utf-8", "replace")
    with whole_file(path) as stream:
        stream.write(page)
    return data
