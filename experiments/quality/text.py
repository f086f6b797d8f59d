"""What two texts have in common, and coordinates of texts; nothing here looks at labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

Ends = tuple[np.ndarray, np.ndarray]


def word_weights(texts: Sequence[str]) -> sp.csr_array:
    """TF-IDF of words and numbers, unit rows."""
    pattern = r"(?u)\b\w+\b"
    return sp.csr_array(TfidfVectorizer(token_pattern=pattern).fit_transform(texts))


def trigram_weights(texts: Sequence[str]) -> sp.csr_array:
    """TF-IDF of runs of three characters, unit rows."""
    return sp.csr_array(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3)).fit_transform(texts)
    )


def coordinates(weights: sp.csr_array, number: int) -> np.ndarray:
    """Leading singular coordinates of unit rows: cosines as inner products, in one unit."""
    return TruncatedSVD(number, random_state=0).fit_transform(weights)


def cosines(weights: sp.csr_array, ends: Ends) -> np.ndarray:
    """Inner products of rows; texts without any word have 0."""
    return np.asarray(weights[ends[0]].multiply(weights[ends[1]]).sum(axis=1)).reshape(-1)


def shared_words(texts: Sequence[str], ends: Ends) -> np.ndarray:
    """Jaccard index, and words in common over the shorter text: shape (n, 2)."""
    words = [frozenset(text.split()) for text in texts]
    rows = []
    for a, b in zip(*ends, strict=True):
        common, shorter = len(words[a] & words[b]), min(len(words[a]), len(words[b]))
        union = len(words[a] | words[b])
        rows.append([common / max(union, 1), common / max(shorter, 1)])
    return np.array(rows)
