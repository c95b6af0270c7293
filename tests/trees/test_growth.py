"""Growth against planted rows and splitters that do as they are told."""

import numpy as np
import pytest

from lvmkit.trees.growth import Growth, grow
from lvmkit.trees.sidiwo_split import data_split
from lvmkit.trees.split_support import reappearance
from lvmkit.trees.splits import NoSplit, Split

X = np.random.default_rng(0).poisson(1.0, (120, 8)).astype(float)


def by_first(rows, sums):
    """Split at 1 of the first feature: a rule that halves learn alike."""
    del sums
    slopes = np.zeros((2, rows.shape[1]))
    slopes[1, 0] = 1.0
    split = Split(slopes, np.array([0.5, 0.0]), "linear", np.zeros(len(rows), dtype=int), 1.0)
    return split._replace(side=split.of(rows))


@pytest.mark.parametrize("depth", [1, 3])
def test_centers_are_the_means_of_the_sides_and_sides_are_the_parts(depth):
    def splitter(rows, sums):
        return data_split(rows, sums, equalize=0.3)

    tree, labels = grow(X, splitter, Growth(max_depth=depth))
    leaves = tree.leaves
    splits = [node for node in tree.nodes if not node.is_leaf]
    assert len(splits) == 2**depth - 1
    for node in splits:
        below = [
            np.isin(labels, [leaves.index(i) for i in tree.walk(child) if i in leaves])
            for child in node.children
        ]
        assert np.allclose(node.centers, [X[rows].mean(axis=0) for rows in below])


def test_rows_that_make_two_parts_of_the_least_size_are_split():
    pairs = np.repeat(np.eye(2), 5, axis=0)
    for least, sizes in ((5, [10, 5, 5]), (6, [10])):
        tree, _ = grow(pairs, by_first, Growth(min_samples_leaf=least))
        assert [node.size for node in tree.nodes] == sizes


@pytest.mark.parametrize("n_resamples", [3, 7])
def test_so_many_halves_are_split_anew(n_resamples):
    seen = []

    def splitter(rows, sums):
        seen.append(len(rows))
        return by_first(rows, sums)

    grow(X, splitter, Growth(max_depth=1, min_support=0.1, n_resamples=n_resamples))
    assert seen == [120] + n_resamples * [60]


def test_the_seed_decides_which_halves():
    def supports(seed):
        def splitter(rows, sums):
            return data_split(rows, sums, equalize=0.3)

        limits = Growth(max_depth=2, min_support=1e-9, n_resamples=2, seed=seed)
        return [node.support for node in grow(X, splitter, limits)[0].nodes]

    assert supports(1)[0] > 0
    assert supports(1) == pytest.approx(supports(1), nan_ok=True)
    assert len({supports(seed)[0] for seed in range(5)}) > 1


def test_support_is_the_mean_over_halves_and_nothing_for_those_not_split():
    drawn = []

    def every_fourth(some):
        rows = X[some]
        drawn.append(rows)
        return by_first(rows, None) if len(drawn) % 4 == 0 else NoSplit("not now")

    support = reappearance(
        X, by_first(X, None), every_fourth, order=np.arange(120), n_resamples=8, seed=(0,)
    )
    assert support == pytest.approx(1 / 4)
    assert {len(rows) for rows in drawn} == {60}
    assert not (drawn[0] == drawn[1]).all()
