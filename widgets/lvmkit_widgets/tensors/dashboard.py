"""The dashboard of a tensor normal mixture."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lvmkit.charts._modes import named_modes
from lvmkit.core import arguments
from lvmkit.disclosure import Disclosure
from lvmkit_widgets.tensors.model_form import ModelForm
from lvmkit_widgets.tensors.path_tab import PenaltyPathTab, draw_sparsity, models_table
from lvmkit_widgets.tensors.samples_tab import SamplesTab, samples_table
from lvmkit_widgets.tensors.slices_tab import SlicesTab, entries_table, fields_of
from lvmkit_widgets.tensors.state import HeldModels, TensorState, checked, samples_of
from lvmkit_widgets.ui.export import (
    TWICE,
    Export,
    StepsExportTab,
    page_export,
    steps_export,
    table_export,
)
from lvmkit_widgets.ui.tabs import Cases, TabbedDashboard
from lvmkit_widgets.ui.widgets import Status
from lvmkit_widgets.ui.words import counted_unless_few

TITLE = "Clusters of tensors"
NOTE = (
    "Files for others hold totals: counts below {0}, and means and discriminants of clusters with fewer than {0} "
    "samples, are hidden. Only the last one has a row for each sample. " + TWICE
)
ENTRIES = "Strength, discriminants and means of each."
MODELS = "BIC, entries and sizes of clusters at every λ."
SLICE = "The slice that is shown, as a picture for print."
FOOTER = (
    "Discriminants compare with cluster 0. Each model numbers its clusters anew, so that at another λ one may have "
    "another number. Clusters and discriminants describe these data; they do not say what causes what."
)
HELD = 12  # models in a page, at most
ROOM = 1_500_000  # bytes of means and discriminants; with more the page would grow too large


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
        names = getattr(X, "mode_names", None) if mode_names is None else mode_names
        known = getattr(X, "labels", None) if labels is None else labels
        state = TensorState.of(
            model,
            named_modes(np.shape(checked(model).means_)[1:], names, known),
            path,
            sets=(samples_of(model, X, groups),),
            disclosure=Disclosure(private=private, on_screen=False),
        )
        self._name = name
        slices = SlicesTab()
        super().__init__(
            {"status": Status()},
            frame=[ModelForm()],
            tabs=[
                slices,
                PenaltyPathTab(),
                SamplesTab(),
                StepsExportTab(exports_of(slices.drawn), note_of),
            ],
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
        """Return the state that a saved page shows, with what it holds."""
        state = self.state
        return state.for_others.replace(held=HeldModels(state.index, tuple(held(state))))

    def _page_cases(self, state: TensorState) -> Iterator[Cases[TensorState]]:
        """Yield what happens when the reader of a saved page moves λ."""
        models = {str(place): state.at(index) for place, index in enumerate(state.offered)}
        if len(models) > 1:
            yield Cases("model.selected", models)

    def _heading(self, state: TensorState) -> dict[str, str]:
        """Title, subtitle and footer."""
        title = f"{TITLE}: {self._name}" if self._name else TITLE
        return {"title": title, "subtitle": subtitle(state), "footer": FOOTER}


def subtitle(state: TensorState) -> str:
    """Say how many samples of which shape there are."""
    modes, n = state.modes, len(state.samples.values)
    shape = " × ".join(f"{size:,}" for size in modes.shape)
    parts = [
        state.samples.name if len(state.sets) > 1 else "",
        counted_unless_few(n, "sample", state.disclosure),
        f"{shape} ({' × '.join(modes.names)})",
        state.title_of(state.index),
    ]
    return " · ".join(part for part in parts if part)


def held(state: TensorState) -> list[int]:
    """Choose the models that a page holds: of the number of clusters that is looked at."""
    along = list(state.along)
    fields = fields_of(state, state.index)
    size = len(fields["means"]) + len(fields["discriminants"])
    room = int(np.clip(ROOM // max(size, 1), 1, HELD))
    spread = np.linspace(0, len(along) - 1, min(room, len(along))).round().astype(int)
    wanted = {state.index} | {i for i in along if state.solutions[i].best}
    return sorted({along[i] for i in spread} | wanted)


def exports_of(slice_picture: Callable[[TensorState], str]) -> tuple[Export[TensorState], ...]:
    """List what can be taken away; the slice is drawn as the reader sees it."""
    return (
        table_export("entries", "Selected entries", entries_table, ENTRIES),
        table_export("models", "Models", models_table, MODELS),
        Export("slice", "Slice (SVG)", "slice.svg", slice_picture, SLICE),
        Export(
            "sparsity",
            "Sparsity path (SVG)",
            "sparsity-path.svg",
            lambda state: draw_sparsity(state, state.index),
            "The strength of entries against λ.",
            offered=lambda state: state.solution.path is not None,
        ),
        page_export("tensors.html"),
        steps_export("Repeats what was done here."),
        table_export(
            "labels",
            "Cluster of each sample",
            samples_table,
            "One row per sample: keep it with the data.",
            private="It has a row for every sample: keep it with the data.",
            mark="",
        ),
    )


def note_of(state: TensorState) -> str:
    """Say what files hold."""
    return NOTE.format(state.disclosure.threshold) if state.private else ""
