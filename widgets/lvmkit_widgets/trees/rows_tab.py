"""Tab of the patients or documents of a branch, and why one is there."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

from lvmkit.mixtures.analysis import short
from lvmkit.trees.nodes import voices
from lvmkit_widgets.clusters.attributes_tab import who, who_columns
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.paging import turning
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Table, Text
from lvmkit_widgets.ui.words import first_of

PAGE = 12
CODES_SHOWN = 4  # of a row, in the table
LETTERS = 160  # of a text, in the table
TOLD = 3  # codes that are told for each split
WHOLE_TEXT = 20_000  # letters of a text that are shown
PEOPLE = (
    "Patients are shown by their row in the cohort, not by their id, and in its order. This tab is "
    "never part of a saved page."
)


class RowsTab(Tab[NavigatorState]):
    """Pages of rows, made by Python when they are turned to."""

    title: ClassVar[str] = "Rows"

    def __init__(self) -> None:
        super().__init__()
        self.components = {
            "members": Table(key="row", page_size=PAGE, total=0, needs_python=True),
            "why": Text(title="Why here", needs_python=True),
        }
        self.layout = ["members", "why"]
        self.events = {
            "members.pick": lambda state, row: state.replace(row=int(row) - 1),
            **turning("members"),
        }

    def initial(self, state: NavigatorState) -> Fields:
        """Say what rows are."""
        there = not state.empty and state.corpus is not None
        title = f"{state.row_name.capitalize()} of the branch"
        told = PEOPLE if state.private else "In the order of the corpus. Pick one to read it."
        shown = {"title": title, "help": told, "columns": columns_of(state), "visible": there}
        return {"members": shown, "why": {"visible": there}}

    def fields(self, state: NavigatorState) -> Fields:
        """List the rows of the node."""
        if state.empty or state.corpus is None or not state.live:
            return {}
        found: Any = state.rows_of(state.node)
        rows = state.paging.rows(found, lambda i: record_of(state, int(i)), PAGE)
        picked = None if state.row is None else state.row + 1
        return {"members": {**rows, "selected": picked}, "why": told_of(state)}


class PatientRowsTab(RowsTab):
    """The same, where rows are patients."""

    title: ClassVar[str] = "Patients"


class DocumentRowsTab(RowsTab):
    """The same, where rows are documents."""

    title: ClassVar[str] = "Documents"


def columns_of(state: NavigatorState) -> list[dict[str, Any]]:
    """Describe the columns of the list."""
    row, corpus = column("row", "Row", "integer"), state.corpus
    if corpus is None:
        return [row]
    named = [column("who", state.row_name.capitalize().removesuffix("s"))]
    if state.private:
        named = who_columns(corpus.obs)
    read = corpus.texts is not None and not state.private
    what = "Beginning" if read else f"{state.column_name.capitalize()}s"
    return [row, *named, column("leaf", "Leaf"), column("what", what)]


def record_of(state: NavigatorState, row: int) -> dict[str, Any]:
    """Describe one row for the list."""
    corpus = state.corpus
    assert corpus is not None
    leaf = int(state.layout.leaves[state.labels[row]])
    if state.private:
        told = who(corpus.obs, row)
    else:
        told = " · ".join(part for part in (corpus.title(row), corpus.about(row)) if part)
    what = beginning(state, row, LETTERS)
    if not what:
        words = [short(_title_of(state, j)) for j, _ in entries_of(state, row)]
        what = first_of(words, CODES_SHOWN)
    return {"row": row + 1, "who": told, "leaf": state.layout.labels[leaf], "what": what}


def beginning(state: NavigatorState, row: int, letters: int) -> str:
    """Return how the text of a document begins; "" of people, and where there is none."""
    if state.corpus is None or state.corpus.texts is None or state.private:
        return ""
    text = state.corpus.texts[row]
    return text[:letters] + (" …" if len(text) > letters else "")


def entries_of(state: NavigatorState, row: int) -> list[tuple[int, float]]:
    """List what a row has."""
    corpus = state.corpus
    assert corpus is not None
    line = corpus.matrix(state.words)[[row]]
    found = [(int(j), float(x)) for j, x in zip(line.indices, line.data, strict=True) if x != 0]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))


def told_of(state: NavigatorState) -> dict[str, Any]:
    """Tell why the row that is picked went where it is, and show it."""
    corpus, row = state.corpus, state.row
    if corpus is None or row is None or not 0 <= row < len(corpus):
        what = "patient" if state.private else state.row_name.removesuffix("s")
        return {"title": "Why here", "text": f"Pick a {what} above to see the way down the tree."}
    leaf = int(state.layout.leaves[state.labels[row]])
    called = f"Row {row + 1:,}" if state.private else corpus.title(row)
    parts = [
        f"{called} is in leaf {state.label(leaf)}.",
        "\n".join(f"- {line}" for line in way_down(state, row, leaf)),
    ]
    if corpus.texts is None or state.private:
        had = "; ".join(_title_of(state, j) for j, _ in entries_of(state, row))
        parts.append(f"All {state.column_name}s of the row: {had or 'none'}.")
    else:
        parts.append(beginning(state, row, WHOLE_TEXT))
    return {"title": f"Why {called} is here", "text": "\n\n".join(parts)}


def way_down(state: NavigatorState, row: int, leaf: int) -> list[str]:
    """Tell for every split which codes of a row spoke for the side it went to."""
    path, entries = state.tree.path(leaf), entries_of(state, row)
    lines = []
    for above, below in pairwise(path):
        spoke = [
            _title_of(state, j) for j in voices(state.tree.nodes[above], below, entries)[:TOLD]
        ]
        why = f"because of {'; '.join(spoke)}" if spoke else ""
        why = why or f"for what it does not have of {state.label(above)}"
        lines.append(f"to {state.label(below)}, {why}")
    return lines


def _title_of(state: NavigatorState, column: int) -> str:
    """Write a code by its meaning."""
    word, corpus = state.words[column], state.corpus
    return word if corpus is None else corpus.view.titles.get(word) or word
