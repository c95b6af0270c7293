"""What the dashboard of a path of covariate clusterings knows and does, without a browser."""

import io
import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lvmkit.covariates.path import covariate_path
from lvmkit.datasets import make_covariate_clusters
from lvmkit_widgets import CovariatePath
from lvmkit_widgets.covariates.dashboard import HELD, held
from lvmkit_widgets.covariates.export_tab import clusters_table, covariates_table, path_table
from lvmkit_widgets.covariates.state import PathState, accuracies_told

HOSTILE = "<img src=x onerror=alert(1)>"
NAMES = ["7/10", "8/10", "1/10", "2/10", "plot", f"=1+1 {HOSTILE}"]
LABELS = [[0, 1, 2, 3, 4, 5], [0, 0, 1, 2, 3, 4], [0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 2, 2], [0] * 6]


class Path(list):
    """Solutions, as `lvmkit.models.covariate_path` returns them."""

    def with_n_clusters(self, k):
        return int(np.argmin(np.abs(self.n_clusters - k)))

    def score(self, X, y):
        assert len(X) == len(y)
        return self.accuracies - 0.1


def path_of(labels=LABELS, classes=("good movie", "bad movie"), counts=(300, 200)):
    """A path with these clusterings; covariates 0, 1 and 5 speak for the first class."""
    path = Path()
    own = np.array([2.0, 1.5, -2.0, -1.0, -0.1, 0.5])
    own = np.resize(own, len(labels[0]))
    for step, given in enumerate(labels):
        clusters = np.array(given)
        k = clusters.max() + 1
        means = np.bincount(clusters, own) / np.bincount(clusters)
        coef = np.vstack([means / 2, -means / 2, *np.zeros((len(classes) - 2, k))])
        path.append(
            SimpleNamespace(
                **{
                    "nu": 2.0**step,
                    "labels": clusters,
                    "n_clusters": int(k),
                    "converged": step != 3,
                },
                **{"log_marginal_likelihood": -abs(step - 2.0), "accuracy": 0.95 - step / 20},
                **{"cluster_coef": coef, "coef": coef[:, clusters]},
            )
        )
    for name in ("nu", "n_clusters", "log_marginal_likelihood"):
        plural = name if name.endswith("s") else f"{name}s"
        setattr(path, plural, np.array([getattr(solution, name) for solution in path]))
    path.accuracies = np.array([solution.accuracy for solution in path])
    path.best = int(np.argmax(path.log_marginal_likelihoods))
    path.classes, path.class_counts = np.array(classes), np.array(counts)
    path.feature_names, path.cross_validation = None, None
    path.n_samples, path.ridge, path.prior_variance = sum(counts), 0.1, 1.0
    return path


@pytest.fixture
def path():
    return path_of()


@pytest.fixture
def board(path):
    return CovariatePath(path, NAMES, name="Reviews")


# -- the solution that is looked at ---------------------------------------------------------------


def test_it_opens_at_the_best_solution_with_the_strongest_cluster_of_several(board):
    state = board.state
    assert (state.step, state.describe(2)) == (2, "ν = 4 · 4 clusters")
    assert state.cluster == 0  # 7/10 and 8/10
    assert board.components["nu"].selected == 2
    assert "best by marginal likelihood" in board.components["nu"].options[2]["note"]
    assert "not converged" in board.components["nu"].options[3]["note"]
    assert board.stage.title == "Clusters of covariates: Reviews"
    wanted = (
        "6 covariates · 500 samples · classes good movie (300), bad movie (200) · 5 values of ν"
    )
    assert board.stage.subtitle.startswith(wanted)


def test_a_solution_is_chosen_by_the_slider_the_number_of_clusters_and_the_curves(board):
    board.components["nu"].selected = 4
    assert board.state.step == 4
    form = board.components["choose"]
    assert form.values["k"] == 1
    form.values = {"k": 5}
    form.fire("pressed", "nearest")
    assert board.state.step == 1
    board.components["curves"].fire("pick", {"step": "3"})
    assert board.state.step == board.components["nu"].selected == 3
    form.fire("pressed", "best")
    assert board.state.step == 2
    form.fire("pressed", "undo")
    assert board.state.step == 3
    assert (
        board.components["status"].message
        == "Undone: Best by marginal likelihood: ν = 4 · 4 clusters."
    )
    form.fire("pressed", "redo")
    assert board.state.step == 2


