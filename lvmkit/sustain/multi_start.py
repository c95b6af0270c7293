"""Several initializations refined in parallel; the best fit is kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lvmkit.core.typing import Array, Progress, RandomState
from lvmkit.sustain.coordinate_descent import IntegerFactors, fit_to, refine
from lvmkit.sustain.initialization import (
    Start,
    balance_and_round,
    draw_scores,
    round_factors,
    sample_patients,
    scale_and_round,
)
from lvmkit.sustain.mttkrp import Pool
from lvmkit.sustain.nonnegative import nonnegative
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

S = TypeVar("S")
T = TypeVar("T")

FROM_REAL: dict[str, Callable[[Sequence[Array], Sequence[Box]], Start]] = {
    "balanced": balance_and_round,
    "round": round_factors,
    "scale_and_round": scale_and_round,
}
KINDS = (*FROM_REAL, "random", "sampling")
BEST = ("balanced", "round", "scale_and_round", "sampling")
"""Starts that are tried when the best is asked for, all from the same real solution."""

LARGE = 1_000_000
"""Scores of the longest mode from which on threads share one start's rows, rather than the starts."""


@dataclass(frozen=True)
class FitRules:
    """Score bounds and stopping rules of a fit."""

    boxes: Sequence[Box]  # One per mode
    tol: float = 1e-4  # Change of the fit below which they end
    max_iter: int = 200  # At most so many iterations
    n_passes: int = 1  # Updates of a mode's columns before the next mode's

    def refined(
        self,
        data: Unfolded,
        start: Start,
        rng: np.random.Generator,
        pool: Pool = None,
        tell: Callable[[int, float], None] = lambda step, fit: None,
    ) -> IntegerFactors:
        """Refine a start by coordinate descent."""
        return refine(
            data,
            *start,
            boxes=self.boxes,
            rng=rng,
            tol=self.tol,
            max_iter=self.max_iter,
            n_passes=self.n_passes,
            pool=pool,
            tell=tell,
        )


def best_start(
    data: Unfolded,
    n_components: int,
    *,
    rules: FitRules,
    starts: Iterable[str] | Start,
    n_init: int = 1,
    seed: RandomState = 0,
    workers: int = 1,
    tell: Progress = lambda text, done: None,
) -> tuple[IntegerFactors, str]:
    """Refine every start, and keep the one with the best fit, the first of several."""
    if isinstance(seed, np.random.RandomState):  # the older kind cannot spawn others
        seed = int(seed.randint(2**31 - 1))
    rng = np.random.default_rng(seed)
    if isinstance(starts, tuple) and not isinstance(starts[0], str):
        with threads(workers) as pool:
            callback = _callback(tell, "from what was given", lambda: 0.0)
            return rules.refined(data, starts, rng, pool, callback), "given"
    kinds = [str(kind) for kind in starts]
    draws = rng.spawn(n_init)
    wanted = draws if any(kind in FROM_REAL for kind in kinds) else []
    ended: list[str] = []

    def share() -> float:
        return len(ended) / (len(wanted) + n_init * len(kinds))

    def real(draw: np.random.Generator, pool: Pool) -> Any:
        # Ten times finer: what the real solution still gains, its rounding gains too.
        tol, callback = rules.tol / 10, _callback(tell, "real solution", share)
        found = nonnegative(data, n_components, rng=draw, tol=tol, pool=pool, tell=callback)
        ended.append("real")
        return found.factors

    def end(job: tuple[str, Any, np.random.Generator], pool: Pool) -> IntegerFactors:
        kind, factors, own = job
        if kind in FROM_REAL:
            start = FROM_REAL[kind](factors, rules.boxes)
        elif kind == "random":
            start = draw_scores(data.shape, n_components, rules.boxes, own)
        else:
            start = sample_patients(data, n_components, rules.boxes, own)
        found = rules.refined(data, start, own, pool, _callback(tell, kind, share))
        ended.append(kind)
        # A component too many that rounding left at zero does harm with the 1 that it is given.
        fit = fit_to(data, start[0], start[1].astype(float))
        return IntegerFactors(*start, [fit], "start") if fit > found.fit else found

    large = data.rows.shape[0] * n_components >= LARGE
    reals = dict(enumerate(_map_on_threads(real, wanted, workers, large)))
    jobs = [
        (kind, reals.get(i), own)
        for i, draw in enumerate(draws)
        for kind, own in zip(kinds, draw.spawn(len(kinds)), strict=True)
    ]
    ends = _map_on_threads(end, jobs, workers, large)
    best = int(np.argmax([found.fit for found in ends]))
    return ends[best], jobs[best][0]


def _callback(
    tell: Progress, what: str, share: Callable[[], float]
) -> Callable[[int, float], None]:
    """Return a progress callback for the iterations of one start."""
    return lambda step, fit: tell(f"{what}: iteration {step}, fit {fit:.3f}", share())


@contextmanager
def threads(workers: int) -> Iterator[Pool]:
    """Yield a pool of threads; none, that is None, for one worker."""
    if workers == 1:
        yield None
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool


def _map_on_threads(
    function: Callable[[S, Pool], T], items: Sequence[S], workers: int, large: bool
) -> list[T]:
    """Apply a function to all items: threads share the items, or, where data are large, each item's rows."""
    with threads(workers) as pool:
        if pool is None or large or len(items) == 1:
            return [function(item, pool) for item in items]
        return list(pool.map(lambda item: function(item, None), items))
