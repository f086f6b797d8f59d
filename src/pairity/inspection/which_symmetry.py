"""parity_report: does the data say symmetric, antisymmetric or mixed, and what to do?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from pairity.inspection.comparison import (
    BASELINES,
    MODELS,
    Comparison,
    MirroredPairs,
    Targets,
    compare_mirrored,
    compare_models,
    read_targets,
)
from pairity.inspection.fitted_function import as_frame, require_pairs
from pairity.kernels import Gaussian, Linear, Standardized
from pairity.kernels.algebra import Kernel
from pairity.kernels.standardized import as_kernel
from pairity.model_selection.splitter import PairKFold
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of
from pairity.runtime.resources import one_blas_thread
from pairity.runtime.validation import check_count

#: Chance of an error that a verdict from pairs in both orders may have.
_LEVEL = 0.01
_SYMMETRY_OF = {"symmetric": "symmetric", "antisymmetric": "antisymmetric", "mixed": "none"}


@dataclass(frozen=True, eq=False)
class ParityReport:
    """What the data say about their behaviour under a swap.

    Attributes
    ----------
    verdict : {"symmetric", "antisymmetric", "mixed", "undecided"}
        The law that the evidence speaks for; ``sentence`` says why, and what to do.
    mirrored : MirroredPairs
        Pairs that were observed in both orders: counts and an exact test.
    comparison : Comparison
        Models of each kind on the same held-out pairs.
    are_labels, one_label : bool
        Whether the targets are two labels (or one), not real numbers; whether all are the same.
    n_pairs, n_compared : int
        Rows given, and rows that the models were compared on.
    """

    verdict: str
    sentence: str
    mirrored: MirroredPairs
    comparison: Comparison
    are_labels: bool
    one_label: bool
    n_pairs: int
    n_compared: int

    @property
    def symmetry(self) -> str | None:
        """What to pass as ``symmetry``: "none" for mixed data, None where nothing was decided."""
        return _SYMMETRY_OF.get(self.verdict)

    def table(self) -> list[dict[str, Any]]:
        """One line for each model: its error, and how much more that is than the best model's.

        ``share_right`` is there for labels; ``difference`` and ``standard_error`` are of squared
        errors, paired by unordered pair.
        """
        scores = self.comparison.scores
        best = min(MODELS, key=lambda name: scores[name].error)
        lines = []
        for name in (*BASELINES, *MODELS):
            difference = self.comparison.difference(name, best)
            right = {"share_right": scores[name].share_right} if self.are_labels else {}
            gap = {"difference": difference.mean, "standard_error": difference.standard_error}
            lines.append({"model": name, "error": scores[name].error, **right, **gap})
        return lines

    def to_frame(self) -> Any:
        """:meth:`table` in pandas."""
        table = self.table()
        return as_frame({name: [line[name] for line in table] for name in table[0]})

    def __str__(self) -> str:
        n_held = len(self.comparison.targets)
        held = f"{self.n_compared} of {self.n_pairs} pairs, {n_held} predictions of held-out ones"
        lines = [
            f"{self.verdict.upper()}: {self.sentence}",
            f"Pairs in both orders: {self.mirrored}.",
            f"Models of the same kernel ({held}; difference to the best, paired):",
        ]
        if self.one_label:
            lines.append(
                "  (all labels are the same: whatever has a constant is right by it alone)"
            )
        for line in self.table():
            right = f"{100 * line['share_right']:7.1f} %" if self.are_labels else ""
            gap = f"  {line['difference']:+.4f} ± {line['standard_error']:.4f}"
            gap = "" if line["difference"] == 0.0 else gap
            lines.append(f"  {line['model']:<22}{line['error']:10.4f}{right}{gap}")
        return "\n".join(lines)


def parity_report(
    pairs: Pairs,
    y: Any,
    *,
    kernel: Any = "auto",
    cv: Any = None,
    groups: Any = None,
    identity: str = "auto",
    max_pairs: int = 600,
    random_state: Any = 0,
) -> ParityReport:
    """Say whether the data are symmetric, antisymmetric or mixed, and show the evidence.

    Two kinds of evidence are weighed.  Pairs observed in both orders: labels that agree speak for
    symmetry, opposite ones for antisymmetry.  And models: symmetric, antisymmetric, mixed and
    without a law, of the same kernel, are fitted to the same training pairs and compared on the
    pairs held out; a pair and its mirror image are never on two sides.  Rows may be written in any
    order.  Where all labels are equal (winner first), the order is taken as the label.

    Parameters
    ----------
    pairs : Pairs
        Pairs, in the order in which they are written.
    y : array-like of shape (n,)
        Two labels (or one), or real targets.
    kernel : Kernel, str or "auto"
        Kernel of pairs with an even and an odd part.  "auto" is a linear and a Gaussian one, on
        standardised features.
    cv : splitter, optional
        How pairs are held out; 5 folds of unordered pairs by default.
    groups : array-like of shape (n,), optional
        Pairs that are held out together (a traveller's choices), passed to the splitter.
    identity : {"auto", "ids", "content", "rows"}
        Which rows are the same object; see :mod:`pairity.pairs.same_objects`.
    max_pairs : int
        Rows that models are compared on, drawn at random as whole unordered pairs: time grows
        with the cube of it.
    random_state : int
        Seed of the draw and of the folds.

    Examples
    --------
    >>> from pairity import parity_report
    >>> from pairity.datasets import make_tournament
    >>> games = make_tournament(21, "cyclic")
    >>> parity_report(games.pairs, games.y).verdict
    'antisymmetric'
    """
    require_pairs(pairs)
    check_count(max_pairs, "max_pairs", 10)
    if not len(pairs):
        raise ValueError("got 0 pairs; expected some to look at.")
    pairs.refuse_large()
    targets = read_targets(y, len(pairs))
    ends = ends_of(pairs, identity)
    mirrored = compare_mirrored(ends, targets)
    chosen = _drawn(ends.unordered(), int(max_pairs), random_state)
    sample = pairs[chosen].without_unused_objects()
    units = np.unique(ends.unordered()[chosen], return_inverse=True)[1].reshape(-1)
    if cv is None:
        cv = _default_splitter(units, identity, random_state)
    if not hasattr(cv, "split") or isinstance(cv, str):
        raise ValueError(
            f"got cv={cv!r}; expected a splitter of pairity.model_selection, such as PairKFold(5),"
            " or None."
        )
    if groups is not None:
        groups = np.asarray(groups)
        if groups.shape != (len(pairs),):
            raise ValueError(
                f"got groups of shape {groups.shape} for {len(pairs)} pairs; expected one per pair."
            )
        groups = groups[chosen]
    kernels: list[Kernel] = [Standardized(Linear()), Standardized(Gaussian("median"))]
    if not (isinstance(kernel, str) and kernel == "auto"):
        kernels = [as_kernel(kernel).detached()]
    values = targets.values[chosen]
    folds = cv.split(sample, values, groups)
    with one_blas_thread():  # small matrices: more threads only wait for each other
        fitted = [one.fitted_to(sample) for one in kernels]
        comparison = compare_models(fitted, sample, values, units, folds)
    verdict, sentence = _decide(targets, mirrored, comparison)
    return ParityReport(
        verdict=verdict,
        sentence=sentence,
        mirrored=mirrored,
        comparison=comparison,
        are_labels=targets.are_labels,
        one_label=targets.one_label,
        n_pairs=len(pairs),
        n_compared=len(chosen),
    )


def _drawn(units: NDArray[np.intp], most: int, random_state: Any) -> NDArray[np.intp]:
    """Rows of unordered pairs drawn at random, as long as they fit."""
    if len(units) <= most:
        return np.arange(len(units))
    generator = np.random.default_rng(random_state)
    turn = generator.permutation(int(units.max()) + 1)[units]  # of each row's pair in the draw
    order = np.argsort(turn, kind="stable")
    kept = order[:most]
    whole = turn[kept] < turn[order[most]]  # not half of a pair
    return np.sort(kept[whole] if whole.any() else kept)


def _default_splitter(units: NDArray[np.intp], identity: str, random_state: Any) -> PairKFold:
    n_unordered = len(np.unique(units))
    if n_unordered < 2:
        raise ValueError(
            f"got {len(units)} observations of one unordered pair; expected at least 2 different"
            " pairs, to hold one out."
        )
    n_folds = min(5, n_unordered)
    return PairKFold(n_folds, new=(0, 1, 2), identity=identity, random_state=random_state)


def _decide(targets: Targets, mirrored: MirroredPairs, comparison: Comparison) -> tuple[str, str]:
    """The law and why: weigh pairs seen in both orders and models on pairs held out."""
    if targets.one_label:
        return _winner_first(targets, comparison)
    learned = _from_models(comparison)
    seen = mirrored.leans if mirrored.p_value < _LEVEL else None
    if learned is None and seen is None:
        return ("undecided", _undecided(comparison))
    if learned is None:
        what = "agree" if seen == "symmetric" else "are opposite"
        return (
            str(seen),
            f"labels of pairs that were observed in both orders {what}, though no model learned enough"
            f" from the features to confirm it: use symmetry={seen!r}.",
        )
    if learned == "mixed":
        return ("mixed", _mixed(comparison))
    if seen is not None and seen != learned:
        return (
            "mixed",
            f"pairs observed in both orders speak for the {seen} law, models on held-out pairs for the"
            f" {learned} one: both parts are there; use symmetry='none' with Mixed(kernel), or find"
            " out what the order of writing stands for.",
        )
    return (learned, _pure(learned, targets, comparison))


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
    text = (
        f"{what} predicts held-out pairs better than either law alone{use}. Where the question itself"
        " has a law (are these two the same?), use that law, whatever the order of writing tells."
    )
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


def _winner_first(targets: Targets, comparison: Comparison) -> tuple[str, str]:
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
        return ("antisymmetric", f"{told}: use symmetry='antisymmetric'.")
    return (
        "undecided",
        f"{told}, no better than chance: if the order means nothing, pairs with the other label are"
        " missing.",
    )