def test_pictures_lose_digits_of_lines_not_of_texts(path):
    path[2].nu = path.nus[2] = 0.00142
    picture = CovariatePath(path, NAMES).components["curves"].svg
    assert "ν = 0.00142: 4 clusters" in picture
    lines = re.findall(r' d="([^"]*)"', picture)
    assert lines
    assert not any(re.search(r"\.\d\d", line) for line in lines)


def test_cross_validation_is_offered_where_there_is_some(path, board):
    names = [control["name"] for control in board.components["choose"].controls]
    assert "cross" not in names
    with pytest.raises(ValueError, match="without cross-validation"):
        board.state = board.state.choose_cross_validated()
    tried = SimpleNamespace(mean=path.accuracies, std_error=np.full(5, 0.02), chosen=3)
    path.cross_validation = tried
    board = CovariatePath(path, NAMES)
    board.components["choose"].fire("pressed", "cross")
    assert board.state.step == 3
    assert "Cross-validation" in board.components["curves"].svg


def test_the_steps_repeat_in_python(path, board):
    board.state = board.state.choose_n_clusters(1)
    board.state = board.state.choose(1)
    scope = {"path": path}
    exec(board.state.history.code, scope)
    assert scope["state"].step == 1
    assert [step.text for step in board.state.history.steps][1:] == [
        "Nearest to 1 cluster: ν = 16 · 1 cluster",
        "Showed ν = 2 · 5 clusters",
    ]


def test_choosing_what_is_shown_is_no_step(board):
    board.state = board.state.choose_best()
    assert len(board.state.history.steps) == 1


# -- clusters and covariates ----------------------------------------------------------------------


def test_the_browser_gets_labels_and_weights_of_the_solution(board, path):
    board.state = board.state.choose(3)
    fields = board.components["clusters"]
    assert np.frombuffer(fields.labels, "<i4").tolist() == LABELS[3]
    sent = np.frombuffer(fields.weights, "<f4").reshape(2, 3)
    np.testing.assert_allclose(sent, path[3].cluster_coef, rtol=1e-6)
    alone = np.frombuffer(fields.alone, "<f4").reshape(2, 6)
    np.testing.assert_allclose(alone[0], [1, 0.75, -1, -0.5, -0.05, 0.25], rtol=1e-6)
    assert fields.names[5] == NAMES[5]  # the browser writes it as text


def test_a_covariate_that_was_found_stays_in_sight(board):
    board.components["clusters"].param.update(selected=1, covariate=3)
    assert (board.state.cluster, board.state.covariate) == (1, 3)
    board.state = board.state.choose(0)
    assert (board.state.cluster, board.state.covariate) == (3, 3)
    board.state = board.state.choose(4)
    assert board.state.cluster == 0
    board.state = board.state.choose(2)
    board.state = board.state.find("plot")
    assert (board.state.cluster, board.state.covariate) == (2, 4)
    board.state = board.state.pick(0)
    assert board.state.covariate is None


def test_what_is_not_there_is_refused_in_words(board):
    for call, told in [
        (lambda: board.state.choose(9), "no solution 9; the path has 0 to 4"),
        (lambda: board.state.choose_n_clusters(0), "ask for at least one cluster"),
        (lambda: board.state.pick(4), "no cluster 4; they are numbered 0 to 3"),
        (lambda: board.state.find("no such"), "No covariate is called “no such”"),
        (lambda: board.state.find(17), "no covariate 17; they are numbered 0 to 5"),
    ]:
        with pytest.raises(ValueError, match=told):
            call()


