"""What the tree navigator knows and does, without a browser."""

import json
from itertools import pairwise

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit.cohorts import from_texts
from lvmkit.trees import Node, Tree
from lvmkit.trees.layout import DEEP
from lvmkit_widgets import ClusterExplorer, TopicRelevance, TreeNavigator
from lvmkit_widgets.trees.export_tab import (
    EXPORTS,
    clusters_table,
    codes_table,
    nodes_table,
    rows_table,
    tree_text,
)
from lvmkit_widgets.trees.rows_tab import way_down

NAN = float("nan")
HOSTILE = "<img src=x onerror=alert(1)>"


def node(i, parent, children, depth, size, mean, sides=None, reason=""):
    """A node that decides by two centers."""
    d = len(mean)
    vectors = np.zeros((0, d)) if sides is None else np.asarray(sides, dtype=float)
    offsets = -0.5 * (vectors**2).sum(axis=1)
    leaf = sides is None
    return Node(
        id=i,
        parent=parent,
        children=children,
        depth=depth,
        size=size,
        mean=np.asarray(mean, dtype=float),
        centers=vectors,
        discriminators=vectors,
        offsets=offsets,
        rule="" if leaf else "linear",
        strength=NAN if leaf else 0.8,
        support=NAN if leaf else 0.9,
        reason=reason,
    )


def complete(depth, d=6, *, size=40):
    """A tree whose leaves have a feature each, in turn."""
    k, nodes = 2**depth, []
    means = np.full((k, d), 0.1)
    means[np.arange(k), np.arange(k) % d] = 0.9
    every = {k - 1 + j: (means[j], size) for j in range(k)}
    for i in range(k - 2, -1, -1):
        (a, n), (b, m) = every[2 * i + 1], every[2 * i + 2]
        every[i] = ((a * n + b * m) / (n + m), n + m)
    for i in range(2 * k - 1):
        mean, n = every[i]
        parts = () if i >= k - 1 else (2 * i + 1, 2 * i + 2)
        sides = [every[j][0] for j in parts] or None
        reason = "" if parts else "the tree may not be deeper"
        parent = None if i == 0 else (i - 1) // 2
        nodes.append(
            node(i, parent, parts, int(np.log2(i + 1)), n, mean, sides=sides, reason=reason)
        )
    return Tree(tuple(nodes), np.array([f"C{j}" for j in range(d)], dtype=object))


@pytest.fixture(scope="module")
def cohort():
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], [300, 250, 200, 120])
    centers = np.full((4, 12), 0.04)
    for j in range(4):
        centers[j, 3 * j : 3 * j + 3] = 0.85
    X = (random.random((len(labels), 12)) < centers[labels]).astype(np.float32)
    X[X.sum(axis=1) == 0, 0] = 1  # nobody without any code
    obs = pd.DataFrame(
        {"age": random.integers(30, 80, len(labels))},
        index=[f"secret-{i}" for i in range(len(labels))],
    )
    codes = [f"C{i}" for i in range(12)]
    var = pd.DataFrame({"title": [f"Disease {HOSTILE} {c}" for c in codes]}, index=codes)
    return anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=var)


@pytest.fixture(scope="module")
def fitted(cohort):
    return lvmkit.SpectralTree(max_depth=2).fit(cohort)


@pytest.fixture
def board(fitted, cohort):
    fitted.annotations_ = {}
    return TreeNavigator(fitted, cohort)


@pytest.fixture(scope="module")
def documents():
    pools = ("war army peace battle", "tax budget money market", "school child college student")
    random = np.random.default_rng(4)
    texts = [
        f"{HOSTILE} {' '.join(random.permutation((pools[i // 20] + ' nation').split() * 3))}."
        for i in range(60)
    ]
    names = [f"speech-{i}" for i in range(60)]
    return from_texts(pd.DataFrame({"text": texts}, index=names), text="text", language="english")


def open_all(board, last=0):
    """Open every tab, as a reader would, and stay at one."""
    for i in [*range(len(board._tabs)), last]:
        board.open_tab("main", i)


def numbers(component, field, kind, k):
    return np.frombuffer(getattr(component, field), dtype=kind).reshape(k, -1)


