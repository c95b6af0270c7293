"""Arguments are checked by annotations, and refusals name them."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from lvmkit._arguments import LARGE, checked


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


def test_a_table_of_other_columns_is_told():
    with pytest.raises(
        ValueError, match=r"table must be a table as draw describes it; a column is"
    ):
        draw(pd.DataFrame({"y": [1]}))
    with pytest.raises(ValueError, match="columns of different names; 'x' stands more than once"):
        draw(pd.concat([TABLE, TABLE], axis=1))
    with pytest.raises(TypeError, match="table must be a DataFrame; found"):
        draw([1, 2])


def test_too_few_arguments_are_told_by_python():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'table'"):
        draw()
