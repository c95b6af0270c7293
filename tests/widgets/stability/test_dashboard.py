"""What the stability dashboard knows and does, without a browser."""

import re

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans

import lvmkit
from lvmkit.scores import stability
from lvmkit_widgets import StabilityPanel
from lvmkit_widgets.stability import dashboard, data
from lvmkit_widgets.stability import state as states
from lvmkit_widgets.stability.clusters_tab import bars_of, consensus_of
from lvmkit_widgets.stability.data import Cell, Outcome, Piece
from lvmkit_widgets.stability.run_form import parsed_values, written_values
from lvmkit_widgets.ui.jobs import Cancelled
from lvmkit_widgets.ui.state import Memory
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.ui.words import small_counts

HOSTILE = "<img src=x onerror=alert(1)>"


def planted(sizes=(300, 250, 200, 7), seed=0):
    """Patients of clusters that have three codes each."""
    random = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    centers = np.full((len(sizes), 3 * len(sizes)), 0.03)
    for j in range(len(sizes)):
        centers[j, 3 * j : 3 * j + 3] = 0.9
    X = (random.random((len(labels), centers.shape[1])) < centers[labels]).astype(np.float32)
    obs = pd.DataFrame(index=[f"secret-{i}" for i in range(len(labels))])
    codes = [f"C{i}" for i in range(centers.shape[1])]
    cohort = anndata.AnnData(sparse.csr_matrix(X), obs=obs, var=pd.DataFrame(index=codes))
    weights = np.array(sizes) / sum(sizes)
    return lvmkit.BernoulliMixture.from_parameters(weights, centers, feature_names=codes), cohort


@pytest.fixture(scope="module")
def patients():
    return planted()


@pytest.fixture
def panel(patients):
    model, cohort = patients
    model.annotations_ = {"topic_names": {"0": HOSTILE, "3": "Rare"}}
    return StabilityPanel(
        model, cohort, methods={"k-means": KMeans(n_init=1)}, values=[2, 3, 4], n_repeats=2
    )


@pytest.fixture(scope="module")
def measured(patients):
    model, cohort = patients
    model.annotations_ = {"topic_names": {"0": HOSTILE, "3": "Rare"}}
    made = StabilityPanel(
        model, cohort, methods={"k-means": KMeans(n_init=1)}, values=[2, 3, 4], n_repeats=2
    )
    made.measure()
    return made


class Loop:
    """A host whose loop is turned by hand."""

    here = True

    def __init__(self):
        self.waiting = []

    def call(self, function):
        self.waiting.append(function)

    def turn(self, board, most=10_000):
        while (board.busy or self.waiting) and most:
            if self.waiting:
                self.waiting.pop(0)()
            elif board._job is not None:
                board._job.wait(30)
            most -= 1


def ask(panel, loop, function):
    """Let a reader in a browser do something."""
    token = asked_by.set(loop)
    try:
        function()
    finally:
        asked_by.reset(token)


# -- numbers -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings(
    "ignore::lvmkit.core.validation.DataWarning"
)  # the panel leaves them out
def test_numbers_are_those_of_the_scores(measured, patients):
    model, cohort = patients
    table = measured.state.table()
    assert list(table.columns[:5]) == ["method", "value", "n_clusters", "repeat", "ari"]
    assert len(table) == 2 * 3 * 2
    part = table[(table["method"] == "BernoulliMixture") & (table["value"] == 4)]
    expected = stability(model, cohort, n_repeats=2)
    assert part["ari"].tolist() == expected.tolist()
    part = table[(table["method"] == "k-means") & (table["value"] == 3)]
    assert part["ari"].tolist() == stability(KMeans(3, n_init=1), cohort, n_repeats=2).tolist()
    assert not table["sampled"].any()


def test_the_clusters_of_the_model_are_judged_under_their_names(measured, patients):
    study = measured.state.study
    assert study.reference.tolist() == patients[0].predict(patients[1]).tolist()
    assert study.names == (HOSTILE, "", "", "Rare")
    rows = measured.components["clusters"].rows
    measured.open_tab("main", 1)
    rows = measured.components["clusters"].rows
    assert [row["label"] for row in rows] == [f"0 · {HOSTILE}", "1", "2", "3 · Rare"]
    assert rows[0]["verdict"] == "reappears"
    assert "onerror" in measured.components["bars"].svg
    assert "<img" not in measured.components["bars"].svg


