"""State of the tensor explorer: the model shown, what is picked, the history, and what may be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd

from lvmkit.charts._modes import Modes
from lvmkit.charts.sparsity_path import entries_text, penalty_text
from lvmkit.charts.tensor_selection import paths_of
from lvmkit.core import moved
from lvmkit.core.typing import Array, Labels
from lvmkit.core.validation import check_matrix
from lvmkit.disclosure.tensors import groups_table, same_means, shown_with_sizes
from lvmkit.disclosure.text import coarse, shown_count
from lvmkit_widgets.ui.history import started
from lvmkit_widgets.ui.state import StepState, remembered
from lvmkit_widgets.ui.words import counted, refuse, require_numbered

_NEEDED = ("weights_", "means_", "discriminants_", "selected_", "predict_proba")


@dataclass(frozen=True, eq=False)
class Solution:
    """A fitted model, and where it stands."""

    model: Any  # Fitted
    penalty: float  # Of the model; NaN where unknown
    bic: float  # Of the model; NaN where unknown
    path: Any  # The path it belongs to; None for a model that was passed alone
    step: int  # Its place in that path, or the nearest by λ

    @property
    def n_components(self) -> int:
        """Number of clusters."""
        return len(self.model.weights_)

    @property
    def n_selected(self) -> int:
        """Number of selected entries."""
        return int(np.count_nonzero(self.model.selected_))

    @property
    def best(self) -> bool:
        """Whether it has the lowest BIC of its path."""
        return self.path is not None and self.path.models[int(self.path.best)] is self.model


@dataclass(frozen=True, eq=False)
class SampleSet:
    """Samples that are looked at."""

    values: Array  # What was measured
    groups: Any  # Known class of each, in the order of the table's categories or of the alphabet
    ids: tuple[str, ...]  # What each is called
    name: str  # What all are called


class HeldModels(NamedTuple):
    """What a saved page has room for."""

    first: int  # Place of the model that it shows first
    models: tuple[int, ...]  # Places of its models


@dataclass(frozen=True, eq=False, kw_only=True)
class TensorState(StepState[int]):
    """Models, the one that is looked at, what is picked of it, and the steps that led there."""

    start: ClassVar[str] = started(
        "TensorExplorer(model, X, path=path)", "model, X, path: what was opened"
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
    def of(cls, model: Any, modes: Modes, path: Any, **fields: Any) -> Self:
        """Return the state of models, at the one that was passed."""
        solutions = solutions_of(model, path)
        start = next(i for i, s in enumerate(solutions) if _same(s.model, model))
        fields |= {"path": path}
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
            refuse(f"There is no model {index}; there are 0 to {len(self.solutions) - 1}.")
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
            refuse(f"There is no model with {counted(n_components, 'cluster')}; there are {known}.")
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


# -- what was passed ------------------------------------------------------------------------------


def checked(model: Any) -> Any:
    """Refuse what is no fitted model."""
    if not all(hasattr(model, name) for name in _NEEDED):
        refuse(
            f"TensorExplorer needs a fitted TensorNormalMixture; found {type(model).__name__}. "
            "Fit one: lvmkit.TensorNormalMixture(2).fit(X).",
            TypeError,
        )
    return model


def samples_of(model: Any, X: Any, groups: Any = None, *, name: str = "samples") -> SampleSet:
    """Read samples."""
    plain = X if isinstance(X, Mapping) else getattr(X, "values", X)
    values = check_matrix(plain, "X", accept_sparse=False, allow_nd=True, dtype=np.float64)
    shape = np.shape(model.means_)[1:]
    if values.shape[1:] != shape or not len(values):
        told = " × ".join(map(str, shape))
        refuse(
            f"X has shape {values.shape}; the model needs samples of {told} along the first axis."
        )
    known = getattr(X, "samples", None)
    given = groups
    if isinstance(groups, str):
        if known is None or groups not in known:
            there = (
                "no table of samples" if known is None else f"columns {', '.join(map(str, known))}"
            )
            refuse(f"groups is {groups!r}, but X has {there}; pass a class for each sample.")
        given = known[groups]
    if given is not None and (isinstance(given, Mapping) or not hasattr(given, "__len__")):
        refuse(
            f"groups must be a class for each sample, or a column's name; found {type(given).__name__}.",
            TypeError,
        )
    if given is not None and len(given) != len(values):
        refuse(f"groups has {len(given)} values for {len(values)} samples; pass one for each.")
    ids = range(len(values)) if known is None else known.index
    classes = None if given is None else _classes(given)
    return SampleSet(values, classes, tuple(map(str, ids)), name)


def solutions_of(model: Any, path: Any) -> tuple[Solution, ...]:
    """List the models that can be looked at."""
    if path is not None and not (hasattr(path, "paths") or hasattr(path, "models")):
        refuse(
            f"path is {type(path).__name__}; pass what lvmkit.models.select_penalty or "
            "select_tensor_components returned.",
            TypeError,
        )
    paths = {} if path is None else paths_of(path)
    found = [
        Solution(one, float(p.penalties[step]), float(p.bic[step]), p, step)
        for p in paths.values()
        for step, one in enumerate(p.models)
    ]
    if any(s.model.means_.shape[1:] != model.means_.shape[1:] for s in found):
        refuse("path has models of tensors of another shape; make it from the same data.")
    if not any(_same(s.model, model) for s in found):
        home = paths.get(len(model.weights_))
        penalty = float(getattr(model, "penalty_", None) or 0.0)
        far = [] if home is None else np.abs(_logs(home.penalties) - _logs(penalty))
        step = int(np.argmin(far)) if len(far) else 0
        found.append(Solution(model, penalty, float(getattr(model, "bic_", np.nan)), home, step))
    return tuple(sorted(found, key=lambda s: (s.n_components, s.penalty)))


def _classes(given: Any) -> Any:
    """Write classes as texts that keep their order."""
    known = pd.Series(given)
    ordered = known.cat.categories if isinstance(known.dtype, pd.CategoricalDtype) else ()
    texts = ["unknown" if pd.isna(g) else str(g) for g in given]
    there = set(texts)
    names = dict.fromkeys([*map(str, ordered), *sorted(there)])
    return pd.Categorical(texts, [name for name in names if name in there], ordered=True)


def _same(one: Any, other: Any) -> bool:
    """Tell whether two models are one, or were fitted alike to the same end."""
    return one is other or (
        one.means_.shape == other.means_.shape
        and np.array_equal(one.means_, other.means_)
        and np.array_equal(one.discriminants_, other.discriminants_)
    )


def _logs(penalties: Any) -> Any:
    """Return logarithms of λ, away from 0, which has none."""
    return np.log(np.maximum(np.asarray(penalties, dtype=float), 1e-300))


# -- small counts and small clusters of samples that stand for people ------------------------------


@remembered
def small_clusters(state: TensorState, index: int) -> tuple[int, ...]:
    """List the clusters whose means and discriminants are hidden now."""
    if not state.suppressing:
        return ()
    k = state.solutions[index].n_components
    sizes = np.bincount(state.labels(index, 0), minlength=k)
    fitted = getattr(state.solutions[index].model, "labels_", None)
    if fitted is not None:
        sizes = np.minimum(sizes, np.bincount(np.asarray(fitted), minlength=k))
    return tuple(int(j) for j in np.flatnonzero(sizes < state.disclosure.threshold))


@remembered
def shown_model(state: TensorState, index: int) -> tuple[Array, Array]:
    """Return what may be shown of means and discriminants, NaN elsewhere."""
    model = state.solutions[index].model
    means = np.array(model.means_, dtype=float)
    weights = np.array(model.discriminants_, dtype=float)
    small = np.array(small_clusters(state, index), dtype=int)
    first = state.index if state.held is None else state.held.first
    if state.suppressing and index != first:
        means = same_means(means, np.asarray(state.solutions[first].model.means_, dtype=float))
    means[small] = np.nan
    if 0 in small:
        weights[:] = np.nan
    else:
        weights[small - 1] = np.nan
    return means, weights


def strengths(state: TensorState, index: int) -> Array:
    """Return how strong each entry is: the norm of its discriminants, over the clusters that are shown."""
    weights = shown_model(state, index)[1]
    flat = weights.reshape(len(weights), int(np.prod(weights.shape[1:])))
    norms: Array = np.sqrt(np.nansum(flat**2, axis=0))
    return np.where(np.isnan(flat).all(axis=0), np.nan, norms) if len(flat) else norms


def rounded_bic(state: TensorState) -> Array:
    """Return BIC of every model, where small counts are hidden no finer than a pixel of its curve."""
    bic = np.array([one.bic for one in state.solutions], dtype=float)
    return coarse(bic) if state.suppressing else bic


def sizes_of(state: TensorState, index: int) -> tuple[list[int | str], Array]:
    """Return the sizes of the clusters as texts or numbers, and their shares."""
    labels, least = state.labels(index), state.disclosure.threshold
    whole = np.bincount(labels, minlength=state.solutions[index].n_components).astype(float)
    shown = shown_with_sizes(whole[:, None], least)[1] if state.suppressing else whole
    return texts_of(shown, whole, least), shown / len(labels)


def texts_of(shown: Array, whole: Array, least: int) -> list[int | str]:
    """Return counts as they may be shown, each beside what it is in truth."""
    return [shown_count(n, int(all_of), least) for n, all_of in zip(shown, whole, strict=True)]


@remembered
def groups_of(state: TensorState, index: int, which: int | None = None) -> pd.DataFrame | None:
    """Count known groups by cluster."""
    groups = state.sets[state.shown_set if which is None else which].groups
    if groups is None:
        return None
    labels, k = state.labels(index, which), state.solutions[index].n_components
    least, hide = state.disclosure.threshold, state.suppressing
    return groups_table(labels, groups, n_clusters=k, threshold=least, hide=hide)
