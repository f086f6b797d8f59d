"""Which one is preferred, or is further on?  Answers of language models, train offers, patients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

from experiments.quality.task import Task
from pairity import Pairs
from pairity.datasets import load_train_choice
from pairity.model_selection import ObjectKFold, ObjectShuffleSplit, PairKFold

#: Pairs of patients drawn, once.
PATIENT_PAIRS = 12_000
#: Words that open a refusal or an excuse.
_EXCUSES = r"\b(?:sorry|cannot|can't|unable|as an ai)\b"

_ANSWER_FEATURES = (
    "log length",
    "log words",
    "lines",
    "log duration",
    "log rate",
    "empty",
    "excuse",
    "letters",
    "words of the prompt",
    "log size",
    "size unknown",
)


def votes(folder: Path) -> Task:
    """Votes between answers of two language models; who answered is known."""
    folder = folder / "antisymmetric_llmfao"
    cast = pd.read_csv(folder / "comparisons.csv")
    cast = cast[cast.y != 0].reset_index(drop=True)
    answers = pd.read_csv(folder / "responses.csv")
    prompts = pd.read_csv(folder / "prompts.csv").set_index("id")
    names = pd.read_csv(folder / "models.csv").drop_duplicates("id").set_index("id").name
    place = {(row.model, row.prompt): number for number, row in enumerate(answers.itertuples())}
    kinds = pd.get_dummies(prompts.type.loc[cast.prompt].reset_index(drop=True))
    pairs = Pairs(
        _answer_features(answers, prompts, names),
        [place[key] for key in zip(cast.model_x, cast.prompt, strict=True)],
        [place[key] for key in zip(cast.model_y, cast.prompt, strict=True)],
        symmetric=kinds.to_numpy(dtype=float),
        ids=names[answers.model].to_numpy(dtype=str),
    )
    return Task(
        name="votes",
        question="which of two language models gave the better answer?",
        symmetry="antisymmetric",
        setting="both seen",
        pairs=pairs,
        y=cast.y.to_numpy(dtype=np.int64),
        outer=PairKFold(5),
        inner=PairKFold(3, random_state=1),
        why="all votes on two models, whatever the prompt, are on one side",
        features=(
            "length, speed, excuses, overlap with the prompt, size of the model; kind of prompt"
        ),
        identities=True,
        n_splits=5,
        feature_names=_ANSWER_FEATURES,
    )


def new_model(folder: Path) -> Task:
    """The same votes, for a model that was never voted on against models that were."""
    return replace(
        votes(folder),
        name="new-model",
        question="how does a new language model fare against known ones?",
        setting="one new",
        outer=ObjectKFold(5, new=1),
        inner=ObjectKFold(3, new=1, random_state=1),
        why="no vote on the new model is trained on; test pairs have exactly one",
    )


def _answer_features(
    answers: pd.DataFrame, prompts: pd.DataFrame, names: pd.Series
) -> np.ndarray:  # (answers, 11)
    text = answers.result.fillna("")
    length = text.str.len()
    size = names[answers.model].str.extract(r"(\d+)B\b")[0].astype(float).to_numpy()
    log_size = np.log(size)
    shared = [
        _overlap(answer, prompts.text[prompt])
        for answer, prompt in zip(text, answers.prompt, strict=True)
    ]
    letters = text.str.count(r"[A-Za-z]") / np.maximum(length, 1)
    return np.column_stack(
        [
            np.log1p(length),
            np.log1p(text.str.split().str.len()),
            np.log1p(text.str.count("\n")),
            np.log1p(answers.duration),
            np.log1p(answers.rate),
            length == 0,
            text.str.lower().str.contains(_EXCUSES),
            letters,
            shared,
            np.where(np.isnan(size), np.nanmean(log_size), log_size),
            np.isnan(size),
        ]
    ).astype(float)


def _overlap(answer: str, prompt: str) -> float:
    """Share of the words of an answer that the prompt has too."""
    words = set(answer.lower().split())
    return len(words & set(prompt.lower().split())) / max(len(words), 1)


def trains(folder: Path) -> Task:
    """Stated choices between two train offers; the data come with the package."""
    data = load_train_choice()
    return Task(
        name="trains",
        question="which of two train offers does a traveller take?",
        symmetry="antisymmetric",
        setting="pairs held out",
        pairs=data.pairs,
        y=data.y,
        outer=PairKFold(5, new=(0, 1, 2)),
        inner=PairKFold(3, new=(0, 1, 2), random_state=1),
        why="all choices of a traveller are on one side, and so is a pair of offers",
        features="price, time, changes, comfort",
        groups=data.groups,
        n_splits=5,
        feature_names=data.feature_names,
    )


def shuffled_ends(n_objects: int) -> np.ndarray:
    """All pairs of so many objects, each in one order, in an order drawn once, shape (2, n)."""
    rng = np.random.default_rng(0)
    ends = np.stack(np.triu_indices(n_objects, 1))
    return rng.permuted(ends, axis=0)[:, rng.permutation(ends.shape[1])]


def diabetes(folder: Path) -> Task:
    """Pairs of patients of scikit-learn's diabetes study: whose disease went further in a year?"""
    patients, progression = load_diabetes(return_X_y=True)
    ends = shuffled_ends(len(patients))
    ends = ends[:, progression[ends[0]] != progression[ends[1]]][:, :PATIENT_PAIRS]
    return Task(
        name="diabetes",
        question="whose diabetes went further after a year?",
        symmetry="antisymmetric",
        setting="both new",
        pairs=Pairs(patients, ends[0], ends[1]),
        y=np.where(progression[ends[0]] > progression[ends[1]], 1, -1),
        outer=ObjectShuffleSplit(5, test_size=0.4),
        inner=ObjectKFold(3, random_state=1),
        why="no patient of a test pair occurs in a training pair",
        features="age, sex, body mass, blood pressure, six values of the blood",
        n_splits=5,
        feature_names=("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"),
    )
