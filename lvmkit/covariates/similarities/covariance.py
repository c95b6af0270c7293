"""Similarity: shrunk covariance within classes; sparse samples stay sparse."""

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core import features
from lvmkit.core.typing import Array
from lvmkit.core.validation import check_classes, check_matrix, require_range, sample_weights


def class_covariance(X: Any, y: Any, *, sample_weight: Any = None) -> Array:
    """Return how covariates vary together within classes, negative covariances set to 0.

    Parameters
    ----------
    X : array, sparse array, DataFrame or AnnData (n, d)
        Samples by covariates.
    y : array-like (n,)
        Class of each sample: numbers or text.
    sample_weight : array (n,), optional
        How often each sample counts, at least 0; a weight of 2 is the same as two such samples.

    Returns
    -------
    array (d, d)
        Similarities; the diagonal is 0.

    Raises
    ------
    ValueError
        If X and y do not belong together, or hold values that are missing or infinite.

    Notes
    -----
    Andrade 2021, section 4: each class is centered, all are pooled, and the
    covariance is that of Ledoit 2004, as in scikit-learn. Sparse samples are never made dense: both the
    covariance and its shrinkage follow from X'X, the means of classes, and lengths of rows. The result is dense.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 3.0], [1.0, 1.0, 2.0], [5.0, 8.0, 0.0], [6.0, 9.0, 1.0]])
    >>> class_covariance(X, ["a", "a", "b", "b"]).round(3).tolist()
    [[0.0, 0.125, 0.0], [0.125, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    similarity = np.maximum(pooled_covariance(X, y, sample_weight), 0)
    np.fill_diagonal(similarity, 0.0)
    return similarity


def pooled_covariance(X: Any, y: Any, sample_weight: Any = None) -> Array:
    """Return the shrunk covariance of class-centered samples, with its diagonal and its signs."""
    matrix, names = features.unwrapped(X)
    X = check_matrix(
        matrix, rows=features.row_names(X), columns=names, dtype=np.float64, sound=True
    )
    require_range(X, 1e100, "squares of more leave the range of double precision", (None, names))
    y = check_classes(y, X.shape[0])
    classes, which = np.unique(y, return_inverse=True)
    d = X.shape[1]
    weight = sample_weights(sample_weight, len(which), X)
    weight = np.ones(len(which)) if weight is None else weight
    rows = np.arange(len(which) + 1)
    members = sparse.csr_array((weight, which, rows), shape=(len(which), len(classes)))
    n, sizes = weight.sum(), np.maximum(np.bincount(which, weight), 1e-300)
    means = np.asarray(_dense(members.T @ X)) / sizes[:, np.newaxis]
    if sparse.issparse(X):
        products = _dense(X.T @ X.multiply(weight[:, np.newaxis])) - (means.T * sizes) @ means
        along = np.asarray((X @ means.T)[rows[:-1], which])
        lengths = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        lengths += (means**2).sum(axis=1)[which] - 2 * along
    else:
        X = X - means[which]
        products = X.T @ (weight[:, np.newaxis] * X)
        lengths = np.einsum("ij,ij->i", X, X)
    covariance = products / n
    mean_variance = covariance.trace() / d
    # Ledoit and Wolf: how far the entries vary between samples, relative to how far they are from the target.
    squares = float((covariance**2).sum())
    noise = (float(weight @ lengths**2) / n - squares) / n
    distance = squares - d * mean_variance**2
    share = min(noise / distance, 1.0) if noise > 0 and distance > 0 else 0.0
    covariance *= 1 - share
    covariance[np.diag_indices(d)] += share * mean_variance
    return np.asarray(covariance)


def _dense(matrix: Any) -> Array:
    """Return a dense array of a product that is no larger than the result."""
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
