import numpy as np
import pytest
from scipy import sparse

from lvmkit.covariates import graph as module
from lvmkit.covariates.graph import Graph


@pytest.fixture
def graph():
    """A triangle, a pair, and a node alone."""
    return Graph(np.array([0, 0, 1, 3]), np.array([1, 2, 2, 4]), np.array([1.0, 2.0, 3.0, 4.0]), 6)


def incidence(graph):
    edges = np.zeros((len(graph.weights), graph.n_nodes))
    edges[np.arange(len(edges)), graph.tails] = 1
    edges[np.arange(len(edges)), graph.heads] = -1
    return edges


def test_differences_and_flows_are_the_incidence_matrix_and_its_transpose(graph):
    rng = np.random.default_rng(0)
    values, flows = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    np.testing.assert_array_equal(graph.differences(values), incidence(graph) @ values)
    np.testing.assert_allclose(graph.gathered(flows), incidence(graph).T @ flows, atol=1e-15)


@pytest.mark.parametrize("dense", [0, 3000])
def test_a_laplacian_is_that_of_the_incidence_matrix(graph, monkeypatch, dense):
    monkeypatch.setattr(module, "DENSE_NODES", dense)
    weights = np.array([0.5, 0.0, 7.0, 1.0])
    found = graph.laplacian(weights)
    assert sparse.issparse(found) == (dense == 0)
    expected = incidence(graph).T @ np.diag(weights) @ incidence(graph)
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, expected)


def test_merging_adds_parallel_edges_and_drops_inner_ones(graph):
    merged = graph.merged(np.array([1, 1, 0, 2, 0, 3]), 4)
    # 0-2 and 1-2 become one edge between the groups 0 and 1; 3-4 joins 0 and 2; 0-1 is inside.
    assert merged.tails.tolist() == [0, 0]
    assert merged.heads.tolist() == [1, 2]
    assert merged.weights.tolist() == [5.0, 4.0]
    assert merged.n_nodes == 4
    assert merged.fixed is None


def test_merging_does_not_change_the_sum_of_the_norms(graph):
    rng = np.random.default_rng(1)
    labels = np.array([0, 1, 1, 2, 2, 1])
    values = rng.normal(size=(3, 2))
    tied = graph.tied_to_zero(0.3)
    for each, groups in ((graph, labels), (tied, np.append(labels, 3))):
        centers = np.vstack([values, np.zeros((1, 2))])[: groups.max() + 1]
        fine = np.linalg.norm(each.differences(centers[groups]), axis=1) @ each.strengths(2.0)
        merged = each.merged(groups, len(centers))
        coarse = np.linalg.norm(merged.differences(centers), axis=1) @ merged.strengths(2.0)
        assert coarse == pytest.approx(fine)


def test_ties_to_zero_do_not_depend_on_nu(graph):
    tied = graph.tied_to_zero(0.7)
    assert tied.n_nodes == 7
    assert tied.tails[4:].tolist() == list(range(6))
    assert set(tied.heads[4:]) == {6}
    np.testing.assert_array_equal(tied.strengths(3.0), [3, 6, 9, 12, *[0.7] * 6])
    np.testing.assert_array_equal(tied.strengths(0.0), [0, 0, 0, 0, *[0.7] * 6])
    np.testing.assert_array_equal(graph.strengths(3.0), [3, 6, 9, 12])


def test_a_part_has_the_edges_among_its_nodes(graph):
    part = graph.among(np.array([1, 2, 4]))
    assert (part.tails.tolist(), part.heads.tolist(), part.weights.tolist()) == ([0], [1], [3.0])
    inner = graph.within(np.array([0, 1, 2]), np.array([0, 2]), np.array([9.0, 8.0, 7.0, 6.0]))
    assert (inner.tails.tolist(), inner.heads.tolist()) == ([0, 1], [1, 2])
    assert inner.weights.tolist() == [9.0, 7.0]


def test_components_follow_the_edges(graph):
    found, labels = graph.components()
    assert found == 3
    assert labels.tolist() == [0, 0, 0, 1, 1, 2]
    found, labels = graph.components(np.array([True, False, False, False]))
    assert found == 5
    assert labels[0] == labels[1]
    assert len(set(labels)) == 5


@pytest.mark.parametrize("nodes", [1, 4])
def test_a_graph_may_have_no_edges(nodes):
    none = np.empty(0, np.intp)
    graph = Graph(none, none, np.empty(0), nodes)
    assert graph.components()[0] == nodes
    assert graph.differences(np.ones((nodes, 2))).shape == (0, 2)
    np.testing.assert_array_equal(graph.gathered(np.empty((0, 2))), np.zeros((nodes, 2)))
    np.testing.assert_array_equal(graph.laplacian(np.empty(0)), np.zeros((nodes, nodes)))
