"""Walk through a tree of clusters: what its branches are, what splits them, and where to cut it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import panel as pn

from lvmkit.cohorts.corpus import Corpus
from lvmkit.core.arguments import checked
from lvmkit.trees import Tree
from lvmkit_widgets.clusters.dashboard import ClusterExplorer
from lvmkit_widgets.trees import page
from lvmkit_widgets.trees.clusters_tab import Clusters
from lvmkit_widgets.trees.export_tab import Files
from lvmkit_widgets.trees.heading import footer, left_out_of, subtitle
from lvmkit_widgets.trees.outline import Outline
from lvmkit_widgets.trees.rows_tab import Documents, Members, Patients
from lvmkit_widgets.trees.state import NavigatorState
from lvmkit_widgets.trees.terms_tab import LINKS, Split, Terms
from lvmkit_widgets.ui.tabs import PartsBoard
from lvmkit_widgets.ui.widgets import Status, Text
from lvmkit_widgets.ui.words import counted


class TreeNavigator(PartsBoard[NavigatorState]):
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

    Examples
    --------
    >>> import lvmkit
    >>> cohort = lvmkit.datasets.load_discharges()[:2000]
    >>> tree = lvmkit.SpectralTree(max_depth=2).fit(cohort)
    >>> navigator = TreeNavigator(tree, cohort)
    >>> navigator.state.rename(1, "Heart")
    >>> navigator.state.cut(depth=1)
    >>> len(navigator.state.clustering().weights_)
    2
    """

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
        _require_tree(t)
        corpus = None
        if cohort is not None:
            corpus = Corpus(_checked(cohort), texts=texts, private=private, name=name)
        state = NavigatorState(t, corpus, private=private is not False)
        if corpus is not None and not state.empty:
            corpus.require_known(state.words)
        self._name = name or ("" if corpus is None else corpus.name)
        self.cohort = cohort
        members = {"patients": Patients, "documents": Documents}.get(state.noun, Members)
        self._below: dict[str, Any] = {}
        self._outline = Outline()
        super().__init__(
            {"status": Status(), "left_out": Text(tone="note")},
            frame=[self._outline],
            tabs=[Terms(), Split(), members(), Clusters(), Files()],
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
            message = "There are no rows to explore: pass the cohort to TreeNavigator."
            raise ValueError(message)
        return ClusterExplorer(self.state.clustering(), self.cohort, name=self._name)

    def open_explorer(self) -> None:
        """Open a cluster explorer of the cut below this dashboard; in a notebook, tell how to."""
        if "page" not in self._below:
            self.say("Run this in the next cell: navigator.explorer()", state="info")
            return
        label = "Opening the clusters in the cluster explorer"
        self.background(lambda _: self.explorer(), self._show_below, label=label, can_cancel=False)

    def _show_below(self, explorer: ClusterExplorer) -> None:
        """Show an explorer under this dashboard."""
        self._below["page"][:] = [self._exchange.page(), explorer.__panel__()]
        clusters = counted(len(explorer.state.clustering.ids), "cluster")
        self.say(f"The {clusters} of the cut are open in the cluster explorer below.")

    def __panel__(self) -> Any:
        """Return the dashboard, with room for an explorer below, as a Panel column; always the same one."""
        if "page" not in self._below:
            page = self._exchange.page()
            self._below["page"] = pn.Column(page, sizing_mode="stretch_width", margin=0)
        return self._below["page"]

    @checked()
    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet.

        Tree, cuts, λ, terms, splits and search keep working in it; the table of clusters stays that of the cut
        with which it was saved. Of people it holds totals only, with small counts hidden; of documents no texts.

        Parameters
        ----------
        path : str or Path
            File to write.

        Returns
        -------
        Path
            The file.
        """
        return super().to_html(path)

    def static_fields(self) -> dict[str, dict[str, Any]]:
        """Return what a saved page shows instead.

        Returns
        -------
        dict
            The numbers that the page has room for.
        """
        return page.fixed(self.state)

    def heading(self, names: set[str]) -> None:
        """Write title, subtitle and footer anew if what they tell has changed.

        Parameters
        ----------
        names : set of str
            What has changed.
        """
        if names & {"history", "hide_small", "threshold"}:
            left_out = left_out_of(self.state)
            self.components["left_out"].param.update(text=left_out, visible=bool(left_out))
            title = f"Tree of {self._name}" if self._name else "Tree of clusters"
            self.stage.param.update(
                title=title, subtitle=subtitle(self.state), footer=footer(self.state)
            )


def _require_tree(t: Any) -> None:
    """Refuse what is no fitted tree."""
    if isinstance(t, Tree) or isinstance(getattr(t, "tree_", None), Tree):
        return
    message = (
        f"TreeNavigator needs a fitted tree; found {type(t).__name__}. "
        "Call fit first: lvmkit.SpectralTree(max_depth=3).fit(cohort)."
    )
    raise TypeError(message)


def _checked(cohort: Any) -> Any:
    """Refuse what is no cohort."""
    if all(hasattr(cohort, name) for name in ("X", "obs", "var", "var_names")):
        return cohort
    message = (
        f"TreeNavigator needs a cohort (an AnnData table); found {type(cohort).__name__}. Make one with "
        "lvmkit.cohorts.from_wide, from_events, from_counts or from_texts."
    )
    raise TypeError(message)
