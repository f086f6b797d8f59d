"""From evidence (pairs observed in both orders, models) to a verdict and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.utils.validation import column_or_1d

from pairity.inspection.comparison import Comparison
from pairity.pairs.same_objects import Ends
from pairity.runtime.validation import distinct_labels, refuse_large_targets, refuse_lossy

#: Chance of an error that a verdict from pairs in both orders may have.
_LEVEL = 0.01


@dataclass(frozen=True, eq=False)
class Targets:
    """Numbers for the rows: -1.0 and +1.0 for two labels, as they are for real targets.

    ``labels`` are the values that -1.0 and +1.0 stand for, one of them where all rows have the
    same; None for real targets.
    """

    values: NDArray[np.float64]
    labels: NDArray[Any] | None

    @property
    def are_labels(self) -> bool:
        """Whether the targets are labels."""
        return self.labels is not None

    @property
    def one_label(self) -> bool:
        """Whether all rows have the same label."""
        return self.labels is not None and len(self.labels) == 1


def read_targets(y: Any, n_pairs: int) -> Targets:
    """Two values (or one) are labels, more are real targets."""
    refuse_lossy(y, "y")
    values = column_or_1d(y)
    if len(values) != n_pairs:
        raise ValueError(
            f"got {len(values)} labels or targets for {n_pairs} pairs; expected one per pair."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("got NaN or infinity in y; expected numbers: drop or fill those rows.")
    labels = distinct_labels(values, "y")
    if len(labels) <= 2:
        return Targets(np.where(values == labels[-1], 1.0, -1.0), labels)
    if values.dtype.kind not in "iuf":
        raise ValueError(
            f"got {len(labels)} labels {labels[:5].tolist()}; expected two labels, or numbers: leave"
            " draws out, or write outcomes as numbers such as -1, 0 and 1."
        )
    with np.errstate(over="ignore"):  # beyond float64 is too large as well
        numbers = values.astype(np.float64)
    refuse_large_targets(numbers)
    return Targets(numbers, None)


@dataclass(frozen=True)
class MirroredPairs:
    """Observations of the same two objects in both orders, matched one to one.

    Two labels agree when they are equal.  Two numbers agree when they are on the same side of
    the median of all that are compared; one that is equal to it says nothing.

    Attributes
    ----------
    n_pairs : int
        Unordered pairs that were observed in both orders.
    n_agree, n_opposite : int
        Matches, one observation in each order, that agree and that are opposite.
    p_value : float
        Exact two-sided binomial test of agreement against one half, the rate for a function
        whose even and odd parts are equally strong; 1.0 without matches.
    """

    n_pairs: int
    n_agree: int
    n_opposite: int
    p_value: float

    @property
    def n_matches(self) -> int:
        """Matches that say something."""
        return self.n_agree + self.n_opposite

    @property
    def leans(self) -> str | None:
        """Which law most matches speak for, if any."""
        if self.n_agree == self.n_opposite:
            return None
        return "symmetric" if self.n_agree > self.n_opposite else "antisymmetric"

    def __str__(self) -> str:
        if not self.n_pairs:
            return "no pair was observed in both orders"
        if not self.n_matches:
            return f"{self.n_pairs} pairs were observed in both orders, but say nothing"
        return (
            f"{self.n_pairs} pairs were observed in both orders: {self.n_agree} of {self.n_matches}"
            f" matches agree, {self.n_opposite} are opposite (exact binomial test against one half:"
            f" p = {self.p_value:.2g})"
        )


def compare_mirrored(ends: Ends, targets: Targets) -> MirroredPairs:
    """Match observations of each unordered pair in its two orders, and count."""
    there, back = match_orders(ends)
    n_pairs = len(np.unique(ends.unordered()[there]))
    compared = targets.values[np.concatenate([there, back])]
    middle = 0.0 if targets.are_labels or not len(compared) else float(np.median(compared))
    product = np.sign(targets.values[there] - middle) * np.sign(targets.values[back] - middle)
    n_agree, n_opposite = int(np.sum(product > 0)), int(np.sum(product < 0))
    total = n_agree + n_opposite
    p_value = float(binomtest(n_agree, total).pvalue) if total else 1.0
    return MirroredPairs(n_pairs, n_agree, n_opposite, p_value)


def match_orders(ends: Ends) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows (a, b) and rows (b, a) matched one to one, in the order of the rows."""
    forward = np.flatnonzero(ends.first < ends.second)
    backward = np.flatnonzero(ends.first > ends.second)
    unordered = ends.unordered()
    left, right = (_with_rank(unordered[rows], len(ends)) for rows in (forward, backward))
    _, there, back = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return forward[there], backward[back]


