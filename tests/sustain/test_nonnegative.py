"""The real factorization: as good as scikit-learn's, never worse after a pass, finite whatever the shape."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import NMF

from lvmkit.sustain.coordinate_descent import fit_to
from lvmkit.sustain.nonnegative import nonnegative
from lvmkit.sustain.unfolding import Unfolded


def fitted(X, n_components, *, seed=0, **options):
    data = X if isinstance(X, Unfolded) else Unfolded.of(X)
    return nonnegative(data, n_components, rng=np.random.default_rng(seed), **options)


def planted(shape, n_components, seed=0, mean=3.0):
    rng = np.random.default_rng(seed)
    factors = [rng.gamma(0.5, size=(size, n_components)) for size in shape]
    letters = "abcde"[: len(shape)]
    rates = np.einsum(",".join(letter + "r" for letter in letters) + "->" + letters, *factors)
    return rng.poisson(mean * rates / rates.mean())


@pytest.mark.parametrize("shape", [(200, 30), (30, 200)])
@pytest.mark.parametrize("n_components", [2, 5, 10])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_matrices_are_met_as_closely_as_by_scikit_learn(shape, n_components):
    X = planted(shape, n_components)
    peer = NMF(n_components, init="random", random_state=0, max_iter=200, tol=1e-5).fit(X)
    wanted = 1 - peer.reconstruction_err_ / np.linalg.norm(X)
    found = fitted(X, n_components, tol=1e-6)
    assert found.fit > wanted - 0.01
    assert fit_to(Unfolded.of(X), found.factors, np.ones(n_components)) == pytest.approx(
        found.fit, abs=1e-5
    )


@pytest.mark.parametrize(
    "shape", [(60, 9), (9, 60), (30, 6, 5), (6, 30, 5), (6, 5, 30), (12, 4, 3, 5), (5, 4, 9, 2, 3)]
)
def test_no_pass_lowers_the_fit(shape):
    data = Unfolded.of(planted(shape, 3, mean=1.0))
    passes = range(1, 11)
    runs = [fitted(data, 3, tol=0.0, max_iter=n) for n in passes]
    fits = [run.fit for run in runs]
    assert [run.n_iter for run in runs] == list(passes)
    assert np.diff(fits).min() > -1e-6
    assert fits[-1] > fits[0] + 0.005


@pytest.mark.parametrize("shape", [(60, 12), (40, 8, 6), (8, 6, 40), (10, 6, 4, 5)])
def test_what_is_a_product_is_met(shape):
    rng = np.random.default_rng(0)
    factors = [rng.integers(0, 6, (size, 2)) * (rng.random((size, 2)) < 0.6) for size in shape]
    factors[0][0] = factors[0][1] = 5
    letters = "abcde"[: len(shape)]
    X = np.einsum(",".join(letter + "r" for letter in letters) + "->" + letters, *factors)
    assert fitted(X, 2, tol=1e-7, max_iter=400).fit > 0.98


@pytest.mark.parametrize("shape", [(60, 9), (30, 6, 5), (5, 4, 9, 2)])
def test_columns_have_one_length_in_all_modes_and_no_negative_entry(shape):
    found = fitted(planted(shape, 3), 3)
    lengths = [np.linalg.norm(factor, axis=1) for factor in found.factors]
    for mode, length in enumerate(lengths):
        np.testing.assert_allclose(length, lengths[0], rtol=1e-4, err_msg=f"mode {mode}")
    assert all(factor.min() >= 0 for factor in found.factors)
    assert [factor.shape for factor in found.factors] == [(3, size) for size in shape]


@pytest.mark.parametrize(
    ("shape", "n_components", "density"),
    [
        ((200, 2, 12), 20, 0.1),
        ((300, 2, 3, 2), 6, 0.1),
        ((2, 2, 2, 2, 3), 14, 0.6),
        ((3, 3, 3, 3, 3), 34, 0.5),
        ((40, 2, 12, 7, 3), 40, 0.1),
    ],
)
def test_numbers_stay_finite_where_components_die(shape, n_components, density):
    """Modes of size 2 hold no 40 components: most die, and their scale must not run away."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = sparse.random_array(
            shape, density=density, rng=rng, data_sampler=lambda size: np.full(size, 3.0)
        )
        found = fitted(X, n_components, seed=seed, tol=1e-5)
        assert all(np.isfinite(factor).all() for factor in found.factors)
        assert 0 < found.fit <= 1


def test_the_seed_decides_and_threads_do_not():
    from concurrent.futures import ThreadPoolExecutor

    data = Unfolded.of(planted((500, 9), 3))
    alone, again, other = (fitted(data, 3, seed=seed) for seed in (0, 0, 1))
    with ThreadPoolExecutor(2) as pool:
        shared = fitted(data, 3, pool=pool)
    for factor, same, threads, another in zip(
        *(run.factors for run in (alone, again, shared, other)), strict=True
    ):
        np.testing.assert_array_equal(factor, same)
        np.testing.assert_array_equal(factor, threads)
        assert not np.array_equal(factor, another)


def test_a_finer_tolerance_ends_later_and_better():
    data = Unfolded.of(planted((200, 30), 5, mean=1.0))
    coarse, fine = fitted(data, 5, tol=1e-2), fitted(data, 5, tol=1e-6)
    assert coarse.n_iter < fine.n_iter <= 100
    assert coarse.fit < fine.fit
    fits = [fitted(data, 5, tol=0.0, max_iter=n).fit for n in range(1, coarse.n_iter + 3)]
    assert np.flatnonzero(np.diff(fits) < 1e-2)[0] == coarse.n_iter - 2
