"""What the count models share: options, input validation, smoothing, EM from their moments."""

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit import decompose
from lvmkit.core import features
from lvmkit.core.distinct import Distinct
from lvmkit.core.options import Option, flag, number, one_of, seed, share
from lvmkit.core.typing import Array, Progress
from lvmkit.core.validation import listed, warn
from lvmkit.mixtures.e_step import MixtureParams, em_step, smoothed
from lvmkit.mixtures.em import EMResult, accelerated
from lvmkit.mixtures.families import MULTINOMIAL, Prior
from lvmkit.mixtures.initialization import Method, given_params, part
from lvmkit.mixtures.search import best_start
from lvmkit.moments.weightings import row_totals

MOMENT_OPTIONS: dict[str, Option] = {
    "n_components": number(1, whole=True),
    "round_counts": flag,
    "random_state": seed,
    "decomposition": one_of(decompose.BY_NAME),
    "smoothing": share,
}
"""What models learned from moments of counts take."""
EM_OPTIONS: dict[str, Option] = {
    "em": flag,
    "max_iter": number(1, whole=True),
    "tol": number(0),
    "prior": number(0, above=True),
}
"""What mixtures take."""


def method_of(model: Any) -> Method:
    """Return the decomposition that a model names, and its seed."""
    return Method(decompose.BY_NAME[model.decomposition], model.random_state)


def accepted_counts(rows: Any, names: features.Labels, *, model: str, rounded: bool) -> Any:
    """Return counts as float32 rows, or refuse what is not a count. rows (n, d)."""
    # Before single precision, which has no room for 16,777,217.
    rows = features.canonical(rows)
    if rounded and rows.dtype.kind == "f":
        rows = rows.copy()
        values = rows.data if sparse.issparse(rows) else rows
        np.rint(values, out=values)
        rows = features.canonical(rows)
    features.require_counts(rows, names, model)
    return features.in_float32(rows)


def require_counted(rows: Any, names: Any) -> None:
    """Refuse rows that are all 0; warn of features that occur in no row. rows (n, d), names (d,) or None."""
    if not rows.sum():
        msg = "X holds nothing: all its entries are 0"
        raise ValueError(msg)
    absent = np.flatnonzero(np.asarray(rows.sum(axis=0)).ravel() == 0)
    if len(absent):
        named = np.arange(rows.shape[1]) if names is None else names
        warn(
            f"{len(absent)} of {rows.shape[1]} features occur in no row ({listed(named[absent])}): "
            "they are 0 in every state"
        )


def tell_empty(rows: Any) -> None:
    """Warn of rows without any known feature. rows (n, d)."""
    empty = int(np.count_nonzero(row_totals(rows) == 0))
    if empty:
        warn(
            f"{empty:,} of {rows.shape[0]:,} rows hold none of the model's features and get its weights"
        )


def given_topics(weights: Any, centers: Any) -> MixtureParams:
    """Validate and normalize given topics. weights (k,), centers (k, d)."""
    params = given_params(weights, centers, None, None, upper=None)
    empty = np.flatnonzero(params.centers.sum(axis=1) == 0)
    if len(empty):
        msg = f"topic(s) {listed(empty)} have no word: every row of centers needs an entry above 0"
        raise ValueError(msg)
    return MixtureParams(params.weights, MULTINOMIAL.project(params.centers))


def smoothed_centers(model: Any) -> Array:
    """Mix a share of the overall frequencies into centers from moments, (k, d); leave given ones unchanged."""
    if not hasattr(model, "clipped_"):
        return np.asarray(model.centers_)
    return _smoothed(MixtureParams(model.weights_, model.centers_), model.smoothing)


def judging_params(model: Any) -> MixtureParams:
    """Return the parameters of prediction; those from moments are smoothed, as noise makes zeros there."""
    refined = getattr(model, "n_iter_", 0) > 0
    return MixtureParams(model.weights_, model.centers_ if refined else smoothed_centers(model))


def run_counts(model: Any, data: Distinct, prior: Prior, tell: Progress) -> EMResult[MixtureParams]:
    """Read parameters off moments; with `em`, raise the likelihood from the best start that a search finds."""
    sums, (params, model.clipped_) = model._reader().fit(
        data, part(tell, 0.0, 0.2 if model.em else 0.9)
    )
    model.moments_ = sums
    if not model.em:
        return EMResult(params, np.zeros(0), "moments")
    centers = _smoothed(params, model.smoothing)
    start = smoothed(params._replace(centers=centers), data.total, prior, model._family)
    if model.n_components > 1:
        start, model.tried_ = best_start(
            data,
            model.n_components,
            model._family,
            prior,
            moments=[lambda rows: start] * 2,
            tell=part(tell, 0.2, 0.83),
        )
    return accelerated(
        start,
        em_step(data.rows, model._family, prior, data.weight),
        model._family,
        tol=model.tol,
        max_iter=model.max_iter,
        progress=part(tell, 0.83, 0.9),
    )


def _smoothed(params: MixtureParams, share: float) -> Array:
    """Mix a share of the overall mean into centers, (k, d)."""
    weights, centers = params
    mixed: Array = (1 - share) * centers + share * (weights @ centers)
    return mixed
