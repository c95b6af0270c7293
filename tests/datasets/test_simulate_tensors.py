from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from lvmkit.datasets import TensorSetting, make_tensor_mixture, tensor_setting
from lvmkit.datasets.simulate_tensors import autoregressive, compound_symmetric


def ar(size, rho):
    return np.array([[rho ** abs(i - j) for j in range(size)] for i in range(size)])


def cs(size, rho):
    return rho * np.ones((size, size)) + (1 - rho) * np.eye(size)


def eye(size):
    return np.eye(size)


PRINTED = {
    "M1": ([cs(10, 0.3), ar(10, 0.8), cs(4, 0.3)], [0.5]),
    "M3": ([cs(10, 0.3), ar(10, 0.8), cs(4, 0.5)], [0.5, -0.5]),
    "M4": ([eye(10), ar(10, 0.8), eye(4)], [0.8, -0.8, 1.6]),
    "M5": ([ar(10, 0.9), cs(10, 0.6), ar(4, 0.9)], [0.6, 1.2, 1.8, 2.4, 3.0]),
    "M8": ([ar(10, 0.5), cs(10, 0.5), ar(10, 0.5)], [1.5]),
    "M9": ([eye(10), eye(10), eye(10)], [1.5]),
    "M10": ([ar(10, 0.5), cs(10, 0.5), ar(4, 0.5), eye(4), eye(4)], [5.0]),
}


def vectors(tensors):
    return np.asarray(tensors).reshape(len(tensors), -1)


def own(rng, shape=(3, 2, 2), weights=(0.5, 0.3, 0.2)):
    """A setting of three clusters whose covariances have no structure."""
    covariances = []
    for size in shape:
        root = rng.standard_normal((size, size + 2))
        covariances.append(root @ root.T)
    return TensorSetting(weights, rng.standard_normal((len(weights), *shape)), tuple(covariances))


@pytest.mark.parametrize("name", PRINTED)
def test_settings_are_those_of_table_1(name):
    covariances, signals = PRINTED[name]
    setting = tensor_setting(name)
    assert setting.name == name
    assert setting.shape == tuple(map(len, covariances))
    for ours, printed in zip(setting.covariances, covariances, strict=True):
        np.testing.assert_allclose(ours, printed, rtol=1e-14)
    np.testing.assert_array_equal(setting.weights, [1 / (len(signals) + 1)] * (len(signals) + 1))
    B = np.zeros((len(signals), *setting.shape))
    for k, signal in enumerate(signals):
        for i in range(6):
            B[(k, i, *[0] * (len(covariances) - 1))] = signal
    np.testing.assert_allclose(setting.discriminants, B, atol=1e-11)
    np.testing.assert_array_equal(setting.discriminants != 0, B != 0)
    direct = tensor_setting(name, mean="direct").means
    np.testing.assert_array_equal(direct, np.concatenate([np.zeros((1, *setting.shape)), B]))
    if np.prod(setting.shape) <= 1_000:
        whole = reduce(np.kron, covariances)
        np.testing.assert_allclose(vectors(setting.means[1:]), vectors(B) @ whole, atol=1e-12)
        np.testing.assert_array_equal(setting.means[0], 0)


def test_discriminants_of_direct_means_solve_with_the_whole_covariance():
    setting = tensor_setting("M5", mean="direct")
    whole = reduce(np.kron, PRINTED["M5"][0])
    B = np.linalg.solve(whole, vectors(setting.means[1:]).T).T
    np.testing.assert_allclose(vectors(setting.discriminants), B, atol=1e-8)
    # The inverse of CS is full, that of AR has three diagonals: only these neighbors matter.
    assert (setting.discriminants != 0).any(axis=0).sum() == 7 * 10 * 2


@pytest.mark.parametrize("shape", [(4,), (3, 2), (3, 2, 2)])
def test_samples_have_the_means_and_covariance_of_their_cluster(shape):
    setting = own(np.random.default_rng(1), shape)
    X, y = make_tensor_mixture(setting, 60_000, random_state=2)
    assert X.shape == (60_000, *shape)
    np.testing.assert_allclose(np.bincount(y) / len(y), setting.weights, atol=0.01)
    whole = reduce(np.kron, setting.covariances)
    scale = np.sqrt(np.diag(whole))
    for k in range(3):
        rows = vectors(X[y == k])
        error = (rows.mean(axis=0) - setting.means[k].ravel()) / scale
        assert np.abs(error).max() < 4 / np.sqrt(len(rows))
        residual = (np.cov(rows.T) - whole) / np.outer(scale, scale)
        assert np.abs(residual).max() < 6 / np.sqrt(len(rows))


@pytest.mark.parametrize("mean", ["discriminant", "direct"])
def test_settings_are_drawn_around_their_means(mean):
    setting = tensor_setting("M4", mean=mean)
    X, y = make_tensor_mixture("M4", 8_000, mean=mean)
    for k in range(4):
        n = (y == k).sum()
        assert abs(n - 2_000) < 200
        assert np.abs(X[y == k].mean(axis=0) - setting.means[k]).max() < 5 / np.sqrt(n)


