"""SIDIWO against a grid, a general optimizer, and the worked counter-example of the thesis."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, minimize
from scipy.spatial.transform import Rotation

from lvmkit.decompose import sidiwo
from lvmkit.decompose.sidiwo import sidiwo_rotation
from lvmkit.moments import population


def cost(slices, rotation):
    turned = rotation.T @ slices @ rotation
    norms = np.sqrt((turned**2).sum(axis=0))
    return norms.sum() - np.trace(norms)


def costs(moments):
    """Return the cost of the rotation found, and of the one that the pseudo-centers E o/√ω show."""
    seen = moments.whitener.T @ sidiwo(moments).centers.T
    shown = seen / np.linalg.norm(seen, axis=0)
    assert np.allclose(shown.T @ shown, np.eye(len(shown)))
    rotations = sidiwo_rotation(moments.slices, moments.core), shown
    return np.array([cost(moments.slices, rotation) for rotation in rotations])


def mixture(k, d, seed):
    generator = np.random.default_rng(seed)
    return generator.random((k, d)), generator.dirichlet(np.ones(k))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_as_many_as_there_are_gives_the_states(k):
    centers, weights = mixture(k, 20, k)
    found = sidiwo(population(centers, weights))
    distance = np.abs(centers[:, None] - found.centers[None]).max(axis=2)
    mine, theirs = linear_sum_assignment(distance)
    assert distance[mine, theirs].max() < 1e-10
    assert np.allclose(weights[mine], found.weights[theirs], atol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_two_of_many_reach_the_best_of_a_grid(seed):
    moments = population(*mixture(6, 15, seed)).truncated(2)
    found = costs(moments)
    angles = np.linspace(-np.pi / 4, np.pi / 4, 20_001)
    c, s = np.cos(angles), np.sin(angles)
    rotations = np.stack([np.stack([c, s]), np.stack([-s, c])]).transpose(2, 0, 1)
    first, second = rotations[:, :, 0], rotations[:, :, 1]
    off = np.einsum("ai,rij,aj->ar", first, moments.slices, second)
    best = 2 * np.sqrt((off**2).sum(axis=1)).min()
    assert (found <= best * (1 + 1e-12)).all()
    assert found == pytest.approx(np.full(2, best), rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_three_of_many_reach_the_best_of_a_general_optimizer(seed):
    moments = population(*mixture(6, 20, seed)).truncated(3)
    generator = np.random.default_rng(seed)

    def of(vector):
        return cost(moments.slices, Rotation.from_rotvec(vector).as_matrix())

    options = {"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    best = min(
        minimize(of, generator.normal(size=3), method="Nelder-Mead", options=options).fun
        for _ in range(20)
    )
    assert costs(moments) == pytest.approx(np.full(2, best), rel=1e-7)


def test_pseudo_centers_solve_the_equations_of_algorithm_3():
    moments = population(*mixture(6, 15, 0)).truncated(3)
    found = sidiwo(moments)
    second = (found.centers.T * found.weights) @ found.centers
    leading = moments.image @ moments.image.T
    # M̂Ω̂M̂ᵀ = E_l E_lᵀ up to the scale that makes the weights sum to 1.
    assert np.allclose(second / np.trace(second), leading / np.trace(leading))


def test_the_counter_example_of_section_5_2():
    # Weights of 1 instead of 1/3 scale the whitened tensor by 1/√3. The thesis prints −2 for the 2 in the last term.
    centers = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 1]])
    T = population(centers, np.ones(3)).truncated(2).core / np.sqrt(3)
    root = np.sqrt(9 + 5 * np.sqrt(3))
    shared = (1 + np.sqrt(3)) / (2 * root)
    assert T[0, 0, 0] == pytest.approx(2 * shared**3 + ((2 + np.sqrt(3)) / root) ** 3)
    assert T[0, 1, 1] == pytest.approx(shared)
    assert np.abs([T[0, 0, 1], T[1, 1, 1]]).max() < 1e-12
    # Lemma 5.2.1: decomposable if and only if these are equal.
    left = T[0, 0, 0] * T[1, 1, 0] + T[1, 0, 0] * T[1, 1, 1]
    assert abs(left - (T[1, 0, 0] ** 2 + T[1, 1, 0] ** 2)) > 0.1


def test_more_than_there_are_directions_is_refused():
    with pytest.raises(ValueError, match="3 directions"):
        sidiwo(population(np.eye(3), [0.2, 0.3, 0.5]), 4)
