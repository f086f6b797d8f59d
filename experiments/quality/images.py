"""Do two images show the same?  Characters and digits that training has never shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from experiments.quality.task import Task
from pairity import Pairs
from pairity.model_selection import ObjectKFold, ObjectShuffleSplit

#: Pairs drawn of each alphabet and kind (same, different), and of digits (same, different).
PER_ALPHABET, DIGIT_PAIRS = 400, (4000, 9000)
#: Principal components of the images.
COMPONENTS = 40


def characters(folder: Path) -> Task:
    """Handwritten characters of eight alphabets; pairs are within an alphabet."""
    images = pd.read_csv(folder / "symmetric_omniglot" / "images.csv.gz")
    bits = np.array(
        [
            np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8)).reshape(28, 28)
            for text in images.hex28x28
        ],
        dtype=float,
    )
    alphabet = images.groupby("alphabet").ngroup().to_numpy()
    character = images.groupby(["alphabet", "character"]).ngroup().to_numpy()
    rng = np.random.default_rng(0)
    first, second = np.hstack(
        [
            _draw(np.flatnonzero(alphabet == one), character, (PER_ALPHABET, PER_ALPHABET), rng)
            for one in np.unique(alphabet)
        ]
    )
    return Task(
        name="characters",
        question="do two drawings show the same character?",
        symmetry="symmetric",
        setting="both new",
        pairs=Pairs(_components(np.array([_centred(image) for image in bits])), first, second),
        y=np.where(character[first] == character[second], 1, -1),
        outer=ObjectKFold(4, object_groups=alphabet),
        inner=ObjectKFold(3, object_groups=alphabet, random_state=1),
        why="whole alphabets are held out",
        features="40 principal components of the blurred and centred image",
        common_scale=True,
        n_splits=4,
    )


def _centred(image: np.ndarray) -> np.ndarray:
    """Blurred, with the centre of its ink in the middle."""
    middle = (np.array(image.shape) - 1.0) / 2.0
    blurred = ndimage.gaussian_filter(image, 1.5)
    return ndimage.shift(blurred, middle - ndimage.center_of_mass(blurred), order=1)


def _components(images: np.ndarray) -> np.ndarray:
    return PCA(COMPONENTS, random_state=0).fit_transform(images.reshape(len(images), -1))


def _draw(
    pool: np.ndarray, kinds: np.ndarray, numbers: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Ends of pairs of the same kind and of different kinds, no pair twice, shape (2, n)."""
    ends = pool[np.stack(np.triu_indices(len(pool), 1))]
    same = kinds[ends[0]] == kinds[ends[1]]
    chosen = [
        rng.choice(np.flatnonzero(which), number, replace=False)
        for which, number in zip((same, ~same), numbers, strict=True)
    ]
    return ends[:, np.concatenate(chosen)]


def digits(folder: Path) -> Task:
    """Handwritten digits of scikit-learn; five digits to train on, the five others to test on."""
    images, digit = load_digits(return_X_y=True)
    first, second = _draw(np.arange(len(digit)), digit, DIGIT_PAIRS, np.random.default_rng(0))
    return Task(
        name="digits",
        question="do two images show the same digit?",
        symmetry="symmetric",
        setting="both new",
        pairs=Pairs(images / 16.0, first, second),
        y=np.where(digit[first] == digit[second], 1, -1),
        outer=ObjectShuffleSplit(5, test_size=5, object_groups=digit),
        inner=ObjectShuffleSplit(3, test_size=2, object_groups=digit, random_state=1),
        why="no digit of the test was trained on",
        features="64 pixels",
        common_scale=True,
        same_share=True,
        n_splits=3,
    )
