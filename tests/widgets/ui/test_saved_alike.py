"""Saved pages tell no more than their counts: patients of one cluster who swap codes leave no trace."""

import re

import numpy as np
import pytest

import lvmkit
from lvmkit.datasets import load_discharges
from lvmkit_widgets import (
    ClusterExplorer,
    ScoreCards,
    StabilityPanel,
    TopicRelevance,
    TreeNavigator,
)
from lvmkit_widgets.covariates import export_tab as covariates
from lvmkit_widgets.tensors import dashboard as tensors
from lvmkit_widgets.ui.export import TWICE

pytestmark = pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
N = 1500


def places(model, cohort):
    """What a dashboard counts each patient under."""
    if hasattr(model, "factors_"):
        return model.transform(cohort)
    return model.predict(cohort) if hasattr(model, "predict") else model.transform(cohort).argmax(1)


def swapped(cohort, model, want=3):
    """Return the cohort in which pairs of patients of the same place have given each other a code."""
    rng, changed, done = np.random.default_rng(1), cohort.X.tolil(), 0
    before = places(model, cohort)
    for _ in range(5000):
        i, j = rng.choice(N, 2, replace=False)
        only = [sorted(set(changed.rows[a]) - set(changed.rows[b])) for a, b in ((i, j), (j, i))]
        if not (all(only) and np.array_equal(before[i], before[j])):
            continue
        tried = changed.copy()
        for row, other, codes in ((i, j, only[0]), (j, i, only[1])):
            code = rng.choice(codes)
            tried[row, code], tried[other, code] = 0, 1
        found = cohort.copy()
        found.X = tried.tocsr().astype(cohort.X.dtype)
        if np.array_equal(places(model, found[[i, j]]), before[[i, j]]):
            changed, done, result = tried, done + 1, found
        if done == want:
            return result
    pytest.fail("no patients could swap codes")


BOARDS = {
    "explorer": (ClusterExplorer, lambda: lvmkit.BernoulliMixture(5, random_state=0)),
    "tree": (
        TreeNavigator,
        lambda: lvmkit.SpectralTree(max_depth=3, min_samples_leaf=11, random_state=0),
    ),
    "topics": (TopicRelevance, lambda: lvmkit.SingleTopic(4, random_state=0)),
    "mixtures of topics": (TopicRelevance, lambda: lvmkit.LatentDirichlet(4, random_state=0)),
    "cards": (ScoreCards, lambda: lvmkit.SUSTain(5, random_state=0)),
}


@pytest.mark.parametrize("name", BOARDS)
def test_a_saved_page_is_the_same_when_hidden_data_differ(name, tmp_path):
    board, model = BOARDS[name]
    cohort = load_discharges()[:N].copy()
    fitted = model().fit(cohort)
    pages = [
        board(fitted, shown).to_html(tmp_path / "page.html").read_text("utf-8")
        for shown in (cohort, swapped(cohort, fitted))
    ]
    # the heat map shows groups of 44 patients, rounded to quarters: who is beside whom may differ
    told = [re.sub(r'"heat_cells":{"\$bytes":"[^"]*"}', "", page) for page in pages]
    assert told[0] == told[1]


def test_what_rests_on_every_patient_is_in_no_saved_page(tmp_path):
    cohort = load_discharges()[:N].copy()
    cards = ScoreCards(lvmkit.SUSTain(5, random_state=0).fit(cohort), cohort)
    explorer = ClusterExplorer(lvmkit.BernoulliMixture(5, random_state=0).fit(cohort), cohort)
    for board, words in (
        (cards, f"fit {cards.state.model.fit_:.3f}"),
        (explorer, "log likelihood"),
    ):
        assert words not in board.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "log likelihood" in explorer.stage.subtitle  # on this screen it stays
    cards.state = cards.state.disclose(on_screen=False)
    assert "fit 0." in cards.stage.subtitle
    assert words not in cards.to_html(tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("name", ["explorer", "tree", "topics", "cards", "stability"])
def test_beside_the_buttons_stands_what_two_files_can_give_away(name):
    cohort = load_discharges()[:300].copy()
    board, model = BOARDS.get(name, (StabilityPanel, BOARDS["explorer"][1]))
    dashboard = board(model().fit(cohort), cohort)
    dashboard.update_all()
    notes = [c["label"] for c in dashboard.components["files"].controls if c["kind"] == "note"]
    assert [TWICE in note for note in notes] == [True]


@pytest.mark.parametrize("note", [covariates.NOTE, tensors.NOTE])
def test_notes_without_counts_say_so_too(note):
    assert TWICE in note
