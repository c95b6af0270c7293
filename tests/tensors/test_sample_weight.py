"""Tensors that count more than once: equal to repeated ones."""

import numpy as np
import pytest
from sklearn.base import clone

from lvmkit import TensorNormalMixture
from lvmkit.datasets import make_tensor_mixture

X, Y = make_tensor_mixture("M8", n_samples=90, random_state=0)
WEIGHT = np.random.default_rng(0).integers(0, 4, 90)
ROWS = np.repeat(np.arange(90), WEIGHT)


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": 0.3},
        {"penalty": 0.3, "scale": "first_entry"},
        {"penalty": 0.3, "shrinkage": 0.1},
        {"penalty": "bic"},
        {"method": "em"},
        {"method": "em", "shrinkage": 0.2},
    ],
    ids=str,
)
def test_a_weight_is_the_same_as_repeated_samples(options):
    weighted = TensorNormalMixture(2, init=Y, **options).fit(X, sample_weight=WEIGHT)
    repeated = TensorNormalMixture(2, init=Y[ROWS], **options).fit(X[ROWS])
    for name in ("weights_", "means_", "discriminants_", "density_means_"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), atol=1e-6, err_msg=name
        )
    for one, other in zip(weighted.covariances_, repeated.covariances_, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(weighted.labels_[ROWS], repeated.labels_)
    assert weighted.bic_ == pytest.approx(repeated.bic_, rel=1e-8)
    assert weighted.score(X, sample_weight=WEIGHT) == pytest.approx(repeated.score(X[ROWS]))
    # Also of samples that do not count.
    np.testing.assert_allclose(weighted.posteriors_, weighted.predict_proba(X), atol=1e-9)


def test_equal_weights_are_none():
    model = TensorNormalMixture(2, penalty=0.3, init=Y)
    plain, weighted = clone(model).fit(X), clone(model).fit(X, sample_weight=np.ones(90))
    np.testing.assert_allclose(weighted.means_, plain.means_, atol=1e-10)


@pytest.mark.parametrize("init", ["best", "kmeans", "random"])
def test_starts_count_samples(init):
    weighted = TensorNormalMixture(2, penalty=0.3, init=init).fit(X, sample_weight=WEIGHT)
    repeated = TensorNormalMixture(2, penalty=0.3, init=init).fit(X[ROWS])
    assert weighted.weights_ == pytest.approx(repeated.weights_, abs=0.02)
    assert len(weighted.labels_) == 90


@pytest.mark.parametrize(
    ("weight", "message"),
    [(np.ones(3), "shape"), (-np.ones(90), "at least 0"), ("wt", "names a column of obs")],
)
def test_weights_that_cannot_be_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        TensorNormalMixture(2).fit(X, sample_weight=weight)
