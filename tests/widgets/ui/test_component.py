"""Fields hold plain values; events count."""

import numpy as np
import pytest

from lvmkit_widgets.ui.component import jsonable
from lvmkit_widgets.ui.widgets import WIDGETS, ClusterList, Form, Table


def test_values_become_plain_and_missing_numbers_become_none():
    value = {1: np.array([1.5, np.nan]), "n": (np.int64(3), np.bool_(1)), "b": b"x"}
    assert jsonable(value) == {"1": [1.5, None], "n": [3, True], "b": b"x"}
    assert jsonable({"share": np.float32(0.5), "rows": (1, float("nan"))}) == {
        "share": 0.5,
        "rows": [1, None],
    }
    assert jsonable(float("inf")) is None
    assert jsonable(np.datetime64("2010-01-02")) == "2010-01-02"


def test_a_field_stores_what_hosts_can_carry():
    table = Table(rows=[{"p": np.float32(0.5), "n": np.nan}])
    table.selected = np.int64(4)
    assert table.rows == [{"p": 0.5, "n": None}]
    assert type(table.selected) is int


def test_two_equal_picks_are_two_events():
    table, heard = Table(), []
    table.on("pick", heard.append)
    table.fire("pick", "R1")
    table.fire("pick", "R1")
    assert heard == ["R1", "R1"]
    assert table.pick == [2, "R1"]


def test_state_is_heard_when_it_changes_and_only_then():
    sizes, heard = ClusterList(), []
    sizes.on("selected", heard.append)
    sizes.selected = 2
    sizes.selected = 2
    assert heard == [2]


def test_components_do_not_share_their_values():
    first, second = Form(), Form()
    first.values["k"] = 3
    assert second.values == {}


def test_unknown_fields_and_events_are_named():
    with pytest.raises(ValueError, match=r"table has no field 'rowz'; it has title"):
        Table().on("rowz", print)
    with pytest.raises(ValueError, match="table has no event 'rows'; it has pick"):
        Table().fire("rows")


@pytest.mark.parametrize("kind", WIDGETS)
def test_every_kind_has_fields_with_an_explanation(kind):
    component = WIDGETS[kind]()
    assert component.kind == kind
    assert all(component.param[field].doc for field in component.fields())
