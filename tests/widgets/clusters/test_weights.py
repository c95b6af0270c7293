"""The cluster explorer of a cohort with weights: estimates, the records they rest on, and words for both."""

import io

import anndata
import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit import SingleTopic, SpectralTree, SUSTain
from lvmkit.cohorts.open_file import Layout
from lvmkit.cohorts.subset import Subset
from lvmkit_widgets import ScoreCards, StabilityPanel, TopicRelevance, TreeNavigator
from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.clusters.export_tab import assignment_table, clusters_table, codes_table
from lvmkit_widgets.ui.export import csv
from lvmkit_widgets.workbench.dashboard import Workbench
from lvmkit_widgets.workbench.open_form import OpenForm

N = 600
CODES = ["250", "272", "401", "427", "428", "486"]
TABS = {"overview": 0, "marks": 1, "people": 2, "compare": 3}


def planted(weight, times=1):
    """Two clusters, and the weights of their records; every record repeated."""
    random = np.random.default_rng(4)
    group = np.repeat([0, 1], N // 2)
    X = random.random((N, 6)) < np.where(group[:, None] == [0, 0, 0, 1, 1, 1], 0.7, 0.08)
    obs = pd.DataFrame({"age": random.integers(20, 90, N), "sex": random.choice(["f", "m"], N)})
    rows = np.repeat(np.arange(N), times)
    obs = obs.iloc[rows].set_axis([f"r{i}" for i in range(len(rows))])
    about = {"source": "a survey"}
    if weight is not None:
        obs, about = obs.assign(stands_for=weight), {**about, "weight": "stands_for"}
    var = pd.DataFrame({"title": [f"Disease {c}" for c in CODES]}, index=CODES)
    return anndata.AnnData(X[rows].astype(np.float32), obs=obs, var=var, uns={"cohort": about})


WEIGHT = np.random.default_rng(5).integers(1, 6, N)


@pytest.fixture(scope="module")
def model():
    centers = np.where(np.repeat([[0], [1]], 6, axis=1) == [0, 0, 0, 1, 1, 1], 0.7, 0.08)
    return lambda: lvmkit.BernoulliMixture.from_parameters([0.5, 0.5], centers, feature_names=CODES)


@pytest.fixture
def board(model):
    return ClusterExplorer(model(), planted(WEIGHT.astype(float)))


@pytest.fixture
def repeated(model):
    """The same, each record as often as its weight says."""
    return ClusterExplorer(model(), planted(None, WEIGHT))


def test_the_heading_tells_records_what_they_stand_for_and_the_weights(board):
    said = f"600 patients, stand for {WEIGHT.sum():,} · weighted by “stands_for” · 6 codes"
    assert board.stage.subtitle.startswith(said)
    assert "weighted by “stands_for”" in board.stage.footer
    assert "effective sample sizes" in board.stage.footer


def test_shares_are_those_of_repeated_records_and_numbers_are_those_of_records(board, repeated):
    a, b = board.state, repeated.state
    assert a.counts().shares == pytest.approx(b.counts().shares, rel=1e-12)
    assert a.counts().weights == pytest.approx(b.counts().weights, rel=1e-12)
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=1e-12)
    assert a.counts().sizes.sum() == N
    for part in ("sizes", "summary"):
        ours = board.components[part].items if part == "sizes" else board.components[part].rows
        theirs = (
            repeated.components[part].items if part == "sizes" else repeated.components[part].rows
        )
        for one, other in zip(ours, theirs, strict=True):
            assert one["share"] == pytest.approx(other["share"], rel=1e-12)
            assert one["n"] < other["n"]
            estimate = one["more"] if part == "sizes" else f"stand for {one['estimate']:,}"
            assert estimate == f"stand for {other['n']:,}"


def test_pictures_and_tables_say_that_they_are_weighted(board):
    assert board.components["summary"].columns[-1]["label"] == "Stand for"
    assert "Weighted percent" in board.components["frequencies"].svg
    board.open_tab("main", TABS["marks"])
    assert "weighted share of patients" in board.components["profile"].caption
    assert "Weighted share" in board.components["profile"].svg
    told = {c["key"]: c.get("help", "") for c in board.components["evidence"].columns}
    assert "effective sample size" in told["low"]
    assert (
        board.components["evidence"].rows[0]["estimate_in"]
        > board.components["evidence"].rows[0]["n_in"]
    )
    board.open_tab("main", TABS["compare"])
    assert "Weighted share" in board.components["difference"].svg
    board.open_tab("main", TABS["people"])
    assert "Weighted share" in board.components["attribute0"].svg
    assert [board.components[f"attribute{i}"].title for i in range(2)] == ["Age", "Sex"]
    assert not board.components["attribute2"].visible  # weights are no attribute of people


