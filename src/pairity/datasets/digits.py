"""Handwritten digits: do two images show the same digit?  Symmetric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from pairity.datasets.dataset import PairDataset
from pairity.pairs import Pairs

__all__ = ["DigitPairs", "image_distances", "load_digit_pairs"]

Matrix = NDArray[np.float64]

_SIDE = 8  # pixels
_PROVENANCE = (
    "Images: scikit-learn's load_digits, the test part of the UCI set 'Optical Recognition of"
    " Handwritten Digits' (1,797 images of 8 x 8 pixels; CC BY 4.0). Pairs are drawn here."
)
_SYMMETRIC = ("distance", "angle", "row profile", "column profile", "shifted distance")


@dataclass(frozen=True)
class DigitPairs:
    """Pairs to train on and pairs to test on, with no digit (hence no image) in common."""

    train: PairDataset
    test: PairDataset


def load_digit_pairs(
    n_train: int = 2000,
    n_test: int = 2000,
    *,
    train_digits: Sequence[int] = (0, 1, 2, 3, 4),
    seed: int = 0,
) -> DigitPairs:
    """Pairs of digit images; ``y`` is +1 where both show the same digit, in half of the pairs.

    The test pairs are of the other digits: what is learnt is what makes two images alike, not
    what a known digit looks like.  Object features are the 64 pixels in [0, 1]; symmetric group
    features are five distances.  ``groups`` name the digit of the first image.

    Parameters
    ----------
    n_train, n_test : int
        Numbers of pairs, at least 2 each.
    train_digits : sequence of int
        Digits to train on, at least two; at least two others must be left to test on.
    seed : int
        Seed of the draw.
    """
    known = sorted(set(train_digits))
    unknown = [digit for digit in range(10) if digit not in known]
    if len(known) < 2 or len(unknown) < 2 or not set(known) <= set(range(10)):
        raise ValueError(
            f"got train_digits={tuple(train_digits)!r}; expected 2 to 8 different digits from 0 to"
            " 9: different digits are needed on both sides."
        )
    if min(n_train, n_test) < 2:
        raise ValueError(f"got n_train={n_train}, n_test={n_test}; expected at least 2 pairs each.")
    images, digits = load_digits(return_X_y=True)
    images = images / 16.0
    streams = np.random.default_rng(seed).spawn(2)
    return DigitPairs(
        train=_draw("digits to train on", images, digits, known, n_train, streams[0]),
        test=_draw("digits to test on", images, digits, unknown, n_test, streams[1]),
    )


def _draw(
    name: str,
    images: Matrix,
    digits: NDArray[np.int64],
    allowed: list[int],
    n_pairs: int,
    generator: np.random.Generator,
) -> PairDataset:
    """Pairs of the allowed digits, alternately the same and different."""
    pool = np.flatnonzero(np.isin(digits, allowed))
    same = np.arange(n_pairs) % 2 == 0
    first = generator.choice(pool, size=n_pairs)
    second = np.array(
        [
            generator.choice(pool[((digits[pool] == digits[a]) == alike) & (pool != a)])
            for a, alike in zip(first, same, strict=True)
        ]
    )
    return PairDataset(
        name=name,
        pairs=Pairs(
            images, first, second, symmetric=image_distances(images[first], images[second])
        ),
        y=np.where(same, 1, -1),
        groups=digits[first],
        feature_names=tuple(f"pixel {row},{col}" for row in range(_SIDE) for col in range(_SIDE)),
        symmetric_names=_SYMMETRIC,
        provenance=_PROVENANCE,
    )


def image_distances(left: Matrix, right: Matrix) -> Matrix:
    """Five distances of image pairs, shape (n, 5); each is the same for swapped images."""
    grids = left.reshape(-1, _SIDE, _SIDE), right.reshape(-1, _SIDE, _SIDE)
    cosine = np.sum(left * right, axis=1) / np.sqrt(
        np.sum(left**2, axis=1) * np.sum(right**2, axis=1)
    )
    return np.column_stack(
        [
            np.linalg.norm(left - right, axis=1),
            np.arccos(np.clip(cosine, -1.0, 1.0)),
            np.linalg.norm(grids[0].sum(axis=2) - grids[1].sum(axis=2), axis=1),
            np.linalg.norm(grids[0].sum(axis=1) - grids[1].sum(axis=1), axis=1),
            _shifted_distance(*grids),
        ]
    )


def _shifted_distance(left: Matrix, right: Matrix) -> Matrix:
    """Smallest distance when either image is moved by at most one pixel each way."""
    moves = [(down, along) for down in (-1, 0, 1) for along in (-1, 0, 1)]
    distances = [
        np.linalg.norm((_moved(a, *move) - b).reshape(len(a), -1), axis=1)
        for move in moves
        for a, b in ((left, right), (right, left))
    ]
    return np.min(distances, axis=0)


def _moved(images: Matrix, down: int, along: int) -> Matrix:
    """Images moved by one pixel; what comes in is empty."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    return padded[:, 1 - down : 1 - down + _SIDE, 1 - along : 1 - along + _SIDE]