def test_covariates_that_are_left_out_are_in_no_cluster(path, tmp_path):
    path[2].labels = np.array([0, 0, 1, 1, -1, -1])
    path[2].n_clusters, path[2].cluster_coef = 2, path[2].cluster_coef[:, :2]
    path[0].labels[4] = -1
    board = CovariatePath(path, NAMES)
    rows = covariates_table(board.state)
    assert rows["cluster"].tolist() == [0, 0, 1, 1, -1, -1]
    assert rows["class"].tolist()[4:] == ["", ""]
    assert rows["weight_good movie"].tolist()[4:] == [0, 0]
    assert clusters_table(board.state)["size"].tolist() == [2, 2]
    np.testing.assert_allclose(board.state.alone[0, 4], -0.05)  # from the next ν
    board.components["clusters"].param.update(selected=None, covariate=5)
    assert (board.state.cluster, board.state.covariate) == (None, 5)
    board.state = board.state.choose(3)
    assert board.state.cluster == 2
    board.state = board.state.choose(2)
    assert board.state.cluster is None
    board.to_html(tmp_path / "page.html")
    path[1].labels, path[1].n_clusters = np.full(6, -1), 0
    path[1].cluster_coef = np.zeros((2, 0))
    board.state = board.state.replace(covariate=None)
    board.state = board.state.choose(1)
    board.open_tab("main", 1)
    assert board.state.cluster is None
    assert "No covariate" in board.components["tree"].caption
    board.to_html(tmp_path / "page.html")


def test_a_real_path_is_shown(tmp_path):
    data = make_covariate_clusters(200, 40, random_state=0)
    nus = [100.0, 10.0, 1.0, 0.1]
    path = covariate_path(data.X, data.y, nus, similarity=data.similarity)
    board = CovariatePath(path, held_out=(data.X, data.y), private=False)
    assert board.state.path.nus.tolist() == nus[::-1]
    board.components["nu"].selected = 1
    board.open_tab("main", 1)
    board.state = board.state.find("x3")
    labels = board.state.path[1].labels
    assert board.state.cluster == labels[3]
    assert clusters_table(board.state)["size"].tolist() == np.bincount(labels).tolist()
    assert board.to_html(tmp_path / "page.html").stat().st_size < 2_000_000


# -- the tree -------------------------------------------------------------------------------------


def test_the_tree_is_that_of_the_cluster_and_answers_to_picks(board):
    board.open_tab("main", 1)
    tree = board.components["tree"]
    assert "How 2 covariates" in tree.svg
    assert "7/10" in tree.svg
    board.components["tree_of"].values = {"every": True, "least": 1, "most": 40}
    assert "How 6 covariates" in tree.svg
    assert "<img" not in tree.svg
    tree.fire("pick", {"covariate": "4"})
    assert (board.state.covariate, board.stage.tabs["main"]) == (4, 0)
    tree.fire("pick", {"set": "1-0"})
    assert (board.state.step, board.state.cluster) == (1, 0)


def test_where_there_is_no_tree_the_reader_is_told_why(board):
    board.open_tab("main", 1)
    board.state = board.state.pick(3)
    tree = board.components["tree"]
    assert "one covariate that has met no other" in tree.caption
    board.components["tree_of"].values = {"every": True, "least": 99, "most": 40}
    assert tree.svg == ""
    assert "odds ratio of 99 or more" in tree.caption


# -- what is passed -------------------------------------------------------------------------------


def test_names_are_those_passed_or_those_of_the_path_with_their_meanings(path):
    assert CovariatePath(path).state.names[:2] == ("x0", "x1")
    path.feature_names = np.array(["428", "401", "250", "585", "V27", "664"])
    assert CovariatePath(path).state.names[0] == "428"
    meant = CovariatePath(path, {"428": "Heart failure"}).state.names
    assert meant[:2] == ("428 Heart failure", "401")
    with pytest.raises(ValueError, match="none of the path's covariates"):
        CovariatePath(path, {"x": "y"})
    with pytest.raises(ValueError, match="each of the 6 covariates; found 2"):
        CovariatePath(path, ["a", "b"])


def test_other_data_have_a_curve_of_their_own(path):
    board = CovariatePath(path, NAMES, (np.zeros((300, 6)), [0, 1, 1] * 100))
    assert "Accuracy on other data" in board.components["curves"].svg
    assert "on other data 0.750" in board.components["curves"].alt
    with pytest.raises(ValueError, match=r"held_out is the pair \(X, y\)"):
        CovariatePath(path, NAMES, np.zeros((3, 6)))


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match=r"found dict.*covariate_path\(X, y\)"):
        CovariatePath({})
    empty = path_of()
    empty.clear()
    with pytest.raises(ValueError, match="no solution"):
        CovariatePath(empty)


