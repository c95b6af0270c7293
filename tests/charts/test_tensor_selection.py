from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lvmkit import charts

TRUTH = ["a", "a", "b", "b"]


def path(k: int, bic: list[float], **changes: Any) -> SimpleNamespace:
    """Return a path of two λ for four samples."""
    labels = [np.arange(4) % k, np.array([0, 0, 1, 1]) % k]
    known: dict[str, Any] = {"penalties": [2.0, 1.0], "bic": bic, "n_selected": [1, 3]}
    known |= {"weights": np.full((2, k), 1 / k), "labels": labels, "best": int(np.argmin(bic))}
    return SimpleNamespace(**known | changes)


def several() -> SimpleNamespace:
    """Return paths for one to three clusters."""
    paths = {1: path(1, [9, 8]), 2: path(2, [7, 3]), 3: path(3, [6, 5])}
    return SimpleNamespace(paths=paths, best=2)


def test_bic_and_error_rate_of_every_model() -> None:
    table = charts.tensor_selection_table(several(), truth=TRUTH)
    bic = table[table["quantity"] == "bic"]
    assert bic["value"].tolist() == [9, 8, 7, 3, 6, 5]
    assert bic.loc[bic["selected"], ["n_components", "step"]].values.tolist() == [[2, 1]]
    assert bic.loc[bic["best"], "n_components"].tolist() == [1, 2, 3]
    rates = table[table["quantity"] == "error_rate"]["value"].tolist()
    assert rates[2:4] == [0.5, 0.0]  # 0 1 0 1 and 0 0 1 1


def test_one_path_is_drawn_along_lambda_several_along_their_number() -> None:
    one = charts.svg(charts.tensor_selection_chart(charts.tensor_selection_table(path(2, [7, 3]))))
    assert "#step=0" in one
    assert "2 clusters, λ = 1: 3 entries" in one
    table = charts.tensor_selection_table(several(), truth=TRUTH, selected=(3, 0))
    many = charts.svg(charts.tensor_selection_chart(table))
    assert "#components=2" in many
    assert "Error rate" in many
    assert "3 clusters, λ = 2: 1 entry" in many
    along = charts.svg(charts.tensor_selection_chart(table, against="penalty"))
    assert "#step=1" in along
    assert "1 cluster<" in along
    bare = charts.svg(charts.tensor_selection_chart(table, links=False))
    assert "#components" not in bare


def test_a_model_without_bic_is_left_out_of_the_picture() -> None:
    table = charts.tensor_selection_table(path(2, [7, 3]))
    table.loc[0, "value"] = np.nan
    assert "NaN" not in charts.svg(charts.tensor_selection_chart(table))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"selected=\(4, 0\) is no model; n_components are 1, 2, 3"
    ):
        charts.tensor_selection_table(several(), selected=(4, 0))
    with pytest.raises(ValueError, match="found 'time'"):
        charts.tensor_selection_chart(charts.tensor_selection_table(several()), against="time")
    with pytest.raises(ValueError, match="4"):
        charts.tensor_selection_table(several(), truth=[0, 1])
