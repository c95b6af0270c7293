"""Simulated mixtures of tensor normals with their truth, as in Mai 2022 and Mutoh 2023."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import as_finite, check_matrix, require_number, require_text
from lvmkit.datasets.simulate import check_sizes
from lvmkit.tensors.discriminant import Rule, drawn, scores
from lvmkit.tensors.modes import multiply
from lvmkit.tensors.validation import require_covariance

__all__ = [
    "TensorSetting",
    "autoregressive",
    "compound_symmetric",
    "make_tensor_mixture",
    "tensor_setting",
]

Mean = Literal["discriminant", "direct"]
Name = Literal["M1", "M3", "M4", "M5", "M8", "M9", "M10"]

SIGNAL_SIZE = 6
"""How many entries tell clusters apart: the first six of mode 1, at the first index of the other modes."""
ROUNDING = 1e-9
"""Discriminants below this share of the largest are rounding of a zero."""
SETTINGS: dict[str, tuple[tuple[tuple[str, int, float], ...], tuple[float, ...]]] = {
    "M1": ((("CS", 10, 0.3), ("AR", 10, 0.8), ("CS", 4, 0.3)), (0.5,)),
    "M3": ((("CS", 10, 0.3), ("AR", 10, 0.8), ("CS", 4, 0.5)), (0.5, -0.5)),
    "M4": ((("I", 10, 0.0), ("AR", 10, 0.8), ("I", 4, 0.0)), (0.8, -0.8, 1.6)),
    "M5": ((("AR", 10, 0.9), ("CS", 10, 0.6), ("AR", 4, 0.9)), (0.6, 1.2, 1.8, 2.4, 3.0)),
    "M8": ((("AR", 10, 0.5), ("CS", 10, 0.5), ("AR", 10, 0.5)), (1.5,)),
    "M9": ((("I", 10, 0.0), ("I", 10, 0.0), ("I", 10, 0.0)), (1.5,)),
    "M10": (
        (("AR", 10, 0.5), ("CS", 10, 0.5), ("AR", 4, 0.5), ("I", 4, 0.0), ("I", 4, 0.0)),
        (5.0,),
    ),
}
"""Covariance of each mode (kind, size, ρ) and the entries of B of each cluster but the first."""


@dataclass(frozen=True, eq=False)
class TensorSetting:
    """A mixture of tensor normals that data can be drawn from, and the best rule to tell its clusters apart.

    Parameters
    ----------
    weights : array (K,)
        Probability of each cluster.
    means : array (K, p1, ..., pM)
        Mean of each cluster.
    covariances : tuple of array (pm, pm)
        Covariance of each mode, the same in all clusters.
    name : str, default=""
        What the setting is called.
    description : str, default=""
        What it is.

    Attributes
    ----------
    discriminants : array (K - 1, p1, ..., pM)
        B_k = ⟦μ_k − μ_0; Σ_1⁻¹, …, Σ_M⁻¹⟧ for each cluster but the first, 0; entries that are 0 but for rounding
        are 0.
    shape : tuple of int
        Sizes of a tensor, p1 to pM.

    Raises
    ------
    ValueError
        If weights are no probabilities, or a covariance does not fit its mode or is not positive definite.

    Notes
    -----
    The tensor normal mixture model of Mutoh 2023, section 2.

    Examples
    --------
    >>> covariances = (autoregressive(3, 0.5), compound_symmetric(2, 0.2))
    >>> means = np.zeros((2, 3, 2))
    >>> means[1] = 2.0
    >>> setting = TensorSetting([0.7, 0.3], means, covariances)
    >>> X, y = make_tensor_mixture(setting, 500)
    >>> float(np.mean(setting.predict(X) != y)) < 0.1
    True
    """

    weights: Array
    means: Array
    covariances: tuple[Array, ...]
    name: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        """Check the parts against each other."""
        weights, means = as_finite(self.weights, "weights", 1), as_finite(self.means, "means")
        if not isinstance(self.covariances, (list, tuple, np.ndarray)):
            msg = f"covariances must be a tuple or list of arrays, one per mode; found {self.covariances!r:.60}"
            raise TypeError(msg)
        covariances = tuple(
            as_finite(part, f"covariances[{mode}]") for mode, part in enumerate(self.covariances)
        )
        require_text(self.name, "name")
        require_text(self.description, "description")
        if weights.ndim != 1 or not (weights >= 0).all() or not abs(weights.sum() - 1) < 1e-8:
            msg = f"weights={self.weights!r}; expected the probability of each cluster, adding up to 1."
            raise ValueError(msg)
        if means.ndim < 2 or len(means) != len(weights) or not np.isfinite(means).all():
            msg = (
                f"means has shape {means.shape}; expected finite numbers of shape "
                f"({len(weights)}, p1, …): a tensor for each of the {len(weights)} weights."
            )
            raise ValueError(msg)
        if len(covariances) != means.ndim - 1:
            msg = f"covariances: {len(covariances)} for {means.ndim - 1} modes; give one per mode."
            raise ValueError(msg)
        for mode, (covariance, size) in enumerate(zip(covariances, means.shape[1:], strict=True)):
            require_covariance(covariance, f"covariances[{mode}]", size)
        checked = {"weights": weights, "means": means, "covariances": covariances}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of a tensor."""
        return self.means.shape[1:]

    @cached_property
    def discriminants(self) -> Array:
        """What tells each cluster from the first."""
        inverses = [np.linalg.inv(covariance) for covariance in self.covariances]
        found = multiply(self.means[1:] - self.means[0], inverses)
        limit = ROUNDING * np.abs(found).max(initial=0.0)
        return np.where(np.abs(found) > limit, found, 0.0)

    def predict(self, X: Array) -> Labels:
        """Tell the most probable cluster of each tensor by Bayes' rule with the true parameters.

        No rule errs less often: what a method that has to learn the parameters can be compared with.

        Parameters
        ----------
        X : array (n, p1, ..., pM)
            Tensors.

        Returns
        -------
        array of int (n,)
            Cluster, 0 to K - 1.

        Raises
        ------
        ValueError
            If the tensors are of another shape.

        Notes
        -----
        Mutoh 2023, section 2: log π_k + ⟨X − (μ_k + μ_0)/2, B_k⟩, the largest of all k.
        """
        X = check_matrix(X, allow_nd=True, dtype=np.float64)
        if X.ndim != self.means.ndim or X.shape[1:] != self.shape:
            sizes = ", ".join(map(str, self.shape))
            msg = f"X has shape {X.shape}; expected (n, {sizes}), as of this setting."
            raise ValueError(msg)
        means = self.means.reshape(len(self.weights), -1)
        B = np.zeros_like(means)
        B[1:] = self.discriminants.reshape(len(means) - 1, means.shape[1])
        rule = Rule(self.weights, means, B, means[0])
        return np.asarray(scores(X.reshape(len(X), -1), rule).argmax(axis=1))


