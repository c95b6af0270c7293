"""The dashboard of a tree of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lvmkit.cohorts.corpus import Corpus
from lvmkit.cohorts.weights import not_weighted
from lvmkit.core.arguments import checked
from lvmkit.disclosure.trees import NEAR
from lvmkit.trees import Tree
from lvmkit_widgets.clusters.dashboard import ClusterExplorer, ExplorerBelow
from lvmkit_widgets.trees.clusters_tab import CutTab
from lvmkit_widgets.trees.export_tab import TreeExportTab
from lvmkit_widgets.trees.outline import Outline
from lvmkit_widgets.trees.rows_tab import DocumentRowsTab, PatientRowsTab, RowsTab
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.terms_tab import LINKS, BranchTermsTab, SplitTab
from lvmkit_widgets.ui.widgets import Status, Text
from lvmkit_widgets.ui.words import counted, refuse, small_counts

METHODS = {
    "data": "D-SIDIWO, by two discriminators",
    "model": "SIDIWO, by two pseudo-centers",
    "pddp": "PDDP, by principal directions",
    "kmeans": "bisecting k-means",
}


class TreeNavigator(ExplorerBelow[NavigatorState]):
    """Dashboard of a tree of clusters.

    Parameters
    ----------
    t : SpectralTree or Tree
        Fitted. Names and the cut are kept in its `annotations_`, if it has any, which `lvmkit.save` writes.
    cohort : AnnData, optional
        People or documents, sent down the tree; without it only what the tree knows is shown.
    texts : sequence of str, or str, optional
        A text for each row, or the attribute that holds them; by default the attribute "text".
    private : bool, optional
        Whether rows stand for people: then small counts are hidden, and saved pages hold totals only. By
        default rows with a text, or of words, are documents, and all others people.
    name : str, optional
        What the cohort is called in the heading.

    Raises
    ------
    TypeError
        When `t` is no fitted tree, or the cohort not a table.
    ValueError
        When the tree knows none of the cohort's columns, or texts do not fit.

    Notes
    -----
    In a page saved by `to_html` the tree, cuts, λ, terms, splits and search keep working; the table of clusters stays
    that of the cut with which it was saved. Of people it holds totals only, with small counts hidden; of documents no
    texts.

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> tree = lvmkit.SpectralTree(max_depth=2).fit(cohort)
    >>> navigator = TreeNavigator(tree, cohort)
    >>> navigator.state = navigator.state.rename(1, "Heart").cut(depth=1)
    >>> len(navigator.state.clustering().weights_)
    2
    """

    called, explored = "navigator", "clusters"
    addresses = (("node", "tree", "selected", None),)

    @checked()
    def __init__(
        self,
        t: Any,
        cohort: Any = None,
        *,
        texts: Sequence[str] | str | None = None,
        private: bool | None = None,
        name: str = "",
    ) -> None:
        _require(t, cohort)
        corpus = None if cohort is None else Corpus(cohort, texts=texts, private=private, name=name)
        state = NavigatorState.of(t, corpus, private=private is not False)
        if corpus is not None and not state.empty:
            corpus.require_known(state.words)
        self._name = name or ("" if corpus is None else corpus.name)
        self.cohort = cohort
        kinds = {"patients": PatientRowsTab, "documents": DocumentRowsTab}
        members = kinds.get(state.row_name, RowsTab)
        super().__init__(
            {"status": Status(), "left_out": Text(tone="note")},
            frame=[Outline()],
            tabs=[BranchTermsTab(), SplitTab(), members(), CutTab(), TreeExportTab()],
            title="Tree",
            links=LINKS,
        )
        self.stage.layout = [
            "status",
            "left_out",
            {"row": ["tree", ["trail", "naming", self.tabs_layout]], "widths": [1.25, 1]},
        ]
        self.show_state(state)

    def explorer(self) -> ClusterExplorer:
        """Return a cluster explorer of the cut.

        Returns
        -------
        ClusterExplorer
            Its clusters are those of the cut now; a later cut does not change it.

        Raises
        ------
        ValueError
            Without a cohort.
        """
        if self.cohort is None:
            refuse("There are no rows to explore: pass the cohort to TreeNavigator.")
        return ClusterExplorer(self.state.clustering(), self.cohort, name=self._name)

    def _opened(self, explorer: ClusterExplorer) -> str:
        """Name the clusters of the cut."""
        return f"{counted(len(explorer.state.clustering.ids), 'cluster')} of the cut"

    def _keep(self, old: NavigatorState, new: NavigatorState) -> None:
        """Keep names and cut with the model."""
        if new.value != old.value and hasattr(new.model, "annotations_"):
            notes = dict(new.model.annotations_ or {})
            new.model.annotations_ = notes | new.named_cut.to_annotations()

    def _heading(self, state: NavigatorState) -> dict[str, str]:
        """Title, subtitle, footer and what is left out."""
        title = f"Tree of {self._name or 'clusters'}"
        if state.empty:
            return {"title": title, "subtitle": "an empty tree", "footer": "", "left_out": ""}
        size, corpus = state.layout.leaves.size, state.corpus
        parts = [
            f"{state.figures.total:,} {state.row_name}",
            counted(len(state.words), state.column_name),
            "1 leaf" if size == 1 else f"{size:,} leaves",
            f"depth {state.tree.depth}",
            METHODS.get(str(getattr(state.model, "split", "")), ""),
            "" if corpus is None else not_weighted(corpus.view.cohort),
        ]
        told = {"subtitle": " · ".join(filter(None, parts)), "footer": footer(state)}
        left_out = "" if corpus is None else left_out_of(state, corpus)
        return {"title": title, **told, "left_out": left_out}


def _require(t: Any, cohort: Any) -> None:
    """Refuse what is no fitted tree, and what is no cohort."""
    if not isinstance(t, Tree) and not isinstance(getattr(t, "tree_", None), Tree):
        refuse(
            f"TreeNavigator needs a fitted tree; found {type(t).__name__}. "
            "Call fit first: lvmkit.SpectralTree(max_depth=3).fit(cohort).",
            TypeError,
        )
    table = all(hasattr(cohort, name) for name in ("X", "obs", "var", "var_names"))
    if cohort is not None and not table:
        refuse(
            f"TreeNavigator needs a cohort (an AnnData table); found {type(cohort).__name__}. Make one with "
            "lvmkit.cohorts.from_wide, from_events, from_counts or from_texts.",
            TypeError,
        )


def left_out_of(state: NavigatorState, corpus: Corpus) -> str:
    """Say what the tree leaves out of the cohort, and what it was shown with others."""
    told = corpus.left_out(state.words).replace("the model", "the tree")
    fitted = state.tree.nodes[0].size
    if fitted != len(corpus):
        told += (
            f" The tree was grown on {fitted:,} rows; sizes here count the {len(corpus):,} "
            f"{state.row_name} of this cohort, sent down the tree."
        )
    return told.strip()


def footer(state: NavigatorState) -> str:
    """Say what the numbers are."""
    kept = "Branches are called by their place: 1.2 is the second part of the first."
    if not state.private:
        return kept
    least = state.disclosure.threshold
    if not state.suppressing:
        return f"{kept} {small_counts(least, hidden=False)}"
    return (
        f"{kept} Counts of 1 to {least - 1} are hidden; in place of others from which these could be found "
        f"stand estimates, off by {least} or {NEAR:.0%} at most, whichever is more; sizes with ≈ are "
        "rounded to tens besides."
    )
