"""Tensors that cannot be clustered, or only just: refused with what to do, or fitted to finite numbers."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from lvmkit import TensorNormalMixture
from lvmkit.core.validation import DataWarning
from lvmkit.scores import error_rate


@pytest.fixture(name="X")
def samples():
    X = np.random.default_rng(0).standard_normal((40, 4, 3))
    X[::2, 0, :2] += 3
    return X


def finite(model):
    arrays = [model.weights_, model.means_, model.discriminants_, model.posteriors_]
    arrays += [*model.covariances_, model.log_likelihood_, model.bic_, model.gap_]
    assert all(np.isfinite(array).all() for array in arrays)
    np.testing.assert_allclose(model.posteriors_.sum(axis=1), 1)
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_components": 2.5}, TypeError, "n_components"),
        ({"n_components": 41}, ValueError, r"n_components=41.*40"),
        ({"method": "EM"}, ValueError, r"method='EM'.*'deem', 'em'"),
        ({"penalty": -0.1}, ValueError, r"penalty"),
        ({"penalty": "aic"}, ValueError, r"penalty='aic'.*'bic'"),
        ({"penalty": np.nan}, ValueError, r"penalty"),
        ({"penalty": None}, TypeError, r"penalty"),
        ({"init": "kmeans++"}, ValueError, r"init='kmeans\+\+'.*'best'"),
        ({"init": [0, 1]}, ValueError, r"init has shape \(2,\)"),
        ({"init": np.zeros(40, int)}, ValueError, r"init.*cluster 1"),
        ({"init": None}, ValueError, r"init"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"reference": 2}, ValueError, r"reference=2"),
        ({"reference": -1}, ValueError, r"reference"),
        ({"scale": "first"}, ValueError, r"scale='first'.*'trace'"),
        ({"shrinkage": 1.0}, ValueError, "shrinkage"),
        ({"shrinkage": -0.1}, ValueError, "shrinkage"),
        ({"tol": -1}, ValueError, "tol"),
        ({"max_iter": 0}, ValueError, "max_iter"),
    ],
    ids=str,
)
def test_options_out_of_range(X, options, error, match):
    with pytest.raises(error, match=match):
        TensorNormalMixture(**options).fit(X)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_numbers_are_pointed_at(X, bad):
    model = TensorNormalMixture(penalty=0.3).fit(X)
    X[7, 1, 2] = bad
    for call in (TensorNormalMixture().fit, model.predict, model.score_samples):
        with pytest.raises(ValueError, match=r"\[7, 1, 2\]"):
            call(X)
        with pytest.raises(ValueError, match=r"\[7, 1, 2\]"):
            call(X.tolist())


def test_what_is_no_tensor(X):
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        TensorNormalMixture().fit(X + 1j)
    with pytest.raises((TypeError, ValueError), match=r"[Ss]parse"):
        TensorNormalMixture().fit(sparse.csr_array(X.reshape(40, -1)))
    with pytest.raises(ValueError, match=r"1D|2D|dimension|shape"):
        TensorNormalMixture().fit(X[:, 0, 0])
    with pytest.raises(ValueError, match=r"0 feature|0 entries|size 0|mode"):
        TensorNormalMixture().fit(X[:, :, :0])
    with pytest.raises(ValueError, match=r"sample"):
        TensorNormalMixture().fit(X[:1])
    with pytest.raises(ValueError, match=r"sample"):
        TensorNormalMixture().fit(X[:0])
    with pytest.raises(ValueError, match=r"could not convert|numbers|inhomogeneous"):
        TensorNormalMixture().fit([["a", "b"], ["c", "d"]])


def test_samples_of_another_shape(X):
    model = TensorNormalMixture(penalty=0.3).fit(X)
    for other in (X[:, :3], X[:, :, :2], X.reshape(40, 12), X[..., None], X.transpose(0, 2, 1)):
        with pytest.raises(ValueError, match=r"\(4, 3\)|features"):
            model.predict(other)
    with pytest.raises(NotFittedError):
        TensorNormalMixture().predict(X)


def test_a_constant_entry(X):
    X[:, 2, 1] = 0.1
    with pytest.raises(ValueError, match=r"constant.*\(2, 1\).*shrinkage"):
        TensorNormalMixture().fit(X)
    with pytest.warns(DataWarning, match=r"constant.*\(2, 1\)") as caught:
        model = TensorNormalMixture(penalty=0.3, shrinkage=0.1).fit(X)
    assert caught[0].filename == __file__
    finite(model)
    assert not model.selected_[2, 1]
    assert error_rate(np.arange(40) % 2, 1 - model.labels_) < 0.2


@pytest.mark.parametrize("method", ["deem", "em"])
def test_few_samples_for_a_mode(method):
    X = np.random.default_rng(1).standard_normal((8, 2, 20))
    X[::2, 0, 0] += 8
    with pytest.raises(ValueError, match=r"mode 1.*20.*shrinkage"):
        TensorNormalMixture(2, method=method).fit(X)
    model = TensorNormalMixture(2, method=method, penalty=0.3, shrinkage=0.2).fit(X)
    finite(model)
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize(
    "options", [{}, {"penalty": 0.3}, {"method": "em"}, {"init": "kmeans"}], ids=str
)
def test_entries_that_are_copies_of_others(X, options):
    """A singular covariance: says which mode and what to do, and works when that is done."""
    X = X + 0.1 * np.random.default_rng(2).standard_normal(X.shape)
    X[:, 1] = 2 * X[:, 0]
    with pytest.raises(ValueError, match=r"mode 0.*shrinkage"):
        TensorNormalMixture(**options).fit(X)
    model = TensorNormalMixture(shrinkage=0.1, **options).fit(X)
    finite(model)
    assert min(error_rate(np.arange(40) % 2, model.labels_), 1) < 0.2


@pytest.mark.parametrize("method", ["deem", "em"])
@pytest.mark.parametrize("init", ["best", "random", "kmeans", "whitened_kmeans"])
def test_samples_that_are_copies_of_others(method, init):
    X = np.repeat(np.random.default_rng(0).standard_normal((15, 3, 2)), 3, axis=0)
    X[::2] += 4
    model = TensorNormalMixture(2, method=method, init=init, penalty=0.2).fit(X)
    finite(model)
    few = np.repeat(np.random.default_rng(0).standard_normal((4, 3, 2)), 10, axis=0)
    model = TensorNormalMixture(3, method=method, init=init, penalty=0.1, shrinkage=0.2)
    said = "samples"
    try:  # four different samples in three clusters: either it works, or it says why not
        finite(model.fit(few))
    except ValueError as error:
        said = str(error)
    assert any(word in said for word in ("samples", "clusters", "shrinkage"))


@pytest.mark.parametrize("shrinkage", [0.0, 0.2])
@pytest.mark.parametrize("method", ["deem", "em"])
def test_nothing_left_within_clusters(X, shrinkage, method):
    """As many clusters as samples, or as different samples: no variance to measure distances by."""
    two = np.repeat(X[:2], 10, axis=0)
    for given, n_components in ((X[:5], 5), (X[:2], 2), (two, 2)):
        model = TensorNormalMixture(n_components, method=method, penalty=0.1, shrinkage=shrinkage)
        with pytest.raises(ValueError, match=r"cluster|independent"):
            model.fit(given)


@pytest.mark.parametrize("method", ["deem", "em"])
@pytest.mark.parametrize(("n", "n_components"), [(5, 2), (3, 2), (2, 1), (6, 5)])
def test_very_few_samples(X, n, n_components, method):
    """Whatever is made of them, only in words of our own."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        said = f"{n} samples .* shrinkage"
        try:
            finite(TensorNormalMixture(n_components, method=method).fit(X[:n]))
        except ValueError as error:
            said = str(error)
    assert f"{n} samples" in said
    assert "shrinkage" in said
    assert all(issubclass(w.category, (DataWarning, ConvergenceWarning)) for w in caught)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = TensorNormalMixture(n_components, method=method, shrinkage=0.3)
        finite(model.fit(X[:n]))
    assert all(issubclass(w.category, (DataWarning, ConvergenceWarning)) for w in caught)


