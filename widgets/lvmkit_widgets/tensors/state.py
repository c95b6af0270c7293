"""State of the tensor explorer: the model shown, what is picked, and the history."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import param

from lvmkit.charts._modes import Modes
from lvmkit.charts.sparsity_path import entries_text, penalty_text
from lvmkit.core import moved
from lvmkit.core.typing import Array, Labels
from lvmkit_widgets.tensors.data import SampleSet, Solution, samples_of
from lvmkit_widgets.ui.history import History, Step, UndoRedo
from lvmkit_widgets.ui.words import counted

THRESHOLD = 11
START = (
    "from lvmkit_widgets import TensorExplorer\n"
    "# model, X, path: what was opened\n"
    "state = TensorExplorer(model, X, path=path).state"
)


class TensorState(UndoRedo, param.Parameterized):
    """Models, the one that is looked at, what is picked of it, and the steps that led there."""

    cluster = param.Integer(default=0, bounds=(0, None), doc="Cluster that is picked.")
    entry = param.Integer(default=None, allow_None=True, doc="Entry that is picked.")
    hide_small = param.Boolean(default=False, doc="Whether small counts are hidden on screen too.")
    sets = param.Parameter(constant=True, doc="Sets of samples; the first was passed.")
    shown_set = param.Integer(default=0, doc="Place of the set that is looked at.")
    history = param.Parameter(constant=True, doc="Steps taken so far.")
    message = param.String(default="", doc="What the last step did, in words.")

    def __init__(
        self,
        solutions: tuple[Solution, ...],
        start: int,
        modes: Modes,
        *,
        samples: SampleSet,
        path: Any = None,
        private: bool = True,
    ) -> None:
        self.path = path
        self.solutions, self.modes, self.private = solutions, modes, private
        self._posteriors: dict[tuple[int, int], Array] = {}
        self._remembered: dict[str, Any] = {}
        super().__init__(history=History((Step("Opened", START, start),)), sets=(samples,))
        self.cluster = min(1, self.solution.n_components - 1)

    @property
    def index(self) -> int:
        """Place of the model that is looked at."""
        return int(self.history.value)

    @property
    def solution(self) -> Solution:
        """The model that is looked at."""
        return self.solutions[self.index]

    @property
    def samples(self) -> SampleSet:
        """The samples that are looked at."""
        return self.sets[self.shown_set]

    @property
    def suppressing(self) -> bool:
        """Whether small counts are hidden now."""
        return self.private and self.hide_small

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of clusters that there are models of."""
        return tuple(sorted({s.n_components for s in self.solutions}))

    @property
    def recommended(self) -> int:
        """Place of the model that the path recommends; without a path of the one that was passed."""
        if self.path is None:
            return int(self.history.steps[0].value)
        best = self.path.best_model
        return next(i for i, s in enumerate(self.solutions) if s.model is best)

    @property
    def along(self) -> tuple[int, ...]:
        """Places of the models with the same number of clusters, λ ascending."""
        k = self.solution.n_components
        return tuple(i for i, s in enumerate(self.solutions) if s.n_components == k)

    place, hiding = moved.OldName("index"), moved.OldName("suppressing")
    told, named = moved.OldName("describe"), moved.OldName("title_of")

    @moved.arguments(place="index")
    def posteriors(self, index: int, which: int | None = None) -> Array:
        """Return how likely each sample belongs to each cluster of a model, (n, K)."""
        key = (index, self.shown_set if which is None else which)
        if key not in self._posteriors:
            values, one = self.sets[key[1]].values, self.solutions[index]
            alone = np.ones((len(values), 1))
            several = one.n_components > 1
            self._posteriors[key] = (
                np.asarray(one.model.predict_proba(values)) if several else alone
            )
        return self._posteriors[key]

    @moved.arguments(place="index")
    def labels(self, index: int, which: int | None = None) -> Labels:
        """Return the most likely cluster of each sample."""
        return self.posteriors(index, which).argmax(axis=1)

    def describe(self, index: int) -> str:
        """Name a model."""
        one = self.solutions[index]
        return f"λ = {penalty_text(one.penalty)} · {entries_text(one.n_selected)}"

    def title_of(self, index: int) -> str:
        """Name a model with its number of clusters."""
        return f"{counted(self.solutions[index].n_components, 'cluster')}, {self.describe(index)}"

    # -- steps -----------------------------------------------------------------------------------

    @moved.arguments(place="index")
    def choose(self, index: int) -> None:
        """Look at another model."""
        if not 0 <= index < len(self.solutions):
            message = f"There is no model {index}; there are 0 to {len(self.solutions) - 1}."
            raise ValueError(message)
        self._select(int(index), f"Showed {self.title_of(index)}", f"state.choose({int(index)})")

    def choose_best(self) -> None:
        """Look at the model that is recommended: as the path does, or with the lowest BIC."""
        index = self.recommended
        self._select(index, f"Recommended: {self.title_of(index)}", "state.choose_best()")

    def choose_n_components(self, n_components: int) -> None:
        """Look at a number of clusters, with the λ of the lowest BIC."""
        indices = [i for i, s in enumerate(self.solutions) if s.n_components == n_components]
        if not indices:
            known = ", ".join(map(str, self.numbers))
            message = (
                f"There is no model with {counted(n_components, 'cluster')}; there are {known}."
            )
            raise ValueError(message)
        bic = [np.nan_to_num(self.solutions[i].bic, nan=np.inf) for i in indices]
        best = [i for i in indices if self.solutions[i].best]
        index = best[0] if best else indices[int(np.argmin(bic))]
        code = f"state.choose_n_components({int(n_components)})"
        self._select(index, f"Showed {self.title_of(index)}", code)

    def pick(self, cluster: int) -> None:
        """Look at a cluster."""
        n = self.solution.n_components
        if not 0 <= cluster < n:
            message = f"There is no cluster {cluster}; they are numbered 0 to {n - 1}."
            raise ValueError(message)
        self.cluster = int(cluster)

    def find(self, entry: int | None) -> None:
        """Look at an entry of the tensor."""
        size = int(np.prod(self.modes.shape))
        if entry is not None and not 0 <= entry < size:
            message = f"There is no entry {entry}; they are numbered 0 to {size - 1}."
            raise ValueError(message)
        self.entry = None if entry is None else int(entry)

    def add_samples(self, X: Any, groups: Any = None, *, name: str = "new samples") -> None:
        """Look at other samples, such as those that the model was not fitted to."""
        more = samples_of(self.solution.model, X, groups, name=name)
        with param.edit_constant(self):
            self.param.update(sets=(*self.sets, more), shown_set=len(self.sets))

    def remembered(self, name: str, make: Callable[[], Any]) -> Any:
        """Make something that does not change while the dashboard is open, or take what was made before."""
        if name not in self._remembered:
            self._remembered[name] = make()
        return self._remembered[name]

    @contextmanager
    def for_others(self) -> Iterator[None]:
        """Hide small counts inside the ``with`` block, without a change on the screen."""
        shown = self.hide_small
        with param.parameterized.discard_events(self):
            self.hide_small = True
            try:
                yield
            finally:
                self.hide_small = shown

    # -- inside ----------------------------------------------------------------------------------

    def _go(self, history: History[int], message: str) -> None:
        """Stand somewhere in the history, with a cluster picked that is there."""
        last = self.solutions[int(history.value)].n_components - 1
        with param.edit_constant(self):
            self.param.update(
                history=history, message=message, cluster=min(max(self.cluster, min(1, last)), last)
            )
