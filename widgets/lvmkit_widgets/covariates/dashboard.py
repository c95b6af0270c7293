"""Walk along a path of covariate clusterings: which ν, which clusters, what they speak for, how they came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lvmkit.core import arguments
from lvmkit_widgets.covariates import page
from lvmkit_widgets.covariates.clusters_tab import Clusters
from lvmkit_widgets.covariates.data import accuracies, called, checked
from lvmkit_widgets.covariates.export_tab import Files
from lvmkit_widgets.covariates.heading import footer, subtitle
from lvmkit_widgets.covariates.merges_tab import Growth
from lvmkit_widgets.covariates.path_tab import Choice
from lvmkit_widgets.covariates.state import PathState
from lvmkit_widgets.ui.tabs import PartsBoard
from lvmkit_widgets.ui.widgets import Status


class CovariatePath(PartsBoard[PathState]):
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

    Examples
    --------
    >>> import lvmkit
    >>> from lvmkit.datasets import make_covariate_clusters
    >>> data = make_covariate_clusters(80, 20, random_state=0)
    >>> path = lvmkit.models.covariate_path(data.X, data.y, nus=[1.0, 10.0], similarity=data.similarity)
    >>> board = CovariatePath(path)
    >>> board.state.choose(1)
    >>> board.state.find("x3")
    >>> bool(board.state.cluster == path[1].labels[3])
    True
    """

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
        state = PathState(
            solutions,
            called(solutions, names),
            held_out=accuracies(solutions, held_out),
            n_held_out=0 if held_out is None else len(held_out[1]),
            private=private,
        )
        self._name = name
        choice = Choice()
        super().__init__(
            {"status": Status()},
            frame=[choice],
            tabs=[Clusters(), Growth(), Files()],
            title="Clusters of covariates",
        )
        self.stage.layout = [
            "about",
            "status",
            {"row": ["nu", "choose"], "widths": [1, 2.8]},
            {"row": [self.tabs_layout, "curves"], "widths": [2.1, 1]},
        ]
        self.show_state(state)

    @arguments.checked()
    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet.

        ν, clusters, their covariates and the search keep working in it, for as many different
        clusterings as there is room for, and trees too. It holds nothing of single samples.

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
            The solutions that the page has room for.
        """
        return page.fixed(self.state)

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what a saved page shows when ν is moved or a cluster is picked.

        Returns
        -------
        list of dict
            As `Dashboard` describes.
        """
        return page.cases(self.state)

    def heading(self, names: set[str]) -> None:
        """Write title, subtitle and footer anew if what they tell has changed.

        Parameters
        ----------
        names : set of str
            What has changed.
        """
        if "history" in names:
            title = (
                f"Clusters of covariates: {self._name}" if self._name else "Clusters of covariates"
            )
            self.stage.param.update(
                title=title, subtitle=subtitle(self.state), footer=footer(self.state)
            )