# -- the tree in the browser --------------------------------------------------------------------


def test_the_browser_gets_the_tree_with_sizes_splits_and_reasons(board, fitted):
    tree = board.components["tree"]
    nodes = fitted.tree_.nodes
    assert tree.children == [list(n.children) for n in nodes]
    assert tree.sizes == [n.size for n in nodes]
    assert tree.strength[0] == pytest.approx(nodes[0].strength, abs=1e-4)
    assert tree.strength[-1] is None
    leaf = fitted.tree_.leaves[0]
    assert tree.reasons[tree.why[leaf]] == nodes[leaf].reason
    assert tree.frontier == fitted.tree_.leaves
    assert tree.opened == [i for i, n in enumerate(nodes) if n.children]


def test_terms_of_all_nodes_are_in_the_browser_and_follow_what_is_picked(board, fitted):
    part = board.components["relevance"]
    n = len(fitted.tree_.nodes)
    board.state = board.state.disclose(on_screen=False)
    shares = numbers(part, "centers", np.float32, n)
    np.testing.assert_allclose(shares, [x.mean for x in fitted.tree_.nodes], atol=1e-6)
    counts = numbers(part, "counts", np.int32, n)
    for i, x in enumerate(fitted.tree_.nodes):
        if x.children:
            np.testing.assert_array_equal(counts[i], counts[list(x.children)].sum(axis=0))
    board.components["tree"].selected = 2
    assert board.state.node == 2
    assert (part.cluster, board.components["tree"].row) == (2, 2)


def test_labels_are_those_of_the_tree(board, fitted):
    layout = board.state.layout
    assert layout.labels == [fitted.tree_.label(i) for i in range(len(layout))]
    for i in range(len(layout)):
        inside = np.isin(fitted.labels_, np.arange(layout.start[i], layout.stop[i]))
        np.testing.assert_array_equal(board.state.rows_of(i), np.flatnonzero(inside))


def test_a_tree_alone_is_shown_without_rows():
    board = TreeNavigator(complete(2, size=400))
    open_all(board)
    assert board.components["tree"].sizes[0] == 1600
    assert not board.components["members"].visible
    assert len(board.state.clustering().weights_) == 4
    with pytest.raises(ValueError, match="pass the cohort"):
        board.explorer()


def test_an_empty_tree_and_a_single_leaf_are_shown(cohort, tmp_path):
    empty = TreeNavigator(Tree(()), cohort)
    open_all(empty)
    assert empty.components["tree"].children == []
    assert empty.stage.subtitle == "an empty tree"
    assert empty.to_html(tmp_path / "empty.html").stat().st_size > 10_000
    with pytest.raises(ValueError, match="empty"):
        empty.state = empty.state.clustering()
    names = np.array([f"C{i}" for i in range(12)], dtype=object)
    leaf = node(0, None, (), 0, 870, np.full(12, 0.3), reason="all rows are alike")
    single = TreeNavigator(Tree((leaf,), names), cohort)
    open_all(single)
    assert single.components["tree"].reasons == ["all rows are alike"]
    assert single.state.frontier == (0,)
    assert len(single.state.clustering().weights_) == 1
    assert "870 patients" in single.stage.subtitle
    single.to_html(tmp_path / "single.html")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lvmkit.SpectralTree(), TypeError, "Call fit first"),
        (None, TypeError, "fitted tree"),
    ],
)
def test_what_is_no_tree_is_refused(given, error, words):
    with pytest.raises(error, match=words):
        TreeNavigator(given)


def test_what_is_no_cohort_is_refused(fitted):
    with pytest.raises(TypeError, match="AnnData"):
        TreeNavigator(fitted, np.zeros((3, 12)))


def test_a_cohort_of_other_codes_is_refused(fitted):
    table = pd.DataFrame(index=["X1", "X2"])
    other = anndata.AnnData(np.ones((5, 2), dtype=np.float32), var=table)
    with pytest.raises(ValueError, match="known to"):
        TreeNavigator(fitted, other)


# -- cuts, names, steps -------------------------------------------------------------------------


