"""Input validation of the tensor explorer: models, samples, names of modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lvmkit.charts._modes import Modes, named_modes
from lvmkit.charts.tensor_selection import paths_of
from lvmkit.core.typing import Array
from lvmkit.core.validation import check_matrix

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


def checked(model: Any) -> Any:
    """Refuse what is no fitted model."""
    if not all(hasattr(model, name) for name in _NEEDED):
        message = (
            f"TensorExplorer needs a fitted TensorNormalMixture; found {type(model).__name__}. "
            "Fit one: lvmkit.TensorNormalMixture(2).fit(X)."
        )
        raise TypeError(message)
    return model


def samples_of(model: Any, X: Any, groups: Any = None, *, name: str = "samples") -> SampleSet:
    """Read samples."""
    plain = X if isinstance(X, Mapping) else getattr(X, "values", X)
    values = check_matrix(plain, "X", accept_sparse=False, allow_nd=True, dtype=np.float64)
    shape = np.shape(model.means_)[1:]
    if values.shape[1:] != shape or not len(values):
        told = " × ".join(map(str, shape))
        message = (
            f"X has shape {values.shape}; the model needs samples of {told} along the first axis."
        )
        raise ValueError(message)
    known = getattr(X, "samples", None)
    given = groups
    if isinstance(groups, str):
        if known is None or groups not in known:
            there = (
                "no table of samples" if known is None else f"columns {', '.join(map(str, known))}"
            )
            message = f"groups is {groups!r}, but X has {there}; pass a class for each sample."
            raise ValueError(message)
        given = known[groups]
    if given is not None and (isinstance(given, Mapping) or not hasattr(given, "__len__")):
        message = f"groups must be a class for each sample, or a column's name; found {type(given).__name__}."
        raise TypeError(message)
    if given is not None and len(given) != len(values):
        message = f"groups has {len(given)} values for {len(values)} samples; pass one for each."
        raise ValueError(message)
    ids = range(len(values)) if known is None else known.index
    classes = None if given is None else _classes(given)
    return SampleSet(values, classes, tuple(map(str, ids)), name)


def modes_of(
    model: Any,
    X: Any,
    mode_names: Sequence[str] | None = None,
    *,
    labels: Sequence[Any] | None = None,
) -> Modes:
    """Name modes and the places along them."""
    shape = np.shape(model.means_)[1:]
    names = getattr(X, "mode_names", None) if mode_names is None else mode_names
    known = getattr(X, "labels", None) if labels is None else labels
    return named_modes(shape, names, known)


def solutions_of(model: Any, path: Any) -> tuple[Solution, ...]:
    """List the models that can be looked at."""
    if path is not None and not (hasattr(path, "paths") or hasattr(path, "models")):
        message = (
            f"path is {type(path).__name__}; pass what lvmkit.models.select_penalty or "
            "select_tensor_components returned."
        )
        raise TypeError(message)
    paths = {} if path is None else paths_of(path)
    found = [
        Solution(one, float(p.penalties[step]), float(p.bic[step]), p, step)
        for p in paths.values()
        for step, one in enumerate(p.models)
    ]
    if any(s.model.means_.shape[1:] != model.means_.shape[1:] for s in found):
        message = "path has models of tensors of another shape; make it from the same data."
        raise ValueError(message)
    if not any(_same(s.model, model) for s in found):
        home = paths.get(len(model.weights_))
        penalty = float(getattr(model, "penalty_", None) or 0.0)
        far = [] if home is None else np.abs(_logs(home.penalties) - _logs(penalty))
        step = int(np.argmin(far)) if len(far) else 0
        found.append(Solution(model, penalty, float(getattr(model, "bic_", np.nan)), home, step))
    return tuple(sorted(found, key=lambda s: (s.n_components, s.penalty)))


def place_of(solutions: Sequence[Solution], model: Any) -> int:
    """Find the model that was passed."""
    return next(i for i, s in enumerate(solutions) if _same(s.model, model))


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
