"""The commands of dashboards: one registry, and those that fit stability, covariates and tensors."""

import numpy as np
import pytest

import lvmkit_widgets
from lvmkit.datasets import load_discharges
from lvmkit_widgets.server import cli
from lvmkit_widgets.workbench.registry import DASHBOARDS


@pytest.fixture(name="boards")
def dashboards_that_would_be_served(monkeypatch):
    made = []
    monkeypatch.setattr(cli, "_serve", lambda factory, *_, **__: made.append(factory()))
    return made


@pytest.fixture(scope="module", name="ward")
def cohort_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("cohort") / "ward.h5ad"
    cohort = load_discharges()[:600]
    cohort[:, np.asarray(cohort.X.sum(axis=0)).ravel() > 60].copy().write_h5ad(path)
    return path


def test_every_dashboard_has_a_command():
    # The workbench is the cluster explorer with a form that opens cohorts.
    without = {"Dashboard", "ClusterExplorer"}
    assert {entry.dashboard for entry in DASHBOARDS} == set(lvmkit_widgets.__all__) - without


def test_stability_of_a_file(ward, boards):
    asked = ["--components", "3", "2", "4", "--repeats", "2", "--no-browser"]
    assert cli.main(["stability", str(ward), *asked]) == 0
    state = boards[0].state
    assert list(state.values) == [2, 3, 4]
    assert state.n_repeats == 2


def test_covariates_of_a_file(ward, boards):
    asked = ["--outcome", "sex", "--steps", "6", "--no-browser"]
    assert cli.main(["covariates", str(ward), *asked]) == 0
    state = boards[0].state
    assert len(state.path) == 6
    assert set(state.classes) == set(load_discharges().obs["sex"].astype(str))


@pytest.mark.parametrize(
    ("outcome", "message"),
    [("height", "is no column of attributes; there are"), ("age", "give a column with 2 to 20")],
)
def test_outcomes_that_cannot_be_are_told(outcome, message, ward, capsys):
    assert cli.main(["covariates", str(ward), "--outcome", outcome]) == 1
    assert f"lvmkit covariates: --outcome {outcome!r}" in (error := capsys.readouterr().err)
    assert message in error


def test_tensors_of_a_file(tmp_path, boards):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4, 3)) + 3 * (np.arange(60) < 30)[:, None, None]
    np.savez(tmp_path / "numbers.npz", X)
    asked = ["--components", "2", "--no-browser"]
    assert cli.main(["tensors", str(tmp_path / "numbers.npz"), *asked]) == 0
    assert boards[0].state.solution.n_components == 2
    assert boards[0].stage.title == "Clusters of tensors: numbers.npz"


def test_files_of_several_arrays_are_told(tmp_path, capsys):
    np.savez(tmp_path / "two.npz", a=np.ones(3), b=np.ones(3))
    assert cli.main(["tensors", str(tmp_path / "two.npz")]) == 1
    assert "holds 2 arrays (a, b); give a file with one" in capsys.readouterr().err
