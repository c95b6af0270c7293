"""The dashboard of a tensor normal mixture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lvmkit.core import arguments
from lvmkit.disclosure import Disclosure
from lvmkit_widgets.tensors import page
from lvmkit_widgets.tensors.data import checked, modes_of, place_of, samples_of, solutions_of
from lvmkit_widgets.tensors.export_tab import TensorExportTab
from lvmkit_widgets.tensors.heading import FOOTER, subtitle
from lvmkit_widgets.tensors.model_form import ModelForm
from lvmkit_widgets.tensors.path_tab import PenaltyPathTab
from lvmkit_widgets.tensors.samples_tab import SamplesTab
from lvmkit_widgets.tensors.slices_tab import SlicesTab
from lvmkit_widgets.tensors.state import TensorState
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status

TITLE = "Clusters of tensors"


class TensorExplorer(TabbedDashboard[TensorState]):
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

    Notes
    -----
    In a page saved by `to_html` λ, clusters, modes, slices and entries keep working, for as many λ of this number of
    clusters as there is room for. It holds nothing of single samples, and hides what fewer than 11 stand for, unless
    they are no people.

    Examples
    --------
    >>> import lvmkit
    >>> X, y = lvmkit.datasets.make_tensor_mixture("M8", n_samples=60, random_state=0)
    >>> model = lvmkit.TensorNormalMixture(2, penalty=0.3, random_state=0).fit(X)
    >>> board = TensorExplorer(model, X, groups=y)
    >>> board.state = board.state.find(0)
    >>> board.state.modes.entry(0)
    '0 · 0 · 0'
    """

    addresses = (
        ("model", "model", "selected", None),
        ("cluster", "clusters", "selected", None),
        ("entry", "slices", "entry", None),
    )

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
        state = TensorState.of(
            solutions,
            place_of(solutions, model),
            modes_of(model, X, mode_names, labels=labels),
            sets=(samples_of(model, X, groups),),
            path=path,
            disclosure=Disclosure(private=private, on_screen=False),
        )
        self._name = name
        slices = SlicesTab()
        super().__init__(
            {"status": Status()},
            frame=[ModelForm()],
            tabs=[slices, PenaltyPathTab(), SamplesTab(), TensorExportTab(slices.drawn)],
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

    def _page_state(self) -> TensorState:
        """Return the state that a saved page shows."""
        return page.page_state(self.state)

    def _page_cases(self, state: TensorState) -> Iterable[Cases[TensorState]]:
        """Return what happens when the reader of a saved page moves λ."""
        return page.cases(state)

    def _heading(self, state: TensorState) -> dict[str, str]:
        """Title, subtitle and footer."""
        title = f"{TITLE}: {self._name}" if self._name else TITLE
        return {"title": title, "subtitle": subtitle(state), "footer": FOOTER}
