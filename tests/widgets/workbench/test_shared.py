"""What visitors of a server share."""

import threading

import pytest

from lvmkit import charts
from lvmkit.datasets import load_discharges
from lvmkit_widgets.server import cli
from lvmkit_widgets.workbench import open_form
from lvmkit_widgets.workbench.shared import Shared


def test_it_is_made_once_and_before_anybody_asks():
    begun, made = threading.Event(), []

    def make():
        made.append(1)
        begun.set()
        return object()

    shared = Shared(make)
    assert begun.wait(5)
    assert shared.get() is shared.get()
    assert made == [1]


def test_what_failed_is_tried_again_for_the_next_who_asks():
    outcomes = iter([ValueError("no such file"), "there"])

    def make():
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    shared = Shared(make)
    with pytest.raises(ValueError, match="no such file"):
        shared.get()
    assert shared.get() == "there"


def test_visitors_of_a_cohort_share_one_fit_and_write_into_copies(tmp_path, monkeypatch):
    path = tmp_path / "ward.h5ad"
    load_discharges()[:1500].copy().write_h5ad(path)
    served, fits = [], []
    fit = open_form.fit_quietly
    monkeypatch.setattr(open_form, "fit_quietly", lambda *a, **k: fits.append(1) or fit(*a, **k))
    monkeypatch.setattr(cli, "_serve", lambda factory, *_, **__: served.append(factory))
    assert cli.main(["explore", str(path), "--components", "3", "--no-browser"]) == 0
    first, second = served[0](), served[0]()
    assert fits == [1]
    assert first.state.patients.cohort is second.state.patients.cohort
    first.state = first.state.rename(0, "Heart")
    assert second.state.clustering.labels[0] != first.state.clustering.labels[0]
    first.state.save(tmp_path / "model.npz")
    assert "Heart" not in str(second.state.model.annotations_)


def test_later_visitors_begin_with_what_was_computed_for_the_first(tmp_path, monkeypatch):
    path = tmp_path / "ward.h5ad"
    load_discharges()[:1500].copy().write_h5ad(path)
    served, drawn = [], []
    draw = charts.svg
    monkeypatch.setattr(charts, "svg", lambda chart: drawn.append(1) or draw(chart))
    monkeypatch.setattr(cli, "_serve", lambda factory, *_, **__: served.append(factory))
    command = ["explore", str(path), "--components", "3", "--token", "new", "--no-browser"]
    assert cli.main(command) == 0
    first = served[0]()
    assert drawn
    first.state = first.state.rename(0, "Heart").look(cluster=2)
    del drawn[:]
    second = served[0]()
    assert not drawn
    assert second.components["summary"].rows != first.components["summary"].rows
    assert second.state.history.position == 0
    assert second.state.cluster == 0
    assert second.state.files is not first.state.files
    second.state = second.state.rename(0, "Other")
    assert served[0]().state.clustering.labels[0] == "Cluster 0"
