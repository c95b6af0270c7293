"""SIDIWO and a model: against densities written out, and a planted mixture of two."""

import numpy as np
import pytest
from scipy.stats import bernoulli, multinomial

from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.families import BERNOULLI, MULTINOMIAL, Prior
from lvmkit.trees.mixture_split import likelihood_split, model_split
from lvmkit.trees.splits import Sums

WEIGHTS = np.array([0.9, 0.1])


@pytest.mark.parametrize("family", [BERNOULLI, MULTINOMIAL])
def test_rows_go_by_their_posterior(family):
    generator = np.random.default_rng(0)
    centers = 0.2 + 0.6 * generator.random((2, 6))
    if family is MULTINOMIAL:
        centers /= centers.sum(axis=1, keepdims=True)
        rows = generator.multinomial(7, [1 / 6] * 6, 200).astype(float)
        density = [multinomial(7, center).logpmf(rows) for center in centers]
    else:
        rows = (generator.random((200, 6)) < 0.5).astype(float)
        density = [bernoulli(center).logpmf(rows).sum(axis=1) for center in centers]
    joint = np.log(WEIGHTS) + np.stack(density, axis=1)
    params, prior = MixtureParams(WEIGHTS, centers), Prior(1.0, centers.mean(axis=0))
    split = likelihood_split(rows, params, prior, family, em=False)
    odds = (rows @ split.discriminators.T + split.offsets) @ [1, -1]
    assert np.allclose(odds, joint @ [1, -1])
    assert (split.side == joint.argmax(axis=1)).all()
    # The weights decide for some rows: by the densities alone these would go the other way.
    assert (split.side != np.argmax(density, axis=0)).any()
    share = np.exp(joint - np.logaddexp(*joint.T)[:, None])
    assert split.strength == pytest.approx(1 + (share * np.log2(share)).sum(axis=1).mean())


def test_a_mixture_of_two_is_recovered_without_em():
    # 0/1 rows show no products of a feature with itself: their diagonal has to be filled in, round by round.
    generator = np.random.default_rng(1)
    centers, weights = generator.random((2, 20)), np.array([0.7, 0.3])
    labels = (generator.random(20_000) < weights[1]).astype(int)
    X = (generator.random((20_000, 20)) < centers[labels]).astype(float)
    split = model_split(X, Sums(X.sum(axis=0), None), family=BERNOULLI, em=False)
    assert np.abs(split.centers - centers).max() < 0.05
    absent = np.log1p(-split.centers).sum(axis=1)
    assert np.exp(split.offsets - absent) == pytest.approx(weights, abs=0.05)
    assert (split.side == labels).mean() > 0.98
