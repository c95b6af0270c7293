import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import lvmkit
from lvmkit_widgets.server import cli, serve
from lvmkit_widgets.workbench.dashboard import Workbench

APP = Path(__file__).parents[3] / "widgets" / "apps" / "workbench.py"


def bundled(_):
    """Open what Jupyter's launcher opens."""
    return serve.bundled()


def app(monkeypatch):
    """Open what ``panel serve widgets/apps/workbench.py`` opens."""
    made = []
    monkeypatch.setattr(Workbench, "servable", lambda self, **_: made.append(self))
    runpy.run_path(str(APP))
    return made[0]


def explored(monkeypatch):
    """Open what ``lvmkit explore`` opens."""
    made = []

    def factory(make, **_):
        made.append(make())
        return SimpleNamespace(port=5006)

    monkeypatch.setattr(serve, "serve", factory)
    monkeypatch.setattr(serve, "run", lambda _: None)
    assert cli.main(["explore", "--no-browser"]) == 0
    return made[0]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    n = 150
    sick = rng.random(n) < 0.5
    pools = {True: ["428", "585", "427", "403"], False: ["250", "401", "272", "715"]}
    picks = [rng.permutation(pools[bool(s)])[:3] for s in sick]
    frame = pd.DataFrame(picks, columns=["dx1", "dx2", "dx3"])
    frame["age"] = rng.integers(20, 90, n)
    frame.to_csv(tmp_path / "stays.csv", index=False)
    frame.set_axis(["a", "b", "c", "age"], axis=1).to_csv(tmp_path / "odd.csv", index=False)
    return tmp_path / "stays.csv"


def press(bench, form, **values):
    part = bench.components[form]
    part.values = {**part.values, **values}
    part.fire("pressed", "open")


def test_it_starts_with_the_choice_alone():
    bench = Workbench()
    assert bench.stage.layout == ["status", "intro", "recent", "open", "columns", "repairs"]
    options = bench.components["open"].controls[0]["options"]
    assert options[0] == ["discharges", "Hospital discharges (synthetic, comes with lvmkit)"]


def test_a_file_opens_into_the_explorer(table):
    bench = Workbench()
    press(bench, "open", path=str(table), k=2)
    assert bench.stage.title == "stays.csv"
    assert bench.state.clustering.ids == [0, 1]
    assert bench.stage.layout[-1]["title"].startswith("Open another cohort")
    assert "open_cohort" in bench.state.history.code


def test_a_path_opens_at_once(table):
    bench = Workbench(table, k=2)
    assert bench.state.assignment.sizes.sum() == 150
    assert "age" in bench.state.patients.cohort.obs


def test_unclear_columns_are_asked_for(table):
    bench = Workbench()
    press(bench, "open", path=str(table.with_name("odd.csv")), k=2)
    columns = bench.components["columns"]
    assert columns.visible
    assert "which columns hold the codes" in bench.components["status"].message
    with pytest.raises(ValueError, match="Choose the columns that hold the codes"):
        press(bench, "columns")
    press(bench, "columns", codes=["a", "b", "c"], attributes=["age"])
    assert bench.state.assignment.sizes.sum() == 150
    assert not columns.visible


def test_a_saved_model_brings_its_names(table, tmp_path):
    bench = Workbench(table, k=2)
    bench.state = bench.state.rename(0, "Heart")
    bench.state.save(tmp_path / "heart.npz")
    again = Workbench()
    press(again, "open", path=str(table), k=5, model=str(tmp_path / "heart.npz"))
    assert again.state.clustering.labels == ["Heart", "Cluster 1"]


def test_a_saved_model_brings_its_names_to_a_file_whose_columns_are_asked_for(table, tmp_path):
    bench = Workbench(table, k=2)
    bench.state = bench.state.rename(0, "Heart")
    bench.state.save(tmp_path / "heart.npz")
    again, model = Workbench(), str(tmp_path / "heart.npz")
    press(again, "open", path=str(table.with_name("odd.csv")), k=5, model=model)
    press(again, "columns", codes=["a", "b", "c"])
    assert again.state.clustering.labels == ["Heart", "Cluster 1"]


def test_another_cohort_replaces_the_first(table):
    bench = Workbench(table, k=2)
    bench.open_tab("main", 6)
    press(bench, "open", path=str(table), k=3)
    assert len(bench.state.clustering.ids) == 3
    assert bench.components["refit"].values["k"] == 3
    bench.state = bench.state.rename(0, "Second")
    assert bench.components["sizes"].items[0]["name"] == "0 · Second"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"path": "no-such.csv"}, "“no-such.csv” cannot be read: there is no such file"),
        ({"cohort": "", "path": ""}, "Choose a cohort, or name a file"),
        ({"k": None}, "how many clusters"),
    ],
)
def test_a_wrong_choice_says_what_to_do(values, message):
    with pytest.raises(ValueError, match=message):
        press(Workbench(), "open", **values)


def test_what_fails_while_opening_is_told(table):
    bench = Workbench()
    with pytest.raises(ValueError, match="50 clusters need at least 50 codes"):
        press(bench, "open", path=str(table), k=50)
    with pytest.raises(ValueError, match=r"The model .* cannot be read: there is no such file"):
        press(bench, "open", path=str(table), k=2, model="none.npz")


def test_a_cohort_opens_directly():
    cohort = lvmkit.cohorts.from_counts(
        np.eye(6, dtype=int)[np.arange(60) % 6] + np.eye(6, dtype=int)[np.arange(60) % 3]
    )
    assert Workbench(cohort, k=2).state.clustering.ids == [0, 1]


@pytest.mark.parametrize("opened", [bundled, app, explored])
def test_the_bundled_cohort_opens_by_name_and_its_python_repeats_everything(opened, monkeypatch):
    small = lvmkit.datasets.load_discharges()[:1000].copy()
    monkeypatch.setattr(lvmkit.datasets, "load_discharges", lambda: small)
    bench = opened(monkeypatch)
    assert bench.stage.title == "Hospital discharges"
    bench.state = bench.state.rename(0, "Heart")
    scope = {}
    exec(bench.state.history.code, scope)
    assert scope["state"].clustering.clusters == bench.state.clustering.clusters
