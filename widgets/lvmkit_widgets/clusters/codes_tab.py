"""Tab of the codes of a cluster: relevance table, profile of a code, association tests."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import code_profile_chart, code_profile_table, svg
from lvmkit.mixtures.analysis import score_codes
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.heading import share_word
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.clusters.tab import ClusterTab
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.dashboard import Dashboard
from lvmkit_widgets.ui.paging import PagedTable
from lvmkit_widgets.ui.widgets import Picture, Relevance, Table

EVIDENCE: list[dict[str, Any]] = [
    {"key": "code", "label": "Code", "kind": "code"},
    {"key": "title", "label": "Diagnosis", "kind": "text"},
    {"key": "n_in", "label": "Patients", "kind": "integer"},
    {"key": "share_in", "label": "In the cluster", "kind": "percent"},
    {"key": "share_out", "label": "Elsewhere", "kind": "percent"},
    {
        "key": "odds_ratio",
        "label": "Odds ratio",
        "kind": "number",
        "digits": 2,
        "help": "Odds of the code in the cluster over its odds elsewhere.",
    },
    {"key": "low", "label": "from", "kind": "number", "digits": 2, "help": "95% interval."},
    {"key": "high", "label": "to", "kind": "number", "digits": 2, "help": "95% interval."},
    {
        "key": "q",
        "label": "q",
        "kind": "p",
        "help": "Share of false findings to expect among all codes with a q this small or smaller "
        "(Benjamini and Hochberg). Clusters were found in the same data, so read it as order.",
    },
]


ESTIMATE: dict[str, Any] = {
    "key": "estimate_in",
    "label": "Stand for",
    "kind": "integer",
    "help": "Sum of the weights: how many of the population these patients stand for.",
}


class CodesTab(ClusterTab):
    """Relevance table, the profile of the picked code, and the tests behind them."""

    title: ClassVar[str] = "What marks it"
    depends: ClassVar[frozenset[str]] = frozenset(
        {"assignment", "history", "cluster", "code", "balance", "hide_small", "threshold"}
    )

    def __init__(self) -> None:
        super().__init__()
        self.relevance = Relevance(
            title="Codes that mark the cluster",
            help="λ = 1 ranks codes by how frequent they are in the cluster; λ = 0 by how much "
            "more frequent they are there than among all patients; 0.6 is a good start. "
            "Relevance is λ·log(share) + (1−λ)·log(share ÷ overall share). Pick a code to see "
            "where else it occurs.",
            top=12,
        )
        self.profile = Picture(title="Where the code sits", download="code-profile")
        self.evidence = Table(columns=EVIDENCE, page_size=12, searchable=True, key="code")
        self.pages = PagedTable(self.evidence, ["code", "title"])
        self.components = {
            "relevance": self.relevance,
            "profile": self.profile,
            "evidence": self.evidence,
        }
        numbers = {
            "section": "evidence",
            "title": "Each code against the other patients",
            "help": "Odds ratios compare the patients of the cluster with all others.",
            "closed": True,
        }
        self.code = ""
        self.layout = ["relevance", "profile", numbers]

    def refresh(self) -> None:
        """Show the state as it is now."""
        state, counts = self.state, self.state.counts()
        if self.changed("relevance", counts):
            self.relevance.param.update(**relevance_fields(counts))
        code = state.code or self.code
        code = code if code in counts.codes else first_code(state, state.cluster)
        self.relevance.param.update(
            cluster=state.clustering.position(state.cluster), balance=state.balance, code=state.code
        )
        if self.changed("profile", counts, code):
            self.code = code
            draw = functools.partial(draw_profile, state, code)
            text = profile_text(state, code)
            self.profile.param.update(svg=self.picture(draw, counts, code), alt=text, caption=text)
        if self.changed("evidence", counts, state.cluster):
            self.evidence.columns = evidence_columns(counts)
            self.pages.show(evidence(state, state.cluster))

    def connect(self, board: Dashboard) -> None:
        """Listen to the reader."""
        for name in ("relevance", "evidence"):
            board.listen(name, "pick", lambda code: self.pick({"code": code}))
        board.listen("relevance", "balance", self._balance)
        board.listen("profile", "pick", self.pick)
        self.pages.connect(board, "evidence")

    def _balance(self, value: float) -> None:
        """Take λ from the slider."""
        self.state.balance = value


def draw_profile(state: ExplorerState, code: str) -> str:
    """Draw where a code sits."""
    return svg(code_profile_chart(code_profile_table(state.counts(), code), width=720))


def profile_text(state: ExplorerState, code: str) -> str:
    """Say what the picture of a code shows."""
    share = share_word(state).lower()
    return f"{state.patients.title(code)}: {share} of patients in each cluster, with 95% interval."


def relevance_fields(counts: CodeCounts) -> dict[str, Any]:
    """Pack counts for the relevance component."""
    shown = np.where(np.isnan(counts.counts), -1, counts.counts)
    return {
        "centers": packed(counts.shares, np.float32),
        "overall": packed(counts.overall, np.float32),
        "counts": packed(shown, np.int32),
        "weights": np.nan_to_num(counts.weights),
        "codes": list(counts.codes),
        "titles": list(counts.titles),
        "names": counts.cluster_labels,
    }


def evidence_columns(counts: CodeCounts) -> list[dict[str, Any]]:
    """Columns of the table of tests; of data with weights also what the patients stand for."""
    if counts.weighted is None:
        return EVIDENCE
    help = dict.fromkeys(("low", "high"), "95% interval, from the effective sample size.")
    told = [{**c, "help": help[c["key"]]} if c["key"] in help else c for c in EVIDENCE]
    return [*told, ESTIMATE]


def first_code(state: ExplorerState, cluster: int) -> str:
    """Return the most relevant code of a cluster."""
    counts = state.counts()
    scores = score_codes(counts, balance=0.6)
    return counts.codes[int(np.argmax(scores[counts.row(cluster)]))]


def evidence(state: ExplorerState, cluster: int) -> pd.DataFrame:
    """Compare the codes of a cluster with the rest."""
    table = state.association()
    table = table[(table["cluster"] == cluster) & (table["n_in"] != 0)]
    table = table.sort_values("odds_ratio", ascending=False, na_position="last")
    return table.assign(title=[state.patients.titles.get(code, "") for code in table["code"]])