def test_cut_prune_and_split_make_frontiers():
    state = TreeNavigator(complete(3)).state
    state = state.cut(depth=1)
    assert state.frontier == (1, 2)
    state = state.split(1)
    assert state.frontier == (3, 4, 2)
    state = state.prune(8)  # a leaf far below cluster 3: that one is opened
    assert state.frontier == (7, 8, 4, 2)
    state = state.prune(1)
    assert state.frontier == (1, 2)
    state = state.cut(n_leaves=3)
    assert len(state.frontier) == 3
    state = state.cut()
    assert state.frontier == (7, 8, 9, 10, 11, 12, 13, 14)
    state = state.take_cut([2, 1])
    assert state.frontier == (1, 2)
    with pytest.raises(ValueError, match="overlaps"):
        state.take_cut([0, 1])
    with pytest.raises(ValueError, match="is a leaf: the tree may not be deeper"):
        state = state.split(14)
    with pytest.raises(ValueError, match="no node 99"):
        state = state.prune(99)
    for depth, error in ((-1, ValueError), (1.5, TypeError)):
        with pytest.raises(error, match="depth must be"):
            state = state.cut(depth=depth)
    assert state.frontier == (1, 2)


def test_every_step_can_be_undone_and_repeated_in_python(fitted, cohort):
    fitted.annotations_ = {}
    navigator = TreeNavigator(fitted, cohort)
    state = navigator.state
    state = state.cut(depth=1)
    state = state.rename(1, "  Heart   and kidney ")
    state = state.split(2)
    wanted = (state.frontier, state.names)
    state = state.undo()
    state = state.undo()
    assert state.names == {}
    assert state.message == "Undone: Named 1 “Heart and kidney”."
    state = state.redo()
    state = state.redo()
    assert (state.frontier, state.names) == wanted
    state = state.go_to(0)
    assert len(state.frontier) == fitted.n_leaves_
    state = state.go_to(3)
    scope = {"TreeNavigator": TreeNavigator, "model": fitted, "cohort": cohort}
    fitted.annotations_ = {}
    exec(state.history.code, scope)
    assert (scope["state"].frontier, scope["state"].names) == wanted


def test_a_cut_or_name_that_changes_nothing_is_no_step(board):
    board.state = board.state.cut()
    assert len(board.state.history.steps) == 1
    assert "already" in board.state.message
    board.state = board.state.rename(1, "Heart")
    board.state = board.state.rename(1, " Heart ")
    board.components["tree"].selected = 1
    board.components["naming"].fire("pressed", "keep")
    assert [step.text for step in board.state.history.steps] == ["Opened", "Named 1 “Heart”"]
    assert board.state.message == "It was so already: Named 1 “Heart”."


def test_a_node_that_the_tree_does_not_have_is_not_picked(board):
    board.components["tree"].selected = 99
    assert board.state.node == 0


def test_the_model_keeps_names_and_cut(board, fitted, cohort):
    board.state = board.state.rename(1, "Heart")
    board.state = board.state.cut(depth=1)
    again = TreeNavigator(fitted, cohort).state
    assert again.names == {1: "Heart"}
    assert again.frontier == (1, 2)


def test_other_annotations_of_the_model_stay(board, fitted):
    fitted.annotations_ = {"from": "ward 7"}
    board.state = board.state.rename(1, "Heart")
    assert fitted.annotations_["from"] == "ward 7"
    assert fitted.annotations_["node_names"] == {"1": "Heart"}


def test_the_reader_cuts_names_and_goes_back(board):
    board.components["tree"].fire("cut", {"level": 1})
    assert board.components["tree"].frontier == [1, 2]
    board.components["tree"].fire("cut", {"split": 1})
    assert board.state.frontier[-1] == 2
    board.components["tree"].fire("cut", {"prune": 1})
    assert board.state.frontier == (1, 2)
    board.components["tree"].selected = 1
    board.components["naming"].values = {"name": "Kidney"}
    board.components["naming"].fire("pressed", "keep")
    assert board.components["tree"].names == {"1": "Kidney"}
    board.components["naming"].fire("pressed", "undo")
    assert board.components["tree"].names == {}
    board.components["naming"].fire("pressed", "redo")
    assert board.components["tree"].names == {"1": "Kidney"}
    open_all(board, 3)
    board.components["cutting"].values = {"k": 3}
    board.components["cutting"].fire("pressed", "cut")
    assert len(board.components["clusters"].rows) == 3


