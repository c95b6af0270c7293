"""Baselines: each is the method that it is named after, with as many clusters as asked for."""

import numpy as np
import pytest

from lvmkit import SpectralTree
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.models import baselines
from lvmkit.scores import adjusted_rand

FLAT = {"ASVTD + EM": "asvtd", "3V-MoM + EM": "3v-mom", "3V-TPM + EM": "3v-tpm"}


def test_baselines_share_the_interface():
    data = make_bernoulli_mixture(3_000, 60, 4, codes_per_row=8, random_state=1)
    for name, estimator in baselines(4).items():
        labels = estimator.fit(data.X).labels_
        assert len(labels) == data.X.shape[0], name
        assert (estimator.predict(data.X) == labels).mean() > 0.99, name


@pytest.mark.parametrize("k", [2, 4])
def test_they_make_as_many_clusters_as_asked_for(k):
    generator = np.random.default_rng(0)
    groups = generator.choice(k, 1_200)
    blocks = np.kron(np.eye(k), np.ones((1, 9)))
    X = (generator.random((1_200, 9 * k)) < 0.02 + 0.7 * blocks[groups]).astype(float)
    for name, estimator in baselines(k).items():
        labels = estimator.fit(X).labels_
        assert len(set(labels)) == k, name
        assert adjusted_rand(groups, labels) > 0.85, name


def test_names_are_those_of_the_methods():
    found = baselines(3, random_state=7)
    assert list(found) == ["bisecting k-means", "PDDP", *FLAT]
    assert {name: found[name].init for name in FLAT} == FLAT
    assert type(found["bisecting k-means"]).__name__ == "BisectingKMeans"
    assert isinstance(found["PDDP"], SpectralTree)
    assert (found["PDDP"].split, found["PDDP"].em) == ("pddp", False)
    assert all(found[name].em for name in FLAT)


def test_those_that_draw_get_the_seed():
    found = baselines(3, random_state=7)
    assert {found[name].random_state for name in ("bisecting k-means", *FLAT)} == {7}
