"""Fits started from a dashboard: checks of the size, fits without warnings, splits of a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from lvmkit.cohorts.subset import Subset
from lvmkit.core.typing import Progress
from lvmkit.core.validation import DataWarning
from lvmkit.mixtures.analysis import Analysis, ClusterView, carry_names
from lvmkit.mixtures.assignment import Moves, moves
from lvmkit.mixtures.bernoulli import BernoulliMixture
from lvmkit.mixtures.cluster import Mixture
from lvmkit.mixtures.clustering import Clustering

LARGE_CLIP = 0.02  # as in BernoulliMixture, which warns above it


class FitJob(NamedTuple):
    """A long computation and the callback for its result."""

    title: str  # What is being done, in words
    work: Callable[[Progress | None], Any]
    done: Callable[[Any], None]  # Takes the result and changes the state


def check_size(n_clusters: int, n_patients: int, n_codes: int) -> None:
    """Refuse numbers of clusters that the data do not allow."""
    if n_codes == 0:
        message = "Every code is left out. Put at least two codes back in."
        raise ValueError(message)
    if n_clusters < 1:
        message = f"The number of clusters must be 1 or more; {n_clusters} was given."
        raise ValueError(message)
    if n_clusters > n_codes:
        message = (
            f"{n_clusters} clusters need at least {n_clusters} codes, but only {n_codes} are "
            f"included. Choose at most {n_codes} clusters, or put codes back in."
        )
        raise ValueError(message)
    if n_patients < max(2, 2 * n_clusters):
        message = (
            f"{n_clusters} clusters need at least {max(2, 2 * n_clusters)} patients, but only "
            f"{n_patients} are chosen. Choose fewer clusters or more patients."
        )
        raise ValueError(message)


def fit_mixture(
    X: Any,
    codes: tuple[str, ...],
    n_clusters: int,
    *,
    sample_weight: Any = None,
    progress: Progress | None = None,
) -> tuple[Mixture, str]:
    """Fit a mixture of Bernoulli distributions."""
    check_size(n_clusters, X.shape[0], len(codes))
    model = fit_quietly(X, n_clusters, sample_weight=sample_weight, progress=progress)
    mixture = Mixture(np.asarray(model.weights_), np.asarray(model.centers_), codes)
    return mixture, how_it_stopped(model)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out what models warn of: with many numbers of clusters some always do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        yield


def fit_quietly(
    X: Any, n_clusters: int, *, sample_weight: Any = None, progress: Progress | None = None
) -> Any:
    """Fit a model without its warnings, which the dashboard gives in its own words."""
    model = BernoulliMixture(n_components=n_clusters, binarize=0)
    with quiet():
        return model.fit(X, sample_weight=sample_weight, progress=progress)


def how_it_stopped(model: Any) -> str:
    """Return the stopping rule of a fit in words."""
    reason, steps = getattr(model, "stopped_by_", None), getattr(model, "n_iter_", 0)
    if reason is None:
        return ""
    if reason == "max_iter":
        how = f"stopped before converging, after {steps} steps: read it with care"
    elif reason == "moments":
        how = "read off the moments alone, without EM"
    else:
        how = f"converged after {steps} steps"
    if getattr(model, "caution_", "") or getattr(model, "clipped_", 0.0) > LARGE_CLIP:
        how += "; the data hardly support so many clusters, try fewer"
    return how


def refitted(
    analysis: Analysis,
    old: ClusterView,
    k: int,
    *,
    subset: Subset,
    codes: tuple[str, ...],
    progress: Progress | None = None,
) -> tuple[ClusterView, list[str]]:
    """Fit all clusters again."""
    patients = analysis.patients
    mixture, how = fit_mixture(
        patients.matrix(subset, codes),
        codes,
        k,
        sample_weight=patients.weights(subset),
        progress=progress,
    )
    new = ClusterView(Clustering.of(mixture), subset, how)
    before, after = analysis.assignment(old), analysis.assignment(new)
    clustering, carried = carry_names(old.clustering, before, new.clustering, after)
    return ClusterView(clustering, subset, how), carried


def split(
    analysis: Analysis, view: ClusterView, id: int, parts: int, *, progress: Progress | None = None
) -> tuple[ClusterView, Moves]:
    """Cluster the patients of one cluster again."""
    before = analysis.assignment(view)
    members = before.labels == id
    weights = analysis.patients.weights(view.subset)
    codes = view.clustering.mixture.codes
    part, _ = fit_mixture(
        before.X[members],
        codes,
        parts,
        sample_weight=None if weights is None else weights[members],
        progress=progress,
    )
    new = ClusterView(view.clustering.split(id, part.weights, part.centers), view.subset, view.how)
    return new, moves(before, analysis.assignment(new), id)