def test_a_cut_that_cannot_be_is_taken_back_in_the_browser(board, fitted):
    leaf = fitted.tree_.leaves[0]
    board.components["tree"].frontier = [1, 2]
    with pytest.raises(ValueError, match="leaf"):
        board.components["tree"].fire("cut", {"split": leaf})
    assert board.components["tree"].frontier == fitted.tree_.leaves


# -- the cut as a clustering --------------------------------------------------------------------


def test_the_cut_is_a_clustering_that_the_explorer_takes(board, fitted, cohort):
    board.state = board.state.cut(depth=1).rename(1, "Heart")
    cut = board.state.clustering()
    np.testing.assert_array_equal(cut.labels_, fitted.tree_.regrouped(fitted.labels_, [1, 2]))
    np.testing.assert_array_equal(cut.predict(cohort), cut.labels_)
    np.testing.assert_allclose(cut.centers_[0], fitted.tree_.nodes[1].mean, atol=1e-6)
    sizes = np.bincount(cut.labels_)
    assert sizes[0] > sizes[1]
    np.testing.assert_allclose(cut.weights_, sizes / len(cohort))
    assert cut.predict_proba(cohort).sum() == cohort.n_obs
    explorer = board.explorer()
    assert isinstance(explorer, ClusterExplorer)
    np.testing.assert_array_equal(explorer.state.assignment.labels, cut.labels_)
    assert explorer.state.clustering.ids == [0, 1]
    assert explorer.state.clustering.labels == ["Heart", "Branch 2"]
    board.state = board.state.cut()
    assert len(explorer.state.clustering.ids) == 2


def test_a_cut_finds_columns_by_their_names(board, cohort):
    cut = board.state.clustering()
    turned = cohort[:, ::-1]
    np.testing.assert_array_equal(cut.predict(turned), cut.labels_)
    table = pd.DataFrame(turned.X.toarray(), columns=turned.var_names)
    np.testing.assert_array_equal(cut.predict_proba(table).argmax(axis=1), cut.labels_)
    np.testing.assert_array_equal(cut.predict(cohort.X), cut.labels_)


def test_the_explorer_of_a_cut_can_merge_save_and_be_saved(board, tmp_path):
    board.state = board.state.cut()
    explorer = board.explorer()
    sizes = explorer.state.assignment.sizes
    explorer.state = explorer.state.merge(explorer.state.clustering.ids[:2])
    assert sorted(explorer.state.assignment.sizes)[-1] >= sizes[:2].sum()
    explorer.state.save(tmp_path / "cut.npz")
    assert len(lvmkit.load(tmp_path / "cut.npz").weights_) == len(sizes)
    explorer.to_html(tmp_path / "cut.html")


def test_the_cut_of_documents_can_be_read_as_topics(documents):
    tree = lvmkit.SpectralTree(max_depth=1).fit(documents)
    state = TreeNavigator(tree, documents).state
    topics = TopicRelevance(state.clustering(), documents)
    assert topics.state.figures.sizes() == np.bincount(state.cluster_labels()).tolist()


def test_the_button_opens_the_explorer_below_or_tells_how(board):
    open_all(board, 3)
    board.components["cutting"].fire("pressed", "explore")
    assert "navigator.explorer()" in board.components["status"].message
    column = board.__panel__()
    assert column is board.__panel__()
    board.components["cutting"].fire("pressed", "explore")
    assert len(column) == 2


# -- search, rows -------------------------------------------------------------------------------


def test_a_code_is_searched_from_every_side(board):
    board.components["branches"].fire("pick", "C3")
    assert board.state.code == board.components["tree"].code == "C3"
    assert board.components["tree"].found == {}  # the browser holds all numbers
    board.components["tree"].code = ""
    assert board.components["relevance"].code == ""


