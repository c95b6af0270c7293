from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lvmkit import charts


class Path(list[Any]):
    """Clusterings as a path has them."""

    best = 0
    classes = np.array(["bad", "good", "so-so"])
    feature_names: Any = None


def path_of(*labels: list[int], nus: Any = None, seed: int = 0) -> Path:
    """Return a path with these labels, numbered by their first covariate, and random weights."""
    random = np.random.default_rng(seed)
    path = Path()
    for step, given in enumerate(labels):
        _, first, where = np.unique(given, return_index=True, return_inverse=True)
        numbered = np.argsort(np.argsort(first))[where]
        coef = random.normal(size=(3, len(first)))
        nu = float(2.0**step) if nus is None else nus[step]
        path.append(SimpleNamespace(nu=nu, labels=numbered, cluster_coef=coef))
    path.best = len(path) - 1
    return path


NESTED = ([0, 1, 2, 3, 4], [0, 0, 2, 3, 4], [0, 0, 2, 2, 4], [0, 0, 0, 0, 4])


def ways(table: pd.DataFrame) -> dict[int, list[int]]:
    """Return for each covariate the steps of its sets, from the smallest set up."""
    rows = table.set_index("node")
    found = {}
    for row in table[table["covariate"].notna()].itertuples():
        steps, parent = [], row.parent
        while not pd.isna(parent):
            steps.append((int(parent), int(rows.loc[parent, "step"])))
            parent = rows.loc[parent, "parent"]
        found[int(row.covariate)] = steps
    return found


def test_sets_arise_where_their_covariates_meet() -> None:
    table = charts.dendrogram_table(path_of(*NESTED))
    sets = table[table["covariate"].isna()]
    assert sets[["size", "step"]].values.tolist() == [[4, 3], [2, 1], [2, 2]]
    assert sets["parent"].isna().tolist() == [True, False, False]
    leaves = table[table["covariate"].notna()]
    assert leaves["covariate"].tolist() == [0, 1, 2, 3, 4]
    assert leaves["step"].tolist() == [0] * 5  # by themselves they are at the smallest ν
    assert leaves["order"].tolist() == [0, 1, 2, 3, 4]
    assert sets["order"].tolist() == [1.5, 0.5, 2.5]
    assert table["whole"].all()


def test_classes_and_odds_ratios_are_those_of_the_solution_where_a_set_arises() -> None:
    path = path_of(*NESTED)
    table = charts.dendrogram_table(path)
    for row in table.itertuples():
        column = path[row.step].cluster_coef[:, row.cluster]
        second, best = np.sort(column)[-2:]
        np.testing.assert_allclose(row.odds_ratio, np.exp(best - second))
        assert table.loc[row.Index, "class"] == path.classes[column.argmax()]


@pytest.mark.parametrize("seed", range(25))
def test_any_two_join_where_they_stay_together_even_if_steps_are_not_nested(seed: int) -> None:
    random = np.random.default_rng(seed)
    d, m = 9, 7
    labels = [random.integers(max(1, d - step), size=d).tolist() for step in range(m - 1)]
    path = path_of(*labels, [0] * d)
    table = charts.dendrogram_table(path)
    way = ways(table)
    assert sorted(way) == list(range(d))
    for i in range(d):
        for j in range(i):
            together = [path[s].labels[i] == path[s].labels[j] for s in range(m)]
            since = m - 1
            while since > 0 and together[since - 1]:
                since -= 1
            shared = [step for step in way[i] if step in way[j]]
            assert shared[0][1] == since
    sizes = table.set_index("node")["size"]
    parts = table.dropna(subset=["parent"]).groupby("parent")["size"].sum()
    assert parts.to_dict() == {node: sizes[node] for node in parts.index}


def test_a_cluster_that_loses_a_covariate_later_is_said_to_be_more_than_the_set() -> None:
    path = path_of([0, 1, 2], [0, 0, 0], [0, 0, 2])
    table = charts.dendrogram_table(path, cluster=0)
    top = table.iloc[0]
    assert (top["size"], top["step"], top["whole"]) == (2, 1, False)
    picture = charts.svg(charts.dendrogram_chart(table))
    assert "with covariates that leave it later" in picture


def test_covariates_that_are_together_from_the_start_hang_on_one_set() -> None:
    table = charts.dendrogram_table(path_of([0, 0, 0, 3], [0, 0, 0, 0]))
    assert table["size"].tolist() == [4, 3, 1, 1, 1, 1]
    assert table["step"].tolist() == [1, 0, 0, 0, 0, 0]