@pytest.mark.parametrize("n_components", [2, 3])
def test_a_penalty_so_large_that_nothing_is_left(X, n_components):
    model = TensorNormalMixture(n_components, penalty=1e9)
    with pytest.warns(DataWarning, match=r"penalty=1e\+09.*one cluster.*smaller") as caught:
        model.fit(X)
    assert caught[0].filename == __file__
    assert not model.discriminants_.any()
    assert not model.selected_.any()
    assert len(set(model.labels_)) == 1
    assert (model.stopped_by_, model.converged_) == ("penalty", False)
    np.testing.assert_allclose(model.posteriors_, [model.weights_] * 40)
    finite(model)


def test_the_penalty_that_is_advised_is_below_the_one_that_was_given(X):
    X = np.random.default_rng(4).standard_normal((60, 5, 5))
    for penalty in (0.3, 0.6, 2.0):
        with pytest.warns(DataWarning, match="penalty") as caught:
            TensorNormalMixture(2, penalty=penalty).fit(X)
        words = str(caught[0].message).replace(",", " ").split()
        numbers = [float(w) for w in words if w.replace(".", "").isdigit()]
        assert all(number <= penalty for number in numbers)


@pytest.mark.parametrize("method", ["deem", "em"])
def test_a_first_guess_that_says_nothing(X, method):
    half = np.full((40, 2), 0.5)
    model = TensorNormalMixture(2, method=method, init=half, penalty=0.1)
    with pytest.raises((ValueError, DataWarning), match="init"):  # warnings are errors here
        model.fit(X)


