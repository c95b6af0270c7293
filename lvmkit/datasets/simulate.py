"""Simulated mixtures of independent binary features, with the truth they were drawn from."""

from collections.abc import Mapping
from numbers import Integral
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import generator_of
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import require_number

__all__ = ["SimulatedMixture", "make_appendix_e", "make_bernoulli_mixture"]

BLOCK_ROWS = 50_000
LARGEST_PROBABILITY = 0.85
COMMON_CODES = 300
LIFTED_CODES = 25


class SimulatedMixture(NamedTuple):
    """A simulated data set and its truth.

    Attributes
    ----------
    X : csr_array (n, d)
        0/1 or counts, float32.
    labels : array (n,)
        Component that each row was drawn from.
    weights : array (k,)
        Probability of each component; sums to 1.
    centers : array (k, d)
        Probability of each feature in each component; of counts, its rate.
    feature_names : array of str (d,)
        Names of the features.
    description : str
        How the data were made.
    """

    X: sparse.csr_array
    labels: Labels
    weights: Array
    centers: Array
    feature_names: npt.NDArray[np.str_]
    description: str


@checked(n_samples=1)
def make_bernoulli_mixture(
    n_samples: int,
    n_features: int = 700,
    n_components: int = 16,
    *,
    codes_per_row: float = 8.0,
    random_state: RandomState = None,
) -> SimulatedMixture:
    """Simulate records of diagnosis codes from a mixture of independent Bernoulli variables.

    The frequency of codes falls as 1/(rank + 10); in each component 25 of the 300 most frequent codes are
    8 to 30 times as likely.

    Parameters
    ----------
    n_samples : int
        Rows, n.
    n_features : int, default=700
        Features, d.
    n_components : int, default=16
        Components, k.
    codes_per_row : float, default=8
        Expected number of ones in a row of each component.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedMixture
        X, labels, weights, centers, feature_names, description.

    Raises
    ------
    ValueError
        If a size is below 1, or a row cannot hold that many codes.

    Examples
    --------
    >>> data = make_bernoulli_mixture(1_000, 60, 4, codes_per_row=5, random_state=0)
    >>> data.X.shape, data.centers.shape
    ((1000, 60), (4, 60))
    >>> data.centers.sum(axis=1).round(6).tolist()
    [5.0, 5.0, 5.0, 5.0]
    """
    check_sizes({"n_samples": n_samples, "n_features": n_features, "n_components": n_components})
    require_number(codes_per_row, "codes_per_row", least=0, above=True)
    if not 0 < codes_per_row <= 0.5 * LARGEST_PROBABILITY * n_features:
        msg = (
            f"codes_per_row={codes_per_row} must be above 0 and at most "
            f"{0.5 * LARGEST_PROBABILITY * n_features:g} for n_features={n_features}."
        )
        raise ValueError(msg)
    rng = generator_of(random_state)
    common = min(COMMON_CODES, n_features)
    centers = np.tile(1 / (np.arange(n_features) + 10.0), (n_components, 1))
    for center in centers:
        lifted = rng.choice(common, min(LIFTED_CODES, common), replace=False)
        center[lifted] *= rng.uniform(8, 30, len(lifted))
    for _ in range(5):
        centers *= codes_per_row / centers.sum(axis=1, keepdims=True)
        np.minimum(centers, LARGEST_PROBABILITY, out=centers)
    weights = rng.dirichlet(np.full(n_components, 6.0))
    description = (
        f"Mixture of {n_components} components over {n_features} binary features, "
        f"{codes_per_row:g} codes a row."
    )
    return _sampled(n_samples, weights, centers, rng, description)


@checked(n_samples=1)
def make_appendix_e(
    n_samples: int = 10_000,
    n_features: int = 99,
    n_components: int = 12,
    *,
    random_state: RandomState = None,
) -> SimulatedMixture:
    """Simulate the synthetic data on which the clustering paper compares methods.

    Weights and centers are exponentially distributed; the centers are divided by their largest entry, the
    weights by their sum.

    Parameters
    ----------
    n_samples : int, default=10000
        Rows, n.
    n_features : int, default=99
        Features, d.
    n_components : int, default=12
        Components, k.
    random_state : int, Generator, RandomState or None, default=None
        Seed; the same seed gives the same data.

    Returns
    -------
    SimulatedMixture
        X, labels, weights, centers, feature_names, description.

    Raises
    ------
    ValueError
        If a size is below 1.

    Notes
    -----
    Ruffini 2017, Appendix E. The paper says "normalized to be between 0 and 1"; read here as division
    by the largest entry.

    Examples
    --------
    >>> data = make_appendix_e(100, random_state=0)
    >>> float(data.centers.max()), data.X.shape
    (1.0, (100, 99))
    """
    check_sizes({"n_samples": n_samples, "n_features": n_features, "n_components": n_components})
    rng = generator_of(random_state)
    centers = rng.exponential(size=(n_components, n_features))
    weights = rng.exponential(size=n_components)
    description = f"Appendix E of Ruffini 2017: d = {n_features}, k = {n_components}."
    return _sampled(n_samples, weights / weights.sum(), centers / centers.max(), rng, description)


def check_sizes(sizes: Mapping[str, int]) -> None:
    """Refuse sizes below 1."""
    for name, size in sizes.items():
        if isinstance(size, bool) or not isinstance(size, Integral):
            msg = f"{name} must be a whole number of at least 1; found {size!r} ({type(size).__name__})."
            raise TypeError(msg)
        if size < 1:
            msg = f"{name}={size}; expected at least 1."
            raise ValueError(msg)


def _sampled(
    n: int, weights: Array, centers: Array, rng: np.random.Generator, description: str
) -> SimulatedMixture:
    """Draw labels, then rows block by block."""
    labels = rng.choice(len(weights), n, p=weights)
    limits = centers.astype(np.float32)
    blocks = [
        _ones(rng.random((len(z), limits.shape[1]), dtype=np.float32) < limits[z])
        for z in np.split(labels, range(BLOCK_ROWS, n, BLOCK_ROWS))
    ]
    X = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    names = feature_names(limits.shape[1])
    return SimulatedMixture(X, labels, weights, centers, names, description)


def feature_names(d: int, letter: str = "x") -> npt.NDArray[np.str_]:
    """Name features by number, so that they sort."""
    width = len(str(d - 1))
    return np.array([f"{letter}{j:0{width}}" for j in range(d)])


def _ones(block: npt.NDArray[np.bool_]) -> sparse.csr_array:
    """Return where a block is true, as sparse float32 rows."""
    columns = np.nonzero(block)[1].astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(block.sum(axis=1))]).astype(np.int32)
    return sparse.csr_array((np.ones(len(columns), np.float32), columns, starts), shape=block.shape)