def test_small_numbers_of_records_are_hidden_whatever_they_stand_for(model):
    heavy = planted(np.full(N, 1000.0))
    board = ClusterExplorer(model(), heavy)
    state = board.state
    few = state.assignment.rows[state.assignment.labels == 1][:5]
    rows = np.sort(np.r_[state.assignment.rows[state.assignment.labels == 0], few])
    board = ClusterExplorer(model(), heavy[rows].copy())
    board.state = board.state.disclose(on_screen=True)
    small = board.components["sizes"].items[1]
    assert small["n"] == "<11"
    assert "more" not in small
    assert small["share"] is None
    assert board.components["summary"].rows[1]["estimate"] is None
    table = clusters_table(board.state)
    assert table["stand_for"].isna().tolist()[1]
    board.state = board.state.show(Subset(ranges={"age": (20, 21)}))
    assert len(board.state.assignment.rows) > 0
    assert ("stand for" in board.stage.subtitle) is (len(board.state.assignment.rows) >= 11)


def test_tables_to_take_away_say_what_they_are_weighted_by(board, repeated):
    for make in (clusters_table, codes_table):
        table = make(board.state)
        assert set(table["weighted_by"]) == {"stands_for"}
        assert "weighted_by" not in make(repeated.state)
    whole = board.state.counts().weighted
    assert clusters_table(board.state)["stand_for"].tolist() == whole.sizes.tolist()
    assert assignment_table(board.state)["weight"].tolist() == WEIGHT.tolist()
    assert "weighted_by" in pd.read_csv(io.BytesIO(csv(codes_table(board.state))))


def test_the_report_says_what_it_is_weighted_by(board, tmp_path):
    page = board.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "weighted by “stands_for”" in page
    assert f"stand for {WEIGHT.sum():,}" in page


def test_fits_from_the_dashboard_are_weighted(model):
    light = planted(np.where(np.arange(N) < N // 2, 1.0, 9.0))
    bench = Workbench(light, k=2)
    state = bench.state
    assert "sample_weight='stands_for'" in state.history.code
    assert sorted(state.clustering.weights) == pytest.approx([0.1, 0.9], abs=0.03)
    state = state.refit(2)
    assert sorted(state.clustering.weights) == pytest.approx([0.1, 0.9], abs=0.03)
    assert "weighted by “stands_for”" in state.message
    state = state.show(Subset())
    one = ClusterExplorer(lvmkit.BernoulliMixture(1).fit(light), light).state
    one = one.split(0, parts=2)
    assert sorted(one.clustering.weights) == pytest.approx([0.1, 0.9], abs=0.03)


def test_a_cohort_without_weights_speaks_of_none(repeated):
    assert "weight" not in repeated.stage.subtitle + repeated.stage.footer
    assert "more" not in repeated.components["sizes"].items[0]
    assert [c["key"] for c in repeated.components["summary"].columns][-1] == "codes"


def test_the_reader_of_a_file_can_name_its_weights(tmp_path):
    pd.DataFrame({"id": ["a"], "dx": ["428"], "w": [2]}).to_csv(tmp_path / "a.csv", index=False)
    form = OpenForm()
    form.ask_columns(str(tmp_path / "a.csv"))
    form.columns.values = {**form.columns.values, "codes": ["dx"], "weight": "w"}
    assert form.layout_asked == Layout("wide", ("dx",), weight="w")


@pytest.mark.parametrize(
    "board",
    [
        lambda cohort: TreeNavigator(SpectralTree(max_depth=2).fit(cohort), cohort),
        lambda cohort: TopicRelevance(SingleTopic(2, round_counts=True).fit(cohort), cohort),
        lambda cohort: ScoreCards(SUSTain(2, random_state=0).fit(cohort), cohort),
        lambda cohort: StabilityPanel(SpectralTree(), cohort, values=[2]),
    ],
    ids=["tree", "topics", "cards", "stability"],
)
@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
def test_dashboards_that_count_records_say_so(board):
    cohort = planted(WEIGHT.astype(float))
    weighted = board(cohort).stage.subtitle
    assert "every record counts once, not weighted by" in weighted
    plain = cohort.copy()
    del plain.uns["cohort"]["weight"]
    assert "not weighted" not in board(plain).stage.subtitle


def test_weights_are_no_attribute_to_choose_patients_by(board):
    board.update_all()
    labels = [control.get("label", "") for control in board.components["refit"].controls]
    assert any(label.startswith("Age") for label in labels)
    assert not any("Stands for" in label for label in labels)