def test_clusters_and_names_of_the_model_are_not_those_of_other_fits(measured):
    own = measured.state.study_of(Cell("BernoulliMixture", 4))
    others = {cell: study for cell, study in measured.state.studies.items() if study is not own}
    assert len(others) == 5
    for cell, study in others.items():
        assert not any(study.names), cell
        assert study.reference.tolist() != own.reference.tolist(), cell


def test_it_says_in_words_what_holds_and_what_to_take(measured):
    text = measured.components["verdict"].text
    assert text.startswith("**BernoulliMixture, 4 clusters.** ")
    assert "One cluster with too few members is left out here." in text
    assert "(2 repeats)" in text
    assert re.search(r"\*\*Recommended number of clusters for BernoulliMixture: [34]\*\*", text)
    assert measured.state.recommended().value in (3, 4)


def test_small_clusters_are_hidden(measured):
    state = measured.state
    sizes = state.sizes(state.study)
    assert sizes[3] == "<11"
    assert "hidden" in sizes[:3]  # their sum is known
    for i in range(4):
        measured.open_tab("main", i)
    row = measured.components["clusters"].rows[3]
    assert row["verdict"] == "not shown"
    assert row["jaccard"] is None
    assert row["n"] == "<11"
    assert "3 · Rare" not in measured.components["lines"].svg
    assert "Gray" in measured.components["blocks"].svg
    rows = {row["id"]: row for row in measured.components["values"].rows}
    assert rows["BernoulliMixture · 4"]["reappear"].endswith(" of 3")
    measured.open_tab("main", 0)


def test_nothing_is_measured_twice_and_more_repeats_go_on(panel):
    panel.measure()
    first = panel.state.table()
    assert panel.state.todo() == []
    panel.measure()
    assert "Everything is measured" in panel.components["status"].message
    panel.state = panel.state.plan(n_repeats=3)
    assert [piece.cell.method for piece in panel.state.todo()] == ["BernoulliMixture"] * 3 + [
        "k-means"
    ] * 3
    panel.measure()
    second = panel.state.table()
    assert len(second) == 18
    kept = second[second["repeat"] < 2].reset_index(drop=True)
    assert kept["ari"].tolist() == first["ari"].tolist()


def test_another_protocol_starts_anew(panel):
    panel.measure()
    panel.state = panel.state.plan(protocol="bootstrap")
    assert panel.state.table().empty
    assert len(panel.state.todo()) == 12


def test_a_protocol_that_does_not_exist_loses_nothing(panel):
    panel.state = panel.state.take(panel.state.measured(panel.state.todo()[0]))
    with pytest.raises(ValueError, match="one of overlapping, bootstrap, halves; 'foo' was given"):
        panel.state = panel.state.plan(protocol="foo")
    assert len(panel.state.table()) == 1


def test_a_repeat_of_the_protocol_before_is_not_taken(panel):
    state = panel.state
    piece = state.todo()[0]
    outcome = state.measured(piece)
    state = state.plan(protocol="bootstrap")
    state = state.take(outcome)
    state = state.take(Outcome(piece, None, "failed"))
    assert state.table().empty
    assert state.failures == {}
    state = state.plan(protocol="overlapping")
    state = state.take(outcome)
    assert len(state.table()) == 1


def test_the_best_of_numbers_that_are_all_unstable_is_not_called_recommended():
    noise = np.random.default_rng(0).random((60, 4))
    panel = StabilityPanel(KMeans(5, n_init=1), noise, methods={}, values=[5, 6], n_repeats=2)
    panel.measure()
    notes = [row["note"] for row in panel.components["values"].rows]
    assert sorted(notes) == ["", "best, below 0.9"]


