"""Tab that places a new patient: codes typed, posteriors, and how they come about."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.mixtures.explanation import explain, steps_in_words
from lvmkit.mixtures.patients import TypedCodes, present, read_codes
from lvmkit_widgets.clusters.patients_tab import STEPS
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.widgets import Form, Table, Text

POSTERIORS = [
    {"key": "label", "label": "Cluster", "kind": "text"},
    {"key": "posterior", "label": "Probability", "kind": "bar", "max": 1},
    {"key": "share", "label": "Of all patients", "kind": "percent"},
]


class NewPatientTab(ClusterTab):
    """Assigns a patient who is not in the cohort."""

    title: ClassVar[str] = "New patient"
    depends: ClassVar[frozenset[str]] = frozenset({"assignment", "history"})

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Codes of the patient",
            help="Type codes in any order, with or without dots, or pick diagnoses by name.",
            values={"typed": "", "picked": [], "unknown": False},
        )
        self.answer = Text(needs_python=True)
        self.posteriors = Table(
            title="Where the patient belongs",
            columns=POSTERIORS,
            key="id",
            page_size=30,
            sort=["posterior", "desc"],
            visible=False,
            needs_python=True,
        )
        self.arithmetic = Text(title="How that comes about", visible=False, needs_python=True)
        self.steps = Table(columns=STEPS, page_size=30, visible=False, needs_python=True)
        self.components = {
            "newcomer": self.form,
            "newcomer_answer": self.answer,
            "posteriors": self.posteriors,
            "arithmetic": self.arithmetic,
            "arithmetic_codes": self.steps,
        }
        right = ["newcomer_answer", "posteriors"]
        self.layout = [
            {"row": ["newcomer", right], "widths": [1, 1]},
            "arithmetic",
            "arithmetic_codes",
        ]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state = self.state
        self.form.controls = [
            {
                "name": "typed",
                "kind": "textarea",
                "label": "Codes",
                "rows": 2,
                "placeholder": "for instance: " + common_codes(state),
            },
            {
                "name": "picked",
                "kind": "multiselect",
                "label": "Diagnoses by name",
                "options": [[code, state.patients.title(code)] for code in state.codes],
            },
            {
                "name": "unknown",
                "kind": "check",
                "label": "Other codes are unknown (else: the patient does not have them)",
            },
            {"name": "assign", "kind": "button", "label": "Find the cluster", "primary": True},
        ]
        if self.form.values.get("typed") or self.form.values.get("picked"):
            self.assign()
        else:
            self.answer.text = "The probability of every cluster will stand here."

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        board.listen("newcomer", "pressed", lambda _: self.assign())
        board.listen("posteriors", "pick", lambda id: self.assign(int(id)))

    def assign(self, cluster: int | None = None) -> None:
        """Compute the posterior probabilities of the patient."""
        state, values = self.state, self.form.values
        read = read_codes(str(values.get("typed") or ""), state.codes)
        known = [*read.known, *(values.get("picked") or [])]
        known = [code for code in dict.fromkeys(known) if code in state.codes]
        self._show_answer(read, known)
        if not known:
            return
        marked = present(state.codes, known)
        absent_known = not values.get("unknown")
        first = explain(state.clustering, marked, state.cluster, absent_known=absent_known)
        best = state.clustering.ids[int(np.argmax(first.posteriors))]
        chosen = cluster if cluster in state.clustering.ids else best
        evidence = explain(state.clustering, marked, chosen, absent_known=absent_known)
        label = state.clustering.cluster(chosen).label
        self.posteriors.rows = self._rows(evidence.posteriors)
        self.posteriors.selected = chosen
        self.arithmetic.text = (
            f"**For “{label}”**: start with its share of all patients, and let each code multiply "
            f"the odds. The end is {evidence.posterior:.1%}. Pick another cluster above for its own."
        )
        self.steps.rows = steps_in_words(evidence, state.clustering, state.patients.titles)

    def _show_answer(self, read: TypedCodes, known: list[str]) -> None:
        """Say what was understood."""
        shown = bool(known)
        self.posteriors.visible = self.arithmetic.visible = self.steps.visible = shown
        understood = "; ".join(self.state.patients.title(code) for code in known)
        parts = [
            f"Understood: {understood}." if shown else "No code was understood yet.",
            read.text,
        ]
        self.answer.param.update(
            text="\n\n".join(part for part in parts if part),
            tone="warning" if read.unknown or not shown else "plain",
        )

    def _rows(self, posteriors: tuple[float, ...]) -> list[dict[str, Any]]:
        """List the clusters with the probability of each."""
        clustering, labels = self.state.clustering, self.state.counts().cluster_labels
        return [
            {"id": id, "label": label, "posterior": p, "share": float(w)}
            for id, label, p, w in zip(
                clustering.ids, labels, posteriors, clustering.weights, strict=True
            )
        ]


def common_codes(state: ExplorerState, max_items: int = 3) -> str:
    """Name the most frequent codes, as an example of what to type."""
    totals = np.nan_to_num(state.counts().totals)
    return " ".join(state.counts().codes[j] for j in np.argsort(-totals)[:max_items])