def test_covariates_that_are_left_out_are_alone_and_speak_where_they_are_in() -> None:
    path = path_of(*NESTED)
    path[0].labels = np.array([0, -1, -1, 1, 2])
    path[1].labels = np.array([0, 0, -1, 1, 2])
    path[3].labels = np.array([0, 0, 0, 0, -1])
    table = charts.dendrogram_table(path)
    leaves = table[table["covariate"].notna()].set_index("covariate")
    assert leaves["step"].to_dict() == {0: 0, 1: 1, 2: 2, 3: 0}  # 4 is left out of the solution
    path[3].labels = np.full(5, -1)
    assert charts.dendrogram_table(path).empty


def test_the_order_of_the_path_does_not_matter() -> None:
    path = path_of(*NESTED)
    turned = Path(reversed(path))
    turned.best = 0
    one, other = charts.dendrogram_table(path), charts.dendrogram_table(turned)
    pd.testing.assert_frame_equal(one.drop(columns="step"), other.drop(columns="step"))


def test_less_is_shown_on_demand_and_what_is_left_out_is_counted() -> None:
    path = path_of(*NESTED)
    whole = charts.dendrogram_table(path)
    odds = whole[whole["covariate"].notna()].set_index("covariate")["odds_ratio"]
    limit = float(odds.sort_values().iloc[2])
    some = charts.dendrogram_table(path, min_odds_ratio=limit)
    assert set(some["covariate"].dropna()) == set(odds[odds >= limit].index)
    assert some.attrs["left_out"] == 2
    most = charts.dendrogram_table(path, max_items=1)
    assert most["covariate"].dropna().tolist() == [odds.idxmax()]
    only = charts.dendrogram_table(path, covariates=[0, 2], names=list("abcde"))
    assert only["label"].tolist() == ["", "a", "c"]
    assert only["size"].tolist() == [4, 1, 1]  # sizes count all
    assert only.attrs["left_out"] == 0
    one = charts.dendrogram_table(path, step=1, cluster=0)
    assert one["size"].tolist() == [2, 1, 1]
    nothing = charts.dendrogram_table(path, min_odds_ratio=1e9)
    assert nothing.empty
    assert "How 0 covariates" in charts.svg(charts.dendrogram_chart(nothing))


def test_the_picture_has_names_sizes_odds_ratios_classes_and_links() -> None:
    path = path_of(*NESTED)
    hostile = "<script>alert(1)</script>"
    table = charts.dendrogram_table(path, names=[hostile, "7/10", "8/10", "1/10", "plot"])
    picture = charts.svg(charts.dendrogram_chart(table))
    assert "<script" not in picture
    assert "&lt;script" in picture
    for text in (
        "7/10",
        "plot",
        ">4</text>",
        *(f"{odds:.2f}" for odds in table["odds_ratio"] if odds > 1.1),
    ):
        assert text in picture
    for name in table["class"].unique():
        assert f">{name}</text>" in picture
    assert "#covariate=4" in picture
    assert f"#set=3-{table['cluster'].iloc[0]}" in picture
    assert "href" not in charts.svg(charts.dendrogram_chart(table, links=False))


def test_more_classes_than_hues_are_gray_together() -> None:
    random = np.random.default_rng(0)
    path = Path(
        [SimpleNamespace(nu=1.0, labels=np.arange(30), cluster_coef=random.normal(size=(12, 30)))]
    )
    path.classes = np.array([f"group {k}" for k in range(12)])
    picture = charts.svg(charts.dendrogram_chart(charts.dendrogram_table(path)))
    assert "other classes" in picture


def test_two_classes_and_huge_weights_are_drawn() -> None:
    coef = np.array([[800.0, 0.0], [-800.0, 0.0]])
    path = Path([SimpleNamespace(nu=1.0, labels=np.arange(2), cluster_coef=coef)])
    path.classes = np.array([0, 1])
    table = charts.dendrogram_table(path)
    assert table["odds_ratio"].tolist() == [np.inf, 1.0]
    assert "∞" in charts.svg(charts.dendrogram_chart(table))


def test_what_is_not_there_is_refused() -> None:
    path = path_of(*NESTED)
    with pytest.raises(ValueError, match="step=9; the path has solutions 0 to 3"):
        charts.dendrogram_table(path, 9)
    with pytest.raises(ValueError, match="cluster=7; the solution has clusters 0 to 1"):
        charts.dendrogram_table(path, cluster=7)
    with pytest.raises(ValueError, match="covariates has numbers from 0 to 5; they go from 0 to 4"):
        charts.dendrogram_table(path, covariates=[0, 5])
    with pytest.raises(ValueError, match="each of the 5 covariates; found 2"):
        charts.dendrogram_table(path, names=["a", "b"])