def test_picking_another_number_shows_its_clusters(measured):
    measured.components["values"].selected = "BernoulliMixture · 3"
    state = measured.state
    assert state.picked == Cell("BernoulliMixture", 3)
    assert measured.components["verdict"].text.startswith("**BernoulliMixture, 3 clusters.**")
    assert measured.components["values"].selected == "BernoulliMixture · 3"
    measured.open_tab("main", 1)
    assert len(measured.components["clusters"].rows) == 3
    measured.open_tab("main", 2)
    assert "<svg" in measured.components["blocks"].svg
    measured.open_tab("main", 0)
    measured.state = state.pick("BernoulliMixture", 4)


def test_a_chosen_number_is_used_elsewhere(measured, patients):
    fitted = measured.state.estimator_at(3)
    assert fitted.n_components == 3
    assert list(fitted.feature_names_in_) == list(patients[1].var_names)
    assert measured.state.estimator_at(2, method="k-means").n_clusters == 2
    with pytest.raises(ValueError, match="There is no method 'no'"):
        measured.state.estimator_at(2, method="no")


# -- work --------------------------------------------------------------------------------------


def test_large_data_are_measured_on_a_sample_first(patients, monkeypatch):
    monkeypatch.setattr(data, "LARGE", 500)
    monkeypatch.setattr(data, "SAMPLE_ROWS", 200)
    model, cohort = patients
    panel = StabilityPanel(model, cohort, methods={}, values=[3, 4], n_repeats=1)
    state = panel.state
    assert state.todo() == [
        Piece(Cell("BernoulliMixture", 4), sampled=True, protocol="overlapping"),
        Piece(Cell("BernoulliMixture", 3), sampled=True, protocol="overlapping"),
        Piece(Cell("BernoulliMixture", 4), sampled=False, protocol="overlapping"),
        Piece(Cell("BernoulliMixture", 3), sampled=False, protocol="overlapping"),
    ]
    state = panel.state = state.take(state.measured(state.todo()[0]))
    assert state.study.sizes.sum() == 200
    assert state.table()["sampled"].all()
    assert "a sample of 200 of the 757 patients" in panel.components["verdict"].text
    panel.measure()
    assert not panel.state.table()["sampled"].any()
    assert "sample" not in panel.components["verdict"].text
    assert panel.state.study.sizes.sum() == 757


def test_in_a_browser_every_repeat_is_shown_and_cancelling_keeps_them(panel):
    loop, shown = Loop(), []
    panel.components["values"].param.watch(lambda _: shown.append(len(panel.state.table())), "rows")
    ask(panel, loop, lambda: panel.components["status"].fire("seen"))
    assert panel.busy
    assert panel.components["run"].busy
    while len(shown) < 3:
        panel._job.wait(30)
        loop.waiting.pop(0)()
    panel.cancel()
    loop.turn(panel)
    known = len(panel.state.table())
    assert 3 <= known < 12
    assert shown[:3] == [1, 2, 3]
    assert not panel.busy
    message = panel.components["status"].message
    assert message.startswith(f"Stopped. {known} of 12 repeats are measured and kept.")
    assert f"({panel.state.study.n_repeats} of 2 repeats)" in panel.components["verdict"].text
    ask(panel, loop, lambda: panel.components["run"].fire("pressed", "measure"))
    loop.turn(panel)
    assert len(panel.state.table()) == 12
    assert panel.components["status"].message == "Measured."


def test_a_cancel_that_comes_when_a_repeat_has_just_ended_is_obeyed(panel):
    loop = Loop()
    ask(panel, loop, lambda: panel.components["status"].fire("seen"))
    panel._job.wait(30)  # its last report is past, its result not yet shown
    ask(panel, loop, lambda: panel.components["status"].fire("cancel"))
    loop.turn(panel)
    assert len(panel.state.table()) == 1
    assert "1 of 12 repeats are measured and kept" in panel.components["status"].message
    ask(panel, loop, lambda: panel.components["run"].fire("pressed", "measure"))
    loop.turn(panel)
    assert len(panel.state.table()) == 12


def test_measuring_from_python_waits_for_a_browser_that_measures(panel):
    loop = Loop()
    ask(panel, loop, lambda: panel.components["status"].fire("seen"))
    panel.measure()  # returns at once: waiting would block the loop that ends the work
    assert panel.components["status"].message.startswith("Still at work")
    loop.turn(panel)
    assert len(panel.state.table()) == 12