def _with_rank(codes: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Unique numbers: the code, and which occurrence of it this is."""
    order = np.argsort(codes, kind="stable")
    ordered, rank = codes[order], np.empty_like(codes)
    rank[order] = np.arange(len(codes)) - np.searchsorted(ordered, ordered)
    return codes * (most + 1) + rank


@dataclass(frozen=True)
class Verdict:
    """The law, and why."""

    name: str  # "symmetric", "antisymmetric", "mixed" or "undecided"
    sentence: str


def decide(targets: Targets, mirrored: MirroredPairs, comparison: Comparison) -> Verdict:
    """Weigh pairs seen in both orders and models on pairs held out."""
    if targets.one_label:
        return _winner_first(targets, comparison)
    learned = _from_models(comparison)
    seen = mirrored.leans if mirrored.p_value < _LEVEL else None
    if learned is None and seen is None:
        return Verdict("undecided", _undecided(comparison))
    if learned is None:
        what = "agree" if seen == "symmetric" else "are opposite"
        return Verdict(
            str(seen),
            f"labels of pairs that were observed in both orders {what}, though no model learned enough"
            f" from the features to confirm it: use symmetry={seen!r}.",
        )
    if learned == "mixed":
        return Verdict("mixed", _mixed(comparison))
    if seen is not None and seen != learned:
        return Verdict(
            "mixed",
            f"pairs observed in both orders speak for the {seen} law, models on held-out pairs for the"
            f" {learned} one: both parts are there; use symmetry='none' with Mixed(kernel), or find"
            " out what the order of writing stands for.",
        )
    return Verdict(learned, _pure(learned, targets, comparison))


def _from_models(comparison: Comparison) -> str | None:
    """The simplest model that no other beats; None where nothing was learned or all are alike."""
    better = comparison.is_better
    if all(better("mixed", other) for other in ("symmetric", "antisymmetric", "constant")):
        return "mixed"
    for law, other in (("symmetric", "antisymmetric"), ("antisymmetric", "symmetric")):
        if all(better(law, weaker) for weaker in (other, "nothing", "constant")):
            return law
    return None


def _pure(law: str, targets: Targets, comparison: Comparison) -> str:
    article, other = ("a", "antisymmetric") if law == "symmetric" else ("an", "symmetric")
    mine, theirs = comparison.scores[law], comparison.scores[other]
    if targets.are_labels:
        shown = f"{100.0 * mine.share_right:.1f} % of the labels of held-out pairs right"
        against = f"{100.0 * theirs.share_right:.1f} %"
    else:
        shown = f"a mean squared error of {mine.error:.4g} on held-out pairs"
        against = f"{theirs.error:.4g}"
    return (
        f"{article} {law} model has {shown}, against {against} for the {other} one, and a mixture of"
        f" both laws is not better: use symmetry={law!r}."
    )


def _mixed(comparison: Comparison) -> str:
    even, odd = comparison.strengths
    what = "an antisymmetric model with a constant advantage for the object written first"
    use = ""
    if even != 0.0:
        what = f"a model with both an even and an odd part (odd share {comparison.odd_share:.0%})"
        use = f": use symmetry='none' with Mixed(kernel, even={even:.2g}, odd={odd:.2g})"
    text = f"{what} predicts held-out pairs better than either law alone{use}."
    if even == 0.0 or comparison.is_better("antisymmetric + order", "antisymmetric"):
        text += (
            " Who is written first has an advantage of its own: if that is a role (host, white"
            " pieces, buyer), an antisymmetric feature of +1 in every row says so, and"
            " symmetry='antisymmetric' can be used with it."
        )
    return text


def _undecided(comparison: Comparison) -> str:
    if not any(
        comparison.is_better(name, "constant") and comparison.is_better(name, "nothing")
        for name in ("symmetric", "antisymmetric", "mixed")
    ):
        return (
            "no model learned anything from the features that holds on other pairs, and too few"
            " pairs were observed in both orders: use what the task means, better features, or"
            " more pairs."
        )
    return (
        "models of either law do equally well on held-out pairs, and too few pairs were observed in"
        " both orders: use what the task means, or more pairs."
    )


def _winner_first(targets: Targets, comparison: Comparison) -> Verdict:
    """All labels are the same: if anything is known, the order of writing is the answer."""
    assert targets.labels is not None
    label = targets.labels[:1].tolist()[0]
    rows = np.unique(comparison.units, return_index=True)[1]
    ahead = comparison.scores["antisymmetric"].predictions[rows] > 0
    n_right, n = int(np.sum(ahead == (comparison.targets[rows] > 0))), len(rows)
    told = (
        f"all labels are {label!r}, so the order in which pairs are written is the label (winner"
        f" first, say): an antisymmetric model tells the order of {n_right} of {n} held-out pairs"
    )
    if binomtest(n_right, n, alternative="greater").pvalue < _LEVEL:
        return Verdict("antisymmetric", f"{told}: use symmetry='antisymmetric'.")
    return Verdict(
        "undecided",
        f"{told}, no better than chance: if the order means nothing, pairs with the other label are"
        " missing.",
    )
