"""State of the tensor explorer: the model shown, what is picked, and the history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from lvmkit.charts._modes import Modes
from lvmkit.charts.sparsity_path import entries_text, penalty_text
from lvmkit.core import moved
from lvmkit.core.typing import Array, Labels
from lvmkit_widgets.tensors.data import SampleSet, Solution, samples_of
from lvmkit_widgets.ui.state import StepState, remembered
from lvmkit_widgets.ui.words import counted, require_numbered


class HeldModels(NamedTuple):
    """What a saved page has room for."""

    first: int  # Place of the model that it shows first
    models: tuple[int, ...]  # Places of its models


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorState(StepState[int]):
    """Models, the one that is looked at, what is picked of it, and the steps that led there."""

    start: ClassVar[str] = (
        "from lvmkit_widgets import TensorExplorer\n"
        "# model, X, path: what was opened\n"
        "state = TensorExplorer(model, X, path=path).state"
    )

    solutions: tuple[Solution, ...]
    passed: int  # Place of the model that was passed
    modes: Modes
    path: Any = None
    sets: tuple[SampleSet, ...]  # The first was passed
    shown_set: int = 0  # Place of the set that is looked at
    cluster: int = 0  # Cluster that is picked
    entry: int | None = None  # Entry that is picked
    sample: str | None = None  # Sample that is picked
    held: HeldModels | None = None  # What the page holds; None while Python answers

    @classmethod
    def of(cls, solutions: tuple[Solution, ...], start: int, modes: Modes, **fields: Any) -> Self:
        """Return the state of models, at the one that was passed."""
        state = cls.opened(start, solutions=solutions, passed=start, modes=modes, **fields)
        return state.replace(cluster=min(1, state.solution.n_components - 1))

    @property
    def index(self) -> int:
        """Place of the model that is looked at."""
        return self.value

    @property
    def solution(self) -> Solution:
        """The model that is looked at."""
        return self.solutions[self.index]

    @property
    def samples(self) -> SampleSet:
        """The samples that are looked at."""
        return self.sets[self.shown_set]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of clusters that there are models of."""
        return tuple(sorted({s.n_components for s in self.solutions}))

    @property
    def recommended(self) -> int:
        """Place of the model that the path recommends; without a path of the one that was passed."""
        if self.path is None:
            return self.passed
        best = self.path.best_model
        return next(i for i, s in enumerate(self.solutions) if s.model is best)

    @property
    def along(self) -> tuple[int, ...]:
        """Places of the models with the same number of clusters, λ ascending."""
        k = self.solution.n_components
        return tuple(i for i, s in enumerate(self.solutions) if s.n_components == k)

    @property
    def offered(self) -> tuple[int, ...]:
        """Places of the models that the slider has: all of them, or those in the page."""
        return self.along if self.held is None else self.held.models

    place, hiding = moved.OldName("index"), moved.OldName("suppressing")
    told, named = moved.OldName("describe"), moved.OldName("title_of")

    @moved.arguments(place="index")
    def posteriors(self, index: int, which: int | None = None) -> Array:
        """Return how likely each sample belongs to each cluster of a model, (n, K)."""
        return posteriors_of(self, index, self.shown_set if which is None else which)

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
    def choose(self, index: int) -> Self:
        """Look at another model."""
        if not 0 <= index < len(self.solutions):
            message = f"There is no model {index}; there are 0 to {len(self.solutions) - 1}."
            raise ValueError(message)
        return self.step_to(int(index), f"Showed {self.title_of(index)}", f"choose({int(index)})")

    def choose_best(self) -> Self:
        """Look at the model that is recommended: as the path does, or with the lowest BIC."""
        index = self.recommended
        return self.step_to(index, f"Recommended: {self.title_of(index)}", "choose_best()")

    def choose_n_components(self, n_components: int) -> Self:
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
        code = f"choose_n_components({int(n_components)})"
        return self.step_to(index, f"Showed {self.title_of(index)}", code)

    def pick(self, cluster: int) -> Self:
        """Look at a cluster."""
        require_numbered(cluster, self.solution.n_components, "cluster")
        return self.replace(cluster=int(cluster))

    def find(self, entry: int | None) -> Self:
        """Look at an entry of the tensor."""
        if entry is not None:
            require_numbered(entry, int(np.prod(self.modes.shape)), "entry")
        return self.replace(entry=None if entry is None else int(entry))

    def add_samples(self, X: Any, groups: Any = None, *, name: str = "new samples") -> Self:
        """Look at other samples, such as those that the model was not fitted to."""
        more = samples_of(self.solution.model, X, groups, name=name)
        return self.replace(sets=(*self.sets, more), shown_set=len(self.sets), sample=None)

    def follow(self, value: int) -> dict[str, Any]:
        """Pick a cluster that is there."""
        last = self.solutions[value].n_components - 1
        return {"cluster": min(max(self.cluster, min(1, last)), last), "sample": None}

    def at(self, index: int) -> Self:
        """Return the state at another model, without a step."""
        return self._stand(self.history.push("", "", index), "")


@remembered
def posteriors_of(state: TensorState, index: int, which: int) -> Array:
    """Return how likely each sample of a set belongs to each cluster of a model, (n, K)."""
    values, one = state.sets[which].values, state.solutions[index]
    if one.n_components == 1:
        return np.ones((len(values), 1))
    return np.asarray(one.model.predict_proba(values))
