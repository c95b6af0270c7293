"""Stability: does the same method find the same clusters in overlapping halves of the data."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from lvmkit import _rows
from lvmkit._typing import Array, Labels, Progress
from lvmkit.scores.matching import adjusted_rand


def stability(
    estimator: Any,
    X: Any,
    *,
    shared: float = 0.8,
    n_repeats: int = 5,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Array:
    """Fit twice on overlapping parts of the data and compare the clusters of the rows in both.

    Parameters
    ----------
    estimator : clusterer
        Anything with `fit` and `labels_` or `predict`; it is cloned, never changed. Where it has a
        `random_state` (also inside a pipeline), every fit gets its own seed, so that a lucky one
        does not look like stability.
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        The rows.
    shared : float, default=0.8
        Share of the rows in both parts; each part has half of the others besides.
    n_repeats : int, default=5
        How often to draw two parts.
    random_state : int, default=0
        Seed of rows and fits.
    progress : callable, optional
        Called with a text and the fraction done; raising from it cancels the work.

    Returns
    -------
    array (n_repeats,)
        Adjusted Rand index on the shared rows of each repeat.

    Raises
    ------
    ValueError
        If `shared` leaves no rows to differ in, or `n_repeats` is below 1.

    Notes
    -----
    Ruffini et al. 2017, section 5.2 (stability analysis), report an index above 0.9; they state two
    non-disjoint subsets without their sizes. Ours are 80 % shared and 10 % each.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> stability(KMeans(2, n_init=1), X, n_repeats=2)
    array([1., 1.])
    """
    pairs = overlapping_fits(
        estimator,
        X,
        shared=shared,
        n_repeats=n_repeats,
        random_state=random_state,
        progress=progress,
    )
    return np.array(
        [
            adjusted_rand(*(_labels(model, rows, n_shared) for model, rows in fits))
            for fits, n_shared in pairs
        ]
    )


def overlapping_fits(
    estimator: Any,
    X: Any,
    *,
    shared: float,
    n_repeats: int,
    random_state: int,
    progress: Progress | None,
) -> Iterator[tuple[list[tuple[Any, Any]], int]]:
    """Yield two models with the rows each was fitted on, and how many first rows they share.

    The options are those of `stability`.
    """
    matrix, _ = _rows.unwrapped(X)
    if sparse.issparse(matrix):
        as_rows: Any = sparse.csr_array
        matrix = as_rows(matrix)
    n_shared, n_own = _part_sizes(matrix.shape[0], shared, n_repeats)
    random = check_random_state(random_state)
    for repeat in range(n_repeats):
        order = random.permutation(matrix.shape[0])
        both = order[:n_shared]
        fits: list[tuple[Any, Any]] = []
        for half in range(2):
            if progress is not None:
                progress(
                    f"Stability: fit {2 * repeat + half + 1} of {2 * n_repeats}",
                    (2 * repeat + half) / (2 * n_repeats),
                )
            own = order[n_shared + half * n_own : n_shared + (half + 1) * n_own]
            rows = _taken(matrix, np.concatenate([both, own]))
            fits.append((_seeded(estimator, random).fit(rows), rows))
        yield fits, n_shared
    if progress is not None:
        progress("Stability: done", 1.0)


def _part_sizes(n_rows: int, shared: float, n_repeats: int) -> tuple[int, int]:
    """Return the number of shared rows and of each part's own."""
    n_own = int(n_rows * (1 - shared) / 2 + 1e-9) if 0 < shared < 1 else 0
    n_shared = round(n_rows * shared)
    if n_own < 1 or n_shared < 1:
        msg = (
            "shared is the share of rows in both parts, between 0 and 1, and must leave each part "
            "rows of its own; "
            f"found {shared!r} for {n_rows} rows"
        )
        raise ValueError(msg)
    if n_repeats < 1:
        msg = f"n_repeats must be 1 or more; found {n_repeats!r}"
        raise ValueError(msg)
    return n_shared, n_own


def _seeded(estimator: Any, random: np.random.RandomState) -> Any:
    """Clone the estimator, with a new seed wherever it takes one."""
    fresh = clone(estimator)
    seeds = [name for name in sorted(fresh.get_params()) if name.split("__")[-1] == "random_state"]
    return fresh.set_params(**{name: int(random.randint(2**31 - 1)) for name in seeds})


def _taken(matrix: Any, rows: Labels) -> Any:
    """Rows of an array, sparse matrix or DataFrame."""
    return matrix.iloc[rows] if hasattr(matrix, "iloc") else matrix[rows]


def _labels(fitted: Any, rows: Any, n_first: int) -> Labels:
    """Return the labels of the first rows."""
    labels = getattr(fitted, "labels_", None)
    return np.asarray(
        fitted.predict(_taken(rows, np.arange(n_first))) if labels is None else labels[:n_first]
    )