@checked(n_samples=1)
def make_tensor_mixture(
    setting: Name | TensorSetting = "M1",
    n_samples: int = 200,
    *,
    mean: Mean = "discriminant",
    random_state: RandomState = 0,
) -> tuple[Array, Labels]:
    """Draw tensors from a setting of Mutoh 2023, or from one of your own, and the cluster of each.

    Parameters
    ----------
    setting : {"M1", "M3", "M4", "M5", "M8", "M9", "M10"} or TensorSetting, default="M1"
        Name of the setting, see `tensor_setting`, or any mixture.
    n_samples : int, default=200
        How many tensors, n; Mutoh 2023 does not tell its number.
    mean : {"discriminant", "direct"}, default="discriminant"
        What the means of a named setting are, see `tensor_setting`.
    random_state : int, Generator, RandomState or None, default=0
        Seed; the same seed gives the same data.

    Returns
    -------
    X : array (n, p1, ..., pM)
        Tensors.
    y : array of int (n,)
        Cluster that each was drawn from, 0 to K - 1.

    Raises
    ------
    ValueError
        If there is no such setting or mean, or `n_samples` is below 1.

    Notes
    -----
    Mutoh 2023, section 3.1. Standard normal numbers are multiplied along each mode by a square root of its
    covariance: the Kronecker product of the covariances is never formed.

    Examples
    --------
    >>> X, y = make_tensor_mixture("M8", 200)
    >>> X.shape, np.unique(y).tolist()
    ((200, 10, 10, 10), [0, 1])
    >>> float(np.mean(tensor_setting("M8").predict(X) != y)) < 0.02
    True
    """
    check_sizes({"n_samples": n_samples})
    if not isinstance(setting, TensorSetting):
        setting = tensor_setting(setting, mean=mean)
    return drawn(
        n_samples,
        setting.weights,
        setting.means,
        setting.covariances,
        generator=generator_of(random_state),
    )