def test_rows_are_listed_page_by_page_and_explained(board, fitted):
    open_all(board, 2)
    board.components["tree"].selected = 1
    table = board.components["members"]
    inside = board.state.rows_of(1)
    assert table.total == len(inside)
    assert [row["row"] for row in table.rows] == (inside[:12] + 1).tolist()
    table.page = 2
    assert table.rows[0]["row"] == inside[24] + 1
    table.fire("pick", int(inside[24]) + 1)
    why = board.components["why"].text
    assert f"Row {inside[24] + 1}" in why
    assert "because of Disease" in why
    board.components["tree"].selected = 2
    assert table.page == 0


def test_the_way_down_is_the_way_of_the_tree(board, fitted):
    leaf = fitted.tree_.leaves[fitted.labels_[5]]
    path = fitted.tree_.path(leaf)
    lines = way_down(board.state, 5, leaf)
    assert [line.split(",")[0] for line in lines] == [
        f"to {fitted.tree_.label(below)}" for _, below in pairwise(path)
    ]


def test_a_row_is_explained_by_what_spoke_for_its_side():
    X = sparse.csr_matrix(np.array([[1, 0], [0, 1], [1, 1]] * 20, dtype=np.float32))
    cohort = anndata.AnnData(X, var=pd.DataFrame(index=["C0", "C1"]))
    state = TreeNavigator(complete(1, d=2), cohort).state
    lines = [way_down(state, row, state.layout.leaves[state.labels[row]]) for row in range(3)]
    assert lines == [["to 1, because of C0"], ["to 2, because of C1"], ["to 1, because of C0"]]


def test_documents_are_read_and_nothing_of_them_is_hidden(documents, tmp_path):
    tree = lvmkit.SpectralTree(max_depth=2).fit(documents)
    board = TreeNavigator(tree, documents)
    open_all(board, 2)
    assert not board.state.private
    assert board.components["tree"].sizes == [n.size for n in tree.nodes_]
    assert board.components["relevance"].totals
    board.components["members"].fire("pick", 1)
    assert HOSTILE in board.components["why"].text
    text = board.to_html(tmp_path / "tree.html").read_text("utf-8")
    assert HOSTILE.replace("<", "\\u003c") not in text
    assert "speech-" not in text


# -- large trees --------------------------------------------------------------------------------


@pytest.fixture
def few_cells(monkeypatch):
    """Let trees count as large that are not."""
    from lvmkit_widgets.trees import outline, terms_tab

    monkeypatch.setattr(terms_tab, "LIVE_CELLS", 20_000)
    monkeypatch.setattr(terms_tab.holds_all, "__defaults__", (20_000,))
    monkeypatch.setattr(terms_tab, "SAVED_CELLS", 20_000)
    assert outline.holds_all is terms_tab.holds_all


@pytest.mark.parametrize("last", ["tree", "relevance"])
def test_what_the_browser_has_not_got_yet_does_not_undo_the_answer(few_cells, last):
    """A pick says in one message which node, and that its numbers are not there: in any order."""
    board, leaf = TreeNavigator(complete(12, d=40, size=400)), 8190
    twin = board._sync.page()
    twin.param.update(tree_selected=2, tree_row=2, relevance_cluster=2)
    message = {
        "tree": {"tree_selected": leaf, "tree_row": None},
        "relevance": {"relevance_cluster": None},
    }
    with board.batch():  # as if it were one message
        for name in sorted(message, key=lambda name: name == last):
            twin.param.update(**message[name])
    place = board.components["tree"].held.index(leaf)
    assert place > 2
    assert (twin.tree_selected, twin.tree_row, twin.relevance_cluster) == (leaf, place, place)


def test_numbers_come_while_splits_are_looked_at_too(few_cells):
    board = TreeNavigator(complete(12, d=40, size=400))
    part = board.components["tree"]
    board.stage.tabs = {"main": 1}
    part.selected = 4094  # the last above the leaves
    assert {4094, 8189, 8190} <= set(part.held)
    shares = numbers(board.components["relevance"], "centers", np.float32, len(part.held))
    for node in (4094, 8189, 8190):
        mean = board.state.tree.nodes[node].mean
        np.testing.assert_allclose(shares[part.held.index(node)], mean, atol=0.01)
    board.stage.tabs = {"main": 0}
    assert part.row == part.held.index(4094) == board.components["relevance"].cluster


