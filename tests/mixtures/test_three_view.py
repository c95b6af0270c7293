"""Three-view starts find the planted clusters, and say what they need."""

import numpy as np
import pytest

from lvmkit import BernoulliMixture
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_appendix_e
from lvmkit.mixtures.families import Prior
from lvmkit.mixtures.initialization import bernoulli_start, silent
from lvmkit.scores import adjusted_rand


@pytest.mark.parametrize("init", ["3v-mom", "3v-tpm"])
def test_three_views_start_near_the_planted_centers(init):
    data = make_appendix_e(20_000, 60, 3, random_state=0)
    prior = Prior.around(np.asarray(data.X.sum(axis=0)).ravel(), 20_000, 1.0)
    start, _ = bernoulli_start(data.X, 3, init, prior, silent)
    error = np.abs(data.centers[:, None] - start.centers[None]).mean(axis=2)
    assert sorted(error.argmin(axis=1)) == [0, 1, 2]
    assert error.min(axis=1).max() < 0.05
    fitted = BernoulliMixture(3, init=init).fit(data.X)
    assert adjusted_rand(fitted.labels_, data.labels) > 0.9


@pytest.mark.parametrize("init", ["3v-mom", "3v-tpm"])
def test_three_views_say_what_rank_they_share(init):
    twice = np.repeat([[1] * 6 + [0] * 6, [0] * 6 + [1] * 6], 30, axis=0)
    with pytest.warns(DataWarning, match="2 directions in common, n_components=3"):
        BernoulliMixture(3, init=init).fit(twice)


@pytest.mark.parametrize("init", ["3v-mom", "3v-tpm"])
def test_three_views_need_as_many_features_in_each_as_there_are_clusters(init):
    with pytest.raises(ValueError, match="splits the 8 features into three views"):
        BernoulliMixture(3, init=init, binarize=0).fit(np.random.default_rng(0).random((50, 8)))
