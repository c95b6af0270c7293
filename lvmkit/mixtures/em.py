"""The EM loop: parameters, objective per step, and the stopping rule."""

from collections.abc import Callable
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from lvmkit.core.typing import Array, Progress

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