def test_one_solution_one_cluster_and_three_classes_are_shown():
    one = path_of([[0, 0, 0]], classes=("a", "b", "c"), counts=(20, 20, 20))
    board = CovariatePath(one)
    board.open_tab("main", 1)
    assert "How 3 covariates" in board.components["tree"].svg
    assert board.state.describe(0) == "ν = 1 · 1 cluster"


# -- what leaves ----------------------------------------------------------------------------------


def test_tables_hold_clusters_covariates_and_the_path(board, path):
    table = clusters_table(board.state)
    assert table["size"].tolist() == [2, 2, 1, 1]
    assert table["class"].tolist() == ["good movie", "bad movie", "bad movie", "good movie"]
    np.testing.assert_allclose(table["odds_ratio"], np.exp([1.75, 1.5, 0.1, 0.5]))
    assert table["covariates"].iloc[0] == "7/10; 8/10"
    rows = covariates_table(board.state)
    assert rows["cluster"].tolist() == LABELS[2]
    np.testing.assert_allclose(rows["own_odds_ratio"], np.exp([2, 1.5, 2, 1, 0.1, 0.5]))
    np.testing.assert_allclose(rows["weight_bad movie"], path[2].coef[1])
    assert path_table(board.state)["selected"].tolist() == [False, False, True, False, False]


def handed_over(board, name):
    board.components["files"].fire("pressed", name)
    return board.stage.file_sent[1]["name"], bytes(board.stage.file)


def test_files_are_handed_over_and_hold_no_formulas(board):
    name, data = handed_over(board, "covariates")
    assert name == "covariates.csv"
    table = pd.read_csv(io.BytesIO(data))
    assert table["covariate"].iloc[5].startswith("'=1+1")
    assert handed_over(board, "tree")[1].startswith(b"<svg")
    assert b"href" not in handed_over(board, "curves")[1]
    assert b"choose_best" not in handed_over(board, "python")[1]
    assert handed_over(board, "page")[0] == "covariates.html"


def page_state(file):
    text = file.read_text("utf-8")
    return json.loads(re.search(r'id="lvmkit-state">(.*?)</script>', text, re.DOTALL)[1]), text


def test_a_saved_page_answers_for_its_solutions_and_clusters(board, tmp_path):
    board.state = board.state.choose(3)
    state, text = page_state(board.to_html(tmp_path / "page.html"))
    assert "<img src=x" not in text
    assert [o["label"] for o in state["nu_options"]] == [board.state.describe(s) for s in range(5)]
    assert state["nu_selected"] == 3
    moved, picked = state["stage_cases"]
    assert list(moved["cases"]) == ["0", "1", "2", "3", "4"]
    key = moved["cases"]["4"]["clusters.shown"]
    assert "How 6 covariates" in picked["cases"][key]["tree.svg"]
    assert "not in this page" in picked["cases"][""]["tree.caption"]
    assert {"3:0", "3:1", "3:2"} <= set(picked["cases"])
    assert "href" not in state["tree_svg"] + moved["cases"]["4"]["curves.svg"]
    board.state = board.state.replace(every=True)
    moved, picked = page_state(board.to_html(tmp_path / "page.html"))[0]["stage_cases"]
    assert picked["cases"] == {}
    assert "How 6 covariates" in moved["cases"]["3"]["tree.svg"]
    assert moved["cases"]["4"]["tree.svg"] == ""


def test_a_page_of_a_long_path_holds_a_part_of_it_and_what_matters():
    labels = [np.minimum(np.arange(120), k).tolist() for k in range(119, -1, -1)]
    path = path_of(labels)
    path.cross_validation = SimpleNamespace(
        mean=path.accuracies, std_error=path.accuracies * 0, chosen=77
    )
    board = CovariatePath(path)
    board.state = board.state.choose(51)
    steps = held(board.state)
    assert len(steps) <= HELD + 3
    assert {0, 2, 51, 77, 119} <= set(steps.tolist())
    equal = path_of([[0, 1]] * 50 + [[0, 0]] * 50)
    assert held(CovariatePath(equal).state).tolist() == [0, 2, 50]


