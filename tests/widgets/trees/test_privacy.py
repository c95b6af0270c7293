"""What a tree navigator must not tell of few people: on the screen, in files, in a saved page."""

import base64
import json
import re

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog

from lvmkit.disclosure.trees import shown_counts
from lvmkit.trees import Node, Tree
from lvmkit_widgets import TreeNavigator
from lvmkit_widgets.trees.export_tab import EXPORTS

T = 11  # smaller counts are hidden


def random_tree(random, n_leaves, d):
    """Counts of a random binary tree, sums upward; splits from the root down."""
    splits, leaves, count = [], [0], 1
    while len(leaves) < n_leaves:
        whole = leaves.pop(random.integers(len(leaves)))
        splits.append((whole, count, count + 1))
        leaves += [count, count + 1]
        count += 2
    sizes = np.zeros(count, dtype=int)
    counts = np.zeros((count, d), dtype=int)
    for leaf in leaves:
        sizes[leaf] = random.integers(1, random.choice([12, 60, 200]))
        shares = random.choice([0, 0.01, 0.1, 0.5, 0.97, 1], d)
        counts[leaf] = random.binomial(sizes[leaf], shares)
    for whole, left, right in reversed(splits):
        sizes[whole] = sizes[left] + sizes[right]
        counts[whole] = counts[left] + counts[right]
    return counts, sizes, np.array(splits)


def known(value, hidden):
    """What a reader knows of a number that is shown, small, or hidden besides."""
    if not hidden:
        return value, value
    return (1, T - 1) if 1 <= value < T else (0, None)


def widths(counts, sizes, splits):
    """How far each small number of one code, or size, can vary under all that is shown."""
    n = len(sizes)
    _, gone = shown_counts(sizes[:, None], splits)
    _, cells = shown_counts(counts[:, None], splits, sizes=sizes)
    sums = np.zeros((2 * len(splits), 2 * n))
    for k, split in enumerate(splits):
        sums[2 * k, split] = sums[2 * k + 1, split + n] = 1, -1, -1
    within = np.hstack([-np.eye(n), np.eye(n)])  # a count is no larger than its node
    bounds = [known(*pair) for pair in zip(sizes, gone[:, 0], strict=True)]
    # of a few people it is hidden too whether none of them has the code
    bounds += [
        (0, None) if h and 0 < size < T else known(x, h)
        for size, x, h in zip(sizes, counts, cells[:, 0], strict=True)
    ]
    of_size, of_count = np.eye(2 * n)[:n], np.eye(2 * n)[n:]
    rest = sizes - counts
    enough = cells[:, 0] & (sizes >= T)
    aims = [
        *of_size[gone[:, 0] & (sizes > 0) & (sizes < T)],
        *of_count[enough & (counts > 0) & (counts < T)],
        *(of_size - of_count)[enough & (rest > 0) & (rest < T)],
    ]
    for aim in aims:
        given = {"A_ub": within, "b_ub": np.zeros(n), "A_eq": sums, "b_eq": np.zeros(len(sums))}
        low, high = (linprog(sign * aim, **given, bounds=bounds) for sign in (1, -1))
        yield np.inf if high.status == 3 else -high.fun - low.fun


@pytest.mark.slow
def test_no_small_number_follows_from_all_that_is_shown():
    random = np.random.default_rng(0)
    found = 0
    for _ in range(40):
        counts, sizes, splits = random_tree(random, int(random.integers(2, 6)), 4)
        for column in counts.T:
            for width in widths(column, sizes, splits):
                found += 1
                assert width >= 1, (column, sizes, splits)
    assert found > 300


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ([89, 89, 0], [90, 89, 1]),  # everybody beside a single person has it
        ([51, 41, 10], [128, 41, 87]),  # all of the sibling have it, which cannot have more
    ],
)
def test_a_part_that_cannot_vary_does_not_tell_the_other(counts, sizes):
    splits = np.array([[0, 1, 2]])
    assert all(width >= 1 for width in widths(np.array(counts), np.array(sizes), splits))
    _, hidden = shown_counts(np.array(counts)[:, None], splits, sizes=np.array(sizes))
    assert hidden[1:].all()


