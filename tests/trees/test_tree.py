"""Trees by hand: walks, labels, cuts, and the forms of other libraries."""

import json

import networkx
import numpy as np
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import dendrogram, is_valid_linkage, leaves_list

from lvmkit.trees import Node, Tree
from lvmkit.trees.nodes import MAX_DEPTH, as_arrays, nodes_of


def node(number, parent, children, depth, size, mean, rule="linear"):
    split = bool(children)
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]]) if split else np.zeros((0, 2))
    return Node(
        id=number,
        parent=parent,
        children=children,
        depth=depth,
        size=size,
        mean=np.array(mean),
        centers=vectors,
        discriminators=vectors,
        offsets=np.array([0.0, -0.5 * depth]) if split else np.zeros(0),
        rule=rule if split else "",
        strength=0.5 if split else np.nan,
        support=0.75 + min(depth, 2) / 8 if split else np.nan,
        reason="" if split else "all its rows are equal",
    )


@pytest.fixture
def tree():
    nodes = (
        node(0, None, (1, 2), 0, 10, [0.6, 0.4]),
        node(1, 0, (3, 4), 1, 6, [0.9, 0.1]),
        node(2, 0, (), 1, 4, [0.1, 0.9]),
        node(3, 1, (), 2, 4, [1.0, 0.0]),
        node(4, 1, (), 2, 2, [0.7, 0.3]),
    )
    return Tree(nodes, np.array(["fever", "cough"], dtype=object))


def test_leaves_and_labels_go_from_left_to_right(tree):
    assert tree.leaves == [3, 4, 2]
    assert [tree.label(i) for i in range(5)] == ["All", "1", "2", "1.1", "1.2"]
    assert tree.path(4) == [0, 1, 4]
    assert list(tree.walk(1)) == [1, 3, 4]
    assert (tree.depth, tree.n_features) == (2, 2)


def test_rows_go_where_their_scores_send_them(tree):
    X = np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [3.0, 2.9]])
    by_hand = [0, 2, 0, 0]
    assert tree.apply(X).tolist() == by_hand
    assert tree.apply(sparse.csr_array(X)).tolist() == by_hand
    assert tree.apply(X[:0]).shape == (0,)


def test_cuts(tree):
    assert tree.frontier() == [3, 4, 2]
    assert tree.frontier(depth=1) == [1, 2]
    assert tree.frontier(depth=0) == [0]
    assert tree.frontier(closed=[1]) == [1, 2]
    assert tree.frontier(n_leaves=2) == [1, 2]
    assert tree.frontier(n_leaves=99) == [3, 4, 2]
    labels = np.array([0, 1, 2, 0])
    assert tree.regrouped(labels, [1, 2]).tolist() == [0, 0, 1, 0]
    with pytest.raises(ValueError, match="nodes 0 to 4; found 7"):
        tree.frontier(closed=[7])
    with pytest.raises(ValueError, match="overlaps"):
        tree.regrouped(labels, [0, 1])
    with pytest.raises(ValueError, match="leaves out leaves 2"):
        tree.regrouped(labels, [1])


def test_the_largest_nodes_are_opened_first():
    nodes = (
        node(0, None, (1, 2), 0, 20, [0.5, 0.5]),
        node(1, 0, (3, 4), 1, 12, [0.5, 0.5]),
        node(2, 0, (5, 6), 1, 8, [0.5, 0.5]),
        node(3, 1, (7, 8), 2, 9, [0.5, 0.5]),
        *(node(i, 1 + (i > 4), (), 2, 20 - 3 * i, [0.5, 0.5]) for i in (4, 5, 6)),
        *(node(i, 3, (), 3, 12 - i, [0.5, 0.5]) for i in (7, 8)),
    )
    tree = Tree(nodes)
    assert tree.frontier(n_leaves=2) == [1, 2]
    assert tree.frontier(n_leaves=3) == [3, 4, 2]
    assert tree.frontier(n_leaves=4) == [7, 8, 4, 2]
    assert tree.frontier(n_leaves=4, closed=[3]) == [3, 4, 5, 6]
    assert tree.frontier(n_leaves=4, depth=2) == [3, 4, 5, 6]


def test_relevance_is_against_all_rows(tree):
    lift = tree.relevance(balance=0.0)
    assert lift[1] == pytest.approx(np.log([0.9 / 0.6, 0.1 / 0.4]))
    assert lift[3, 1] == -np.inf
    assert tree.terms(1) == ["fever", "cough"]
    assert tree.terms(3) == ["fever"]


def test_balance_weighs_frequency_against_lift(tree):
    # "fever" is more frequent among the six, "cough" further above all ten.
    nodes = list(tree.nodes)
    nodes[1] = node(1, 0, (3, 4), 1, 6, [0.55, 0.5])
    tree = Tree(tuple(nodes), tree.feature_names)
    share, overall = np.array([0.55, 0.5]), np.array([0.6, 0.4])
    for balance in (0.0, 0.3, 1.0):
        by_hand = balance * np.log(share) + (1 - balance) * np.log(share / overall)
        assert tree.relevance(balance=balance)[1] == pytest.approx(by_hand)
        order = ["fever", "cough"] if balance == 1 else ["cough", "fever"]
        assert tree.terms(1, balance=balance) == order
        assert tree.terms(1, balance=balance, n_terms=1) == order[:1]
        assert tree.to_frame(balance=balance)["terms"][1] == ", ".join(order)
        assert json.loads(tree.to_json(balance=balance))["nodes"][1]["terms"] == order


