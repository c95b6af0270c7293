"""What a tree navigator must not tell of few people: on the screen, in files, in a saved page."""

import base64
import json
import re

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.trees import Node, Tree
from lvmkit_widgets import TreeNavigator
from lvmkit_widgets.trees.export_tab import EXPORTS

T = 11  # smaller counts are hidden


# -- two cohorts that differ by what is hidden ----------------------------------------------------


# Columns: of the small leaf alone; of its whole sibling; of one side; of half the sibling; of a few of it.
RARE, EVERY, SIDE, HALF, LITTLE = range(5)


def people(n_few):
    """Rows of 400 people: 100 on one side, of whom the first few are set apart."""
    random = np.random.default_rng(5)
    X = (random.random((400, 12)) < np.linspace(0.1, 0.6, 12)).astype(np.float32)
    X[:, SIDE] = np.arange(400) < 100
    X[:, [RARE, EVERY]] = 0
    X[7:100, EVERY] = 1
    X[100:250, EVERY] = 1
    X[:100, [HALF, LITTLE]] = 0  # the eighth person has them, so that of the few nobody or one does
    X[7:57, HALF] = X[7:22, LITTLE] = 1
    X[:n_few, RARE] = 1
    return X


def grown(X):
    """A tree that asks for one code at every split: 1 are 300 people; 2.1 nearly all others; 2.2 a few."""
    part = {0: X[:, SIDE] >= 0, 1: X[:, SIDE] == 0, 2: X[:, SIDE] == 1}
    part |= {3: part[2] & (X[:, RARE] == 0), 4: part[2] & (X[:, RARE] == 1)}
    asks = {0: np.eye(12)[[SIDE, SIDE]] * [[-1], [1]], 2: np.eye(12)[[RARE, RARE]] * [[-1], [1]]}
    nothing = np.zeros((0, 12))
    parents, children = (None, 0, 0, 2, 2), {0: (1, 2), 2: (3, 4)}
    nodes = [
        Node(
            id=i,
            parent=parents[i],
            children=children.get(i, ()),
            depth=(0, 1, 1, 2, 2)[i],
            size=int(inside.sum()),
            mean=X[inside].mean(axis=0),
            centers=asks.get(i, nothing),
            discriminators=asks.get(i, nothing),
            offsets=np.array([1.0, 0.0]) if i in asks else np.zeros(0),
            rule="linear" if i in asks else "",
            strength=0.7 if i in asks else np.nan,
            support=np.nan,
            reason="" if i in children else f"all its {inside.sum()} rows are equal",
        )
        for i, inside in part.items()
    ]
    return Tree(tuple(nodes), np.array([f"C{j}" for j in range(12)], dtype=object))


def opened(n_few, *, alone):
    """A navigator of people, of whom few are set apart; with every tab opened."""
    X = people(n_few)
    obs = pd.DataFrame({"age": 50}, index=[f"secret-{i}" for i in range(400)])
    var = pd.DataFrame({"title": "Disease"}, index=[f"C{j}" for j in range(12)])
    cohort = None if alone else anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=var)
    board = TreeNavigator(grown(X), cohort, name="a ward")
    for tab in [*range(len(board._tabs)), 0]:
        board.open_tab("main", tab)
    return board


def fields_of(page):
    """Fields of a saved page."""
    state = re.search(r'id="lvmkit-state">(.*?)</script>', page, re.DOTALL)
    return json.loads(state[1])


def told(board):
    """All that is shown and given out, apart from lists of single people."""
    kept = {
        name: board._tabs[-1].made(name)[1].decode()
        for name in (export.name for export in EXPORTS)
        if _text(name)
    }
    parts = ("tree", "trail", "relevance", "branches", "clusters", "naming", "stage", "left_out")
    for name in parts:
        for field, value in board.components.get(name, board.stage).param.values().items():
            if field != "name":
                kept[f"{name}.{field}"] = repr(value)
    with pytest.raises(ValueError, match="is a leaf") as refused:
        board.state = board.state.split(4)
    kept["message"] = str(refused.value)
    for word in board.state.figures.words:
        kept[f"having {word}"] = repr(board.state.figures.n_with_code(word))
    kept["page"] = board._tabs[-1].made("page")[1].decode()
    kept |= {name: repr(value) for name, value in fields_of(kept["page"]).items()}
    return kept


def _text(name):
    return name not in ("rows", "page", "picture_png")


@pytest.mark.parametrize("alone", [True, False])
def test_nothing_given_out_tells_how_many_the_few_are(alone):
    board = opened(7, alone=alone)
    seven = told(board)
    eight = told(opened(8, alone=alone))
    assert {name for name, value in seven.items() if eight[name] != value} == set()
    assert board.components["tree"].sizes == [400, 300, 100, "≈90", "<11"]
    assert board.components["tree"].reasons == ["all its 300 rows are equal"]
    assert board.components["tree"].why == [None, 0, None, None, None]
    counts = np.frombuffer(board.components["relevance"].counts, np.int32).reshape(5, 12)
    assert (counts[4] == -1).all()
    assert counts[3, EVERY] == -1
    assert (counts[3] > 0).sum() > 5  # estimates
    board.state = board.state.disclose(on_screen=False)
    assert board.components["tree"].sizes == [400, 300, 100, 93, 7]
    assert "all its 7 rows are equal" in board.components["tree"].reasons


def test_a_saved_page_of_people_holds_totals_only():
    board = opened(7, alone=False)
    hidden = board._tabs[-1].made("page")[1].decode()
    board.state = board.state.disclose(on_screen=False)
    board.state = board.state.replace(node=4, row=3)
    board.open_tab("main", 2)
    assert board.components["members"].rows
    page = board._tabs[-1].made("page")[1].decode()
    assert not board.state.disclosure.on_screen
    fields = fields_of(page)
    assert fields["tree_sizes"] == fields_of(hidden)["tree_sizes"]
    assert fields["tree_reasons"] == fields_of(hidden)["tree_reasons"]
    assert "secret" not in page
    assert fields["members_rows"] == []
    assert fields["why_text"] == ""
    counts = np.frombuffer(base64.b64decode(fields["relevance_counts"]["$bytes"]), np.int32)
    assert not ((counts > 0) & (counts < T)).any()


def test_a_reason_speaks_of_no_few_people_that_the_tree_was_grown_on():
    tree = grown(people(7))
    X = people(50)  # other people: of them enough go to the small leaf
    var = pd.DataFrame(index=tree.feature_names)
    board = TreeNavigator(tree, anndata.AnnData(sparse.csr_matrix(X), var=var))
    assert board.components["tree"].sizes == [400, 300, 100, 50, 50]
    assert board.components["tree"].why[4] is None
