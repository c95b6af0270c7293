"""Look into clusters of tensors: their means slice by slice, the entries that tell them apart, each sample."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lvmkit.core import arguments
from lvmkit_widgets.tensors import page
from lvmkit_widgets.tensors.data import checked, modes_of, place_of, samples_of, solutions_of
from lvmkit_widgets.tensors.export_tab import Files
from lvmkit_widgets.tensors.heading import FOOTER, subtitle
from lvmkit_widgets.tensors.model_form import Choice
from lvmkit_widgets.tensors.path_tab import Along
from lvmkit_widgets.tensors.samples_tab import People
from lvmkit_widgets.tensors.slices_tab import Slices
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.tabs import PartsBoard
from lvmkit_widgets.ui.widgets import Status

TITLE = "Clusters of tensors"


class TensorExplorer(PartsBoard[TensorState]):
    """Dashboard of a tensor normal mixture.

    Parameters
    ----------
    model : TensorNormalMixture
        Fitted.
    X : array (n, p1, …, pM) or LabelledTensor
        The samples, with names of modes and entries where known.
    groups : sequence or str, optional
        Known class of each sample, for comparison, or the name of a column of `X.samples`.
    mode_names : sequence of str, optional
        What the modes are called.
    labels : sequence of (sequence of str or None), optional
        For each mode, what its places are called.
    path : PenaltyPath or result of `lvmkit.models.select_tensor_components`, optional
        Further models: of other λ, or other numbers of clusters.
    private : bool, default=True
        Whether samples stand for people: then saved pages and files hide counts below 11.
    name : str, optional
        What the data are called in the heading.

    Raises
    ------
    TypeError
        When the model or the path is something else.
    ValueError
        When samples, groups, names or path do not fit the model.

    Examples
    --------
    >>> import lvmkit
    >>> X, y = lvmkit.datasets.make_tensor_mixture("M8", n_samples=60, random_state=0)
    >>> model = lvmkit.TensorNormalMixture(2, penalty=0.3, random_state=0).fit(X)
    >>> board = TensorExplorer(model, X, groups=y)
    >>> board.state.find(0)
    >>> board.state.modes.entry(0)
    '0 · 0 · 0'
    """

    @arguments.checked()
    def __init__(
        self,
        model: Any,
        X: Any,
        groups: Any = None,
        *,
        mode_names: Sequence[str] | None = None,
        labels: Sequence[Any] | None = None,
        path: Any = None,
        private: bool = True,
        name: str = "",
    ) -> None:
        solutions = solutions_of(checked(model), path)
        state = TensorState(
            solutions,
            place_of(solutions, model),
            modes_of(model, X, mode_names, labels=labels),
            samples=samples_of(model, X, groups),
            path=path,
            private=private,
        )
        self._name = name
        choice, slices = Choice(), Slices()
        super().__init__(
            {"status": Status()},
            frame=[choice],
            tabs=[slices, Along(), People(), Files(slices.drawn)],
            title=TITLE,
            links=[
                ("clusters.selected", "slices.cluster"),
                ("slices.cluster", "clusters.selected"),
                ("entries.pick", "slices.entry"),
                ("slices.entry", "entries.selected"),
            ],
        )
        self.stage.layout = [
            "about",
            "status",
            {"row": ["model", "choose"], "widths": [1.25, 1]},
            "clusters",
            self.tabs_layout,
        ]
        self.show_state(state)

    @arguments.checked()
    def to_html(self, path: str | Path) -> Path:
        """Save one file that answers without Python and without internet.

        λ, clusters, modes, slices and entries keep working in it, for as many λ of this number of clusters
        as there is room for. It holds nothing of single samples, and hides what fewer than 11 stand for,
        unless they are no people.

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
            The models that the page has room for.
        """
        return page.fixed(self.state)

    def static_cases(self) -> list[dict[str, Any]]:
        """Return what a saved page shows when λ is moved.

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
        if names & {"history", "sets", "shown_set", "hide_small"}:
            title = f"{TITLE}: {self._name}" if self._name else TITLE
            self.stage.param.update(title=title, subtitle=subtitle(self.state), footer=FOOTER)