def test_small_classes_are_not_counted_unless_samples_are_no_people():
    path = path_of(counts=(495, 5))
    board = CovariatePath(path)
    assert "classes good movie, bad movie ·" in board.stage.subtitle
    assert "one has fewer than 11" in board.stage.footer
    assert "bad movie (5)" in CovariatePath(path, private=False).stage.subtitle
    few = path_of(counts=(4, 3))
    assert "<11 samples" in CovariatePath(few).stage.subtitle


@pytest.mark.parametrize("where", ["accuracies", "held_out", "cross_validation"])
def test_accuracies_that_give_small_counts_away_are_not_told(where, tmp_path):
    """Of 500 samples, an accuracy of .99 tells that 5 are classified wrongly: all of a class that is hidden."""
    path = path_of(counts=(495, 5))
    fine, telling = np.full(5, 0.9), np.array([0.9, 0.99, 0.9, 0.9, 0.9])
    path.accuracies = telling if where == "accuracies" else fine
    mean = telling if where == "cross_validation" else fine
    path.cross_validation = SimpleNamespace(mean=mean, std_error=np.full(5, 0.02), chosen=3)
    path.score = lambda X, y: telling if where == "held_out" else fine
    given = {"held_out": (np.zeros((500, 6)), np.zeros(500))}
    board = CovariatePath(path, **given)
    assert "Accuracies are not told" in board.stage.footer
    assert "ccuracy" not in board.components["curves"].help
    page = board.to_html(tmp_path / "page.html").read_text("utf-8")
    assert "on the training data 0" not in page
    assert board.components["curves"].svg.count("curacy") == 1  # in the description of the chart
    assert not {"accuracy", "held_out_accuracy", "cross_validation"} & set(path_table(board.state))
    assert "accuracy" in path_table(CovariatePath(path, private=False, **given).state)
    path.accuracies = path.cross_validation.mean = fine
    path.score = lambda X, y: fine
    told = CovariatePath(path, **given)
    assert "Accuracies are not told" not in told.stage.footer
    assert "the accuracy as ν grows. " in told.components["curves"].help
    assert "Accuracy on the training data" in told.components["curves"].help
    assert "accuracy" in path_table(told.state)


@pytest.mark.parametrize("where", ["accuracies", "held_out", "cross_validation"])
@pytest.mark.parametrize(("size", "held_out"), [(500, 137), (137, 2000)])
@pytest.mark.parametrize("few", ["wrong", "right"])
@pytest.mark.parametrize(("count", "told"), [(0, True), (1, False), (10, False), (11, True)])
def test_accuracies_hide_1_to_10_samples_of_their_own_set(where, size, held_out, few, count, told):
    """Few right tell as much as few wrong: of two classes, the other answer was right."""
    path = path_of(counts=(size - 50, 50))
    share = count / (held_out if where == "held_out" else size)
    values = {name: np.full(5, 0.5) for name in ("accuracies", "held_out", "cross_validation")}
    values[where][3] = share if few == "right" else 1 - share
    path.accuracies = values["accuracies"]
    mean = values["cross_validation"]
    path.cross_validation = SimpleNamespace(mean=mean, std_error=np.zeros(5), chosen=3)
    given = {"held_out": values["held_out"], "n_held_out": held_out}
    assert accuracies_told(PathState.of(path, tuple(NAMES), **given)) is told


def test_the_likelihood_of_people_is_told_no_finer_than_its_curve(board):
    state = board.state
    exact = np.array([-1234.5678 - 3.21 * step for step in range(len(state.path))])
    state.path.log_marginal_likelihoods = exact
    told = path_table(state)["log_marginal_likelihood"]
    assert not np.isin(exact, told).any()
    np.testing.assert_allclose(told, exact, atol=np.ptp(exact) / 50)
    state = state.disclose(private=False)
    np.testing.assert_array_equal(path_table(state)["log_marginal_likelihood"], exact)
