"""What lvmkit explore keeps between visits."""

import base64

import numpy as np
import pytest

import lvmkit
from lvmkit.cohorts.subset import Subset
from lvmkit.datasets import load_discharges
from lvmkit_widgets.server import cli
from lvmkit_widgets.workbench import open_form, sessions
from lvmkit_widgets.workbench.sessions import Session


@pytest.fixture(name="explore")
def visits(tmp_path, monkeypatch):
    """Open the same file as the command does, once or again; later visits may not fit."""
    monkeypatch.setenv("LVMKIT_SESSIONS", str(tmp_path / "sessions"))
    path = tmp_path / "ward.h5ad"
    load_discharges()[:900].copy().write_h5ad(path)
    fits, fit = [], open_form.fit_quietly
    monkeypatch.setattr(open_form, "fit_quietly", lambda *a, **k: fits.append(1) or fit(*a, **k))

    def visit(*options):
        served = []
        monkeypatch.setattr(cli, "_serve", lambda factory, *_, **__: served.append(factory))
        assert cli.main(["explore", str(path), "--components", "4", *options]) == 0
        return served[0]

    visit.fits, visit.session = fits, lambda: Session.of(str(path), 4)
    return visit


def work(board):
    for cluster in range(3):
        board.state = board.state.rename(cluster, f"Group {cluster}")
    board.state = board.state.write_note(0, "older")
    board.state = board.state.split(3)
    board.state = board.state.merge([0, 1], name="Both")


def rename(board, cluster, name):
    board.state = board.state.rename(cluster, name)


def test_names_notes_splits_and_merges_are_there_after_a_new_start(explore):
    board = explore()()
    work(board)
    labels, sizes = board.state.clustering.labels, board.state.assignment.sizes
    fits = len(explore.fits)
    again = explore()()
    assert again.state.clustering.labels == labels
    np.testing.assert_array_equal(again.state.assignment.sizes, sizes)
    assert len(explore.fits) == fits  # read, not fitted
    assert "Gone on where you were" in again.components["status"].message
    reloaded = explore()
    rename(reloaded(), again.state.cluster, "Later")
    assert "Later" in " ".join(reloaded().state.clustering.labels)  # a reload of the same server


def test_all_can_be_begun_anew_and_nothing_is_lost(explore):
    work(explore()())
    board = explore()()
    board.components["status"].fire("pressed", "anew")
    assert board.state.clustering.ids == [0, 1, 2, 3]
    assert "Group" not in " ".join(board.state.clustering.labels)
    rename(board, 0, "New")
    assert "New" in explore()().state.clustering.labels[0]
    assert explore.session().path.with_suffix(".earlier.npz").is_file()
    plain = explore("--anew")()
    assert "New" not in plain.state.clustering.labels[0]


def test_a_damaged_file_is_told_and_kept(explore):
    work(explore()())
    path = explore.session().path
    path.write_bytes(path.read_bytes()[:500])
    board = explore()
    shown = board()
    assert shown.state.clustering.ids == [0, 1, 2, 3]
    assert path.with_suffix(".damaged.npz").is_file()
    assert "cannot be read; it was put aside" in shown.components["status"].message
    rename(shown, 0, "New")  # and work goes on
    assert "New" in board().state.clustering.labels[0]


def test_visitors_with_a_token_share_no_session(explore):
    first = explore("--token", "a-long-enough-secret")
    rename(first(), 0, "Mine")
    assert "Mine" not in first().state.clustering.labels[0]


def test_another_file_or_number_is_another_session(tmp_path, monkeypatch):
    monkeypatch.setenv("LVMKIT_SESSIONS", str(tmp_path / "sessions"))
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,0\n")
    one = Session.of(str(path), 4).path
    assert Session.of(str(path), 5).path != one
    path.write_text("a,b\n1,0\n0,1\n")
    assert Session.of(str(path), 4).path != one
    assert one.parent.stat().st_mode & 0o077 == 0


