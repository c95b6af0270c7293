import numpy as np
import pytest

from lvmkit.covariates.convex_clustering import by_first, convex_clusters, kernel_weights
from lvmkit.covariates.similarities import Edges

# Solved by Clarabel through CVXPY, at its smallest tolerances: points drawn by the generator 5, all pairs, phi = 0.5.
OPTIMA = {0.2: 1.383215783686, 1.0: 5.403937284045, 3.0: 8.834142223178, 8.0: 8.864343750000}
CENTERS_AT_3 = [
    [-0.290962, 0.00199, -0.356184],
    [-0.263911, 0.091576, -0.332186],
    [-0.290962, 0.00199, -0.356184],
    [-0.081208, 0.053105, -0.441631],
    [-0.285527, 0.115177, -0.322946],
    [-0.290962, 0.00199, -0.356184],
    [-0.290962, 0.00199, -0.356184],
    [-0.275509, 0.012182, -0.358502],
]


@pytest.fixture(scope="module")
def points():
    return np.round(np.random.default_rng(5).normal(size=(8, 3)), 2)


def objective(points, edges, gamma, centers):
    total = 0.5 * ((points - centers) ** 2).sum()
    for i, j, weight in zip(*edges, strict=True):
        total += gamma * weight * np.linalg.norm(centers[i] - centers[j])
    return total


@pytest.mark.parametrize("gamma", OPTIMA)
def test_the_optimum_is_that_of_a_conic_solver(points, gamma):
    edges = kernel_weights(points, 0.5)
    found = convex_clusters(points, edges, gamma, tol=1e-11)
    assert objective(points, edges, gamma, found.centers) == pytest.approx(OPTIMA[gamma], abs=1e-9)
    assert found.gap <= 1e-11


def test_centers_and_clusters_are_those_of_a_conic_solver(points):
    edges = kernel_weights(points, 0.5)
    found = convex_clusters(points, edges, 3.0)
    np.testing.assert_allclose(found.centers, CENTERS_AT_3, atol=2e-4)
    assert found.labels.tolist() == [0, 1, 0, 2, 3, 0, 0, 4]
    assert convex_clusters(points, edges, 1.0).labels.tolist() == list(range(8))
    assert convex_clusters(points, edges, 8.0).labels.tolist() == [0] * 8


def test_two_points_meet_halfway():
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    edges = Edges(np.array([0]), np.array([1]), np.array([0.5]))
    apart = convex_clusters(points, edges, 2.0)
    np.testing.assert_allclose(apart.centers, [[0.6, 0.8], [2.4, 3.2]], atol=1e-3)
    assert apart.labels.tolist() == [0, 1]
    together = convex_clusters(points, edges, 5.1)
    np.testing.assert_allclose(together.centers, [[1.5, 2.0]] * 2, atol=1e-3)
    assert together.labels.tolist() == [0, 0]


def test_without_strength_points_stay_and_equal_ones_are_one(points):
    doubled = np.vstack([points, points[:2]])
    found = convex_clusters(doubled, kernel_weights(doubled, 0.5), 0.0)
    np.testing.assert_array_equal(found.centers, doubled)
    assert found.labels.tolist() == [*range(8), 0, 1]


def test_what_no_edge_joins_stays_apart(points):
    far = np.vstack([points, points + 100.0])
    edges = kernel_weights(far, 0.5, n_neighbors=3)
    found = convex_clusters(far, edges, 1e4)
    assert found.labels.tolist() == [0] * 8 + [1] * 8
    np.testing.assert_allclose(found.centers[:8], [points.mean(axis=0)] * 8, atol=1e-2)
    nothing = Edges(np.empty(0, dtype=int), np.empty(0, dtype=int), np.empty(0))
    assert convex_clusters(points, nothing, 1.0).labels.tolist() == list(range(8))


def test_a_start_saves_steps_and_changes_nothing(points):
    edges = kernel_weights(points, 0.5)
    near = convex_clusters(points, edges, 2.9)
    cold, warm = (convex_clusters(points, edges, 3.0, start=s) for s in (None, near.dual))
    assert warm.n_iter < cold.n_iter
    np.testing.assert_array_equal(warm.labels, cold.labels)
    np.testing.assert_allclose(warm.centers, cold.centers, atol=1e-3)


def test_stopped_early_it_says_how_far_it_came(points):
    found = convex_clusters(points, kernel_weights(points, 0.5), 3.0, max_iter=3)
    assert found.n_iter == 3
    assert found.gap > 1e-8


def test_order_of_points_does_not_matter(points):
    order = np.random.default_rng(0).permutation(8)
    there = convex_clusters(points, kernel_weights(points, 0.5), 3.0).labels
    here = convex_clusters(points[order], kernel_weights(points[order], 0.5), 3.0).labels
    np.testing.assert_array_equal(here, by_first(there[order]))


def test_weights_fall_with_distance():
    first, second, weights = kernel_weights(np.array([[0.0], [1.0], [3.0], [99.0]]), 0.5)
    assert (first.tolist(), second.tolist()) == ([0, 0, 1], [1, 2, 2])
    np.testing.assert_allclose(weights, np.exp([-0.5, -4.5, -2.0]))
    assert kernel_weights(np.array([[0.0], [1.0], [3.0]]), 0.0).similarity.tolist() == [1, 1, 1]


def test_clusters_are_numbered_by_their_first_members():
    assert by_first(np.array([7, 2, 7, 5, 2])).tolist() == [0, 1, 0, 2, 1]
