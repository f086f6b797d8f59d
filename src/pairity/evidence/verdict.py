"""From evidence to a verdict and a sentence that says what to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from pairity.evidence.comparison import Comparison
from pairity.evidence.mirrored import MirroredPairs
from pairity.evidence.targets import Targets

__all__ = ["Verdict", "decide"]

#: Chance of an error that a verdict from pairs in both orders may have.
_LEVEL = 0.01


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
        return Verdict(str(seen), _from_mirrored_alone(str(seen)))
    if seen is not None and learned != "mixed" and seen != learned:
        return Verdict("mixed", _contradiction(seen, learned))
    if learned == "mixed":
        return Verdict("mixed", _mixed(comparison))
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


def _percent(comparison: Comparison, name: str) -> str:
    return f"{100.0 * comparison.scores[name].share_right:.1f} %"


def _error(comparison: Comparison, name: str) -> str:
    return f"{comparison.scores[name].error:.4g}"


def _pure(law: str, targets: Targets, comparison: Comparison) -> str:
    other = "antisymmetric" if law == "symmetric" else "symmetric"
    if targets.are_labels:
        shown = (
            f"{_percent(comparison, law)} of the labels of held-out pairs right, against"
            f" {_percent(comparison, other)} for the {other} one"
        )
    else:
        shown = (
            f"a mean squared error of {_error(comparison, law)} on held-out pairs, against"
            f" {_error(comparison, other)} for the {other} one"
        )
    article = "a symmetric" if law == "symmetric" else "an antisymmetric"
    return (
        f"{article} model has {shown}, and a mixture of both laws is not better: use"
        f" symmetry={law!r}."
    )


def _mixed(comparison: Comparison) -> str:
    even, odd = comparison.strengths
    if even == 0.0:
        what = "an antisymmetric model with a constant advantage for the object written first"
        use = ""
    else:
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


def _from_mirrored_alone(law: str) -> str:
    what = "agree" if law == "symmetric" else "are opposite"
    return (
        f"labels of pairs that were observed in both orders {what}, though no model learned enough"
        f" from the features to confirm it: use symmetry={law!r}."
    )


def _contradiction(seen: str, learned: str) -> str:
    return (
        f"pairs observed in both orders speak for the {seen} law, models on held-out pairs for the"
        f" {learned} one: both parts are there; use symmetry='none' with Mixed(kernel), or find out"
        " what the order of writing stands for."
    )


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
    units, rows = np.unique(comparison.units, return_index=True)
    right = comparison.scores["antisymmetric"].predictions[rows] > 0
    n_right, n = int(np.sum(right == (comparison.targets[rows] > 0))), len(units)
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
