"""The numbers of a report, apart from how they are found and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from pairity.pairs.arrays import Vector
from pairity.runtime.validation import check_count


@dataclass(frozen=True)
class Estimate:
    """A figure and its standard error; ``None`` where there is none."""

    value: float
    error: float | None = None


@dataclass(frozen=True)
class Setting:
    """How good the model is on pairs of one kind.

    ``figures`` and ``guess`` (what a model that knows nothing would reach) have the same names:
    accuracy, AUC and log-loss of a classifier, R2 and errors of a regressor.  Without figures,
    ``note`` says why.
    """

    key: str  # "seen" or "later", "one_new", "both_new", "given"
    name: str
    figures: dict[str, Estimate]
    guess: dict[str, float]
    n_pairs: int = 0
    n_train: int = 0  # mean over folds
    n_folds: int = 0
    note: str = ""
    rule: str = ""  # what the guess goes by, where it is better than even odds


@dataclass(frozen=True)
class MemberFacts:
    """One member of an automatic model: its weight, its loss, and what the whole gains by it."""

    name: str
    weight: float
    loss: float
    gain: float | None  # loss of the others together, minus that of the whole


@dataclass(frozen=True)
class ModelFacts:
    """What the model is."""

    estimator: str
    symmetry: str
    kernel: str
    strength: str  # "C = 10"
    kind: str  # "labels", "draws" or "numbers"
    labels: tuple[str, ...]  # names, the positive one last
    n_support: int
    features: str = ""  # of objects in low-rank models, and what they lose


@dataclass(frozen=True)
class Observed:
    """What the model was trained on."""

    n_pairs: int
    n_distinct: int  # unordered
    n_objects: int
    n_features: tuple[int, int, int]  # of objects, symmetric, antisymmetric
    label_counts: tuple[tuple[str, int], ...]  # of a classifier
    target_range: tuple[float, float, float] | None  # lowest, mean, highest of a regressor


@dataclass(frozen=True)
class Notice:
    """Something about the data, or about the report, that a reader should know."""

    weight: str  # "warning" or "note"
    title: str
    text: str


@dataclass(frozen=True)
class ReliabilityBin:
    """Predicted and observed frequency of pairs with about the same probability."""

    predicted: float
    observed: float
    lower: float
    upper: float
    count: int


@dataclass(frozen=True)
class Reliability:
    """Reliability diagram of held-out probabilities, or held-out means of a regressor."""

    bins: tuple[ReliabilityBin, ...]
    error: float  # mean distance of observed from predicted
    brier: float | None
    setting: str


@dataclass(frozen=True)
class Distribution:
    """Held-out scores by label: pairs in bins of equal width, one held out k times 1/k each time."""

    edges: tuple[float, ...]
    counts: dict[str, tuple[float, ...]]
    setting: str
    score: str  # what the scores are


@dataclass(frozen=True)
class RankedObject:
    """One line of a ranking."""

    name: str
    rank: int
    score: float
    lower: float | None
    upper: float | None
    win_share: float
    n_observed: int
    part: int = 0
    best_rank: int | None = None
    worst_rank: int | None = None
    tied: str | None = None


@dataclass(frozen=True)
class Cycle:
    """Each ahead of the next, the last ahead of the first, by at least ``strength``."""

    names: tuple[str, ...]
    strength: float


@dataclass(frozen=True)
class HodgeShares:
    """Shares of the squared margins; they add up to 1."""

    ranking: float
    triangles: float
    longer: float


@dataclass(frozen=True)
class RankingFacts:
    """Objects, best first, and what no ranking can explain."""

    objects: tuple[RankedObject, ...]
    shares: HodgeShares
    cycles: tuple[Cycle, ...]
    n_triangles: int
    n_cyclic: int
    n_parts: int
    level: float | None  # of the intervals
    n_refits: int
    note: str
    ahead: str = ""  # what says that the first object is ahead


@dataclass(frozen=True)
class Period:
    """Scores of pairs that were foretold from all pairs before them."""

    start: float
    n_pairs: int
    scores: dict[str, float]


@dataclass(frozen=True)
class Trajectory:
    """Strength of an object at several moments, and the ends of its intervals."""

    name: str
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]


@dataclass(frozen=True)
class TimeFacts:
    """Scores period by period, and strengths of leaders over time."""

    dates: bool  # whether times are days since 1970
    periods: tuple[Period, ...]
    moments: tuple[float, ...]
    level: float | None  # of the intervals
    lines: tuple[Trajectory, ...] = ()


@dataclass(frozen=True)
class GroupFacts:
    """Groups of matching objects, the largest first; those of one object are only counted."""

    groups: tuple[tuple[str, ...], ...]
    n_single: int
    n_objects: int
    threshold: float
    note: str


@dataclass(frozen=True, eq=False)
class Matrix:
    """Predictions for all pairs of some objects, in their order; NaN where there is none."""

    names: tuple[str, ...]
    values: Vector  # (m, m), row against column
    blocks: tuple[int, ...]  # group or connected part of each object
    quantity: str  # "probability" or "value"
    order: str  # "rank" or "cluster"
    note: str


@dataclass(frozen=True)
class FeatureDrop:
    """What the score loses when a feature is shuffled."""

    name: str
    kind: str  # "object", "symmetric", "antisymmetric"
    mean: float
    spread: float


@dataclass(frozen=True)
class InfluentialPair:
    """Training pairs of one outcome, and the mean size of what they add to decisions."""

    first: str
    second: str
    label: str
    influence: float
    share: float  # of the influence of all training pairs
    times: int = 1  # rows that say the same


@dataclass(frozen=True)
class SurprisingPair:
    """A pair whose held-out prediction is far from what happened."""

    first: str
    second: str
    label: str
    predicted: float
    surprise: float


@dataclass(frozen=True)
class SearchCurve:
    """Mean held-out score over the strengths that were tried, for one kernel."""

    kernel: str
    strengths: tuple[float, ...]
    means: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class SearchFacts:
    """How a tuned model came to its kernel and strength."""

    scoring: str
    strength: str  # "C" or "alpha"
    best: float
    best_kernel: int  # which of the curves
    curves: tuple[SearchCurve, ...]
    weights: tuple[tuple[str, float], ...]  # of kernel families
    family_losses: tuple[tuple[str, float], ...]
    n_splits: int
    edge: str = ""  # that the best strength is the last one tried, in words


@dataclass(frozen=True)
class CertificateFacts:
    """How far the fit is from the optimum."""

    primal: float
    dual: float
    relative_gap: float
    violation: float
    tol: float
    holds: bool
    measure: str = "KKT violation"  # what the violation is


@dataclass(frozen=True)
class SwapCheck:
    """The swap law, evaluated with ``==``."""

    law: str
    n_pairs: int
    n_violations: int
    n_alone: int  # of them asked one at a time
    n_self: int  # pairs (a, a), which must be 0.0
    n_probabilities: int
    largest_miss: float

    @property
    def holds(self) -> bool:
        """Whether no pair breaks it."""
        return self.n_violations == 0


@dataclass(frozen=True, eq=False)
class ReportData:
    """Everything that a report says, as plain values.

    Parts that do not apply (a ranking of a symmetric model), or that could not be found, are
    ``None`` or empty; ``notices`` then say why.
    """

    title: str
    model: ModelFacts
    observed: Observed
    settings: tuple[Setting, ...]
    reliability: Reliability | None
    distribution: Distribution | None
    ranking: RankingFacts | None
    groups: GroupFacts | None
    matrix: Matrix | None
    features: tuple[FeatureDrop, ...]
    features_note: str
    influential: tuple[InfluentialPair, ...]
    surprising: tuple[SurprisingPair, ...]
    search: SearchFacts | None
    certificate: CertificateFacts | None
    swap: SwapCheck | None
    notices: tuple[Notice, ...]
    version: str
    features_score: str = ""  # what the drops are drops of
    members: tuple[MemberFacts, ...] = ()
    time: TimeFacts | None = None


@dataclass(frozen=True)
class Limits:
    """Sizes at which a report draws a sample instead; it says so wherever it does.

    All limits are numbers, none is a time, so that the same seed gives the same page on a busy
    machine too.

    Attributes
    ----------
    pairs : int
        Pairs that are validated on: a random share of the unordered pairs, where there are more.
        Intervals of the ranking are left out then: they would be those of a smaller set.
    folds : int
        Folds of each setting; fewer where there are too few objects.
    objects : int
        Objects that are ranked or grouped, those observed most often.
    shown : int
        Objects of the matrix.
    refits : int
        Models fitted without a part of the pairs, for the intervals of the ranking.
    shuffles : int
        Times that each feature is shuffled.
    features : int
        Object features that are shuffled one by one; more are shuffled all together.
    explained : int
        Pairs whose decisions are taken apart, and pairs that importance is measured on.
    """

    pairs: int = 4000
    folds: int = 5
    objects: int = 150
    shown: int = 60
    refits: int = 10
    shuffles: int = 3
    features: int = 40
    explained: int = 400

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            check_count(getattr(self, name), name)
        if self.folds < 2 or self.refits < 2:
            raise ValueError(f"got {self}; expected at least 2 folds and 2 refits.")