def test_steps_can_be_undone_after_a_new_start_and_what_was_looked_at_is_there(explore):
    board = explore()()
    work(board)
    board.state = board.state.show(Subset(values={"sex": ("female",)}))
    board.state = board.state.replace(balance=0.3, tab=2).look(cluster=2)
    board.state = board.state.rename(2, "Third")
    again = explore()().state
    assert again.clustering.clusters == board.state.clustering.clusters
    assert again.view.subset == board.state.view.subset
    assert (again.cluster, again.balance, again.tab) == (2, 0.3, 2)
    assert [step.text for step in again.history.steps][1:] == [
        step.text for step in board.state.history.steps
    ][-len(again.history.steps) + 1 :]
    assert again.undo().clustering.cluster(2).label == "Group 2"
    assert again.history.code.count("\n") == board.state.history.code.count("\n")


def test_what_was_done_before_is_listed_and_gone_on_with(explore, tmp_path):
    work(explore()())
    other = tmp_path / "other.h5ad"
    load_discharges()[900:1500].copy().write_h5ad(other)
    board = explore("--components", "3")()
    rename(board, 0, "Small")
    [row] = board.components["recent"].rows
    assert row["cohort"] == "ward.h5ad, 4 clusters"
    assert "Group 2, Both" in row["done"].replace("Both, Group 2", "Group 2, Both")
    assert "1 split · 1 merge" in row["done"]
    board.components["recent"].fire("pick", 0)
    assert "Both" in board.state.clustering.labels
    assert "Gone on where you were" in board.components["status"].message
    assert ["3 clusters" in row["cohort"] for row in board.components["recent"].rows] == [True]
    rename(board, 2, "Kept")
    assert "Kept" in " ".join(explore()().state.clustering.labels)
    board.opener.choose.values = {**board.opener.choose.values, "path": str(other), "k": 2}
    board.components["open"].fire("pressed", "open")
    rename(board, 1, "Elsewhere")
    assert "Elsewhere" in Session.of(str(other), 2).model()[0].annotations_["clusters"][1]["name"]


@pytest.mark.parametrize("broken", [{"version": 7}, {"steps": [{}]}, {"position": 9}, {"seen": []}])
def test_steps_that_cannot_be_read_cost_neither_names_nor_notes(explore, broken):
    work(explore()())
    path = explore.session().path
    model = lvmkit.load(path)
    model.annotations_["session"] |= broken
    lvmkit.save(model, path)
    board = explore()()
    assert "Both" in " ".join(board.state.clustering.labels)
    assert len(board.state.history.steps) == 1
    told = board.components["status"].message
    assert "Gone on where you were" in told
    assert "Earlier steps cannot be undone" in told


def test_splits_can_be_undone_after_a_new_start(explore):
    board = explore()()
    board.state = board.state.rename(0, "First")
    first = board.state
    board.state = board.state.split(3).split(1)
    second = board.state
    again = explore()()
    np.testing.assert_array_equal(again.state.assignment.labels, second.assignment.labels)
    back = again.state.undo().undo()
    assert back.clustering.clusters == first.clustering.clusters
    np.testing.assert_array_equal(back.assignment.labels, first.assignment.labels)
    np.testing.assert_array_equal(back.model.centers_, first.clustering.mixture.centers)
    again.state = back
    later = explore()().state
    assert later.history.can_redo
    ends = later.redo().redo()
    np.testing.assert_array_equal(ends.assignment.labels, second.assignment.labels)
    assert ends.clustering.clusters == second.clustering.clusters


def test_numbers_that_are_no_mixture_cost_steps_alone(explore):
    board = explore()()
    board.state = board.state.rename(0, "First").split(3)
    path = explore.session().path
    model = lvmkit.load(path)
    for bad in ("AAAA", "!", model.annotations_["session"]["mixtures"][0]["numbers"][::-1]):
        model.annotations_["session"]["mixtures"][0]["numbers"] = bad
        lvmkit.save(model, path)
        again = explore()().state
        assert "First" in again.clustering.labels
        assert len(again.history.steps) == 1


