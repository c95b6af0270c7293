import io

import anndata
import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit_widgets.clusters import codes_tab, compare_tab
from lvmkit_widgets.clusters.attributes_tab import attributes_text
from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.clusters.export_tab import assignment_table, codes_table
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.export import csv

CODES = ["250", "272", "401", "427", "428", "486", "518", "584", "585", "715", "V45", "V58"]
TABS = {
    name: i
    for i, name in enumerate(
        ["overview", "marks", "people", "compare", "members", "newcomer", "change", "share"]
    )
}


def planted(n=400):
    centers = np.full((3, 12), 0.05)
    for j in range(3):
        centers[j, 4 * j : 4 * j + 4] = [0.9, 0.8, 0.7, 0.6]
    truth = lvmkit.BernoulliMixture.from_parameters([0.5, 0.3, 0.2], centers, feature_names=CODES)
    X, _ = truth.sample(n, random_state=1)
    rng = np.random.default_rng(1)
    obs = pd.DataFrame(
        {"age": rng.integers(20, 90, n), "sex": rng.choice(["female", "male"], n)},
        index=[f"secret-{i}" for i in range(n)],
    )
    var = pd.DataFrame({"title": [f"Disease {code}" for code in CODES]}, index=CODES)
    return anndata.AnnData(X, obs=obs, var=var)


@pytest.fixture(scope="module")
def cohort():
    return planted()


@pytest.fixture(scope="module")
def fitted(cohort):
    return lvmkit.BernoulliMixture(n_components=3).fit(cohort)


@pytest.fixture
def board(fitted, cohort):
    fitted.annotations_ = {}  # one test saves
    return ClusterExplorer(fitted, cohort, name="Test cohort")


def press(board, form, button, **values):
    part = board.components[form]
    part.values = {**part.values, **values}
    part.fire("pressed", button)


def downloaded(board):
    return board.stage.file_sent[1]["name"], board.stage.file


def test_the_heading_tells_cohort_size_and_fit(board):
    assert board.stage.title == "Test cohort"
    assert board.stage.subtitle.startswith(
        "400 patients · 12 codes · 3 clusters · log likelihood −"
    )
    assert "converged after" in board.stage.subtitle


def test_a_cluster_picked_anywhere_is_picked_everywhere(board):
    board.open_tab("main", TABS["marks"])
    board.components["sizes"].selected = 2
    assert board.state.cluster == 2
    assert board.components["relevance"].cluster == 2
    board.open_tab("main", TABS["overview"])
    board.components["summary"].fire("pick", 1)
    assert board.components["sizes"].selected == 1


def test_only_the_open_tab_is_drawn(board):
    board.open_tab("main", TABS["overview"])
    board.state = board.state.look(code="428")
    assert board.components["profile"].svg == ""
    board.open_tab("main", TABS["marks"])
    assert "428" in board.components["profile"].caption


def test_a_code_is_shown_with_its_profile(board):
    board.open_tab("main", TABS["marks"])
    board.components["relevance"].fire("pick", "585")
    assert board.state.code == "585"
    assert board.components["profile"].caption.startswith("585 Disease 585")
    assert board.components["profile"].svg.startswith("<svg")


def test_name_and_note_are_kept_and_undone(board):
    press(board, "naming", "keep", name="Heart", note="look again")
    assert board.state.clustering.cluster(0).label == "Heart"
    assert board.components["sizes"].items[0]["name"] == "0 · Heart"
    board.components["steps"].fire("pressed", "undo")
    assert board.components["naming"].values == {"name": "Heart", "note": ""}
    board.components["steps"].fire("pressed", "undo")
    assert board.components["naming"].values == {"name": "", "note": ""}


def test_fit_split_merge_and_back_by_the_forms(board):
    board.open_tab("main", TABS["change"])
    press(board, "refit", "fit", k=2, excluded=["V45"])
    assert board.state.clustering.ids == [0, 1]
    assert "V45" not in board.state.codes
    press(board, "split", "split", cluster="1", parts=2)
    assert board.state.clustering.ids == [0, 2, 3]
    board.components["sizes"].selected = 0
    board.components["sizes"].others = [3]
    assert board.components["merge"].values["clusters"] == ["0", "3"]
    press(board, "merge", "merge", name="Both")
    assert board.state.clustering.labels == ["Both", "Cluster 2"]
    press(board, "merge", "unmerge")
    assert board.state.clustering.ids == [0, 3, 2]
    board.open_tab("main", TABS["share"])
    board.components["taken"].fire("pick", 0)
    assert board.state.clustering.ids == [0, 1, 2]
    assert board.components["status"].message == "Back at: Opened."


