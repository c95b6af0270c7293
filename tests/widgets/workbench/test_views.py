"""The menu of a workbench: other dashboards of the same patients, clusters, names and picks."""

import threading

import numpy as np
import pytest

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit.datasets import load_discharges
from lvmkit_widgets import Workbench
from lvmkit_widgets.ui.sync import asked_by
from lvmkit_widgets.workbench.open_form import Opened
from lvmkit_widgets.workbench.registry import DASHBOARDS, HOME, VIEWS
from lvmkit_widgets.workbench.views import Work

COHORT = load_discharges()[:1200]


@pytest.fixture(scope="module", name="model")
def fitted_clusters():
    return lvmkit.BernoulliMixture(4, binarize=0).fit(COHORT)


@pytest.fixture(name="opened")
def a_cohort_and_its_clusters(model):
    own = lvmkit.BernoulliMixture.from_parameters(
        model.weights_, model.centers_, feature_names=list(model.feature_names_in_)
    )
    return Opened(own, COHORT, "the ward", "# cohort and model", work=Work())


@pytest.fixture(name="bench")
def a_workbench(opened):
    return Workbench(opened)


@pytest.fixture(name="fits")
def models_that_are_fitted(monkeypatch):
    """Note which models are fitted from now on."""
    made = []
    for model in (lvmkit.SpectralTree, lvmkit.SUSTain, lvmkit.BernoulliMixture):
        fit = model.fit
        monkeypatch.setattr(
            model,
            "fit",
            lambda self, *given, _fit=fit, **more: (
                made.append(type(self).__name__) or _fit(self, *given, **more)
            ),
        )
    return made


def labels(bench):
    return np.array(
        [bench.state.clustering.cluster(i).label for i in bench.state.assignment.labels]
    )


def test_the_menu_is_that_of_the_registry(bench):
    assert [entry[0] for entry in bench.stage.menu] == [HOME, *VIEWS]
    assert set(VIEWS) == {entry.command for entry in DASHBOARDS} - {"explore", "tensors"}
    assert Workbench().stage.menu == []


def test_what_is_no_count_has_no_score_cards(model):
    shares = COHORT.copy()
    shares.X = shares.X.astype(float) * 0.5
    bench = Workbench(Opened(model, shares, "shares", ""))
    assert [entry[0] for entry in bench.stage.menu] == [
        HOME,
        *(key for key in VIEWS if key != "cards"),
    ]
    with pytest.raises(ValueError, match="no dashboard 'cards' of this cohort"):
        bench.open_view("cards")


@pytest.mark.parametrize("key", VIEWS)
def test_every_dashboard_of_the_menu_opens_and_names_itself(bench, key):
    board = bench.open_view(key)
    [entry] = [entry for entry in DASHBOARDS if entry.command == key]
    assert type(board).__name__ == entry.dashboard
    assert (board.stage.here, board.stage.view, bench.stage.view) == (key, key, HOME)
    assert board.stage.menu == bench.stage.menu
    assert bench.open_view(HOME) is bench


def test_patients_bring_their_cluster_under_its_name(bench):
    bench.state = bench.state.rename(1, "Heart").merge([0, 2], name="Both")
    corpus = bench.open_view("tree").state.corpus
    assert corpus.obs["cluster"].tolist() == labels(bench).tolist()
    assert "cluster" not in COHORT.obs
    board = bench.dashboards.board
    board.state = board.state.replace(tab=2)
    rows = board.components["members"].rows
    shown = board.state.rows_of(board.state.node)[: len(rows)]
    assert all(label in row["who"] for label, row in zip(labels(bench)[shown], rows, strict=True))


def test_an_attribute_of_the_same_name_stays():
    cohort = COHORT[:300].copy()
    cohort.obs["cluster"] = "ward 7"
    corpus = Workbench(cohort, k=2).open_view("tree").state.corpus
    assert set(corpus.obs["cluster"]) == {"ward 7"}
    assert corpus.obs["cluster of the workbench"].nunique() == 2


def test_only_the_patients_that_are_shown_are_in_other_dashboards(bench):
    bench.state = bench.state.show(Subset(values={"sex": ("female",)}))
    n = int((COHORT.obs["sex"] == "female").sum())
    assert len(bench.open_view("tree").state.corpus) == n
    assert bench.open_view("cards").state.scores.shape[0] == n
    assert bench.open_view("stability").state.subject.n_rows == n


def test_a_tree_begins_at_the_branch_that_shares_most_with_the_picked_cluster(bench):
    bench.state = bench.state.look(cluster=2)
    state = bench.open_view("tree").state
    members = set(np.flatnonzero(bench.state.assignment.labels == 2))
    rows = [set(state.rows_of(node)) for node in range(len(state.layout))]
    shared = [len(members & r) / len(members | r) for r in rows]
    assert state.node == int(np.argmax(shared))
    board = bench.open_view("tree")
    bench.open_view(HOME)
    bench.state = bench.state.look(cluster=3)
    assert bench.open_view("tree") is board
    members = set(np.flatnonzero(bench.state.assignment.labels == 3))
    assert board.state.node == int(np.argmax([len(members & r) / len(members | r) for r in rows]))


def test_cards_begin_at_the_phenotype_that_the_picked_cluster_has_most(bench):
    bench.state = bench.state.look(cluster=1)
    state = bench.open_view("cards").state
    inside = bench.state.assignment.labels == 1
    more = [column[inside].mean() - column.mean() for column in state.scores.T]
    assert state.phenotype == int(np.argmax(more))