@pytest.mark.parametrize("wrong", [np.nan, 1.5, -0.1])
def test_numbers_that_are_no_probabilities_cost_steps_alone(explore, wrong):
    board = explore()()
    board.state = board.state.rename(0, "First").split(3)
    path = explore.session().path
    model = lvmkit.load(path)
    kept = model.annotations_["session"]["mixtures"][0]
    numbers = np.frombuffer(base64.b64decode(kept["numbers"]), dtype="<f8").copy()
    numbers[1] = wrong  # a center of the first cluster
    kept["numbers"] = base64.b64encode(numbers.tobytes()).decode("ascii")
    lvmkit.save(model, path)
    again = explore()()
    assert len(again.state.history.steps) == 1
    assert "are no probabilities" in again.components["status"].message


def test_steps_that_there_is_no_room_for_stay_in_the_python(explore, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_STEPS", 3)
    board = explore()()
    work(board)
    again = explore()().state
    assert len(again.history.steps) == 3
    assert again.history.code == board.state.history.code


def test_a_step_in_another_dashboard_leaves_alone_what_somebody_else_has_written(explore):
    """Before, the step was not saved and the page said that it was."""
    board = explore()()
    board.state = board.state.rename(0, "First")
    tree, path = board.open_view("tree"), explore.session().path
    lvmkit.save(board.state.model, path)  # another program with the same cohort
    theirs = path.read_bytes()
    with pytest.raises(ValueError, match="was written by somebody else meanwhile"):
        tree.state = tree.state.rename(2, "Right")
    assert path.read_bytes() == theirs
    assert board.state.autosave is None
    assert tree.stage.unsaved


def test_what_was_done_in_other_dashboards_is_there_after_a_new_start(explore):
    board = explore()()
    tree, cards = board.open_view("tree"), board.open_view("cards")
    tree.state = tree.state.rename(2, "Right").cut(depth=1)
    cards.state = cards.state.rename(0, "Pain").mark(0, "yes")
    assert not cards.stage.unsaved
    again = explore()()
    found = again.open_view("tree").state
    assert (found.names, found.frontier) == (tree.state.names, tree.state.frontier)
    assert again.open_view("cards").state.annotations.of(0) == cards.state.annotations.of(0)
    again.state = again.state.rename(0, "First")
    assert explore()().open_view("tree").state.names == {2: "Right"}


def test_notes_of_other_dashboards_that_cannot_be_read_are_left_out(explore):
    board = explore()()
    tree, cards = board.open_view("tree"), board.open_view("cards")
    tree.state = tree.state.rename(2, "Right")
    cards.state = cards.state.rename(0, "Pain")
    path = explore.session().path
    model = lvmkit.load(path)
    kept = model.annotations_["session"]["views"]
    assert sorted(kept) == ["cards", "tree"]
    assert all(sorted(notes) == ["annotations", "fit", "params"] for notes in kept.values())
    none = {"annotations": {}}
    for bad in (7, [], {"annotations": [1]}, none | {"params": [1]}, none | {"params": {"x": 1}}):
        model.annotations_["session"]["views"] = {
            key: {**notes, **bad} if isinstance(bad, dict) else bad for key, notes in kept.items()
        }
        lvmkit.save(model, path)
        again = explore()()
        assert again.open_view("tree").state.names == {}
        assert again.open_view("cards").state.annotations.of(0).name == ""


def test_damaged_work_is_listed_and_told_as_that(explore, tmp_path):
    work(explore()())
    damaged = explore.session().path.with_name("old-0123.npz")
    damaged.write_bytes(b"nothing")
    board = explore("--components", "3")()
    rows = {row["cohort"]: row for row in board.components["recent"].rows}
    assert rows["old-0123.npz"]["done"].startswith("cannot be read, and is kept")
    with pytest.raises(ValueError, match=r"cannot be read\. The file is "):
        board.components["recent"].fire("pick", rows["old-0123.npz"]["place"])
    assert damaged.is_file()


def test_a_reload_after_beginning_anew_shows_what_was_begun(explore):
    work(explore()())
    visits = explore()
    board = visits()
    assert "Both" in board.state.clustering.labels
    board.components["status"].fire("pressed", "anew")
    assert "Both" not in visits().state.clustering.labels
