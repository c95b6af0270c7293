"""Selection of the penalty and of the number of clusters by BIC."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from lvmkit.core.parallel import single_threaded_blas
from lvmkit.core.progress import progress_callback
from lvmkit.core.typing import Array, Labels, Progress
from lvmkit.core.validation import require_number
from lvmkit.tensors.mixture import TensorNormalMixture, TensorSearch
from lvmkit.tensors.penalty_path import PATIENCE, threads

SMALL = 0.05
"""Share of the samples below which a cluster is too small for its number of clusters to be recommended."""


@dataclass(frozen=True)
class PenaltyPath:
    """Fits of one number of clusters, for each penalty from the largest to the smallest.

    Attributes
    ----------
    models : tuple of TensorNormalMixture (L,)
        One for each penalty.
    """

    models: tuple[TensorNormalMixture, ...]

    @property
    def penalties(self) -> Array:
        """Penalties (L,)."""
        return np.array([model.penalty_ for model in self.models])

    @property
    def bic(self) -> Array:
        """Bayesian information criterion of each (L,); smaller is better."""
        return np.array([model.bic_ for model in self.models])

    @property
    def log_likelihoods(self) -> Array:
        """Log-likelihood of all samples (L,)."""
        return np.array([model.log_likelihood_ for model in self.models])

    @property
    def n_selected(self) -> Labels:
        """Number of entries that are selected (L,)."""
        return np.array([int(model.selected_.sum()) for model in self.models])

    @property
    def entry_norms(self) -> Array:
        """Length of the discriminants at each entry (L, p_1, ..., p_M)."""
        return np.array([np.linalg.norm(model.discriminants_, axis=0) for model in self.models])

    @property
    def labels(self) -> Labels:
        """Cluster of each sample (L, n)."""
        return np.array([model.labels_ for model in self.models])

    @property
    def weights(self) -> Array:
        """Weights of the clusters (L, K)."""
        return np.array([model.weights_ for model in self.models])

    @property
    def best(self) -> int:
        """Index of the lowest criterion among the fits in which some entry is selected."""
        some = self.n_selected > 0
        return int(np.where(some | ~some.any(), self.bic, np.inf).argmin())

    @property
    def best_model(self) -> TensorNormalMixture:
        """Return the model of the lowest criterion."""
        return self.models[self.best]

    def table(self) -> pd.DataFrame:
        """Return one row for each penalty.

        Returns
        -------
        DataFrame
            penalty, bic, log_likelihood, n_selected, smallest_cluster (its share of the samples), converged.
        """
        return pd.DataFrame(
            {
                "penalty": self.penalties,
                "bic": self.bic,
                "log_likelihood": self.log_likelihoods,
                "n_selected": self.n_selected,
                "smallest_cluster": [smallest_share(model) for model in self.models],
                "converged": [model.converged_ for model in self.models],
            }
        )


@dataclass(frozen=True)
class ComponentsPath:
    """Fits of several numbers of clusters.

    Attributes
    ----------
    paths : dict of int to PenaltyPath
        For each number of clusters its fits.
    """

    paths: dict[int, PenaltyPath]

    @property
    def best(self) -> int:
        """Number of clusters of the lowest criterion, among those whose clusters are all of some size."""
        table = self.table()
        enough = table["smallest_cluster"] >= SMALL
        among = table[enough] if enough.any() else table
        return int(among["n_components"].to_numpy()[among["bic"].to_numpy().argmin()])

    @property
    def best_model(self) -> TensorNormalMixture:
        """Return the model of the recommended number of clusters."""
        return self.paths[self.best].best_model

    @property
    def reason(self) -> str:
        """The recommendation in words."""
        table = self.table().set_index("n_components")
        small = [str(k) for k in table.index[table["smallest_cluster"] < SMALL]]
        lowest = float(self.best_model.bic_)
        others = {k: path.best_model.bic_ for k, path in self.paths.items() if k != self.best}
        said = f"{self.best} clusters have the lowest BIC, {lowest:,.1f}"
        if others:
            after = min(others, key=others.__getitem__)
            said += f"; next are {after} with {others[after] - lowest:+,.1f}"
        if small:
            said += (
                f". With {', '.join(small)} clusters, some hold under {SMALL:.0%} of the samples"
            )
        return said

    def table(self) -> pd.DataFrame:
        """Return one row for each number of clusters.

        Returns
        -------
        DataFrame
            n_components, penalty, bic, log_likelihood, n_selected, smallest_cluster (its share of the samples).
        """
        best = {k: path.best_model for k, path in self.paths.items()}
        return pd.DataFrame(
            {
                "n_components": list(best),
                "penalty": [model.penalty_ for model in best.values()],
                "bic": [model.bic_ for model in best.values()],
                "log_likelihood": [model.log_likelihood_ for model in best.values()],
                "n_selected": [int(model.selected_.sum()) for model in best.values()],
                "smallest_cluster": [smallest_share(model) for model in best.values()],
            }
        )


def select_penalty(
    X: Any,
    n_components: int = 2,
    *,
    penalties: Iterable[float] | None = None,
    estimator: TensorNormalMixture | None = None,
    progress: Progress | bool | None = None,
) -> PenaltyPath:
    """Fit a tensor normal mixture by DEEM for each of several penalties.

    Each fit starts from the starts of the estimator and from what the penalty before led to.

    Parameters
    ----------
    X : array (n, p_1, ..., p_M)
        Samples.
    n_components : int, default=2
        Number of clusters K, at least 2.
    penalties : iterable of float, optional
        Above 0. Without them 15, from just below the largest that selects an entry down to a fiftieth of it.
    estimator : TensorNormalMixture, optional
        All other options; its number of clusters, method and penalty do not matter.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it cancels.

    Returns
    -------
    PenaltyPath
        The models, their criteria, and which is best.

    Raises
    ------
    ValueError
        As `TensorNormalMixture.fit`, or if there are no penalties, or one is not above 0.

    Notes
    -----
    `tune_lamb` of the R package of Mai 2022 counts only the last cluster in its likelihood, and fits each penalty
    from a new random start. Here the likelihood is that of the mixture, at discriminants that the penalty has
    selected but not shortened.

    Examples
    --------
    >>> from lvmkit.datasets import make_tensor_mixture
    >>> X, _ = make_tensor_mixture("M8", n_samples=100)
    >>> path = select_penalty(X, 2, penalties=[2.0, 1.0])
    >>> path.n_selected.tolist() == sorted(path.n_selected.tolist()), path.best_model.penalty_ in (2.0, 1.0)
    (True, True)
    """
    require_number(n_components, "n_components", least=2, whole=True)
    given = None if penalties is None else _checked_penalties(penalties)
    model = _cloned(estimator)
    model.set_params(n_components=n_components, method="deem", penalty="bic")
    return _path(model, X, given, progress, patience=None)


def select_tensor_components(
    X: Any,
    n_components: Iterable[int] = (1, 2, 3, 4),
    *,
    estimator: TensorNormalMixture | None = None,
    progress: Progress | bool | None = None,
) -> ComponentsPath:
    """Fit tensor normal mixtures with several numbers of clusters, each with its penalty by the same criterion.

    Parameters
    ----------
    X : array (n, p_1, ..., p_M)
        Samples.
    n_components : iterable of int, default=(1, 2, 3, 4)
        Numbers of clusters.
    estimator : TensorNormalMixture, optional
        All other options; its number of clusters does not matter. A `penalty` that is a number is kept.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it cancels.

    Returns
    -------
    ComponentsPath
        The models, their criteria, and which number is recommended.

    Raises
    ------
    ValueError
        As `TensorNormalMixture.fit`, or if no number is given.

    Notes
    -----
    `tune_K` of the R package of Mai 2022 leaves out numbers of clusters of which one holds a twentieth of the
    samples or less, and so does the recommendation here; they are in the table.

    Examples
    --------
    >>> from lvmkit.datasets import make_tensor_mixture
    >>> X, _ = make_tensor_mixture("M8", n_samples=100)
    >>> select_tensor_components(X, [1, 2], estimator=TensorNormalMixture(penalty=1.0)).best
    2
    """
    if not isinstance(n_components, Iterable):
        msg = (
            f"n_components must be several numbers, range(1, 6) for example; found {n_components!r}"
        )
        raise TypeError(msg)
    counts = sorted(set(n_components))
    if not counts:
        msg = "n_components is empty; give numbers of clusters to compare, for example range(1, 6)"
        raise ValueError(msg)
    for count in counts:
        require_number(count, "n_components", least=1, whole=True)
    paths = {}
    with progress_callback(progress) as tell:
        for at, count in enumerate(counts):
            model = _cloned(estimator).set_params(n_components=count)

            def part(text: str, done: float, at: int = at, count: int = count) -> None:
                tell(f"{count} clusters, {text}", (at + done) / len(counts))

            paths[count] = _path(model, X, None, part, patience=PATIENCE)
    return ComponentsPath(paths)


def _cloned(estimator: TensorNormalMixture | None) -> TensorNormalMixture:
    """Return an unfitted model with the options of the estimator, if one is given."""
    if estimator is not None and not isinstance(estimator, TensorNormalMixture):
        msg = f"estimator must be a TensorNormalMixture; found {type(estimator).__name__}"
        raise TypeError(msg)
    model: TensorNormalMixture = clone(estimator or TensorNormalMixture())
    return model


def _path(
    model: TensorNormalMixture,
    X: Any,
    penalties: Sequence[float] | None,
    progress: Progress | bool | None,
    *,
    patience: int | None,
) -> PenaltyPath:
    """Fit for each penalty, and make a model of each fit."""
    search = TensorSearch(model, model.checked(X, reset=True), penalties=penalties)
    models = []
    with (
        single_threaded_blas(),
        progress_callback(progress) as tell,
        threads(model.n_jobs) as mapper,
    ):
        for found in search.along(mapper, patience=patience):
            models.append(_named_as(clone(model).take(search, found), model))
            tell("penalties", len(models) / len(search.penalties))
        tell("penalties", 1.0)
    return PenaltyPath(tuple(models))


def _named_as(fitted: TensorNormalMixture, checked: TensorNormalMixture) -> TensorNormalMixture:
    """Copy the names of features found in validation."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(checked, name):
            setattr(fitted, name, getattr(checked, name))
    return fitted


def smallest_share(model: TensorNormalMixture) -> float:
    """Return the share of the samples in the smallest cluster."""
    counts = np.bincount(model.labels_, minlength=len(model.weights_))
    return float(counts.min() / counts.sum())


def _checked_penalties(penalties: Iterable[float]) -> list[float]:
    """Refuse penalties that are not above 0; return them from the largest to the smallest."""
    if isinstance(penalties, str) or not isinstance(penalties, Iterable):
        msg = f"penalties must be a list of numbers above 0; found {penalties!r:.60}"
        raise TypeError(msg)
    found = list(penalties)
    if not found:
        msg = "penalties is empty; give numbers above 0, or leave it out"
        raise ValueError(msg)
    for penalty in found:
        require_number(penalty, "penalties", least=0, above=True)
    return sorted({float(penalty) for penalty in found}, reverse=True)
