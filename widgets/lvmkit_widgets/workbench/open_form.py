"""Form that opens a cohort: bundled, public or from a file, with its column layout."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import lvmkit
from lvmkit import datasets
from lvmkit.cohorts.open_file import Layout, guess, is_h5ad, list_files, open_cohort, preview
from lvmkit.cohorts.weights import sample_weight, weight_column
from lvmkit.core.folders import expanded, reader_folders
from lvmkit.core.reading import require_file
from lvmkit.core.typing import Progress
from lvmkit.mixtures.refit import check_size, fit_quietly
from lvmkit_widgets.ui.component import Component
from lvmkit_widgets.ui.controls import button, column, multiselect, number, select, text
from lvmkit_widgets.ui.widgets import Form, Table, Text
from lvmkit_widgets.ui.words import refuse

KNOWN: dict[str, tuple[str, Callable[[], Any], str]] = {
    "discharges": (
        "Hospital discharges (synthetic, comes with lvmkit)",
        lambda: datasets.load_discharges(),
        "lvmkit.datasets.load_discharges()",
    ),
    "nhds2010": (
        "US hospital discharges 2010, adults (NHDS)",
        lambda: datasets.fetch_nhds2010(),
        "lvmkit.datasets.fetch_nhds2010()",
    ),
    "heart_failure": (
        "US hospital discharges 2010, heart failure (NHDS)",
        lambda: datasets.fetch_nhds2010(heart_failure=True),
        "lvmkit.datasets.fetch_nhds2010(heart_failure=True)",
    ),
    "diabetes130": (
        "Diabetes in 130 US hospitals, 1999–2008",
        lambda: datasets.fetch_diabetes130(),
        "lvmkit.datasets.fetch_diabetes130()",
    ),
    "synthea1k": (
        "Synthea, 1,000 simulated patients",
        lambda: datasets.fetch_synthea1k(),
        "lvmkit.datasets.fetch_synthea1k()",
    ),
}
KINDS = [
    ["wide", "One row per record, codes in several columns"],
    ["events", "One row per patient and code"],
    ["counts", "One row per record, one column per code"],
]
ELSEWHERE = ""


class Kept(NamedTuple):
    """Where the work on what was opened is kept."""

    session: Any  # Names the file (`server.sessions.Session`)
    work: Any  # Reads and fits anew, as `OpenForm.open` returns it
    told: str  # What to say of the work that is gone on with, or ""
    recent: Callable[[], list[tuple[Any, str]]] = list  # Lists other sessions, and what was done


class Opened(NamedTuple):
    """What was opened."""

    model: Any  # Fitted, or read from a file
    cohort: Any  # Patients by codes
    name: str  # What to call it
    source: str  # Python that gives model and cohort
    kept: Kept | None = None
    work: Any = None  # What pages of the same session share (`views.Work`)
    state: Any = None  # What another visitor began with


class OpenForm:
    """The components that choose a cohort, and the work of opening it."""

    def __init__(self) -> None:
        self._folders = reader_folders()
        self.choose = Form(
            title="Open a cohort",
            help="Files are read on this machine; nothing is sent anywhere. Public cohorts are "
            "looked for in the folder LVMKIT_DATA first, and downloaded if they are not there.",
        )
        self.columns = Form(
            title="Which columns?",
            help="Tell which columns hold the codes of a record.",
            visible=False,
        )
        self.intro = Text(
            text="lvmkit groups patients whose recorded diagnoses look alike, and shows what marks "
            "each group. Open a cohort: the synthetic one that comes along, a public one, or a "
            "file of yours. Nothing leaves this machine."
        )
        self.repairs = Text(title="What was repaired on reading", visible=False, needs_python=True)
        self.recent = Table(
            title="Continue where you were",
            help="Cohorts that you worked on, with the names you gave. Pick one to go on.",
            key="place",
            columns=[column("cohort", "Cohort"), column("done", "What was done")],
            visible=False,
            needs_python=True,
        )
        self.components: dict[str, Component] = {
            "intro": self.intro,
            "recent": self.recent,
            "open": self.choose,
            "columns": self.columns,
            "repairs": self.repairs,
        }
        self.layout = ["recent", "open", "columns", "repairs"]
        self.list()

    def list(self) -> None:
        """Show what can be opened."""
        folders = [Path.cwd(), Path(os.environ.get("LVMKIT_DATA", "."))]
        found = [one for one in list_files(folders) if self._folders.holds(one)]
        files = [[str(one), _short(one)] for one in found]
        known = [[name, label] for name, (label, _, _) in KNOWN.items()]
        offered = [*known, *files, [ELSEWHERE, "another file, named below"]]
        kinds = "CSV, TSV, Parquet or h5ad. Goes before the choice above."
        path = {"placeholder": "/folder/discharges.csv", "help": kinds, "wide": True}
        brings = "Brings its clusters, names and notes; else clusters are fitted."
        self.choose.controls = [
            select("cohort", "Cohort", offered, wide=True),
            text("path", "File on this machine", **path),
            number("k", "Number of clusters", max=100),
            text("model", "Saved model (optional)", placeholder="heart.npz", help=brings),
            button("open", "Open", primary=True),
        ]
        self.choose.values = {"cohort": "discharges", "path": "", "k": 8, "model": ""}

    @property
    def choice(self) -> str:
        """What the reader wants to open: the name of a known cohort, or the path of a file."""
        values = self.choose.values
        choice = str(values.get("path") or "").strip() or str(values.get("cohort") or "")
        if not choice:
            refuse("Choose a cohort, or name a file.")
        return choice if choice in KNOWN else str(self._folders.checked(choice))

    @property
    def model(self) -> str:
        """The path of the saved model that the reader named; "" to fit clusters."""
        text = str(self.choose.values.get("model") or "").strip()
        return str(self._folders.checked(text)) if text else ""

    def ask_columns(self, path: str) -> None:
        """Ask what the columns of a file are."""
        names = [str(name) for name in preview(path).columns]
        one = [["", "–"], *([name, name] for name in names)]
        weighed = "How many of the population a record stands for. Clusters and shares are then weighted by it."
        self.columns.controls = [
            select("kind", "The table has", KINDS),
            multiselect("codes", "Columns of codes", names),
            select("patient", "Patient or record", one),
            multiselect("attributes", "Keep also", names),
            select("weight", "Weight of a survey", one, help=weighed),
            button("open", "Open with these columns", primary=True),
        ]
        self.columns.values = {
            "kind": "wide",
            "codes": [],
            "patient": "",
            "attributes": [],
            "weight": "",
        }
        self.columns.visible = True

    @property
    def layout_asked(self) -> Layout:
        """What the reader said the columns are."""
        values = self.columns.values
        codes = tuple(values.get("codes") or ())
        if not codes:
            refuse("Choose the columns that hold the codes.")
        kept = tuple(values.get("attributes") or ())
        weight = values.get("weight") or None
        return Layout(values["kind"], codes, values.get("patient") or None, kept, weight=weight)

    def open(
        self, choice: str, *, k: int = 8, model: str = "", layout: Layout | None = None
    ) -> Any:
        """Return the work of opening a cohort and fitting it."""

        def work(progress: Progress | None) -> Opened:
            if progress is not None:
                progress("Reading the cohort", 0.0)
            cohort, name, source = read(choice, layout)
            return fit_or_load(cohort, k, model=model, name=name, source=source, progress=progress)

        return work

    def list_recent(self, sessions: Sequence[tuple[Any, str]]) -> None:
        """Offer what was worked on before."""
        rows = [
            {"place": i, "cohort": called(one), "done": done}
            for i, (one, done) in enumerate(sessions)
        ]
        self.recent.param.update(rows=rows, selected=None, visible=bool(rows))

    def tell_repairs(self, cohort: Any) -> None:
        """Show what was repaired when a cohort was read."""
        told = list(cohort.uns.get("cohort", {}).get("repairs", []))
        self.repairs.param.update(text="\n".join(f"- {text}" for text in told), visible=bool(told))


def called(session: Any) -> str:
    """Name a session for readers."""
    if not session.source:
        return str(session.path.name)
    source = session.source
    name = KNOWN[source][0].split(" (")[0] if source in KNOWN else Path(source).name
    return f"{name}, {session.k} clusters"


def read(choice: str, layout: Layout | None = None) -> tuple[Any, str, str]:
    """Read a cohort."""
    if choice in KNOWN:
        name, load, source = KNOWN[choice]
        return load(), name.split(" (")[0], f"cohort = {source}"
    given = f", layout={layout!r}" if layout else ""
    imported = "from lvmkit.cohorts.open_file import Layout, open_cohort\n"
    source = f"{imported}cohort = open_cohort({choice!r}{given})"
    return open_cohort(choice, layout=layout), Path(choice).name, source


def fit_or_load(
    cohort: Any,
    k: int,
    *,
    model: str = "",
    name: str = "",
    source: str = "",
    progress: Progress | None = None,
) -> Opened:
    """Fit clusters, or read them from a file."""
    if model:
        told = "The model “{name}” cannot be read: {reason}. Leave the field empty to fit clusters."
        try:
            require_file(expanded(model), told)
        except OSError as error:
            raise ValueError(str(error)) from error
        loaded = lvmkit.load(expanded(model))
        return Opened(loaded, cohort, name, f"{source}\nmodel = lvmkit.load({model!r})")
    check_size(k, cohort.n_obs, cohort.n_vars)
    weight = weight_column(cohort)
    fitted = fit_quietly(cohort, k, sample_weight=sample_weight(cohort), progress=progress)
    given = f", sample_weight={weight!r}" if weight else ""
    code = f"{source}\nmodel = lvmkit.BernoulliMixture(n_components={k}, binarize=0).fit(cohort{given})"
    return Opened(fitted, cohort, name, code)


def needs_columns(path: str) -> bool:
    """Tell whether the reader must say what the columns of a file are."""
    if path in KNOWN or is_h5ad(Path(path)):
        return False
    return guess(preview(path)) is None


def _short(path: Path) -> str:
    """Return file and folder of a path."""
    return f"{path.name} ({path.parent.name})"
