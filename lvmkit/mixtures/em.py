"""The EM loop: parameters, objective per step, and the stopping rule."""

from collections.abc import Callable
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from lvmkit.core.typing import Array, Progress
from lvmkit.mixtures.e_step import MixtureParams
from lvmkit.mixtures.families import Family

P = TypeVar("P")

StoppedBy = Literal["tol", "weights", "max_iter", "moments"]
"""The rule that ended EM; "moments" where there was none, and the moments had the last word."""


class EMResult(NamedTuple, Generic[P]):
    """Parameters, objectives and stopping rule of a run."""

    params: P
    """Parameters after the last step."""
    log_likelihoods: Array
    """Objective at the parameters before each step; never falls."""
    stopped_by: StoppedBy
    """"tol": the objective rose by less than `tol`; "weights": the weights moved by less; else "max_iter"."""


def run_em(
    params: P,
    step: Callable[[P], tuple[P, float]],
    *,
    tol: float,
    max_iter: int,
    weights_of: Callable[[P], Array] | None = None,
    weights_tol: float | None = None,
    progress: Progress | None = None,
) -> EMResult[P]:
    """Repeat EM steps until one of the stopping rules holds."""
    # Ruffini 2017, section 3.4 and section 5 (rule on the weights).
    history: list[float] = []
    stopped_by: StoppedBy = "max_iter"
    for iteration in range(max_iter):
        updated, objective = step(params)
        history.append(objective)
        moved = _norm(weights_of, updated, params) if weights_of and weights_tol else None
        params = updated
        if progress is not None:
            progress("EM", (iteration + 1) / max_iter)
        if len(history) > 1 and history[-1] - history[-2] < tol:
            stopped_by = "tol"
            break
        if moved is not None and weights_tol is not None and moved < weights_tol:
            stopped_by = "weights"
            break
    return EMResult(params, np.array(history), stopped_by)


def _norm(weights_of: Callable[[P], Array], after: P, before: P) -> float:
    """Return the Euclidean norm of the change of the weights."""
    return float(np.linalg.norm(weights_of(after) - weights_of(before)))


AHEAD = 15
"""A run is given up if gaining as much in so many more steps would not reach the floor …"""
TRYOUT = 6
"""… after so many steps."""


def accelerated(
    params: MixtureParams,
    step: Callable[[MixtureParams], tuple[MixtureParams, float]],
    family: Family,
    *,
    tol: float,
    max_iter: int,
    floor: float = -np.inf,
    judged: bool = False,
    progress: Progress | None = None,
) -> EMResult[MixtureParams]:
    """Repeat EM steps, every third a longer one along the last two, until the plain ones gain less than `tol`."""
    # With `judged`, parameters and the last objective belong together; a run that will hardly reach `floor` ends.
    # Squared extrapolation (Varadhan 2008, scheme S3), in coordinates without bounds. A longer step is kept
    # only where the objective has risen, so that the trace never falls.
    history: list[float] = []
    made = 0
    stopped_by: StoppedBy = "max_iter"
    while made < max_iter:
        first, objective = step(params)
        history.append(objective)
        second, after = step(first)
        history.append(after)
        made += 2
        if progress is not None:
            progress("EM", min(made / max_iter, 1.0))
        gain, start, params = after - objective, params, second
        if gain < tol and len(history) > 2:
            stopped_by = "tol"
            break
        if made > TRYOUT and after + AHEAD * gain < floor:
            break
        longer = _extrapolated(start, first, second, family)
        if longer is None or made >= max_iter:
            continue
        updated, reached = step(longer)
        made += 1
        if np.isfinite(reached) and reached >= after:
            history.append(reached)
            params = updated
    if judged:
        history.append(step(params)[1])
    return EMResult(params, np.array(history), stopped_by)


def _extrapolated(
    start: MixtureParams, first: MixtureParams, second: MixtureParams, family: Family
) -> MixtureParams | None:
    """Return parameters further along two steps; None if the steps do not invite it."""
    points = [
        (np.log(params.weights), family.unbounded(params.centers))
        for params in (start, first, second)
    ]
    steps = [[b - a for a, b in zip(points[i], points[i + 1], strict=True)] for i in (0, 1)]
    bends = [b - a for a, b in zip(*steps, strict=True)]
    moved, bent = (sum(float((part * part).sum()) for part in parts) for parts in (steps[0], bends))
    length = np.sqrt(moved / max(bent, 1e-300))
    if not 1.2 < length < np.inf:
        return None
    weights, centers = (
        point + 2 * length * one + length**2 * bend
        for point, one, bend in zip(points[0], steps[0], bends, strict=True)
    )
    weights = np.exp(weights - weights.max())
    return MixtureParams(weights / weights.sum(), family.bounded(centers))
