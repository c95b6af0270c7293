import cvxpy as cp
import numpy as np
import pytest

from lvmkit.covariates import graph as graph_module
from lvmkit.covariates.certificates import balance, parts
from lvmkit.covariates.graph import Graph

TOLERANCE = 1e-10


def tightest(graph, residual):
    """The least share of their bounds with which forces balance the residual, by a conic solver."""
    forces, share = cp.Variable((len(graph.weights), residual.shape[1])), cp.Variable()
    edges = np.eye(graph.n_nodes)[graph.tails] - np.eye(graph.n_nodes)[graph.heads]
    within = cp.norm(forces, axis=1) <= share * graph.weights
    problem = cp.Problem(cp.Minimize(share), [edges.T @ forces == -residual, within])
    return problem.solve(solver=cp.CLARABEL)


def drawn(seed, nodes=7, classes=3, density=0.6):
    """A connected graph (a chain and some more edges), and a residual that sums to zero."""
    rng = np.random.default_rng(seed)
    tails, heads = np.triu_indices(nodes, 1)
    kept = (heads == tails + 1) | (rng.random(len(tails)) < density)
    graph = Graph(tails[kept], heads[kept], rng.random(kept.sum()) + 0.1, nodes)
    residual = rng.normal(size=(nodes, classes))
    return graph, residual - residual.mean(axis=0)


def still(graph, classes=3):
    return np.zeros((graph.n_nodes, classes))


@pytest.mark.parametrize("dense", [0, 3000])
@pytest.mark.parametrize("seed", range(6))
def test_a_cluster_holds_when_forces_within_their_bounds_exist(seed, dense, monkeypatch):
    monkeypatch.setattr(graph_module, "DENSE_NODES", dense)
    graph, residual = drawn(seed)
    share = tightest(graph, residual)
    assert balance(graph, 0.95 / share * residual, still(graph), TOLERANCE).holds
    broken = balance(graph, 1.05 / share * residual, still(graph), TOLERANCE)
    assert not broken.holds
    assert broken.unbalanced > TOLERANCE


@pytest.mark.parametrize("seed", range(4))
def test_what_stays_unbalanced_is_at_least_what_must(seed):
    graph, residual = drawn(seed)
    residual = 2.0 / tightest(graph, residual) * residual
    forces = cp.Variable((len(graph.weights), 3))
    edges = np.eye(graph.n_nodes)[graph.tails] - np.eye(graph.n_nodes)[graph.heads]
    within = cp.norm(forces, axis=1) <= graph.weights
    left = cp.sum_squares(residual + edges.T @ forces)
    least = cp.Problem(cp.Minimize(left), [within]).solve(solver=cp.CLARABEL)
    found = balance(graph, residual, still(graph), TOLERANCE).unbalanced
    assert least * (1 - 1e-6) <= found <= 10 * least


def test_a_pair_holds_up_to_its_bound():
    pair = Graph(np.array([0]), np.array([1]), np.array([2.0]), 2)
    pull = np.array([[0.6, 0.8], [-0.6, -0.8]])
    assert balance(pair, 1.999 * pull, still(pair, 2), 0.0).holds
    broken = balance(pair, 2.5 * pull, still(pair, 2), 1e-6)
    assert not broken.holds
    assert broken.unbalanced == pytest.approx(2 * 0.5**2)
    # They part along the pull: the first one against its residual.
    assert (broken.potentials[0] - broken.potentials[1]) @ pull[0] < 0


def test_a_cluster_that_nothing_pulls_holds():
    graph, residual = drawn(0)
    found = balance(graph, 0 * residual, still(graph), 0.0)
    assert found.holds
    assert found.unbalanced == 0


def test_a_chain_breaks_at_its_weakest_edge():
    """Two tight cliques with a thread between them, pulled apart."""
    clique = np.ones((3, 3)) - np.eye(3)
    S = np.kron(np.eye(2), 10 * clique)
    S[2, 3] = S[3, 2] = 0.1
    tails, heads = np.nonzero(np.triu(S))
    graph = Graph(tails, heads, S[tails, heads], 6)
    residual = np.repeat([[0.2], [-0.2]], 3, axis=0)
    found = balance(graph, residual, still(graph, 1), TOLERANCE)
    assert not found.holds
    number, labels = parts(graph, found.potentials)
    assert number == 2
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_a_start_does_not_change_the_verdict():
    graph, residual = drawn(3)
    share = tightest(graph, residual)
    far = 1e6 * np.random.default_rng(0).normal(size=(graph.n_nodes, 3))
    for start in (still(graph), far):
        assert balance(graph, 0.9 / share * residual, start, TOLERANCE).holds
        assert not balance(graph, 1.2 / share * residual, start, TOLERANCE).holds
