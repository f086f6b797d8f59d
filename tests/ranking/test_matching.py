"""Groups of matching objects are those of the definitions, the threshold the best one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from pairity import Pairs, PairSVC
from pairity.inspection import group_objects
from pairity.kernels import Linear, MetricLearning


class Similarity:
    """A model that looks similarities up: the first feature of an object is its number."""

    def __init__(self, matrix):
        self.matrix = matrix

    def decision_function(self, pairs):
        first, second = (
            np.asarray(pairs.objects[ends, 0], dtype=int) for ends in (pairs.first, pairs.second)
        )
        return self.matrix[first, second]


def random_similarity(seed, m, digits=3):
    matrix = np.random.default_rng(seed).normal(size=(m, m)).round(digits)
    return (matrix + matrix.T) / 2.0


def numbered(m):
    return np.arange(float(m))[:, None]


def same_groups(labels):
    return labels[:, None] == labels[None, :]


@given(
    seed=st.integers(0, 10_000),
    m=st.integers(1, 12),
    threshold=st.floats(-1.5, 1.5).map(lambda value: round(value, 2)),
)
def test_components_are_those_of_the_graph(seed, m, threshold):
    matrix = random_similarity(seed, m)
    found = group_objects(Similarity(matrix), numbered(m), method="components", threshold=threshold)
    graph = sp.csr_array((matrix > threshold) & ~np.eye(m, dtype=bool))
    expected = connected_components(graph, directed=False)[1]
    assert np.array_equal(same_groups(found.labels), same_groups(expected))
    assert found.sizes.tolist() == sorted(found.sizes.tolist(), reverse=True)
    assert found.sizes.sum() == m


def naive_average_linkage(matrix, threshold):
    """Join the two groups with the largest mean similarity while it is above the threshold."""
    groups = [[place] for place in range(len(matrix))]
    while len(groups) > 1:
        best, one, other = max(
            (float(np.mean(matrix[np.ix_(groups[i], groups[j])])), i, j)
            for i in range(len(groups))
            for j in range(i)
        )
        if best <= threshold:
            break
        groups[one] = groups[one] + groups[other]
        groups.pop(other)
    labels = np.empty(len(matrix), dtype=int)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels


@given(seed=st.integers(0, 10_000), m=st.integers(2, 10), threshold=st.floats(-1.0, 1.0))
def test_average_linkage_is_that_of_the_definition(seed, m, threshold):
    matrix = random_similarity(seed, m, digits=9)
    found = group_objects(Similarity(matrix), numbered(m), threshold=threshold)
    expected = naive_average_linkage(matrix, threshold)
    assert np.array_equal(same_groups(found.labels), same_groups(expected))


@pytest.mark.parametrize("method", ["average", "components"])
@pytest.mark.parametrize("criterion", ["f1", "accuracy"])
@given(seed=st.integers(0, 10_000), digits=st.integers(1, 6))
def test_the_threshold_is_the_best_of_all(method, criterion, seed, digits):
    rng = np.random.default_rng([seed, 1])
    matrix = random_similarity(seed, 9, digits)
    pairs = Pairs.complete(numbered(9))[rng.permutation(36)[:20]]
    y = rng.choice([-1, 1], size=20, p=[0.7, 0.3])
    y[:2] = 1, -1

    def score(threshold):
        found = group_objects(Similarity(matrix), numbered(9), method=method, threshold=threshold)
        joined = found.labels[pairs.first] == found.labels[pairs.second]
        if criterion == "accuracy":
            return np.mean(joined == (y > 0))
        return 2 * np.sum(joined & (y > 0)) / (np.sum(joined) + np.sum(y > 0))

    chosen = group_objects(
        Similarity(matrix), numbered(9), method=method, validation=(pairs, y), criterion=criterion
    )
    at_chosen = score(chosen.threshold)
    assert at_chosen == pytest.approx(chosen.validation_score)
    joins_something = group_objects(
        Similarity(matrix), numbered(9), method=method, threshold=chosen.threshold
    )
    assert joins_something.n_groups < 9
    if criterion == "f1":
        # between each two of the similarities, where components change; means of them may lie anywhere
        between = np.unique(matrix[np.triu_indices(9, 1)])
        everywhere = np.linspace(-3.0, 3.0, 121) if method == "average" else between - 1e-9
        tried = [score(threshold) for threshold in everywhere]
        assert at_chosen >= max(tried) - 1e-12


def test_a_chain_is_one_component_and_two_average_groups():
    matrix = np.full((4, 4), -1.0)
    for i, j, value in ((0, 1, 1.0), (2, 3, 1.0), (1, 2, 0.2)):
        matrix[i, j] = matrix[j, i] = value
    chain = group_objects(Similarity(matrix), numbered(4), method="components")
    assert chain.n_groups == 1
    assert group_objects(Similarity(matrix), numbered(4)).labels.tolist() == [0, 0, 1, 1]


def test_a_trained_model_finds_the_groups_of_new_objects(rng):
    centres = rng.normal(scale=4.0, size=(30, 4))
    person = np.repeat(np.arange(30), 4)
    photos = centres[person] + rng.normal(scale=0.2, size=(120, 4))
    pairs = Pairs.complete(photos)
    y = np.where(person[pairs.first] == person[pairs.second], 1, -1)

    def among(people):
        return np.isin(person[pairs.first], people) & np.isin(person[pairs.second], people)

    train, validation = among(range(12)), among(range(12, 20))
    model = PairSVC("symmetric", kernel=MetricLearning(Linear()), C=10.0, class_weight="balanced")
    model.fit(pairs[train], y[train])
    new = photos[person >= 20]
    found = group_objects(model, new, validation=(pairs[validation], y[validation]))
    truth = person[person >= 20]
    agree = same_groups(found.labels) == same_groups(truth)
    assert agree.mean() > 0.97
    assert found.validation_score > 0.8
    assert "chosen on validation pairs" in str(found)


def test_candidate_pairs_alone_can_be_joined():
    matrix = np.ones((5, 5))
    pairs = Pairs(numbered(5), [0, 3, 1, 2], [1, 4, 0, 2], ids=list("abcde"))
    found = group_objects(Similarity(matrix), pairs, method="components")
    assert [found.members(group).tolist() for group in range(found.n_groups)] == [
        ["a", "b"],
        ["d", "e"],
        ["c"],
    ]
    frame = found.to_frame()
    assert frame["id"].tolist() == ["a", "b", "d", "e", "c"]
    assert frame["size"].tolist() == [2, 2, 2, 2, 1]
    assert str(found).startswith("5 objects in 3 groups (components above 0): 2 groups of several")


PATH = Pairs(numbered(3), [0, 1], [1, 2])


class Odd:
    def decision_function(self, pairs):
        return pairs.objects[pairs.first, 0] - pairs.objects[pairs.second, 0]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "ward"}, "method='ward'; expected one of"),
        ({"criterion": "auc"}, "criterion='auc'; expected one of"),
        ({"threshold": 0.0, "validation": (PATH, [1, -1])}, "expected one of them"),
        ({"validation": PATH}, r"expected validation=\(pairs, y\)"),
        ({"validation": (PATH, [1])}, "for 2 validation pairs"),
        ({"validation": (PATH, [1, 1])}, "validation pairs of one kind only"),
        ({"ids": ["a"]}, "1 ids for 3 objects"),
    ],
)
def test_what_cannot_be_grouped_is_refused(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        group_objects(Similarity(np.ones((3, 3))), numbered(3), **options)


def test_a_model_of_the_other_parity_is_refused():
    with pytest.raises(ValueError, match=r"misses f\(b, a\) = f\(a, b\) by 4"):
        group_objects(Odd(), numbered(3))
