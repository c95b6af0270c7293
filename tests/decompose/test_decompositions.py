"""Every decomposition is exact on exact moments."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lvmkit.core.linalg import impute_diagonal
from lvmkit.datasets import make_poisson_mixture
from lvmkit.decompose import (
    als,
    completion,
    joint_diagonalization,
    power,
    random_projections,
    svd,
    svtd,
)
from lvmkit.decompose.completion import coinciding_slices
from lvmkit.decompose.svtd import separating_rotation
from lvmkit.moments import (
    POISSON,
    RAW,
    Moments,
    WhitenedMoments,
    whiten,
    whitener_of,
)
from lvmkit.moments import population as exact


def truth(k, d, seed):
    rng = np.random.default_rng(seed)
    return rng.random((k, d)), rng.dirichlet(np.full(k, 5.0))


def population(centers, weights, whitener, keep):
    """Whitened moments of the mixture itself, from the explicit tensor, entries outside `keep` left out."""
    k, d = whitener.shape[1], whitener.shape[0]
    tensor = np.einsum("j,ja,jb,jc->abc", weights, centers, centers, centers) * keep
    slices = np.einsum("rhl,ha,lb->rab", tensor, whitener, whitener)
    rows, columns = np.triu_indices(k)
    first = weights @ centers
    nothing = np.zeros((d, k + len(rows)))
    return WhitenedMoments(
        RAW, whitener, 1, np.ones(3), first, slices[:, rows, columns], nothing, first
    )


def same_up_to_order(found, centers, weights, atol):
    order = [int(((found.centers - center) ** 2).sum(axis=1).argmin()) for center in centers]
    assert sorted(order) == list(range(len(weights)))
    np.testing.assert_allclose(found.centers[order], centers, atol=atol)
    np.testing.assert_allclose(found.weights[order], weights, atol=atol)


ALL = [svtd, svd, power, als, random_projections, joint_diagonalization]
SIZES = [(1, 1), (1, 6), (2, 2), (4, 12), (6, 6), (15, 40)]


@pytest.mark.parametrize("decomposition", ALL)
@pytest.mark.parametrize(("k", "d"), SIZES)
def test_exact_moments_return_the_parameters(decomposition, k, d):
    centers, weights = truth(k, d, seed=10 * k + d)
    found = decomposition(exact(centers, weights))
    same_up_to_order(found, centers, weights, atol=1e-4 if decomposition is als else 1e-8)
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("decomposition", [svtd, joint_diagonalization])
def test_moments_from_the_explicit_tensor_return_the_parameters(decomposition):
    centers, weights = truth(4, 12, seed=52)
    whitener, _ = whiten(np.einsum("j,ja,jb->ab", weights, centers, centers), 4)
    found = decomposition(population(centers, weights, whitener, keep=1.0))
    same_up_to_order(found, centers, weights, atol=1e-8)


@pytest.mark.parametrize("decomposition", ALL)
def test_decompositions_repeat_and_take_features_in_any_order(decomposition):
    centers, weights = truth(5, 20, seed=8)
    order = np.random.default_rng(0).permutation(20)
    first = decomposition(exact(centers, weights), random_state=3)
    again = decomposition(exact(centers, weights), random_state=3)
    np.testing.assert_array_equal(first.centers, again.centers)
    permuted = decomposition(exact(centers[:, order], weights), random_state=3)
    same_up_to_order(permuted, first.centers[:, order], first.weights, atol=1e-3)


@pytest.mark.parametrize("decomposition", ALL)
def test_fewer_states_than_directions_use_the_leading_ones(decomposition):
    moments = exact(*truth(5, 20, seed=9))
    assert decomposition(moments, 3).centers.shape == (3, 20)
    with pytest.raises(ValueError, match="n_components=6, but the moments were whitened with 5"):
        decomposition(moments, 6)


def test_svtd_says_that_it_needs_the_slices():
    moments = replace(exact(*truth(2, 5, seed=1)), slices=None)
    with pytest.raises(ValueError, match="hold only their core"):
        svtd(moments)


@pytest.mark.parametrize(
    ("centers", "weights", "message"),
    [
        ([[1.0, 2.0], [2.0, 4.0]], [0.5, 0.5], "span only 1 dimensions"),
        ([[1.0, 2.0]], [0.5, 0.5], "shapes"),
        ([[1.0, np.nan]], [1.0], "finite"),
        ([[1.0, 2.0], [2.0, 1.0]], [0.0, 1.0], "weights positive"),
    ],
)
def test_population_refuses_what_moments_cannot_tell_apart(centers, weights, message):
    with pytest.raises(ValueError, match=message):
        exact(centers, weights)


def test_the_moments_of_a_sample_are_decomposed_best_by_all_slices_together():
    errors = dict.fromkeys(ALL, 0.0)
    for seed in range(6):
        data = make_poisson_mixture(5_000, random_state=seed)
        moments = Moments.of(data.X, POISSON)
        whitener, _ = whiten(moments.m2, 5)
        whitened = WhitenedMoments.of(data.X, whitener, POISSON, second=moments.second)
        for decomposition in ALL:
            found = decomposition(whitened).centers
            distance = ((data.centers[:, None] - found) ** 2).sum(axis=2)
            rows, columns = linear_sum_assignment(distance)
            errors[decomposition] += np.sqrt(distance[rows, columns].sum()) / 6
    assert errors[joint_diagonalization] < errors[power] * 1.05
    assert errors[joint_diagonalization] < 0.9 * errors[svtd]
    assert errors[svtd] < errors[svd]


def coincide(d):
    r, h, m = np.ogrid[:d, :d, :d]
    return (r == h) | (r == m) | (h == m)


def test_left_out_terms_are_those_of_the_explicit_tensor():
    centers, weights = truth(3, 7, seed=1)
    whitener = np.random.default_rng(2).normal(size=(7, 3))
    expected = population(centers, weights, whitener, keep=coincide(7)).slices
    np.testing.assert_allclose(coinciding_slices(centers, weights, whitener), expected, atol=1e-12)


def test_completion_gets_nearer_to_the_parameters_with_every_round():
    centers, weights = truth(4, 60, seed=3)
    second = np.einsum("j,ja,jb->ab", weights, centers, centers)
    imputed = impute_diagonal(second - np.diag(np.diag(second)), 4, tol=1e-13, max_iter=10_000)
    moments = population(
        centers, weights, whitener_of(imputed.values, imputed.vectors), keep=~coincide(60)
    )
    errors = []
    for rounds in (0, 1, 2, 40):
        found = completion(moments, rounds=rounds)
        order = [int(((found.centers - center) ** 2).sum(axis=1).argmin()) for center in centers]
        errors.append(np.abs(found.centers[order] - centers).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-6


def test_raw_moments_of_binary_rows_always_give_probabilities():
    rng = np.random.default_rng(4)
    for _ in range(5):
        X = (rng.random((200, 15)) < rng.random(15)).astype(float)
        whitener, _ = whiten(Moments.of(X, RAW).m2, 4)
        centers = svtd(WhitenedMoments.of(X, whitener, RAW)).centers
        assert centers.min() >= -1e-10
        assert centers.max() <= 1 + 1e-10


def test_factorial_moments_of_many_rows_approach_the_parameters():
    rng = np.random.default_rng(5)
    centers, weights = truth(3, 30, seed=6)
    states = rng.choice(3, size=60_000, p=weights)
    X = (rng.random((60_000, 30)) < centers[states]).astype(float)
    moments = Moments.of(X, POISSON)
    imputed = impute_diagonal(moments.m2, 3)
    whitened = WhitenedMoments.of(
        X, whitener_of(imputed.values, imputed.vectors), POISSON, second=moments.second
    )
    same_up_to_order(completion(whitened, rounds=4), centers, weights, atol=0.05)


def test_the_search_for_the_best_separated_slice_skips_none_that_could_win():
    rng = np.random.default_rng(7)
    for k in (2, 3, 7):
        slices = rng.normal(size=(300, k, k)) * rng.exponential(size=(300, 1, 1))
        slices = slices + slices.transpose(0, 2, 1)
        gaps = np.diff(np.linalg.eigvalsh(slices), axis=1).min(axis=1)
        expected = np.linalg.eigh(slices[gaps.argmax()])[1]
        np.testing.assert_array_equal(separating_rotation(slices), expected)


def test_least_squares_go_on_until_the_error_falls_no_more():
    """On moments that no model of 5 states has, where the start is not the end."""
    whitened = exact(*truth(5, 12, seed=2))
    more = np.random.default_rng(2).normal(size=(8, 5))
    core = whitened.core + 0.1 * np.einsum("ja,jb,jc->abc", more, more, more)

    def error(max_iter):
        found = als(replace(whitened, core=core, slices=None), max_iter=max_iter)
        along = np.linalg.lstsq(whitened.image, found.centers.T)[0]
        lengths = np.linalg.norm(along, axis=0)
        rest = core - np.einsum("aj,bj,cj->abc", along, along, along / lengths**2)
        return (rest**2).sum()

    assert error(250) < 0.95 * error(2)