def test_chosen_patients_are_counted_before_the_fit(board):
    board.open_tab("main", TABS["change"])
    form = board.components["refit"]
    form.values = {**form.values, "from_age": 40, "to_age": 60, "level_sex": ["male"]}
    assert board.state.subset == Subset(ranges={"age": (40, 60)}, values={"sex": ("male",)})
    [note] = [c["label"] for c in form.controls if c["kind"] == "note"]
    assert note.startswith(f"{board.state.n_chosen} of 400 patients")
    form.values = {**form.values, "from_age": 80, "having": ["428"], "lacking": ["428"]}
    [note] = [c["label"] for c in form.controls if c["kind"] == "note"]
    assert note == "Nobody fits this choice. Widen it."
    form.fire("pressed", "all")
    assert form.values["from_age"] == int(board.state.patients.cohort.obs["age"].min())


def test_showing_a_subset_keeps_the_clusters(board):
    board.open_tab("main", TABS["change"])
    press(board, "refit", "show", level_sex=["female"])
    assert "(sex female)" in board.stage.subtitle
    assert board.state.clustering.ids == [0, 1, 2]


def test_a_wrong_wish_is_told_and_nothing_is_lost(board):
    board.open_tab("main", TABS["change"])
    with pytest.raises(ValueError, match="need at least 40 codes"):
        press(board, "refit", "fit", k=40)
    assert board.state.clustering.ids == [0, 1, 2]


def test_a_new_patient_gets_the_posterior_of_the_model(board, fitted):
    board.open_tab("main", TABS["newcomer"])
    press(board, "newcomer", "assign", typed="585.9; 584 xyz", picked=["715"])
    expected = np.zeros((1, 12), dtype=np.float32)
    expected[0, [CODES.index(c) for c in ("585", "584", "715")]] = 1
    table = board.components["posteriors"]
    found = [row["posterior"] for row in table.rows]
    with pytest.warns(UserWarning, match="valid feature names"):
        proba = fitted.predict_proba(expected)[0]
    np.testing.assert_allclose(found, proba, rtol=1e-4, atol=1e-6)
    answer = board.components["newcomer_answer"].text
    assert "585.9 as 585" in answer
    assert "left out: xyz" in answer
    assert "start with its share" in board.components["arithmetic"].text
    end = board.components["arithmetic_codes"].rows[-1]["probability"]
    assert end == pytest.approx(max(found), rel=1e-4)
    assert table.selected == int(np.argmax(found))


def test_codes_not_typed_can_be_unknown(board, fitted):
    board.open_tab("main", TABS["newcomer"])
    press(board, "newcomer", "assign", typed="585", unknown=True)
    found = [row["posterior"] for row in board.components["posteriors"].rows]
    X = np.zeros((1, 12), dtype=np.float32)
    X[0, CODES.index("585")] = 1
    expected = fitted.predict_proba(pd.DataFrame(X, columns=CODES), observed=["585"])
    np.testing.assert_allclose(found, expected[0], rtol=1e-6)


def test_nothing_understood_is_said(board):
    board.open_tab("main", TABS["newcomer"])
    press(board, "newcomer", "assign", typed="what is this")
    assert board.components["newcomer_answer"].text.startswith("No code was understood yet.")
    assert not board.components["posteriors"].visible


def test_a_patient_is_explained(board):
    board.open_tab("main", TABS["members"])
    row = board.components["borderline"].rows[0]["row"]
    board.components["borderline"].fire("pick", row)
    assert board.components["why"].text.startswith(f"**Patient in row {row}**")
    steps = board.components["why_codes"].rows
    assert steps[0]["step"] == "Before any code is known"
    place = board.state.assignment.rows.tolist().index(row - 1)
    posterior = board.state.assignment.posterior[place, 0]
    assert steps[-1]["probability"] == pytest.approx(posterior, rel=1e-4)


def test_lists_of_patients_hold_no_record_ids(board):
    board.open_tab("main", TABS["members"])
    assert "secret" not in str(board.components["typical"].rows)


def test_every_file_is_handed_over(board, cohort):
    board.open_tab("main", TABS["share"])
    expected = {
        "clusters": "clusters.csv",
        "codes": "codes.csv",
        "assignment": "assignment.csv",
        "python": "steps.py",
        "report": "report.html",
        "model": "model.npz",
    }
    for button, file in expected.items():
        board.components["files"].fire("pressed", button)
        name, data = downloaded(board)
        assert name == file
        assert data
        if button == "assignment":
            table = pd.read_csv(io.BytesIO(data))
            assert table["record"].tolist() == cohort.obs_names.tolist()
            assert table["cluster"].tolist() == board.state.assignment.labels.tolist()


def test_tables_to_share_hide_small_counts_and_formulas(board):
    board.state = board.state.rename(0, "=cmd()")
    table = codes_table(board.state)
    numbers = [n for n in table["n_in"] if not isinstance(n, str)]
    assert "<11" in set(table["n_in"])
    assert min(numbers) >= 11
    hidden = table["n_in"].isin(["<11", "hidden"])
    assert table.loc[hidden, ["share_in", "odds_ratio", "p"]].isna().all(axis=None)
    assert b"'=cmd()" in csv(table)
    assert b",=cmd()" not in csv(assignment_table(board.state))