def test_a_tree_of_thousands_of_leaves_sends_numbers_as_they_are_asked_for(few_cells, tmp_path):
    tree = complete(12, d=40, size=400)
    board = TreeNavigator(tree)
    part, relevance = board.components["tree"], board.components["relevance"]
    assert len(part.children) == 8191
    assert len(board.state.frontier) == 64
    assert len(part.held) == 500
    leaf = 8190
    part.selected = leaf
    assert leaf in part.held
    assert part.row == part.held.index(leaf) == relevance.cluster
    shares = numbers(relevance, "centers", np.float32, len(part.held))
    np.testing.assert_allclose(shares[part.row], tree.nodes[leaf].mean, atol=0.01)
    part.selected = 2001
    assert set(tree.path(2001)) | {2002, *tree.nodes[2001].children} <= set(part.held)
    part.code = "C3"
    assert len(part.found["n"]) == 8191
    assert board.to_html(tmp_path / "large.html").stat().st_size < 2**21


def test_a_chain_of_thousand_splits_is_no_trouble():
    d, nodes, depth = 3, [], 1000
    mean = np.array([0.5, 0.2, 0.1])
    for k in range(depth):
        first = 2 * k
        parts = (first + 1, first + 2)
        parent = None if k == 0 else first - 2
        nodes.append((first, parent, parts, k))
        nodes.append((first + 1, first, (), k + 1))
    nodes.append((2 * depth, 2 * depth - 2, (), depth))
    made = [
        node(
            i,
            parent,
            parts,
            level,
            20 * (depth - level + 1) if parts or i == 2 * depth else 20,
            mean,
            sides=np.eye(d)[:2] if parts else None,
        )
        for i, parent, parts, level in sorted(nodes)
    ]
    board = TreeNavigator(Tree(tuple(made)))
    open_all(board)
    board.components["tree"].selected = 2 * depth
    labels = board.state.layout.labels
    assert labels[2 * depth] == f"node {2 * depth}"
    assert labels[2 * DEEP] == ".".join("2" * DEEP)  # the farthest down that its path names
    assert labels[2 * DEEP + 2] == f"node {2 * DEEP + 2}"


# -- files --------------------------------------------------------------------------------------


def test_files_tell_what_is_shown(board, fitted, cohort):
    open_all(board)
    board.state = board.state.cut(depth=1)
    board.state = board.state.rename(1, "=Heart")
    files = board._tabs[-1]
    made = {name: files.made(name) for name in (export.name for export in EXPORTS)}
    assert made["picture_png"][1].startswith(b"\x89PNG")
    assert "=Heart" in made["picture"][1].decode()
    table = nodes_table(board.state)
    assert table["node"].tolist() == list(range(len(fitted.nodes_)))
    assert table["n"].tolist() == [n.size for n in fitted.nodes_]
    assert "'=Heart" in made["nodes"][1].decode("utf-8-sig")
    tree = json.loads(made["json"][1])
    assert tree["cut"] == [1, 2]
    assert tree["nodes"][0]["children"] == [1, 2]
    assert tree["nodes"][0]["parent"] is None
    assert tree_text(board.state).splitlines()[1].startswith("  [0] 1  =Heart")
    rows = rows_table(board.state)
    np.testing.assert_array_equal(rows["cluster"], board.state.cluster_labels())
    assert rows["record"][0] == "secret-0"
    assert files.warning("rows") == " It holds ids of single patients: keep it here."
    assert files.warning("clusters") == ""
    assert made["page"][1].startswith(b"<!doctype html>")
    assert made["python"][1].decode().strip().endswith("state.rename(1, '=Heart')")
    codes = made["codes"][1].decode("utf-8-sig").splitlines()
    assert codes[0] == "cluster,branch,name,rank,code,title,n,share,overall,lift,relevance"