def test_table_and_json_say_the_same(tree):
    table = tree.to_frame()
    assert table["share"].tolist() == [1.0, 0.6, 0.4, 0.4, 0.2]
    np.testing.assert_equal(table["strength"].tolist(), [0.5, 0.5, np.nan, np.nan, np.nan])
    np.testing.assert_equal(table["support"].tolist(), [0.75, 0.875, np.nan, np.nan, np.nan])
    assert table["depth"].tolist() == [0, 1, 1, 2, 2]
    assert table["size"].tolist() == [10, 6, 4, 4, 2]
    assert table["parent"].tolist()[1:] == [0, 0, 1, 1]
    assert table["terms"][2] == "cough, fever"
    records = json.loads(tree.to_json())["nodes"]
    assert records[1]["children"] == [3, 4]
    assert records[0]["parent"] is None
    assert records[3]["reason"] == "all its rows are equal"
    assert records[3]["leaf"] == 0
    one = records[1]
    assert (one["share"], one["strength"], one["support"]) == (0.6, 0.5, 0.875)


def test_text(tree):
    assert str(tree).splitlines()[1:3] == [
        "  1  6 (60%)  fever, cough",
        "    1.1  4 (40%)  fever",
    ]
    assert str(Tree(())) == "empty tree"


def test_linkage_is_one_that_scipy_accepts(tree):
    linkage = tree.to_linkage()
    assert is_valid_linkage(linkage)
    assert linkage.tolist() == [[0, 1, 1, 2], [3, 2, 2, 3]]
    assert leaves_list(linkage).tolist() in ([2, 0, 1], [0, 1, 2])
    assert len(dendrogram(linkage, no_plot=True)["leaves"]) == 3
    with pytest.raises(ValueError, match="has 1"):
        Tree((node(0, None, (), 0, 4, [1.0, 0.0]),)).to_linkage()


def test_graph(tree):
    graph = tree.to_networkx()
    assert networkx.is_arborescence(graph)
    assert sorted(graph.edges) == [(0, 1), (0, 2), (1, 3), (1, 4)]
    assert graph.nodes[4]["size"] == 2
    assert (graph.nodes[1]["strength"], graph.nodes[1]["support"]) == (0.5, 0.875)


def test_empty_tree_is_no_trouble():
    empty = Tree(())
    assert (empty.leaves, empty.frontier(), empty.depth, empty.n_features) == ([], [], 0, 0)
    assert len(empty.to_frame()) == 0
    assert json.loads(empty.to_json()) == {"nodes": []}
    assert empty.relevance().shape == (0, 0)
    for refused in (lambda: empty.apply(np.eye(2)), lambda: empty.terms(0), lambda: empty.path(0)):
        with pytest.raises(ValueError, match="the tree is empty"):
            refused()


def test_wrong_numbers_are_refused(tree):
    for refused in (lambda: tree.label(-1), lambda: tree.path(99), lambda: tree.terms(1.5)):
        with pytest.raises(ValueError, match="has nodes 0 to 4"):
            refused()
    with pytest.raises(ValueError, match="0 to 2; found -1 to 0"):
        tree.regrouped([-1, 0], [1, 2])
    with pytest.raises(ValueError, match="balance"):
        tree.terms(1, balance=5)
    with pytest.raises(ValueError, match="n_terms"):
        tree.terms(1, n_terms=-1)
    with pytest.raises(ValueError, match="has 2 features; found rows of shape"):
        tree.apply(np.eye(3))


def test_ten_thousand_leaves():
    n = 10_000
    nodes = [
        node(
            i,
            None if i == 0 else (i - 1) // 2,
            (2 * i + 1, 2 * i + 2) if i < n - 1 else (),
            int(np.log2(i + 1)),
            1,
            [0.5, 0.5],
        )
        for i in range(2 * n - 1)
    ]
    large = Tree(tuple(nodes))
    assert len(large.leaves) == n
    assert len(large.frontier(n_leaves=n)) == n
    assert len(large.frontier(depth=5)) == 32
    assert is_valid_linkage(large.to_linkage())
    assert len(large.to_frame()) == 2 * n - 1


def chain(depth):
    nodes = [node(0, None, (), 0, depth + 1, [0.5, 0.5])]
    for i in range(depth):
        top = 2 * i - 1 if i else 0
        nodes[top] = node(
            top, nodes[top].parent, (2 * i + 1, 2 * i + 2), i, depth + 1 - i, [0.5] * 2
        )
        nodes += [
            node(2 * i + 1, top, (), i + 1, depth - i, [0.5] * 2),
            node(2 * i + 2, top, (), i + 1, 1, [0.5] * 2),
        ]
    return Tree(tuple(nodes))


def test_labels_of_all_nodes_are_those_of_each(tree):
    for one in (tree, chain(7)):
        labels = [one.label(i) for i in range(len(one.nodes))]
        assert one.to_frame()["label"].tolist() == labels
        assert [line.split()[0] for line in str(one).splitlines()] == [
            labels[i] for i in one.walk()
        ]


def test_trees_of_a_file_have_a_depth_that_labels_can_be_made_for():
    assert nodes_of(as_arrays(chain(MAX_DEPTH).nodes))[-1].depth == MAX_DEPTH
    with pytest.raises(ValueError, match="more than 1,000 splits deep"):
        nodes_of(as_arrays(chain(MAX_DEPTH + 1).nodes))
