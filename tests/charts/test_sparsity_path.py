from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lvmkit import charts

NORMS = np.array(
    [[[0, 0], [0, 0]], [[0.5, 0], [0, 0]], [[0.9, 0.2], [0, 0]], [[1.2, 0.4], [2.0, 0]]]
)


def made(**changes: Any) -> SimpleNamespace:
    """Return a path of four λ, descending."""
    known = {"penalties": np.array([4.0, 2.0, 1.0, 0.5]), "entry_norms": NORMS.astype(float)}
    known |= {"n_selected": np.array([0, 1, 2, 3]), "best": 2}
    return SimpleNamespace(**known | changes)


def test_each_entry_that_is_ever_selected_has_its_norms() -> None:
    table = charts.sparsity_path_table(made(), labels=[["a", "b"], ["x", "y"]])
    assert sorted(table["label"].unique()) == ["a · x", "a · y", "b · x"]
    one = table[table["label"] == "a · x"]
    assert one["norm"].tolist() == [0, 0.5, 0.9, 1.2]
    assert one["penalty"].tolist() == [4, 2, 1, 0.5]
    assert one.loc[one["selected"], "step"].tolist() == [2]


def test_the_strongest_at_the_lambda_that_is_looked_at_come_first() -> None:
    first = charts.sparsity_path_table(made()).drop_duplicates("entry")
    assert first["entry"].tolist() == [0, 1, 2]
    last = charts.sparsity_path_table(made(), selected=3, top=1).drop_duplicates("entry")
    assert last["entry"].tolist() == [2, 0, 1]
    assert last["named"].tolist() == [True, False, False]


def test_lambdas_are_links_that_are_told() -> None:
    picture = charts.svg(charts.sparsity_path_chart(charts.sparsity_path_table(made())))
    for step, told in enumerate(["4: 0 entries", "2: 1 entry", "1: 2 entries", "0.5: 3 entries"]):
        assert f"#step={step}" in picture
        assert f"λ = {told}" in picture
    bare = charts.sparsity_path_chart(charts.sparsity_path_table(made()), links=False)
    assert "#step" not in charts.svg(bare)


def test_hidden_norms_are_not_drawn_and_names_are_escaped() -> None:
    norms = NORMS.astype(float)
    norms[3] = np.nan
    table = charts.sparsity_path_table(made(entry_norms=norms), labels=[["<b>", "b"], None])
    picture = charts.svg(charts.sparsity_path_chart(table))
    assert "NaN" not in picture
    assert "<b>" not in picture


def test_of_hidden_places_nothing_is_found() -> None:
    table = charts.sparsity_path_table(made(), hidden=[3])
    assert sorted(table["entry"].unique()) == [
        0,
        1,
    ]  # the third is selected at the hidden place only
    assert table.loc[table["step"] == 3, "norm"].isna().all()
    assert table.loc[table["step"] < 3, "norm"].notna().all()


def test_a_path_without_entries_and_one_of_a_single_lambda_are_drawn() -> None:
    empty = made(entry_norms=NORMS * 0.0, n_selected=np.zeros(4, dtype=int))
    table = charts.sparsity_path_table(empty)
    assert len(table) == 0
    assert "λ = 1: 0 entries" in charts.svg(charts.sparsity_path_chart(table))
    one = SimpleNamespace(penalties=[0.0], entry_norms=NORMS[3:], n_selected=[3], best=0)
    assert "λ = 0: 3 entries" in charts.svg(
        charts.sparsity_path_chart(charts.sparsity_path_table(one))
    )


def test_of_many_entries_the_weakest_are_left_out() -> None:
    norms = np.arange(400.0).reshape(1, 400)
    path = SimpleNamespace(penalties=[1.0], entry_norms=norms, n_selected=[399], best=0)
    table = charts.sparsity_path_table(path)
    assert table["entry"].tolist() == list(range(399, 319, -1))


def test_a_lambda_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="selected=4; the path has places 0 to 3"):
        charts.sparsity_path_table(made(), selected=4)