def test_small_counts_are_hidden_on_screen_until_asked_for(board):
    board.open_tab("main", TABS["marks"])
    hidden = np.frombuffer(board.components["relevance"].counts, dtype=np.int32)
    assert (hidden == -1).any()
    board.state = board.state.disclose(on_screen=False)
    shown = np.frombuffer(board.components["relevance"].counts, dtype=np.int32)
    assert not (shown == -1).any()
    np.testing.assert_array_equal(shown[hidden >= 0], hidden[hidden >= 0])


def test_the_report_holds_totals_only(board, tmp_path):
    board.state = board.state.rename(0, "Heart & <b>lung</b>")
    board.state = board.state.disclose(on_screen=False)
    path = board.to_html(tmp_path / "report.html")
    text = path.read_text("utf-8")
    assert "secret-" not in text
    assert path.stat().st_size < 2_000_000
    assert "<b>lung" not in text
    assert not board.state.disclosure.on_screen


def test_the_explorer_opens_a_saved_model_with_its_names(board, cohort, tmp_path):
    board.state = board.state.merge([0, 1], name="Both")
    board.state.save(tmp_path / "m.npz")
    again = ClusterExplorer(lvmkit.load(tmp_path / "m.npz"), cohort)
    assert again.state.clustering.labels == ["Both", "Cluster 2"]


def test_a_cohort_without_attributes_or_titles_works():
    X = (np.random.default_rng(0).random((60, 5)) < 0.4).astype(np.float32)
    bare = anndata.AnnData(X)
    centers = [[0.2, 0.4, 0.6, 0.3, 0.5], [0.5, 0.3, 0.2, 0.6, 0.4]]
    board = ClusterExplorer(lvmkit.BernoulliMixture.from_parameters([0.5, 0.5], centers), bare)
    for i in TABS.values():
        board.open_tab("main", i)
    assert board.components["no_attributes"].visible
    assert isinstance(board.state, ExplorerState)


def test_one_cluster_is_enough(cohort):
    board = ClusterExplorer(lvmkit.BernoulliMixture(n_components=1).fit(cohort), cohort)
    for i in TABS.values():
        board.open_tab("main", i)
    assert board.state.other is None


def test_long_tables_are_sorted_searched_and_paged(board, monkeypatch):
    monkeypatch.setattr(codes_tab, "TESTED", 3)
    board.open_tab("main", TABS["marks"])
    table = board.components["evidence"]
    assert table.total > 3
    table.sort = ["n_in", "asc"]
    numbers = [row["n_in"] for row in table.rows]
    assert numbers == sorted(numbers)
    first = [row["code"] for row in table.rows]
    table.page = 1
    assert first != [row["code"] for row in table.rows]
    table.param.update(search="disease 428", page=0)
    assert [row["code"] for row in table.rows] == ["428"]
    assert table.total == 1


def test_a_saved_page_answers_for_every_cluster(board):
    [answers] = board.static_cases()
    assert set(answers["cases"]) == {"0", "1", "2"}
    for row, fields in enumerate(answers["cases"].values()):
        assert fields["relevance.cluster"] == row
        assert fields["evidence.rows"]
        assert fields["profile.svg"].startswith("<svg")


def test_hidden_counts_are_never_written_as_small(board):
    table = codes_table(board.state)
    whole = board.state.analysis.association(board.state.view)
    for shown, real in zip(table["n_in"], whole.loc[table.index, "n_in"], strict=True):
        assert (
            shown == (f"<{board.state.disclosure.threshold}" if 0 < real < 11 else real)
            or shown == "hidden"
        )


def test_a_code_that_is_hidden_in_one_cluster_is_compared(board):
    board.open_tab("main", TABS["compare"])
    hidden = []
    for first, second in ((0, 1), (1, 2), (2, 0), (0, None)):
        board.state = board.state.look(cluster=first, other=second)
        table = board.components["differences"]
        table.page_size = 50
        hidden += [row for row in table.rows if "<11" in (row["first"], row["second"])]
        assert ("<11" in board.components["difference"].svg.replace("&lt;", "<")) == any(
            "<11" in (row["first"], row["second"]) for row in table.rows
        )
    assert hidden
    assert all(isinstance(row["difference"], float) for row in hidden)


def test_a_pair_that_was_seen_is_not_drawn_again(board, monkeypatch):
    board.open_tab("main", TABS["compare"])
    first = board.components["difference"].svg
    board.state = board.state.look(other=2)
    monkeypatch.setattr(compare_tab, "svg", lambda chart: "drawn again")
    board.state = board.state.look(other=1)
    assert board.components["difference"].svg == first
    board.state = board.state.rename(0, "Heart")
    assert board.components["difference"].svg == "drawn again"


def test_what_is_not_known_of_a_patient_is_a_dash_and_nothing_where_nothing_is_known():
    record = pd.Series({"age": np.nan, "sex": "f", "stay": None})
    assert attributes_text(record, ["age", "sex", "stay"]) == "–, f, –"
    assert attributes_text(record, ["age", "stay"]) == ""
    assert attributes_text(pd.Series({"age": 61.0, "sex": pd.NA}), ["age", "sex"]) == "61, –"
    assert attributes_text(record, []) == ""
