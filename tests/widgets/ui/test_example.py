"""The dashboard that CONTRIBUTING shows is whole: it answers, undoes, exports, and saves pages."""

import io
import re
from pathlib import Path

import pandas as pd
import pytest

TEXT = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text("utf-8")
CODE = re.search(r"### A dashboard, whole.*?```python\n(.*?)```", TEXT, re.DOTALL)[1]


@pytest.fixture
def board():
    space = {"__name__": "levels"}
    exec(compile(CODE, "levels.py", "exec", dont_inherit=True), space)
    ages = ["old"] * 5 + ["middle"] * 45 + ["young"] * 50
    return space["Levels"](pd.DataFrame({"sex": ["f"] * 40 + ["m"] * 60, "age": ages}))


def shown(rows):
    return {row["level"]: row["n"] for row in rows}


def test_it_is_short():
    assert CODE.count("\n") < 60


def test_it_answers_and_undoes(board):
    table, slider = board.components["levels"], board.components["attribute"]
    assert shown(table.rows) == {"m": "60", "f": "40"}
    slider.selected = 1
    assert shown(table.rows) == {"young": "50", "middle": "hidden", "old": "<11"}
    board.components["steps"].fire("pressed", "undo")
    assert (slider.selected, shown(table.rows)) == (0, {"m": "60", "f": "40"})
    board.state = board.state.redo()
    assert slider.selected == 1
    board.open_tab("main", 1)
    assert [row["text"] for row in board.components["taken"].rows] == ["Opened", "Counted by age"]


def test_it_hands_over_files(board):
    files = []
    board.download = lambda name, data, **_: files.append((name, data))
    for name in ("levels", "page"):
        board.components["files"].fire("pressed", name)
    assert pd.read_csv(io.BytesIO(files[0][1]))["n"].tolist() == [60, 40]
    assert files[1][0] == "levels.html"


def test_its_page_answers_without_python(board, tmp_path):
    assert "levels.rows" in board.to_html(tmp_path / "levels.html").read_text("utf-8")
    [answers] = board.static_cases()
    assert answers["when"] == "attribute.selected"
    assert shown(answers["cases"]["1"]["levels.rows"])["old"] == "<11"