def test_parts_that_vary_against_each_other_leave_the_whole_to_be_seen():
    splits = np.array([[0, 1, 2], [2, 3, 4], [4, 5, 6]])
    counts, sizes = (
        np.array([4632, 4607, 25, 6, 19, 14, 5]),
        np.array([9000, 8400, 600, 183, 417, 212, 205]),
    )
    assert all(width >= T - 2 for width in widths(counts, sizes, splits))
    _, hidden = shown_counts(counts[:, None], splits, sizes=sizes)
    assert hidden[:, 0].tolist() == [False, False, False, True, True, True, True]


def test_what_is_hidden_on_behalf_of_its_parts_does_not_make_up_for_another():
    splits = np.array([[0, 1, 2], [1, 3, 4], [4, 5, 6]])
    counts, sizes = (
        np.array([67, 57, 10, 47, 10, 3, 7]),
        np.array([284, 171, 113, 47, 124, 114, 10]),
    )
    assert all(width >= 1 for width in widths(counts, sizes, splits))


def test_no_hidden_count_follows_from_the_others():
    random = np.random.default_rng(1)
    for _ in range(60):
        counts, sizes, splits = random_tree(random, int(random.integers(2, 12)), 8)
        shown, hidden = shown_counts(counts, splits, sizes=sizes)
        assert hidden[(counts > 0) & (counts < T)].all()
        rest = sizes[:, None] - counts
        assert hidden[(rest > 0) & (rest < T) & (counts > 0)].all()
        for column in range(counts.shape[1]):
            gone = np.flatnonzero(hidden[:, column])
            system = np.zeros((len(splits), len(counts)))
            for row, (whole, left, right) in enumerate(splits):
                system[row, [whole, left, right]] = 1, -1, -1
            unknown = system[:, gone]
            rank = np.linalg.matrix_rank(unknown) if len(gone) else 0
            for place in range(len(gone)):
                # a number is determined if fixing it costs a degree of freedom less than it should
                fixed = np.vstack([unknown, np.eye(len(gone))[place]])
                assert np.linalg.matrix_rank(fixed) == rank + 1
        exact = ~hidden
        np.testing.assert_array_equal(shown[exact], counts[exact])


def test_estimates_are_near_and_made_of_what_is_shown():
    random = np.random.default_rng(2)
    found = 0
    for _ in range(60):
        counts, sizes, splits = random_tree(random, 8, 6)
        shown, hidden = shown_counts(counts, splits, sizes=sizes)
        guessed = hidden & ~np.isnan(shown)
        found += guessed.sum()
        assert (np.abs(shown - counts)[guessed] <= np.maximum(T, 0.05 * shown[guessed])).all()
        assert np.isnan(shown[(counts > 0) & (counts < T)]).all()
    assert found > 20


def test_that_nobody_of_a_branch_has_a_code_is_no_secret_of_its_parts():
    counts = np.array([[50], [50], [0], [0], [0]])
    sizes = np.array([300, 200, 100, 93, 7])
    _, hidden = shown_counts(counts, np.array([[0, 1, 2], [2, 3, 4]]), sizes=sizes)
    assert not hidden.any()


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
        board.state.split(4)
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
    board.state.hide_small = False
    assert board.components["tree"].sizes == [400, 300, 100, 93, 7]
    assert "all its 7 rows are equal" in board.components["tree"].reasons


def test_a_saved_page_of_people_holds_totals_only():
    board = opened(7, alone=False)
    hidden = board._tabs[-1].made("page")[1].decode()
    board.state.hide_small = False
    board.state.node, board.state.row = 4, 3
    board.open_tab("main", 2)
    assert board.components["members"].rows
    page = board._tabs[-1].made("page")[1].decode()
    assert not board.state.hide_small
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