@pytest.mark.parametrize("shape", [(3,), (3, 2, 2)])
def test_the_best_rule_is_the_largest_posterior(shape):
    setting = own(np.random.default_rng(3), shape, weights=(0.1, 0.6, 0.3))
    X, _ = make_tensor_mixture(setting, 400, random_state=4)
    whole = reduce(np.kron, setting.covariances)
    joint = [
        np.log(weight) + multivariate_normal(mean.ravel(), whole).logpdf(vectors(X))
        for weight, mean in zip(setting.weights, setting.means, strict=True)
    ]
    np.testing.assert_array_equal(setting.predict(X), np.argmax(joint, axis=0))
    assert len(np.unique(setting.predict(X))) > 1


@pytest.mark.parametrize("name", ["M1", "M8", "M9"])
@pytest.mark.parametrize("mean", ["discriminant", "direct"])
def test_two_clusters_are_confused_as_their_distance_says(name, mean):
    setting = tensor_setting(name, mean=mean)
    whole = reduce(np.kron, PRINTED[name][0])
    difference = setting.means[1].ravel()
    expected = norm.cdf(-np.sqrt(difference @ np.linalg.solve(whole, difference)) / 2)
    X, y = make_tensor_mixture(name, 4_000, mean=mean)
    error = (setting.predict(X) != y).mean()
    assert abs(error - expected) < 4 * np.sqrt(expected / 4_000)
    if (name, mean) == ("M8", "discriminant"):
        assert error < 0.01


def test_the_same_seed_gives_the_same_data():
    (one, y), (same, z), (other, _) = (
        make_tensor_mixture("M1", 20, random_state=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    np.testing.assert_array_equal(y, z)
    assert (one != other).all()
    np.testing.assert_array_equal(one, make_tensor_mixture(n_samples=20)[0])
    assert make_tensor_mixture()[0].shape == (200, 10, 10, 4)


def test_a_setting_can_be_changed():
    rare = replace(tensor_setting("M8"), weights=[0.95, 0.05])
    _, y = make_tensor_mixture(rare, 2_000)
    assert 60 < y.sum() < 140
    never = replace(rare, weights=[1.0, 0.0])
    X, y = make_tensor_mixture(never, 50)
    assert not y.any()
    assert not never.predict(X + 9.0).any()


def test_one_cluster_is_a_setting():
    setting = TensorSetting([1.0], np.zeros((1, 2, 3)), (np.eye(2), np.eye(3)))
    X, y = make_tensor_mixture(setting, 5)
    assert setting.discriminants.shape == (0, 2, 3)
    np.testing.assert_array_equal(setting.predict(X), y)


def test_covariances_are_positive_definite_or_refused():
    for rho in (-0.24, 0.0, 0.99):
        assert np.linalg.eigvalsh(compound_symmetric(5, rho))[0] > 0
        assert np.linalg.eigvalsh(autoregressive(5, rho))[0] > 0
    np.testing.assert_array_equal(autoregressive(3, 0), np.eye(3))
    np.testing.assert_array_equal(compound_symmetric(1, 0.5), [[1.0]])
    with pytest.raises(ValueError, match=r"rho=-0.25; expected above -0.25 and below 1"):
        compound_symmetric(5, -0.25)
    with pytest.raises(ValueError, match=r"rho=-1.0; expected above -1 and below 1"):
        autoregressive(5, -1.0)
    with pytest.raises(ValueError, match="size=0"):
        autoregressive(0, 0.5)


MEANS = np.zeros((2, 2, 3))
SOUND = (np.eye(2), np.eye(3))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([0.5, 0.6], MEANS, SOUND), "weights=.*adding up to 1"),
        (([-0.5, 1.5], MEANS, SOUND), "weights=.*adding up to 1"),
        (([1.0], MEANS, SOUND), r"means has shape \(2, 2, 3\); .* for each of the 1 weights"),
        (([0.5, 0.5], MEANS + np.nan, SOUND), "means .*finite"),
        (([0.5, 0.5], MEANS, SOUND[:1]), "covariances: 1 for 2 modes"),
        (([0.5, 0.5], MEANS, SOUND[::-1]), r"covariances\[0\] has shape \(3, 3\); expected \(2, 2\)"),
        (([0.5, 0.5], MEANS, (np.ones((2, 2)), np.eye(3))), r"covariances\[0\] is not .*definite"),
        (([0.5, 0.5], MEANS, (np.eye(2), np.tri(3))), r"covariances\[1\] is not symmetric"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        TensorSetting(*parts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"setting": "M2"}, "setting='M2'; expected one of 'M1', 'M3', .*'M10'"),
        ({"mean": "B"}, "mean='B'; expected one of 'discriminant', 'direct'"),
        ({"n_samples": 0}, "n_samples must be at least 1"),
    ],
)
def test_unknown_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_tensor_mixture(**options)


def test_tensors_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"X has shape \(5, 40\); expected \(n, 10, 10, 4\)"):
        tensor_setting("M1").predict(np.zeros((5, 40)))