def test_names_and_picks_go_to_topics_and_come_back(bench):
    bench.state = bench.state.rename(1, "Heart").look(cluster=1)
    board = bench.open_view("topics")
    assert board.state.topics.names == ("", "Heart", "", "")
    assert board.state.topic == 1
    board.state = board.state.look(3).rename(3, "Births")
    assert bench.state.cluster == 3
    assert bench.state.clustering.cluster(3).name == "Births"
    assert bench.state.history.steps[-1].code == "state = state.rename(3, 'Births')"


def test_the_clusters_as_they_were_merged_are_looked_for_in_other_fits(bench):
    bench.state = bench.state.merge([0, 1], name="Both")
    subject = bench.open_view("stability").state.subject
    assert (subject.own, "Both" in subject.names.values()) == (3, True)
    ids = np.array(bench.state.clustering.ids)
    assert ids[subject.labels].tolist() == bench.state.assignment.labels.tolist()


def test_what_tells_a_cluster_apart_is_of_the_picked_one(bench):
    bench.state = bench.state.rename(2, "Births").look(cluster=2)
    state = bench.open_view("covariates").state
    assert set(state.classes) == {"Births", "all others"}
    assert (
        "1,200 of 1,200 patients, the 100 most frequent codes" in bench.dashboards.board.stage.title
    )


def test_what_was_done_stays_when_names_and_clusters_change(bench, fits):
    board = bench.open_view("tree")
    board.state = board.state.rename(1, "Left").pick(2).replace(tab=1)
    seen = board.state
    bench.open_view(HOME)
    bench.state = bench.state.rename(0, "First")
    made = len(fits)
    again = bench.open_view("tree")
    assert len(fits) == made
    assert again is not board
    assert "First" in set(again.state.corpus.obs["cluster"])
    assert (again.state.names, again.state.node, again.state.tab) == (seen.names, seen.node, 1)
    assert again.state.undo().names == {}


def test_a_reload_fits_nothing_again_and_shows_what_was_left(opened, fits):
    bench = Workbench(opened)
    board = bench.open_view("tree")
    board.state = board.state.rename(1, "Left").pick(2)
    cards = bench.open_view("cards")
    cards.state = cards.state.rename(0, "Pain")
    made = len(fits)
    later = Workbench(opened)
    tree = later.open_view("tree").state
    assert (tree.names, tree.node) == ({1: "Left"}, 2)
    assert later.open_view("cards").state.annotations.of(0).name == "Pain"
    assert len(fits) == made


def test_other_visitors_share_fits_but_not_names(opened, fits):
    first = Workbench(opened)
    board = first.open_view("tree")
    board.state = board.state.rename(1, "Left")
    made = len(fits)
    second = Workbench(opened._replace(work=Work(fits=opened.work.fits)))
    assert second.open_view("tree").state.names == {}
    assert len(fits) == made


def test_another_cohort_closes_the_dashboards_of_the_one_before(bench):
    tree = bench.open_view("tree")
    bench._show(Opened(bench.state.model_opened, COHORT[:600].copy(), "another", ""))
    assert bench.dashboards.board is bench
    assert bench.open_view("tree") is not tree


def test_what_cannot_be_made_is_told_and_nothing_changes(bench):
    bench.state = bench.state.merge([0, 1, 2, 3], name="All")
    with pytest.raises(ValueError, match="Pick a cluster with some of the patients"):
        bench.open_view("covariates")
    assert bench.dashboards.board is bench
    assert bench.stage.view == HOME
    with pytest.raises(ValueError, match="no dashboard 'tensors' of this cohort; there are clust"):
        bench.open_view("tensors")


class Loop:
    """A host whose loop is turned by hand."""

    here = connected = True

    def __init__(self):
        self.waiting = []

    def call(self, function):
        self.waiting.append(function)

    def turn(self, until):
        for _ in range(2_000):
            while self.waiting:
                self.waiting.pop(0)()
            if until():
                return
            threading.Event().wait(0.005)
        pytest.fail("nothing came of it")


def test_a_dashboard_at_work_can_be_left_and_goes_on(bench):
    host, end = Loop(), threading.Event()
    board = bench.open_view("tree")
    column = bench.__panel__()
    token = asked_by.set(host)
    try:
        board.background(lambda progress: end.wait(30), lambda _: board.say("Done."))
        assert board.busy
        board.stage.view = "cards"
        waiting = bench.dashboards.board
        assert waiting.components["status"].message == "Looking for phenotypes"
        assert waiting.stage.view == "cards"
    finally:
        asked_by.reset(token)
    host.turn(lambda: bench.dashboards.here == "cards")
    assert column[0] is bench.dashboards.board.__panel__()
    end.set()
    host.turn(lambda: not board.busy)
    assert board.components["status"].message == "Done."


def test_notebooks_show_the_one_that_is_open(bench):
    box = bench.widget()
    assert box.children == (super(type(bench), bench).widget(),)
    board = bench.open_view("tree")
    assert box.children == (board.widget(),)
    assert bench.widget() is box


def test_leaving_is_asked_for_work_in_any_dashboard(bench):
    assert not bench.stage.unsaved
    board = bench.open_view("tree")
    board.state = board.state.rename(1, "Left")
    assert board.stage.unsaved
    bench.open_view(HOME)
    assert bench.stage.unsaved
    assert not bench.state.unsaved
