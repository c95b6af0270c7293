import numpy as np
import pandas as pd
import pytest

from lvmkit import charts
from lvmkit.charts.fit_time import fit_time_chart, fit_time_table

ROWS = [
    *[("SUSTain", k, s, f) for k, s, f in ((10, 9.0, 0.26), (5, 3.0, 0.2), (5, 5.0, 0.2))],
    *[("AILS", k, s, f) for k, s, f in ((5, 1300.0, 0.2), (10, 900.0, 0.27))],
    ("scaled", 5, 2.0, -0.16),
]
RUNS = pd.DataFrame(ROWS, columns=["method", "n_components", "seconds", "fit"])


def test_repeats_become_medians_and_the_best_are_marked() -> None:
    table = fit_time_table(RUNS)
    assert table["method"].tolist() == ["SUSTain", "SUSTain", "AILS", "AILS", "scaled"]
    assert table["n_components"].tolist() == [5, 10, 5, 10, 5]
    assert table["seconds"].tolist() == [4.0, 9.0, 1300.0, 900.0, 2.0]
    assert table["runs"].tolist() == [2, 1, 1, 1, 1]
    assert table["best"].tolist() == [True, True, False, True, True]


def test_of_equal_times_the_better_fit_is_best_and_equals_both_are() -> None:
    rows = [("a", 5, 1.0, 0.5), ("b", 5, 1.0, 0.6), ("c", 5, 2.0, 0.6), ("d", 5, 1.0, 0.6)]
    runs = pd.DataFrame(rows, columns=["method", "n_components", "seconds", "fit"])
    assert fit_time_table(runs)["best"].tolist() == [False, True, False, True]


def test_points_are_connected_in_the_order_of_the_components() -> None:
    spec = fit_time_chart(fit_time_table(RUNS)).to_dict()
    line = spec["layer"][0]
    assert line["mark"]["type"] == "line"
    assert line["encoding"]["order"]["field"] == "n_components"
    assert line["encoding"]["x"]["scale"]["type"] == "log"
    numbers = spec["datasets"][spec["layer"][-1]["data"]["name"]]
    assert [row["text_n"] for row in numbers] == ["5", "10", "5", "10", "5: −0.16"]
    assert [row["y"] for row in numbers] == [0.2, 0.26, 0.2, 0.27, 0.0]
    assert "drawn at 0, with its value" in " ".join(spec["title"]["subtitle"])


def test_it_is_drawn() -> None:
    picture = charts.svg(fit_time_chart(fit_time_table(RUNS), title="Fit and time", subtitle="CMS"))
    for text in ("SUSTain", "AILS", "1,000", "seconds", "Fit and time", "CMS"):
        assert f">{text}</text>" in picture, text
    alone = fit_time_chart(fit_time_table(RUNS.iloc[:1]))
    assert "Upper left" in " ".join(alone.to_dict()["title"]["subtitle"])
    assert charts.svg(alone)


def test_wrong_runs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"runs must have the columns .*there is no 'seconds'"):
        fit_time_table(RUNS.drop(columns="seconds"))
    with pytest.raises(ValueError, match=r"seconds of runs must be above 0.*found 0.0, nan"):
        fit_time_table(RUNS.assign(seconds=[0.0, np.nan, 1, 1, 1, 1]))
    with pytest.raises(ValueError, match=r"fit of runs must be a number; 'AILS' has runs without"):
        fit_time_table(RUNS.assign(fit=RUNS["fit"].where(RUNS["method"] != "AILS")))
    many = pd.concat([RUNS.assign(method=str(i)) for i in range(13)])
    with pytest.raises(ValueError, match="runs has 13 methods"):
        fit_time_table(many)