def tensor_setting(name: Name, *, mean: Mean = "discriminant") -> TensorSetting:
    """Return a simulation setting of Mutoh 2023 by its name.

    Clusters are equally probable; the first has mean 0. B_k is zero but for six entries.

    Parameters
    ----------
    name : {"M1", "M3", "M4", "M5", "M8", "M9", "M10"}
        Which one; Mutoh 2023 prints no others.
    mean : {"discriminant", "direct"}, default="discriminant"
        Whether the printed B_k is the discriminant of a cluster, so that its mean is ⟦B_k; Σ_1, …, Σ_M⟧, as in the
        model, or the mean itself, as Mutoh 2023 says that it generated data. Then discriminants have more entries
        that are not 0.

    Returns
    -------
    TensorSetting
        Weights, means, covariances, discriminants; `predict` is Bayes' rule.

    Raises
    ------
    ValueError
        If there is no such setting or mean.

    Notes
    -----
    Mutoh 2023, table 1. Its text has lost minus signs (it prints Σ⁻¹ as "Σ1"): with the printed B_3 = 0.5 = B_2 two
    clusters of M3 would be one, so B_3 = −0.5 is read there, and B_3 = −0.8 in M4. B_4 of M4 is not printed; it is
    read as 1.6, in equal steps as those of M5.

    Examples
    --------
    >>> setting = tensor_setting("M3")
    >>> setting.shape, setting.discriminants[:, :8, 0, 0].round(6).tolist()
    ((10, 10, 4), [[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.0, 0.0], [-0.5, -0.5, -0.5, -0.5, -0.5, -0.5, 0.0, 0.0]])
    >>> [int((tensor_setting("M1", mean=m).discriminants != 0).sum()) for m in ("discriminant", "direct")]
    [6, 80]
    """
    _check_choice(name, "name of the setting", get_args(Name))
    _check_choice(mean, "mean", get_args(Mean))
    modes, signals = SETTINGS[name]
    kinds = {"AR": autoregressive, "CS": compound_symmetric, "I": compound_symmetric}
    covariances = tuple(kinds[kind](size, rho) for kind, size, rho in modes)
    printed = np.zeros((len(signals) + 1, *(size for _, size, _ in modes)))
    first = printed.reshape(*printed.shape[:2], -1)[:, :, 0]  # of the other modes, the first index
    first[1:, :SIGNAL_SIZE] = np.c_[list(signals)]
    means = printed if mean == "direct" else multiply(printed, covariances)
    weights = np.full(len(means), 1 / len(means))
    return TensorSetting(weights, means, covariances, name, _described(name, mean))


def autoregressive(size: int, rho: float) -> Array:
    """Return the covariance AR(ρ), which falls with the distance of two indices: ρ, ρ², ….

    Parameters
    ----------
    size : int
        Rows and columns.
    rho : float
        Correlation of neighbors, above -1 and below 1.

    Returns
    -------
    array (size, size)
        Variances are 1.

    Raises
    ------
    ValueError
        If the size is below 1, or the matrix would not be positive definite.

    Notes
    -----
    Mutoh 2023, section 3.1.

    Examples
    --------
    >>> autoregressive(3, 0.5).tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """
    check_sizes({"size": size})
    _check_rho(rho, -1.0)
    places = np.arange(size)
    return rho ** np.abs(np.subtract.outer(places, places)).astype(float)


def compound_symmetric(size: int, rho: float) -> Array:
    """Return the covariance CS(ρ), which is ρ for any two indices.

    Parameters
    ----------
    size : int
        Rows and columns.
    rho : float
        Correlation, above -1/(size - 1) and below 1.

    Returns
    -------
    array (size, size)
        Variances are 1.

    Raises
    ------
    ValueError
        If the size is below 1, or the matrix would not be positive definite.

    Notes
    -----
    Mutoh 2023, section 3.1.

    Examples
    --------
    >>> compound_symmetric(3, 0.3).tolist()
    [[1.0, 0.3, 0.3], [0.3, 1.0, 0.3], [0.3, 0.3, 1.0]]
    """
    check_sizes({"size": size})
    _check_rho(rho, -1 / max(size - 1, 1))
    return np.where(np.eye(size, dtype=bool), 1.0, rho)


def _described(name: str, mean: Mean) -> str:
    """Say what a setting is."""
    modes, signals = SETTINGS[name]
    sizes = " × ".join(str(size) for _, size, _ in modes)
    kinds = ", ".join(kind if kind == "I" else f"{kind}({rho:g})" for kind, _, rho in modes)
    values = ", ".join(f"{signal:g}" for signal in signals)
    meant = "⟦B; Σ⟧" if mean == "discriminant" else "B"
    return (
        f"{name} of Mutoh 2023: {len(signals) + 1} clusters of {sizes} tensors; covariances {kinds}; "
        f"B = {values} in {SIGNAL_SIZE} entries; means {meant}."
    )


def _check_choice(value: str, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a name that is none of those known."""
    if not isinstance(value, str) or value not in choices:
        msg = f"{name}={value!r}; expected one of {', '.join(map(repr, choices))}."
        raise ValueError(msg)


def _check_rho(rho: float, least: float) -> None:
    """Refuse a correlation with which the matrix would not be positive definite."""
    require_number(rho, "rho", least=-1)
    if not least < rho < 1:
        msg = f"rho={rho!r}; expected above {least:g} and below 1, for the matrix to be positive definite."
        raise ValueError(msg)
