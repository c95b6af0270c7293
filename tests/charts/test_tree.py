import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit.charts import svg, tree_chart, tree_table
from lvmkit.charts.theme import NEUTRAL, PICKED
from lvmkit.trees import Tree


@pytest.fixture(scope="module")
def tree() -> Tree:
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], [400, 300, 200, 100])
    centers = np.full((4, 8), 0.05)
    for j in range(4):
        centers[j, 2 * j : 2 * j + 2] = 0.9
    X = (random.random((1000, 8)) < centers[labels]).astype(float)
    names = [f"C{j}" for j in range(8)]
    grown: Tree = lvmkit.SpectralTree(max_depth=2).fit(pd.DataFrame(X, columns=names)).tree_
    return grown


def test_the_table_holds_the_tree_depth_first(tree: Tree) -> None:
    table = tree_table(tree)
    assert table["node"].tolist() == list(tree.walk())
    assert table["n"].tolist() == [f"{tree.nodes[i].size:,}" for i in tree.walk()]
    assert table["share"].iloc[0] == 1
    assert table["terms"].iloc[1] == ", ".join(tree.terms(1, n_terms=4))
    assert table["cluster"].dropna().tolist() == list(range(len(tree.leaves)))


def test_a_cut_names_and_meanings_are_in_the_table(tree: Tree) -> None:
    titles = {f"C{j}": f"Disease {j}" for j in range(8)}
    table = tree_table(tree, frontier=[1, 2], names={2: "Kidney"}, titles=titles)
    assert table["label"].tolist() == ["All", "1", "2 · Kidney"]
    assert table["cluster"].tolist()[1:] == [0, 1]
    assert "Disease" in table["terms"].iloc[1]
    assert "; " in table["terms"].iloc[1]


def test_rows_of_the_picture_are_links_and_lines_follow_the_strength(tree: Tree) -> None:
    spec = tree_chart(tree_table(tree), row_name="patients").to_dict()
    assert spec["title"]["text"] == [f"{len(tree.leaves)} clusters of 1,000 patients"]
    rows = [row for data in spec["datasets"].values() for row in data]
    links = {row["href"] for row in rows if "href" in row}
    assert links == {f"#cluster={node.id}" for node in tree.nodes}
    thick = {row["thick"] for row in rows if "thick" in row}
    strong = [node.strength for node in tree.nodes if node.children]
    np.testing.assert_allclose(sorted(thick), sorted({1 + 2.5 * s for s in strong}))


def test_bars_are_shares_and_those_of_the_cut_are_in_color(tree: Tree) -> None:
    table = tree_table(tree, frontier=[1, 2])
    spec = tree_chart(table, width=600).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data if "shade" in row]
    bars = {row["node"]: row for row in rows}
    assert [bars[i]["shade"] for i in (0, 1, 2)] == [NEUTRAL, PICKED, PICKED]
    for node, share in zip(table["node"], table["share"], strict=True):
        assert bars[node]["whole"] - bars[node]["start"] == 100
        assert bars[node]["end"] - bars[node]["start"] == pytest.approx(100 * share)


def test_long_names_are_cut_and_stay_inside(tree: Tree) -> None:
    names = {node.id: "a very long name that nobody can read at once " * 4 for node in tree.nodes}
    spec = tree_chart(tree_table(tree, names=names), width=500).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data]
    texts = [row["text_label"] for row in rows if "text_label" in row]
    assert all(text.endswith("…") for text in texts)
    assert "<svg" in svg(tree_chart(tree_table(tree, names=names), width=500))


def test_hidden_sizes_are_told_and_trees_of_one_leaf_or_none_are_drawn(tree: Tree) -> None:
    table = tree_table(tree, frontier=[0])
    hidden = table.assign(n="<11", share=np.nan)
    spec = tree_chart(hidden).to_dict()
    assert "too few to show" in str(spec["title"]["subtitle"])
    assert tree_chart(tree_table(Tree(()))).to_dict()["title"]["text"] == ["0 clusters of 0 rows"]
    assert "<svg" in svg(tree_chart(tree_table(Tree(()))))
