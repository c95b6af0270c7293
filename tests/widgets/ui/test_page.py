"""A saved page is one file, closed to networks, written as a whole."""

import json
import re

import pytest

from lvmkit_widgets.ui.bundle import script_of
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import WIDGETS, Form, Relevance, Table, Text

HOSTILE = "</script><script>alert(1)</script><!--"


class Board(Dashboard):
    """Hides a count when saved."""

    def __init__(self):
        parts = {
            "words": Text(text=HOSTILE),
            "table": Table(rows=[{"n": 3}]),
            "codes": Relevance(centers=b"\x00\xff"),
            "patients": Table(rows=[{"who": "secret-1"}], needs_python=True),
            "typed": Form(values={"path": "secret-2"}),
        }
        super().__init__(parts, list(parts), title=HOSTILE)

    def static_fields(self):
        return {"table": {"rows": [{"n": "<11"}]}}


@pytest.fixture
def text(tmp_path):
    return Board().to_html(tmp_path / "page.html").read_text("utf-8")


def state_of(text):
    return json.loads(re.search(r'id="lvmkit-state">(.*?)</script>', text).group(1))


def test_text_from_data_cannot_end_the_script(text):
    assert "<script>alert" not in text
    assert state_of(text)["words_text"] == HOSTILE


def test_hidden_values_replace_the_true_ones(text):
    state = state_of(text)
    assert state["table_rows"] == [{"n": "<11"}]
    assert state["stage_saved"] is True
    assert state["codes_centers"] == {"$bytes": "AP8="}


def test_parts_that_need_python_leave_nothing_behind(text):
    assert "secret" not in text
    state = state_of(text)
    assert state["patients_rows"] == []
    assert state["typed_needs_python"] is True


def test_the_page_names_no_other_address_and_allows_none(text):
    assert re.findall(r"https?://[^\s\"'<)]+", text.replace("http://www.w3.org/2000/svg", "")) == []
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text).group(1)
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "sha256-" in policy
    assert "script-src 'unsafe-inline'" not in policy


def test_scripts_import_nothing_and_name_no_address():
    script = script_of(tuple(sorted([*WIDGETS, "stage"])))
    assert not re.search(r"^\s*import\b|\bimport\(|\beval\(|innerHTML|new Function", script, re.M)
    assert re.findall(r"https?://[^\s\"']+", script) == ["http://www.w3.org/2000/svg"]
    assert len(script) < 11_200 * len(WIDGETS)  # what a kind may cost; a page holds those it shows


def test_a_failed_save_leaves_the_old_page_and_no_draft(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        Board().to_html(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match="there is no folder"):
        Board().to_html(tmp_path / "gone" / "page.html")