def test_noise_is_not_called_clusters():
    X = np.random.default_rng(0).standard_normal((80, 4, 4))
    with pytest.warns(DataWarning, match=r"one cluster has a lower BIC") as caught:
        model = TensorNormalMixture(2).fit(X)
    assert caught[0].filename == __file__
    finite(model)


def test_few_iterations(X):
    for method in ("deem", "em"):
        with pytest.warns(ConvergenceWarning, match="max_iter=1 ") as caught:
            model = TensorNormalMixture(2, method=method, penalty=0.2, tol=1e-9, max_iter=1).fit(X)
        assert caught[0].filename == __file__
        assert (model.stopped_by_, model.converged_, model.n_iter_) == ("max_iter", False, 1)
        finite(model)


@pytest.mark.parametrize("method", ["deem", "em"])
def test_clusters_far_apart(X, method):
    labels = np.arange(40) % 2
    for distance in (10.0, 1e3):
        far = X + distance * labels[:, None, None] * np.arange(12.0).reshape(4, 3)
        model = TensorNormalMixture(2, method=method).fit(far)
        finite(model)
        assert error_rate(labels, model.labels_) == 0


@pytest.mark.parametrize("method", ["deem", "em"])
def test_a_heavy_outlier(X, method):
    X[7] += 1e6
    model = TensorNormalMixture(2, method=method).fit(X)
    finite(model)
    assert (model.predict(X) == model.labels_).all()
    assert (model.labels_ == model.labels_[7]).sum() == 1


def test_entries_of_very_different_scales(X):
    scales = np.geomspace(1e-4, 1e4, 4)[:, None]
    for method in ("deem", "em"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # the penalty sees only the largest
            finite(TensorNormalMixture(2, method=method).fit(X * scales))


def test_one_number_each():
    rng = np.random.default_rng(0)
    X = np.r_[rng.standard_normal(50), 6 + rng.standard_normal(50)][:, None]
    for given in (X, X[:, :, None], X[:, None, None]):
        for method in ("deem", "em"):
            model = TensorNormalMixture(2, method=method).fit(given)
            assert error_rate(np.repeat([0, 1], 50), model.labels_) <= 0.01
            assert model.means_.shape == (2, *given.shape[1:])


def test_many_entries():
    """No matrix of all entries is formed: 20,000 squared would be 3 GB."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 100, 200))
    X[::2, :3, 0] += 60
    model = TensorNormalMixture(2, penalty=5.0, init="kmeans").fit(X)
    assert [len(part) for part in model.covariances_] == [100, 200]
    finite(model)
    assert error_rate(np.arange(30) % 2, model.labels_) == 0
    assert model.selected_[:3, 0].all()
