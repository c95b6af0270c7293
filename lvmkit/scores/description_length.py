"""Description length: the cost of a model plus that of the data given the model."""

from typing import Any

import numpy as np

from lvmkit.core import features
from lvmkit.core.typing import Array, RandomState
from lvmkit.core.validation import listed, require_seed
from lvmkit.scores.perplexity import completion, named


def description_length(model: Any, X: Any, *, random_state: RandomState = 0) -> float:
    """Return the length of a two-part code of the data: first the model's parameters, then the rows.

    Parameters
    ----------
    model : fitted mixture or topic model
        With `centers_` and either `score_samples` (mixtures) or `transform` (topic models).
    X : sparse matrix, array, DataFrame or AnnData (n, d)
        The rows to describe; those the model was fitted on, most of the time. Where rows and model both know
        the names of the features, these may stand in any order; else in that of the fit.
    random_state : int, Generator or None, default=0
        Seed of the halves of documents (topic models without `score_samples` only).

    Returns
    -------
    float
        Nats; smaller is better. Compare models of one kind on the same data.

    Raises
    ------
    TypeError
        If the model has neither method.
    ValueError
        If the model is not fitted, or X does not suit it.

    Warns
    -----
    DataWarning
        If features are unknown to the model, or missing.

    Notes
    -----
    −log P(data | model) + p/2 · log n (Rissanen 1978; half of the criterion of Schwarz 1978), where p counts the
    free parameters. No prior structure is counted: with thousands of words every topic is dear, and few topics are
    the shortest description.

    *Mixtures* (`score_samples`): p is k − 1 weights and the k·d centers, less k where the centers are
    distributions over words; n is the number of rows. Infinite where a row is impossible under the model.

    *Topic models* (latent Dirichlet allocation has no likelihood in closed form): each half of a document's tokens
    is predicted from the mixture that `transform` finds for the other half, so that mixtures need no code of
    their own (a predictive code, Dawid 1984); p is k (d − 1) probabilities of words and k Dirichlet
    parameters; n is the number of tokens. Documents of a single token are left out. Topics are smoothed as in
    `perplexity`.

    Examples
    --------
    >>> import numpy as np
    >>> from lvmkit import BernoulliMixture
    >>> X = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 40, axis=0)
    >>> lengths = [description_length(BernoulliMixture(k).fit(X), X) for k in (1, 2)]
    >>> lengths[0] > lengths[1]
    True
    """
    require_seed(random_state)
    centers = _centers(model)
    if hasattr(model, "score_samples"):
        log_densities = np.asarray(model.score_samples(X), dtype=np.float64)
        free = len(centers) - 1 + centers.size - (len(centers) if of_words(centers) else 0)
        return float(free / 2 * np.log(len(log_densities)) - log_densities.sum())
    if not hasattr(model, "transform"):
        msg = f"model must have score_samples or transform; found {type(model).__name__}"
        raise TypeError(msg)
    total, n_tokens = _completed(model, X, random_state)
    return float(centers.size / 2 * np.log(n_tokens) - total)


def _completed(model: Any, X: Any, random_state: RandomState) -> tuple[float, int]:
    """Predict each half of the documents from the other."""
    matrix, names = _in_order(X, getattr(model, "feature_names_in_", None))
    infer = named(model.transform, names)
    return completion(_centers(model), matrix, infer=infer, random_state=random_state)


def _in_order(X: Any, expected: Any) -> tuple[Any, Any]:
    """Put the features of labelled rows in the order of the fit; return their names too, if they had any."""
    has_names = features.unwrapped(X)[1] is not None
    return features.aligned(X, expected), expected if has_names else None


def of_words(centers: Array) -> bool:
    """Tell whether centers are distributions over words: rows that sum to 1."""
    return bool(np.allclose(centers.sum(axis=1), 1, rtol=0, atol=1e-6))


def _centers(model: Any) -> Array:
    """Return the centers of a fitted model."""
    centers = getattr(model, "centers_", None)
    if centers is None:
        msg = f"model must be fitted: {type(model).__name__} has no centers_; call fit first"
        raise ValueError(msg)
    found: Array = np.asarray(centers, dtype=np.float64)
    if found.ndim != 2 or not np.isfinite(found).all():
        msg = f"centers_ must be finite numbers (k, d); found {listed(found.ravel())}"
        raise ValueError(msg)
    return found
