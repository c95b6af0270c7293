"""The dashboard of a path of covariate clusterings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lvmkit.core import arguments
from lvmkit.disclosure import Disclosure
from lvmkit_widgets.covariates import page
from lvmkit_widgets.covariates.clusters_tab import CovariateClustersTab
from lvmkit_widgets.covariates.data import accuracies, called, checked
from lvmkit_widgets.covariates.export_tab import CovariateExportTab
from lvmkit_widgets.covariates.heading import footer, subtitle
from lvmkit_widgets.covariates.merges_tab import MergesTab
from lvmkit_widgets.covariates.path_tab import PathForm
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status


class CovariatePath(TabbedDashboard[PathState]):
    """Dashboard of a path of covariate clusterings.

    Parameters
    ----------
    path : CovariateClusterPath
        As made by `lvmkit.models.covariate_path`; its solutions are shown with ν ascending.
    names : mapping or sequence of str, optional
        What covariates mean (by the path's names), or what each is called; by default the path's names.
    held_out : (X, y), optional
        Samples that the path was not fitted to, and their classes: their accuracy is shown too.
    private : bool, default=True
        Whether samples stand for people: then the counts of classes are told only where none is small.
    name : str, optional
        What the data are called in the heading.

    Raises
    ------
    TypeError
        When `path` is no path.
    ValueError
        When it is empty, or names or other data do not fit it.

    Notes
    -----
    In a page saved by `to_html` ν, clusters, their covariates and the search keep working, for as many different
    clusterings as there is room for, and trees too. It holds nothing of single samples.

    Examples
    --------
    >>> import lvmkit
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(80, 20, random_state=0)
    >>> path = lvmkit.models.covariate_path(data.X, data.y, nus=[1.0, 10.0], similarity=data.similarity)
    >>> board = CovariatePath(path)
    >>> board.state = board.state.choose(1).find("x3")
    >>> bool(board.state.cluster == path[1].labels[3])
    True
    """

    addresses = (
        ("step", "nu", "selected", None),
        ("cluster", "clusters", "selected", None),
    )

    @arguments.checked()
    def __init__(
        self,
        path: Any,
        names: Mapping[str, str] | Sequence[str] | None = None,
        held_out: Any = None,
        *,
        private: bool = True,
        name: str = "",
    ) -> None:
        solutions = checked(path)
        state = PathState.of(
            solutions,
            called(solutions, names),
            held_out=accuracies(solutions, held_out),
            n_held_out=0 if held_out is None else len(held_out[1]),
            disclosure=Disclosure(private=private),
        )
        self._name = name
        super().__init__(
            {"status": Status()},
            frame=[PathForm()],
            tabs=[CovariateClustersTab(), MergesTab(), CovariateExportTab()],
            title="Clusters of covariates",
        )
        self.stage.layout = [
            "about",
            "status",
            {"row": ["nu", "choose"], "widths": [1, 2.8]},
            {"row": [self.tabs_layout, "curves"], "widths": [2.1, 1]},
        ]
        self.show_state(state)

    def _page_state(self) -> PathState:
        """Return the state that a saved page shows."""
        return page.page_state(self.state)

    def _page_cases(self, state: PathState) -> Iterable[Cases[PathState]]:
        """Return what happens when the reader of a saved page moves ν or picks a cluster."""
        return page.cases(state)

    def _heading(self, state: PathState) -> dict[str, str]:
        """Title, subtitle and footer."""
        title = f"Clusters of covariates: {self._name}" if self._name else "Clusters of covariates"
        return {"title": title, "subtitle": subtitle(state), "footer": footer(state)}