def test_tables_hold_sizes_splits_and_leaves():
    state = TreeNavigator(complete(2)).state
    state = state.cut(depth=1)
    state = state.split(1)
    table = nodes_table(state)
    np.testing.assert_array_equal(table["strength"][:3], 0.8)
    np.testing.assert_array_equal(table["support"][:3], 0.9)
    assert table["share"].tolist() == [1, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    clusters = clusters_table(state)
    assert clusters["n"].tolist() == [40, 40, 80]
    assert clusters["leaves"].tolist() == [1, 1, 2]


@pytest.mark.parametrize("balance", [0.0, 0.6, 1.0])
def test_terms_are_ranked_by_relevance(balance):
    tree = complete(2)
    state = TreeNavigator(tree, private=False).state
    state = state.replace(balance=balance)
    table = codes_table(state)
    share, overall = tree.nodes[3].mean, tree.nodes[0].mean
    score = np.log(share) - (1 - balance) * np.log(overall)
    first = table[table["cluster"] == 0]
    columns = [int(code.removeprefix("C")) for code in first["code"]]
    np.testing.assert_allclose(first["relevance"], np.sort(score)[::-1], atol=0.1)
    np.testing.assert_allclose(first["share"], share[columns], atol=0.02)
    np.testing.assert_allclose(first["lift"], first["share"] / overall[columns], atol=0.02)
    np.testing.assert_array_equal(first["n"], (first["share"] * 40).round())


def test_branches_are_called_by_what_is_more_frequent_than_in_their_whole():
    means = np.array([[0.5, 0.3], [0.9, 0.5], [0.1, 0.1], [0.9, 0.9], [0.9, 0.1]])
    parts = [(1, 2), (3, 4), (), (), ()]
    sizes, parents, depths = [400, 200, 200, 100, 100], [None, 0, 0, 1, 1], [0, 1, 1, 2, 2]
    nodes = [
        node(
            i,
            parents[i],
            parts[i],
            depths[i],
            sizes[i],
            means[i],
            sides=means[list(parts[i])] if parts[i] else None,
        )
        for i in range(5)
    ]
    figures = TreeNavigator(Tree(tuple(nodes)), private=False).state.figures
    assert figures.hints == ["", "feature 0, feature 1", "", "feature 1", ""]


def test_a_page_holds_the_columns_that_it_has_room_for(monkeypatch):
    from lvmkit_widgets.trees import terms_tab

    monkeypatch.setattr(terms_tab, "SAVED_CELLS", 2_000)
    board = TreeNavigator(complete(3, d=400, size=400))
    fields = board.static_fields()
    numbers = fields["relevance"]
    assert len(numbers["codes"]) == len(numbers["titles"]) == 300
    assert {f"C{j}" for j in range(8)} <= set(numbers["codes"])  # those that mark the leaves
    held = fields["tree"]["held"] or range(15)
    assert len(numbers["counts"]) == 4 * 300 * len(held)
    assert numbers["labels"]["rest"] == "This page holds 300 of 400 codes."


def test_the_heading_tells_of_other_rows_and_of_what_is_hidden(fitted, cohort):
    fitted.annotations_ = {}
    board = TreeNavigator(fitted, cohort[:500])
    assert (
        "grown on 870 rows; sizes here count the 500 patients" in board.components["left_out"].text
    )
    assert "Counts of 1 to 10 are hidden" in board.stage.footer
    assert "off by 11 or 5% at most" in board.stage.footer
    board.state = board.state.disclose(on_screen=False)
    assert "Small counts are shown: keep this screen to yourself." in board.stage.footer
    assert not TreeNavigator(fitted, cohort).components["left_out"].visible


def test_a_picture_of_too_many_branches_is_refused():
    board = TreeNavigator(complete(8))
    board.state = board.state.cut()
    with pytest.raises(ValueError, match="cut the tree higher up"):
        board._tabs[-1].made("picture")


def test_all_that_a_slow_page_sent_at_once_is_heard_before_anything_is_shown_anew(board):
    sent = {"stage_tabs": {"main": 1}, "tree_selected": 2, "relevance_balance": 0.1}
    board._sync.receive(sent, None)
    assert (board.state.node, board.state.balance) == (2, 0.1)
    assert board.components["tree"].selected == 2
    assert board.components["relevance"].balance == 0.1
    board._sync.receive({"tree_selected": 1, "relevance_balance": 0.9}, None)
    assert (board.state.node, board.state.balance) == (1, 0.9)
    assert board.components["relevance"].balance == 0.9
