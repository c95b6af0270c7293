"""What a `SpectralTree` hands on: its seed, its number of halves, and pseudo-centers on their sides."""

import numpy as np
import pytest

from lvmkit import SpectralTree
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.trees.sidiwo_split import data_split


@pytest.fixture(scope="module")
def rows():
    return make_bernoulli_mixture(3_000, 60, 4, codes_per_row=8, random_state=1).X


@pytest.mark.parametrize("split", ["kmeans", "model"])
def test_pseudo_centers_lie_on_their_own_sides(rows, split):
    model = SpectralTree(max_depth=3, split=split).fit(rows)
    splits = [node for node in model.nodes_ if not node.is_leaf]
    assert len(splits) > 5
    assert all(node.side(node.centers).tolist() == [0, 1] for node in splits)


@pytest.mark.parametrize("form", [int, np.random.default_rng, np.random.RandomState])
def test_what_is_drawn_depends_on_the_seed(form):
    # Four equal clusters at the corners of a square: which two go together is a matter of the start.
    X = np.repeat([[0, 0], [0, 3], [3, 0], [3, 3]], 25, axis=0)
    X = X + np.random.default_rng(0).normal(size=X.shape)

    def labels(seed):
        return tuple(SpectralTree(1, split="kmeans", random_state=form(seed)).fit(X).labels_)

    def support(seed):
        options = {"min_support": 1e-9, "n_resamples": 2, "random_state": form(seed)}
        return SpectralTree(1, **options).fit(X).nodes_[0].support

    assert labels(1) == labels(1)
    assert support(1) == support(1)
    assert len({labels(seed) for seed in range(6)}) > 1
    assert len({support(seed) for seed in range(4)}) > 1


def test_so_many_halves_are_tried_as_asked_for(rows, monkeypatch):
    seen = []

    def counted(part, sums, *, equalize):
        seen.append(part.shape[0])
        return data_split(part, sums, equalize=equalize)

    monkeypatch.setattr("lvmkit.trees.spectral_tree.data_split", counted)
    SpectralTree(1, min_support=0.01, n_resamples=4).fit(rows)
    assert seen == [3_000] + [1_500] * 4
