"""parity_report: does the data say symmetric, antisymmetric or mixed?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pairity.inspection.comparison import BASELINES, MODELS, Comparison, compare_models
from pairity.inspection.fitted_function import as_frame, require_pairs
from pairity.inspection.verdict import MirroredPairs, compare_mirrored, decide, read_targets
from pairity.kernels import Gaussian, Linear, Standardized
from pairity.kernels.algebra import Kernel
from pairity.kernels.resolve import as_kernel
from pairity.model_selection.splitter import PairKFold
from pairity.pairs.data import Pairs
from pairity.pairs.same_objects import ends_of
from pairity.runtime.validation import check_count

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
    values = targets.values[chosen]
    folds = cv.split(sample, values, groups)
    comparison = compare_models(_kernels(kernel, sample), sample, values, units, folds)
    verdict = decide(targets, mirrored, comparison)
    return ParityReport(
        verdict=verdict.name,
        sentence=verdict.sentence,
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


def _kernels(kernel: Any, sample: Pairs) -> list[Kernel]:
    if isinstance(kernel, str) and kernel == "auto":
        kernels: list[Kernel] = [Standardized(Linear()), Standardized(Gaussian("median"))]
    else:
        kernels = [as_kernel(kernel).detached()]
    return [kernel.fitted_to(sample) for kernel in kernels]


def _default_splitter(units: NDArray[np.intp], identity: str, random_state: Any) -> PairKFold:
    n_unordered = len(np.unique(units))
    if n_unordered < 2:
        raise ValueError(
            f"got {len(units)} observations of one unordered pair; expected at least 2 different"
            " pairs, to hold one out."
        )
    n_folds = min(5, n_unordered)
    return PairKFold(n_folds, new=(0, 1, 2), identity=identity, random_state=random_state)
