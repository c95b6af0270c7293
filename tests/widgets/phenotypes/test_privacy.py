"""What score cards must not tell of few people: on the screen, in files, in a saved page."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit.cohorts import CountTensor
from lvmkit_widgets import ScoreCards
from lvmkit_widgets.phenotypes.tables import EXPORTS, card_table
from lvmkit_widgets.ui.words import small_counts

T = 11  # smaller counts are hidden
RARE, LITTLE, NEARLY, COMMON = range(4)


def scores_of(n_few):
    """Scores of 400 people in four phenotypes; of the first, few score 5."""
    scores = np.zeros((400, 4), dtype=np.int32)
    scores[:100, RARE] = 1
    scores[:30, RARE] = 4
    scores[:n_few, RARE] = 5
    scores[200 : 200 + n_few, LITTLE] = 2  # nobody else has it at all
    scores[n_few:, NEARLY] = 1  # few do not have it
    scores[:200, COMMON] = 3
    return scores


def opened(n_few, *, alone=False):
    """Cards of people of whom few score high; with every tab opened."""
    model = lvmkit.SUSTain(4)
    model.factors_ = [
        scores_of(n_few),
        np.eye(6, 4, dtype=np.int32),
        np.ones((3, 4), dtype=np.int32),
    ]
    model.weights_ = np.array([1, 2, 1, 1])
    model.mode_names_ = ["patient", "diagnosis", "drug"]
    model.mode_labels_ = [None, np.array([f"D{j}" for j in range(6)]), np.array(["a", "b", "c"])]
    model.n_features_in_, model.annotations_ = 6, {}
    cohort = None
    if not alone:
        counts = np.random.default_rng(0).integers(0, 2, (400, 6, 3))
        obs = pd.DataFrame({"age": 50}, index=[f"secret-{i}" for i in range(400)])
        labels = (obs, pd.DataFrame(index=model.mode_labels_[1]), pd.DataFrame(index=list("abc")))
        cohort = CountTensor(sparse.coo_array(counts), tuple(model.mode_names_), labels)
    board = ScoreCards(model, cohort, name="a ward")
    for tab in [*range(len(board._tabs)), 0]:
        board.open_tab("main", tab)
    return board


def fields_of(page):
    """Fields of a saved page."""
    state = re.search(r'id="lvmkit-state">(.*?)</script>', page, re.DOTALL)
    return json.loads(state[1])


def told(board):
    """All that is shown and given out, apart from lists of single people."""
    made = board._tabs[-1].made
    kept = {
        name: made(name)[1].decode()
        for name in (export.name for export in EXPORTS)
        if not name.endswith("_png") and _shared(name)
    }
    for phenotype in range(4):
        board.state = board.state.replace(phenotype=phenotype)
        kept[f"card {phenotype}"] = made("card")[1].decode()
        kept[f"table {phenotype}"] = card_table(board.state.for_others, phenotype).to_json()
    board.state = board.state.replace(phenotype=0)
    for part in ("cards", "pair", "fitted", "fit", "stage", "left_out", "newcomer"):
        for field, value in board.components.get(part, board.stage).param.values().items():
            if field != "name":
                kept[f"{part}.{field}"] = repr(value)
    kept["page"] = made("page")[1].decode()
    return kept | {name: repr(value) for name, value in fields_of(kept["page"]).items()}


def _shared(name):
    return name not in ("scores", "model", "page")


@pytest.mark.parametrize("alone", [True, False])
def test_nothing_given_out_tells_how_many_the_few_are(alone):
    board = opened(7, alone=alone)
    seven, eight = told(board), told(opened(8, alone=alone))
    assert {name for name, value in seven.items() if eight[name] != value} == set()
    items = board.components["cards"].items
    assert items[RARE]["counts"] == [300, 70, 0, 0, "hidden", "<11"]
    assert items[RARE]["n_with_score"] == 100
    assert items[LITTLE]["counts"] == ["hidden", 0, "<11", 0, 0, 0]
    assert (items[LITTLE]["n_with_score"], items[LITTLE]["share"]) == ("hidden", None)
    assert items[NEARLY]["counts"][:2] == ["<11", "hidden"]
    assert (items[NEARLY]["n_with_score"], items[NEARLY]["share"]) == ("hidden", None)
    assert items[COMMON]["counts"] == [200, 0, 0, 200, 0, 0]
    board.state = board.state.disclose(on_screen=False)
    assert board.components["cards"].items[RARE]["counts"] == [300, 70, 0, 0, 23, 7]


def test_files_and_saved_pages_hide_what_the_screen_shows():
    board = opened(7)
    hidden = told(board)
    board.state = board.state.disclose(on_screen=False)
    shown = told(board)
    for name in ("phenotypes", "card 0", "table 1", "cards_items", "cards_both", "cards_total"):
        assert shown[name] == hidden[name], name
    assert not board.state.disclosure.on_screen


def test_a_saved_page_of_people_holds_totals_only():
    board = opened(7)
    board.state = board.state.disclose(on_screen=False)
    board.state = board.state.replace(row=3)
    board.open_tab("main", 2)
    board.open_tab("main", 1)
    assert board.components["members"].rows
    assert board.components["newcomer_scores"].rows
    page = board._tabs[-1].made("page")[1].decode()
    fields = fields_of(page)
    assert "secret" not in page
    blank = ("members_rows", "newcomer_scores_rows", "newcomer_cells_rows", "taken_rows")
    assert [fields[name] for name in blank] == [[], [], [], []]
    assert fields["how_many_text"] == fields["newcomer_answer_text"] == ""
    assert fields["existing_values"] == fields["newcomer_values"] == fields["which_values"] == {}
    for item in fields["cards_items"]:
        numbers = [
            n for n in (*item["counts"], item["n_with_score"]) if isinstance(n, (int, float))
        ]
        assert all(n == 0 or n >= T for n in numbers)


def test_a_group_that_tells_a_hidden_count_does_not_open_in_the_explorer():
    board = opened(7)
    assert board.components["cards"].items[RARE]["counts"] == [300, 70, 0, 0, "hidden", "<11"]
    board.state = board.state.replace(phenotype=RARE, level=5)
    with pytest.raises(
        ValueError, match=r"its card hides\. Choose 1 or more, 2 or more, 3 or more"
    ):
        board.explorer()
    board.state = board.state.replace(level=2)
    assert board.explorer().state.assignment.sizes.tolist() == [30, 370]
    board.state = board.state.replace(phenotype=NEARLY, level=1)
    with pytest.raises(ValueError, match="No level avoids that"):
        board.explorer()
    board.state = board.state.disclose(
        on_screen=False
    )  # files that the explorer makes hide by its own sums only
    with pytest.raises(ValueError, match="No level avoids that"):
        board.explorer()


def test_rows_that_are_no_people_are_counted_openly():
    model = lvmkit.SUSTain(1)
    model.factors_, model.weights_ = [np.array([[0], [3]]), np.array([[1], [0]])], np.array([1])
    model.annotations_ = {}
    board = ScoreCards(model, private=False)
    assert board.state.row_name == "rows"
    assert board.components["cards"].items[0]["counts"] == [1, 0, 0, 1, 0, 0]
    assert "hidden" not in board.stage.footer


def test_the_footer_says_what_is_hidden_and_what_is_seen():
    board = ScoreCards(lvmkit.SUSTain(2, random_state=0), np.eye(40, 4))
    assert small_counts(11, hidden=True) in board.stage.footer
    board.state = board.state.disclose(on_screen=False)
    assert "keep this screen, and what you print of it, to yourself." in board.stage.footer
    assert "Files and saved pages hide them." in board.stage.footer
