import csv as reader
import io
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

import lvmkit_widgets
from lvmkit_widgets.ui.export import FORMULA, csv

FORMULAS = [
    "=1", "+1", "-1", "@SUM(1)", "\t=1", "\r1", "\n=1", " =1", "\u00a0=1", "\ufeff=1", "\u200b=1", "\x00=1",
    "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", " \uff1d1", "\ufe661",
]  # fmt: skip
PLAIN = ["a=1", "1+1", "name@clinic", "", "428.0", "é", "<11", "'=1"]
DOM = Path(lvmkit_widgets.__file__).parent / "static/dom.js"


def rows(data):
    return list(reader.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_text_that_spreadsheets_would_run_is_disarmed():
    table = pd.DataFrame({"text": FORMULAS + PLAIN, "number": -1.5})
    header, *found = rows(csv(table))
    assert header == ["text", "number"]
    assert [row[0] for row in found] == [f"'{text}" for text in FORMULAS] + PLAIN
    assert {row[1] for row in found} == {"-1.5"}
    assert table["text"].tolist() == FORMULAS + PLAIN


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_names_of_columns_and_categories_are_disarmed(dtype):
    table = pd.DataFrame({"=1": ["+1", "a"], "\uff1d1": [1, 2], " @x": ["b", None]}).astype(
        {"=1": dtype}
    )
    assert rows(csv(table)) == [["'=1", "'\uff1d1", "' @x"], ["'+1", "1", "b"], ["a", "2", ""]]


def test_tables_saved_from_the_page_have_the_same_rule():
    assert f"const FORMULA = /{FORMULA.pattern}/;" in DOM.read_text(encoding="utf-8")


@pytest.mark.skipif(not shutil.which("node"), reason="no node")
def test_the_page_disarms_as_python_does():
    source = DOM.read_text(encoding="utf-8")
    start = source.index("const FORMULA")
    function = source[start : source.index("\n}\n", start) + 3]
    program = f"{function}\nprocess.stdout.write(csvLine({FORMULAS + PLAIN!r}.concat([-1, null])));"
    ended = subprocess.run(["node", "-e", program], capture_output=True, check=True)
    table = pd.DataFrame([FORMULAS + PLAIN])
    text = csv(table).decode("utf-8-sig").partition("\r\n")[2].removesuffix("\r\n")
    assert ended.stdout.decode() == text + ",-1,"