def test_it_begins_once_only(panel):
    loop = Loop()
    assert panel.components["status"].waiting
    ask(panel, loop, lambda: panel.components["status"].fire("seen"))
    assert not panel.components["status"].waiting
    panel.cancel()
    loop.turn(panel)
    ask(panel, loop, lambda: panel.components["status"].fire("seen"))
    assert not panel.busy


def test_a_stopped_repeat_changes_nothing(panel):
    def stop(text, done):
        raise Cancelled

    outcome = panel.state.measured(panel.state.todo()[0], stop)
    assert outcome.study is None
    assert outcome.failed == ""
    panel.state = panel.state.take(outcome)
    assert panel.state.table().empty
    assert len(panel.state.todo()) == 12


def test_a_number_that_cannot_be_fitted_is_told_and_the_others_go_on(patients):
    panel = StabilityPanel(
        *patients, methods={"k-means": KMeans(n_init=1)}, values=[3, 13, 900], n_repeats=1
    )
    panel.measure()
    told = panel.components["status"].message
    assert told.startswith("Measured, except ")
    assert "900" in told
    assert Cell("k-means", 3) in panel.state.studies
    assert Cell("k-means", 900) in panel.state.failures


class Silent(BaseEstimator):
    """Fails without a word."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X):
        raise RuntimeError


def test_a_method_that_fails_in_any_way_is_told_and_the_others_go_on(patients, caplog):
    methods = {
        "ward": AgglomerativeClustering(4),  # a TypeError: it does not take sparse rows
        "silent": Silent(),
        "k-means": KMeans(n_init=1),
    }
    panel = StabilityPanel(*patients, methods=methods, values=[4], n_repeats=1)
    panel.measure()
    failures = panel.state.failures
    assert set(failures) == {Cell("ward", 4), Cell("silent", 4)}
    assert "dense data is required" in failures["ward", 4]
    assert failures["silent", 4] == "RuntimeError"
    assert "ward" in caplog.text
    assert Cell("k-means", 4) in panel.state.studies
    assert panel.components["status"].message.startswith("Measured, except ward, 4: ")


def test_the_form_plans(panel):
    form = panel.components["run"]
    assert form.values["values"] == "2-4"
    form.values = {**form.values, "values": "2, 4", "n_repeats": 1, "methods": ["k-means"]}
    form.fire("pressed", "measure")
    assert panel.state.method == "k-means"
    assert panel.state.table()["value"].tolist() == [2, 4]
    form.values = {**form.values, "values": "two"}
    with pytest.raises(ValueError, match="“two” is neither"):
        form.fire("pressed", "measure")
    form.values = {**form.values, "values": "2", "methods": []}
    with pytest.raises(ValueError, match="Choose one or more of the methods"):
        form.fire("pressed", "measure")
    form.values = {**form.values, "methods": ["k-means"], "n_repeats": 101}
    with pytest.raises(ValueError, match="from 1 to 100; 101 was given"):
        form.fire("pressed", "measure")
    form.values = {**form.values, "n_repeats": None}
    with pytest.raises(ValueError, match="Say how many repeats"):
        form.fire("pressed", "measure")


def test_numbers_are_read_and_written():
    assert parsed_values(" 2 - 4,8;12 ") == [2, 3, 4, 8, 12]
    assert written_values([2, 3, 4, 8, 12, 13]) == "2-4, 8, 12, 13"
    for wrong in ("", "a", "2-", "0", "-3", "1-9999"):
        with pytest.raises(ValueError, match="numbers"):
            parsed_values(wrong)


# -- what is judged ----------------------------------------------------------------------------


def test_an_estimator_that_is_not_fitted_is_fitted(patients):
    panel = StabilityPanel(
        lvmkit.BernoulliMixture(n_components=3), patients[1], methods={}, values=[3], n_repeats=1
    )
    panel.measure()
    assert len(panel.state.study.clusters) == 3
    assert panel.state.study.names == ("", "", "")


def test_any_clusterer_and_table_will_do():
    blobs = np.repeat(np.eye(3) * 8, 30, axis=0) + np.random.default_rng(0).random((90, 3))
    panel = StabilityPanel(DBSCAN(eps=2).fit(blobs), blobs, values=[2, 3], n_repeats=1)
    assert panel.state.cells()[0] == Cell("DBSCAN", 3)
    options = {c["name"]: c for c in panel.components["run"].controls}
    assert [name for name, _ in options["protocol"]["options"]] == ["overlapping", "bootstrap"]
    panel.measure()
    assert panel.state.study.ari.tolist() == [1.0]
    assert panel.components["verdict"].text.startswith("**DBSCAN.** All 3 clusters reappear")
    assert set(panel.state.table()["method"]) >= {"DBSCAN", "k-means", "bisecting k-means"}
    frame = pd.DataFrame(blobs, columns=["a", "b", "c"])
    assert StabilityPanel(KMeans(3), frame).state.subject.n_rows == 90


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((3, np.ones((50, 2))), TypeError, "needs a clusterer.*found int"),
        ((KMeans(2), "table"), TypeError, "needs a cohort .*found str"),
        ((KMeans(2), np.ones((5, 2))), ValueError, "has 5 rows and 2 columns"),
    ],
)
def test_wrong_input_is_a_plain_sentence(arguments, error, message):
    with pytest.raises(error, match=message):
        StabilityPanel(*arguments)


def test_wrong_options_are_refused(patients):
    for options in ({"values": [2.5]}, {"values": []}, {"values": range(1, 60)}, {"n_repeats": 0}):
        with pytest.raises((TypeError, ValueError), match="number"):
            StabilityPanel(*patients, **options)


# -- what leaves -------------------------------------------------------------------------------


def test_files_hold_totals_only(measured):
    files = next(part for part in measured.every_part if part.title == "Take away")
    name, content, mime = files.made("repeats")
    assert (name, mime) == ("stability-repeats.csv", "text/csv")
    assert (
        content.decode("utf-8-sig").splitlines()[0].startswith("method,value,n_clusters,repeat,ari")
    )
    clusters = files.made("clusters")[1].decode("utf-8-sig")
    assert "<11" in clusters
    assert "secret" not in clusters
    for picture in ("curve", "bars", "consensus"):
        assert files.made(picture)[1].startswith(b"\x89PNG")
    assert files.made("model")[1].startswith(b"PK")


def test_pictures_do_not_show_small_clusters(measured):
    bars = bars_of(measured.state).to_dict()
    (rare,) = [row for rows in bars["datasets"].values() for row in rows if row.get("cluster") == 3]
    assert rare["verdict"] == "not shown"
    assert rare["jaccard"] is None
    blocks = consensus_of(measured.state).to_dict()
    assert "Gray: not shown." in " ".join(blocks["title"]["subtitle"])


def test_the_model_that_is_handed_over_is_the_one_that_was_judged(measured, patients, tmp_path):
    files = next(part for part in measured.every_part if part.title == "Take away")
    path = tmp_path / "model.npz"
    path.write_bytes(files.made("model")[1])
    model = lvmkit.load(path)
    assert np.array_equal(model.centers_, patients[0].centers_)
    assert model.annotations_["topic_names"]["3"] == "Rare"


def test_models_of_the_library_are_handed_over_whoever_makes_them(patients):
    panel = StabilityPanel(*patients, values=[4], n_repeats=1)
    panel.open_tab("main", 3)
    offered = {}
    for method in panel.state.subject.methods:
        panel.state = panel.state.pick(method, 4)
        names = [control["name"] for control in panel.components["files"].controls]
        offered[method] = "model" in names
    assert offered == {
        "BernoulliMixture": True,
        "k-means": False,
        "bisecting k-means": False,
        "spectral tree": True,
    }


def test_nothing_is_handed_over_before_something_is_measured(panel):
    with pytest.raises(ValueError, match="Nothing has been measured yet"):
        panel.components["files"].fire("pressed", "clusters")


def test_a_saved_page_holds_every_number_and_no_single_rows(measured, tmp_path):
    page = measured.to_html(tmp_path / "stability.html").read_text("utf-8")
    assert "secret" not in page
    assert "Rows of a sample" not in page
    assert "How often two members" in page
    assert f"<b>{HOSTILE}" not in page
    cases = measured.static_cases()[0]
    assert cases["when"] == "values.selected"
    assert len(cases["cases"]) == 6
    own = cases["cases"]["BernoulliMixture · 4"]
    assert "Gray" in own["blocks.svg"]
    assert "not shown" in own["bars.svg"]
    assert own["clusters.rows"][3]["n"] == "<11"
    assert measured.state.picked == Cell("BernoulliMixture", 4)
    text = cases["cases"]["k-means · 2"]["verdict.text"]
    assert text.startswith("**k-means, 2 clusters.**")


def test_a_page_that_is_saved_at_once_is_measured_first(patients, tmp_path):
    panel = StabilityPanel(*patients, methods={}, values=[4], n_repeats=1)
    panel.to_html(tmp_path / "stability.html")
    assert panel.state.study is not None


def test_a_saved_page_answers_for_what_it_has_no_pictures_of(measured, monkeypatch):
    monkeypatch.setattr(dashboard, "SAVED_CASES", 2)
    measured.state = measured.state.plan(values=[2, 3, 4, 5])
    try:
        cases = measured.static_cases()[0]["cases"]
    finally:
        measured.state = measured.state.plan(values=[2, 3, 4])
    assert set(cases) == {f"{name} · {k}" for name in measured.state.chosen for k in (2, 3, 4, 5)}
    assert [key for key, case in cases.items() if case["bars.svg"]] == [
        "BernoulliMixture · 4",
        "BernoulliMixture · 2",
    ]
    bare = cases["k-means · 3"]
    assert bare["verdict.text"].startswith("**k-means, 3 clusters.** ")
    assert len(bare["clusters.rows"]) == 3
    assert bare["blocks.svg"] == ""
    assert "this one is not among them" in bare["bars.caption"]
    assert cases["BernoulliMixture · 4"]["bars.caption"] == ""
    unknown = cases["k-means · 5"]
    assert "Nothing has been measured yet." in unknown["verdict.text"]
    assert unknown["clusters.rows"] == []


def test_saving_a_page_draws_nothing_on_the_screen_and_tabulates_once(measured, monkeypatch):
    drawn, chosen = [], []
    watcher = measured.components["verdict"].param.watch(drawn.append, "text")

    def recommendation(table, **options):
        chosen.append(len(table))
        return states_recommendation(table, **options)

    states_recommendation = states.recommendation
    monkeypatch.setattr(states, "recommendation", recommendation)
    measured.state = measured.state.replace(memory=Memory())
    drawn.clear()
    chosen.clear()
    cases = measured.static_cases()[0]["cases"]
    measured.components["verdict"].param.unwatch(watcher)
    assert drawn == []
    assert len(chosen) == len(cases) - 1  # one for each verdict not on the screen, none for tables
    assert measured.state.picked == Cell("BernoulliMixture", 4)


def test_a_table_that_a_reader_changes_is_not_the_one_that_is_kept(measured):
    table = measured.state.table()
    table["ari"] = 0.0
    table.attrs["why"].clear()
    assert measured.state.table()["ari"].min() > 0
    assert measured.state.table().attrs["why"]


def test_a_path_is_checked_before_everything_is_measured(patients, monkeypatch, tmp_path):
    panel = StabilityPanel(*patients, values=[2], n_repeats=1)
    monkeypatch.setattr(panel, "measure", lambda: pytest.fail("measured"))
    with pytest.raises(TypeError, match="path must be text or a path; found None"):
        panel.to_html(None)
    with pytest.raises(ValueError, match="there is no folder"):
        panel.to_html(tmp_path / "none" / "page.html")


def test_the_footer_says_what_is_hidden(panel):
    assert small_counts(11, hidden=True) in panel.stage.footer
    panel.state = panel.state.disclose(threshold=20)
    assert "Counts of 1 to 19 are hidden (<20)" in panel.stage.footer
