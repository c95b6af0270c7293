"""Notebooks are read on the web as they are stored: complete, small, no trace of a machine."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURES = ("image/png", "image/svg+xml", "image/jpeg")
STILL = re.compile(r"data:image/png;base64,[A-Za-z0-9+/=]+")  # picture of a dashboard
WIDGETS = "application/vnd.jupyter.widget"
PATH_OF_A_MACHINE = re.compile(r"(^|[^\w.~/-])/(home|root|Users|work|tmp|var|opt)/\w")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the stored cells of one notebook."""
    content: dict[str, Any] = json.loads(request.param.read_text())
    return content


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all stored outputs."""
    return [output for cell in code_cells(notebook) for output in cell["outputs"]]


def test_there_are_notebooks_and_their_names_say_the_order() -> None:
    assert NOTEBOOKS
    numbers = [int(path.stem[:2]) for path in NOTEBOOKS]
    assert numbers == list(range(1, len(NOTEBOOKS) + 1))


def test_every_cell_was_run_once_and_in_order(notebook: dict[str, Any]) -> None:
    counts = [cell["execution_count"] for cell in code_cells(notebook)]
    assert counts == list(range(1, len(counts) + 1)), "run `make notebooks`"


def test_outputs_hold_values_that_can_be_compared(notebook: dict[str, Any]) -> None:
    plain = [o for o in outputs(notebook) if "text/plain" in o.get("data", {}) or o.get("text")]
    assert len(plain) >= len(code_cells(notebook)) / 3


def test_no_cell_failed_or_warned(notebook: dict[str, Any]) -> None:
    bad = [o for o in outputs(notebook) if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert bad == []


def test_one_title_first(notebook: dict[str, Any]) -> None:
    titles = [
        line
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown"
        for line in "".join(cell["source"]).splitlines()
        if line.startswith("# ")
    ]
    assert len(titles) == 1
    assert "".join(notebook["cells"][0]["source"]).startswith(titles[0])


def test_no_widget_state_and_no_trace_of_a_machine(notebook: dict[str, Any]) -> None:
    assert not any(key.startswith(WIDGETS) for o in outputs(notebook) for key in o.get("data", {}))
    assert "widgets" not in notebook["metadata"]
    for output in outputs(notebook):
        text = json.dumps({k: v for k, v in output.get("data", {}).items() if k not in PICTURES})
        assert not PATH_OF_A_MACHINE.search(text + "".join(output.get("text", [])))
    assert not any("execution" in cell["metadata"] for cell in code_cells(notebook))


def test_small_without_its_pictures(notebook: dict[str, Any]) -> None:
    for output in outputs(notebook):
        for picture in PICTURES:
            output.get("data", {}).pop(picture, None)
    assert len(STILL.sub("", json.dumps(notebook))) <= 100_000
