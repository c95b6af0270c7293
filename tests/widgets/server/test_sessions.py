"""What lvmkit explore keeps between visits."""

import numpy as np
import pytest

from lvmkit.datasets import load_discharges
from lvmkit_widgets.clusters import open_form
from lvmkit_widgets.server import cli
from lvmkit_widgets.server.sessions import Session


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

    visit.fits, visit.session = fits, lambda: Session(str(path), 4)
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
    one = Session(str(path), 4).path
    assert Session(str(path), 5).path != one
    path.write_text("a,b\n1,0\n0,1\n")
    assert Session(str(path), 4).path != one
    assert one.parent.stat().st_mode & 0o077 == 0
