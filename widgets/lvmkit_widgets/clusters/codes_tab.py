"""Tab of the codes of a cluster: relevance table, profile of a code, association tests."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from lvmkit.charts import code_profile_chart, code_profile_table, svg
from lvmkit.mixtures.analysis import score_codes
from lvmkit.scores import CodeCounts
from lvmkit_widgets.clusters.sidebar import share_word
from lvmkit_widgets.clusters.state import ExplorerState
from lvmkit_widgets.ui.component import packed
from lvmkit_widgets.ui.controls import column
from lvmkit_widgets.ui.paging import turning
from lvmkit_widgets.ui.state import remembered
from lvmkit_widgets.ui.tabs import Fields, Tab
from lvmkit_widgets.ui.widgets import Picture, Relevance, Table

ODDS = "Odds of the code in the cluster over its odds elsewhere."
INTERVAL = "95% interval."
Q = (
    "Share of false findings to expect among all codes with a q this small or smaller (Benjamini and Hochberg). "
    "Clusters were found in the same data, so read it as order."
)
WEIGHTED_INTERVAL = "95% interval, from the effective sample size."
STANDS_FOR = "Sum of the weights: how many of the population these patients stand for."
TESTED = 12  # codes on a page of tests
TESTED_IN_PAGES = 40  # codes of each cluster in the tables of saved pages


class CodesTab(Tab[ExplorerState]):
    """Relevance table, the profile of the picked code, and the tests behind them."""

    title: ClassVar[str] = "What marks it"

    def __init__(self) -> None:
        super().__init__()
        relevance = Relevance(
            title="Codes that mark the cluster",
            help="λ = 1 ranks codes by how frequent they are in the cluster; λ = 0 by how much "
            "more frequent they are there than among all patients; 0.6 is a good start. "
            "Relevance is λ·log(share) + (1−λ)·log(share ÷ overall share). Pick a code to see "
            "where else it occurs.",
            top=12,
        )
        self.components = {
            "relevance": relevance,
            "profile": Picture(title="Where the code sits", download="code-profile"),
            "evidence": Table(
                columns=evidence_columns(), page_size=TESTED, searchable=True, key="code"
            ),
        }
        numbers = {
            "section": "evidence",
            "title": "Each code against the other patients",
            "help": "Odds ratios compare the patients of the cluster with all others.",
            "closed": True,
        }
        self.layout = ["relevance", "profile", numbers]
        self.events = {
            "relevance.pick": lambda state, code: state.look(code=str(code)),
            "relevance.balance": lambda state, balance: state.replace(balance=balance),
            "evidence.pick": lambda state, code: state.look(code=str(code)),
            "profile.pick": ExplorerState.pick_mark,
            **turning("evidence", "tested"),
        }

    def fields(self, state: ExplorerState) -> Fields:
        """Show what marks the cluster that is picked."""
        counts = state.counts()
        code = state.code if state.code in counts.codes else first_code(state, counts)
        picked = {"balance": state.balance, "code": state.code}
        place = state.clustering.position(state.cluster)
        share = share_word(state).lower()
        text = (
            f"{state.patients.title(code)}: {share} of patients in each cluster, with 95% interval."
        )
        return {
            "relevance": {**relevance_fields(state, counts), **picked, "cluster": place},
            "profile": {"svg": draw_profile(state, counts, code), "alt": text, "caption": text},
            "evidence": tested_rows(state, counts),
        }


@remembered
def draw_profile(state: ExplorerState, counts: CodeCounts, code: str) -> str:
    """Draw where a code sits."""
    return svg(code_profile_chart(code_profile_table(counts, code), width=720))


@remembered
def relevance_fields(_: ExplorerState, counts: CodeCounts) -> dict[str, Any]:
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


def evidence_columns(*, weighted: bool = False) -> list[dict[str, Any]]:
    """Columns of the table of tests; of data with weights also what the patients stand for."""
    interval = WEIGHTED_INTERVAL if weighted else INTERVAL
    return [
        column("code", "Code", "code"),
        column("title", "Diagnosis"),
        column("n_in", "Patients", "integer"),
        column("share_in", "In the cluster", "percent"),
        column("share_out", "Elsewhere", "percent"),
        column("odds_ratio", "Odds ratio", "number", digits=2, help=ODDS),
        column("low", "from", "number", digits=2, help=interval),
        column("high", "to", "number", digits=2, help=interval),
        column("q", "q", "p", help=Q),
        *([column("estimate_in", "Stand for", "integer", help=STANDS_FOR)] if weighted else []),
    ]


def first_code(state: ExplorerState, counts: CodeCounts) -> str:
    """Return the most relevant code of the cluster that is picked."""
    scores = score_codes(counts, balance=0.6)
    return counts.codes[int(np.argmax(scores[counts.row(state.cluster)]))]


@remembered
def evidence(state: ExplorerState, counts: CodeCounts) -> pd.DataFrame:
    """Compare the codes of the cluster that is picked with the rest."""
    table = state.association()
    table = table[(table["cluster"] == state.cluster) & (table["n_in"] != 0)]
    table = table.sort_values("odds_ratio", ascending=False, na_position="last")
    return table.assign(title=[state.patients.titles.get(code, "") for code in table["code"]])


def tested_rows(state: ExplorerState, counts: CodeCounts) -> dict[str, Any]:
    """Return a page of the tests; all that there is room for where no Python turns pages."""
    table, first = evidence(state, counts), None if state.live else TESTED_IN_PAGES
    columns = evidence_columns(weighted=counts.weighted is not None)
    keys = [one["key"] for one in columns]
    shown = state.tested.page_of(table[keys], ["code", "title"], TESTED, first=first)
    return {"columns": columns, **shown}
