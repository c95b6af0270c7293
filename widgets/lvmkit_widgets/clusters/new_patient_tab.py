"""Tab that places a new patient: codes typed, posteriors, and how they come about."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lvmkit.mixtures.explanation import explain, steps_in_words
from lvmkit.mixtures.patients import present, read_codes
from lvmkit_widgets.clusters.patients_tab import STEPS
from lvmkit_widgets.clusters.state import ExplorerState, NewPatient
from lvmkit_widgets.ui.controls import button, check, column, multiselect, textarea
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Form, Table, Text

POSTERIORS = [
    column("label", "Cluster"),
    column("posterior", "Probability", "bar", max=1),
    column("share", "Of all patients", "percent"),
]
ANSWER = ("posteriors", "arithmetic", "arithmetic_codes")


class NewPatientTab(Tab[ExplorerState]):
    """Assigns a patient who is not in the cohort."""

    title: ClassVar[str] = "New patient"

    def __init__(self) -> None:
        super().__init__()
        self.form = Form(
            title="Codes of the patient",
            help="Type codes in any order, with or without dots, or pick diagnoses by name.",
            values={"typed": "", "picked": [], "unknown": False},
        )
        posteriors = Table(
            title="Where the patient belongs",
            columns=POSTERIORS,
            key="id",
            page_size=30,
            sort=["posterior", "desc"],
            visible=False,
            needs_python=True,
        )
        arithmetic = Text(title="How that comes about", visible=False, needs_python=True)
        self.components = {
            "newcomer": self.form,
            "newcomer_answer": Text(needs_python=True),
            "posteriors": posteriors,
            "arithmetic": arithmetic,
            "arithmetic_codes": Table(
                columns=STEPS, page_size=30, visible=False, needs_python=True
            ),
        }
        top = {"row": ["newcomer", ["newcomer_answer", "posteriors"]], "widths": [1, 1]}
        self.layout = [top, "arithmetic", "arithmetic_codes"]
        self.events = {
            "newcomer.pressed": lambda state, _: state.replace(newcomer=self._entered()),
            "posteriors.pick": lambda state, id: state.replace(
                newcomer=self._entered()._replace(cluster=int(id))
            ),
        }

    def fields(self, state: ExplorerState) -> Fields:
        """Show the form, and where the patient belongs."""
        answer = answer_of(state) if state.live else {}
        return {"newcomer": {"controls": controls_of(state)}, **answer}

    def _entered(self) -> NewPatient:
        """Return the patient that was entered."""
        values = self.form.values
        picked = tuple(map(str, values.get("picked") or ()))
        return NewPatient(str(values.get("typed") or ""), picked, bool(values.get("unknown")))


def controls_of(state: ExplorerState) -> list[dict[str, Any]]:
    """Describe the form."""
    options = [[code, state.patients.title(code)] for code in state.codes]
    counts = state.counts()
    common = [counts.codes[j] for j in np.argsort(-np.nan_to_num(counts.totals))[:3]]
    return [
        textarea("typed", "Codes", rows=2, placeholder=f"for instance: {' '.join(common)}"),
        multiselect("picked", "Diagnoses by name", options),
        check("unknown", "Other codes are unknown (else: the patient does not have them)"),
        button("assign", "Find the cluster", primary=True),
    ]


def answer_of(state: ExplorerState) -> Fields:
    """Compute the posterior probabilities of the patient, and say how they come about."""
    new = state.newcomer
    if new is None:
        return {"newcomer_answer": {"text": "The probability of every cluster will stand here."}}
    read, clustering = read_codes(new.typed, state.codes), state.clustering
    known = [code for code in dict.fromkeys([*read.known, *new.picked]) if code in state.codes]
    understood = "; ".join(state.patients.title(code) for code in known)
    said = f"Understood: {understood}." if known else "No code was understood yet."
    tone = "warning" if read.unknown or not known else "plain"
    answer = {"text": "\n\n".join(filter(None, [said, read.text])), "tone": tone}
    shown: dict[str, dict[str, Any]] = {name: {"visible": bool(known)} for name in ANSWER}
    if not known:
        return {"newcomer_answer": answer, **shown}
    marked, certain = present(state.codes, known), not new.others_unknown
    first = explain(clustering, marked, state.cluster, absent_known=certain)
    best = clustering.ids[int(np.argmax(first.posteriors))]
    chosen = new.cluster if new.cluster in clustering.ids else best
    evidence = explain(clustering, marked, chosen, absent_known=certain)
    label = clustering.cluster(chosen).label
    labels, weights = state.counts().cluster_labels, map(float, clustering.weights)
    listed = zip(clustering.ids, labels, evidence.posteriors, weights, strict=True)
    rows = [dict(zip(("id", "label", "posterior", "share"), one, strict=True)) for one in listed]
    shown["posteriors"] |= {"rows": rows, "selected": chosen}
    shown["arithmetic"]["text"] = (
        f"**For “{label}”**: start with its share of all patients, and let each code multiply "
        f"the odds. The end is {evidence.posterior:.1%}. Pick another cluster above for its own."
    )
    steps = steps_in_words(evidence, clustering, state.patients.titles)
    shown["arithmetic_codes"]["rows"] = steps
    return {"newcomer_answer": answer, **shown}
