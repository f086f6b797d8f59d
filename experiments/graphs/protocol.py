"""One seed of one task: hold pairs out, choose C and setting by inner folds, test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from experiments.graphs.baselines import BASELINES
from experiments.graphs.candidates import CANDIDATES, Candidate, described
from experiments.graphs.known import Draw, Known, Task
from pairity import PairSVC
from pairity.kernels import Kernel
from pairity.model_selection import PairKFold, PairShuffleSplit

#: The grid of C, the same for every kernel.
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
TEST_SHARE, FOLDS = 0.5, 3


@dataclass(frozen=True)
class Score:
    """One method on one seed; AUC in the symmetric case alone."""

    task: str
    seed: int
    method: str
    accuracy: float
    auc: float | None
    C: float | None = None
    setting: object = None

    def to_dict(self) -> dict:
        """As it is written to the file of results."""
        return asdict(self)


@dataclass(frozen=True)
class Sizes:
    """How much there was to learn from, and to test on."""

    task: str
    seed: int
    nodes: int
    training: int
    test: int
    positive: float  # share among the test pairs


def run_seed(task: Task, data: object, seed: int) -> tuple[Sizes, list[Score]]:
    """All methods on one draw and one split."""
    draw = task.draw(data, np.random.default_rng([seed, 0]))
    train, test = split(draw, seed)
    known = Known.of(task, draw, train)
    scores = []
    for baseline in BASELINES:
        decisions = baseline.decide(known)[test]
        scores.append(_score(task, draw, seed, baseline.name, decisions, test))
    for candidate in CANDIDATES:
        setting, C = choose(candidate, task, draw, train, seed)
        seen = described(candidate, known)
        decisions = decide(candidate.kernel(seen, setting), seen, [C], test)[0]
        scores.append(_score(task, draw, seed, candidate.name, decisions, test, C, setting))
    positive = float(np.mean(draw.y[test] > 0.0))
    sizes = Sizes(task.name, seed, draw.pairs.n_objects, len(train), len(test), positive)
    return sizes, scores


def split(draw: Draw, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of training and test pairs; a test pair has two nodes that training pairs have."""
    splitter = PairShuffleSplit(1, test_size=TEST_SHARE, identity="rows", random_state=seed)
    return next(iter(splitter.split(draw.pairs)))


def choose(
    candidate: Candidate, task: Task, draw: Draw, train: np.ndarray, seed: int
) -> tuple[Any, float]:
    """Setting and C with the best mean over inner folds; the first, smallest C where several are.

    Features are made anew from the training pairs of each fold, so the labels of the pairs that
    validate are as unknown there as those of the test pairs are in the end.
    """
    folds = [
        (described(candidate, Known.of(task, draw, inner)), held)
        for inner, held in inner_folds(task, draw, train, seed)
    ]
    validations = np.zeros((len(candidate.settings), len(PENALTIES)))
    for row, setting in enumerate(candidate.settings):
        for seen, held in folds:
            decisions = decide(candidate.kernel(seen, setting), seen, PENALTIES, held)
            validations[row] += [measure(task, draw.y[held], values) for values in decisions]
    row, column = np.unravel_index(np.argmax(np.round(validations, 9)), validations.shape)
    return candidate.settings[row], PENALTIES[column]


def inner_folds(
    task: Task, draw: Draw, train: np.ndarray, seed: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows to learn from and rows to validate on, all of them training pairs."""
    folds = PairKFold(
        FOLDS,
        new=(0, 1, 2),
        stratify=task.symmetry == "symmetric",
        identity="rows",
        random_state=seed,
    )
    for inner, held in folds.split(draw.pairs[train], draw.y[train]):
        yield train[inner], train[held]


def decide(
    kernel: Kernel, seen: Known, penalties: Sequence[float], rows: np.ndarray
) -> list[np.ndarray]:
    """Decision values of some pairs, for each C."""
    learned, labels, asked = seen.pairs[seen.rows], seen.labels[seen.rows], seen.pairs[rows]
    machines = (PairSVC(seen.symmetry, kernel=kernel, C=C).fit(learned, labels) for C in penalties)
    return [machine.decision_function(asked) for machine in machines]


def measure(task: Task, y: np.ndarray, decisions: np.ndarray) -> float:
    """What the task is judged by."""
    return accuracy(y, decisions) if task.measure == "accuracy" else auc(y, decisions)


def accuracy(y: np.ndarray, decisions: np.ndarray) -> float:
    """Share of signs that are right; a decision of exactly 0 counts one half."""
    return float(np.mean(np.where(decisions == 0.0, 0.5, np.sign(decisions) == y)))


def auc(y: np.ndarray, decisions: np.ndarray) -> float:
    """Share of (positive, negative) couples in the right order; equal decisions count one half."""
    positive = y > 0.0
    n_positive, n_negative = np.count_nonzero(positive), np.count_nonzero(~positive)
    above = rankdata(decisions)[positive].sum() - n_positive * (n_positive + 1) / 2.0
    return float(above / (n_positive * n_negative))


def _score(
    task: Task,
    draw: Draw,
    seed: int,
    method: str,
    decisions: np.ndarray,
    test: np.ndarray,
    C: float | None = None,
    setting: object = None,
) -> Score:
    y = draw.y[test]
    area = auc(y, decisions) if task.symmetry == "symmetric" else None
    return Score(task.name, seed, method, accuracy(y, decisions), area, C, setting)
