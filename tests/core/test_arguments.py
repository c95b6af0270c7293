"""Arguments are checked by annotations, and refusals name them."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from lvmkit.core.arguments import LARGE, checked
from lvmkit.core.validation import require_columns, require_parts


@checked(width=1)
def draw(
    table: pd.DataFrame,
    *,
    width: int = 5,
    goal: float = 0.9,
    links: bool = True,
    names: Sequence[str] | None = None,
    titles: Mapping[str, str] | None = None,
    labels: npt.ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> float:
    """Draw columns x."""
    if width >= LARGE:
        raise MemoryError
    return float(table["x"].sum() * width)


TABLE = pd.DataFrame({"x": [1.0, 2.0]})


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"width": "x"}, TypeError, r"width must be a whole number, at least 1; found 'x' \(str\)"),
        ({"width": True}, TypeError, "width must be a whole number, at least 1; found True"),
        ({"width": 1.5}, TypeError, "width must be a whole number, at least 1; found 1.5"),
        ({"width": None}, TypeError, "width must be a whole number, at least 1; found None"),
        ({"width": 0}, ValueError, "width must be at least 1 and finite; found 0"),
        ({"width": 10**12}, ValueError, "width=1,000,000,000,000 asks for more than there is room"),
        ({"goal": float("nan")}, ValueError, "goal must be a number; found NaN"),
        ({"goal": object()}, TypeError, "goal must be a number; found object"),
        ({"links": 1}, TypeError, "links must be True or False; found 1"),
        ({"names": "abc"}, TypeError, "names must be a sequence of texts; found 'abc'"),
        ({"names": ["a", None]}, TypeError, "names must be a sequence of texts; found"),
        ({"titles": ["a"]}, TypeError, "titles must be a mapping; found"),
        ({"labels": "x"}, ValueError, "labels must be an array; found 'x'"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
        ({"random_state": "x"}, TypeError, "random_state must be a whole number or a Generator"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused_by_name(options, error, message):
    with pytest.raises(error, match=message):
        draw(TABLE, **options)


def test_what_fits_passes():
    given = {"width": np.int16(2), "links": np.bool_(0), "names": pd.Index(["a"])}
    assert draw(TABLE, **given, labels=[1, 2], goal=1, random_state=None) == 6.0
    assert draw(TABLE, width=1) == 3.0  # the least


def test_what_is_no_table_or_has_columns_of_one_name_is_told():
    with pytest.raises(ValueError, match="columns of different names; 'x' stands more than once"):
        draw(pd.concat([TABLE, TABLE], axis=1))
    with pytest.raises(TypeError, match="table must be a DataFrame; found"):
        draw([1, 2])


def test_too_few_arguments_are_told_by_python():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'table'"):
        draw()


CELLS = pd.DataFrame(
    {"label": ["a", "b"], "n": [1, 2], "share": [0.5, np.nan], "best": [True, False]}
)
PARENTS = pd.array([None, 0], dtype="Int64")


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        ("label", ["a", 1.5], "column 'label' of table must hold text; found 1.5 in row 1"),
        ("n", ["x", 2], "column 'n' of table must hold whole numbers; found 'x' in row 0"),
        ("n", [1.0, None], "column 'n' of table must hold whole numbers; found None in row 1"),
        ("n", [1.0, np.float64(1.5)], "must hold whole numbers; found 1.5 in row 1"),
        ("n", [1.0, np.inf], "must hold whole numbers; found inf in row 1"),
        ("share", [0.5, [1]], r"column 'share' of table must hold numbers; found \[1\] in row 1"),
        ("share", [True, 0.5], "column 'share' of table must hold numbers; found True in row 0"),
        (
            "high",
            [0.5, np.inf],
            "column 'high' of table .* none of them infinite; found inf in row 1",
        ),
        (
            "best",
            [True, None],
            "column 'best' of table must hold True or False; found None in row 1",
        ),
        ("parent", [0.5, None], "column 'parent' .* whole numbers or nothing; found 0.5 in row 0"),
    ],
)
def test_cells_of_another_kind_are_refused_by_column_and_row(column, cells, message):
    asked = {"text": "label", "whole": "n", "numbers": "share", "finite": "high"}
    asked |= {"flags": "best", "gaps": "parent"}
    table = CELLS.assign(high=1.0, parent=PARENTS)
    assert require_columns(table, **asked) is table
    with pytest.raises(ValueError, match=message):
        require_columns(table.assign(**{column: pd.Series(cells, dtype=object)}), **asked)


def test_numbers_that_lie_among_objects_are_read_as_numbers():
    found = require_columns(CELLS.astype(object), whole="n", numbers="share", flags="best")
    assert found.dtypes[["n", "share", "best"]].tolist() == [np.int64, np.float64, np.bool_]
    gaps = CELLS.assign(share=pd.array([1, None], dtype="Int64"))
    share = require_columns(gaps, numbers="share")["share"]
    assert share.dtype == np.float64
    assert share.isna().tolist() == [False, True]


@pytest.mark.parametrize("dtype", ["float64", "Float64", "Int64", object])
def test_whole_numbers_may_be_held_as_other_numbers(dtype):
    """As concat, merge and reindex leave them."""
    found = require_columns(CELLS.astype({"n": dtype}), whole="n")["n"]
    assert found.dtype == np.int64
    assert found.tolist() == [1, 2]


def test_names_that_a_column_may_hold_are_known():
    assert require_columns(CELLS, text="label", choices={"label": "ab"}) is CELLS
    with pytest.raises(ValueError, match="label of table='b' is not known; expected one of 'a'"):
        require_columns(CELLS, text="label", choices={"label": ["a"]})


def test_a_table_without_a_column_or_rows_is_refused():
    with pytest.raises(ValueError, match="table must have the columns 'x', 'n'; there is no 'x'"):
        require_columns(CELLS, text="x", whole="n")
    with pytest.raises(ValueError, match=r"runs must have 3 row\(s\) or more; found 2"):
        require_columns(CELLS, "runs", rows=3)


def test_what_another_function_returns_is_asked_for_by_its_name():
    with pytest.raises(TypeError, match="path must be what covariate_path returns; found list"):
        require_parts([], "path", "covariate_path", "nus best")
