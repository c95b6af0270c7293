import numpy as np
import pandas as pd
import pytest

from lvmkit import charts

VALUES = np.arange(24.0).reshape(2, 3, 4) - 11
NAMES = {"mode_names": ["sex", "rank", "year"], "labels": [["f", "m"], None, list("abcd")]}


def test_a_slice_has_the_entries_of_the_tensor_there() -> None:
    table = charts.tensor_slice_table(VALUES, (0, 2), {1: 2}, selected=VALUES > 10, **NAMES)
    grid = table["value"].to_numpy().reshape(2, 4)
    np.testing.assert_array_equal(grid, VALUES[:, 2, :])
    np.testing.assert_array_equal(VALUES.ravel()[table["entry"]], table["value"])
    assert table["column_label"].tolist()[:4] == list("abcd")
    assert table["row_label"].tolist()[::4] == ["f", "m"]
    assert table["selected"].sum() == (VALUES[:, 2] > 10).sum()
    assert table.attrs == {"axes": ["sex", "year"], "fixed": "rank = 2", "limit": 12.0}


def test_modes_can_be_turned() -> None:
    table = charts.tensor_slice_table(VALUES, (2, 1), {0: 1})
    np.testing.assert_array_equal(table["value"].to_numpy().reshape(4, 3), VALUES[1].T)
    np.testing.assert_array_equal(VALUES.ravel()[table["entry"]], table["value"])


def test_a_vector_is_a_strip_and_a_matrix_is_itself() -> None:
    strip = charts.tensor_slice_table([1.0, -2.0, 3.0], labels=[["a", "b", "c"]])
    assert strip["value"].tolist() == [1, -2, 3]
    assert strip.attrs["axes"] == ["", "mode 0"]
    assert "a: 1" in charts.svg(charts.tensor_slice_chart(strip))
    matrix = charts.tensor_slice_table(VALUES[0])
    assert matrix["value"].tolist() == VALUES[0].ravel().tolist()


def test_entries_are_links_that_are_told_and_text_is_escaped() -> None:
    labels = [["<b>", "x"], ["1", "2", "3"]]
    table = charts.tensor_slice_table(VALUES[0, :2, :3], labels=labels, selected=np.eye(2, 3) > 0)
    picture = charts.svg(charts.tensor_slice_chart(table))
    assert "#entry=5" in picture
    assert "&lt;b&gt; · 1: −11, selected" in picture
    assert "<b>" not in picture
    assert "#entry" not in charts.svg(charts.tensor_slice_chart(table, links=False))


def outline(chart: object) -> str:
    """Return the path around the selected entries."""
    spec = chart.to_dict()  # type: ignore[attr-defined]
    return next(x["mark"]["shape"] for x in spec["layer"] if x["mark"].get("size") == 4)


def test_the_outline_goes_around_what_is_selected_not_through_it() -> None:
    marks = np.zeros((3, 4), dtype=bool)
    marks[0:2, 1:3] = True
    table = charts.tensor_slice_table(np.ones((3, 4)), selected=marks)
    path = outline(charts.tensor_slice_chart(table))
    # a block of two by two cells has four sides, each one stroke
    assert path.count("H") == path.count("V") == 2
    none = charts.tensor_slice_table(np.ones((3, 4)))
    assert outline(charts.tensor_slice_chart(none)) == "M0,0"


def test_large_slices_are_one_image_with_as_many_names_as_fit() -> None:
    table = charts.tensor_slice_table(np.random.default_rng(0).normal(size=(64, 256)))
    chart = charts.tensor_slice_chart(table).to_dict()
    marks = sum(len(rows) for rows in chart["datasets"].values())
    assert marks < 150
    assert "#entry" not in charts.svg(charts.tensor_slice_chart(table))


def test_the_strongest_of_entries_that_share_a_pixel_is_drawn() -> None:
    values = np.zeros((1500, 2))
    values[777, 1] = -5
    chart = charts.tensor_slice_chart(charts.tensor_slice_table(values))
    assert "the strongest" in " ".join(chart.to_dict()["title"]["subtitle"])
    empty = charts.tensor_slice_chart(charts.tensor_slice_table(values * 0), limit=5)
    url = [
        next(r["url"] for d in c.to_dict()["datasets"].values() for r in d if "url" in r)
        for c in (chart, empty)
    ]
    assert url[0] != url[1]


def test_values_that_are_hidden_are_gray_and_nothing_is_said_of_them() -> None:
    table = charts.tensor_slice_table(np.full((2, 2), np.nan))
    picture = charts.svg(charts.tensor_slice_chart(table))
    assert "Gray: not shown" in picture
    assert "nan" not in picture.lower()


def test_all_zero_is_drawn() -> None:
    assert "<svg" in charts.svg(
        charts.tensor_slice_chart(charts.tensor_slice_table(np.zeros((3, 3))))
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"axes": (0, 0)}, "two different modes of 0 to 2"),
        ({"axes": (0, 3)}, "two different modes of 0 to 2"),
        ({"at": {2: 4}}, "place 4 for mode 2, which has 0 to 3"),
        ({"selected": [True]}, r"selected has shape \(1,\)"),
        ({"mode_names": ["a"]}, "each of the 3 modes"),
        ({"labels": [None, ["x"], None]}, "labels of mode 1 needs 3 texts; found 1"),
        ({"labels": [None]}, "each of the 3 modes; found 1"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        charts.tensor_slice_table(VALUES, **change)  # type: ignore[arg-type]


def test_a_table_without_some_entries_is_refused() -> None:
    table = charts.tensor_slice_table(VALUES[0])
    with pytest.raises(ValueError, match=r"must have a row for each of \d+ x \d+ entries; found"):
        charts.tensor_slice_chart(table.drop(index=1))


def test_a_number_is_no_tensor() -> None:
    with pytest.raises(ValueError, match="single number"):
        charts.tensor_slice_table(3.0)


def test_rows_can_be_given_in_a_frame_of_ones_own() -> None:
    table = charts.tensor_slice_table(VALUES[0])
    copy = pd.DataFrame(table.to_dict("list"))  # without what the table knows of itself
    assert "<svg" in charts.svg(charts.tensor_slice_chart(copy))
