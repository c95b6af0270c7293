"""Best of several starts, for one penalty or along a path of penalties."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lvmkit.core.parallel import workers_of
from lvmkit.core.typing import Array
from lvmkit.tensors.density import Density, density_of
from lvmkit.tensors.em import (
    CenteredSamples,
    EMOptions,
    TensorFit,
    doubly_enhanced,
    expectation_maximization,
)

METHODS: dict[str, Callable[[CenteredSamples, Array, EMOptions], TensorFit]] = {
    "deem": doubly_enhanced,
    "em": expectation_maximization,
}
N_PENALTIES = 15
LEAST = 0.02
"""The smallest penalty of a path, as a share of the largest."""
DEGENERATE = ("penalty", "empty")
"""`stopped_by` of degenerate fits: no entry selected, or a cluster without samples."""
FOLLOWED = 3
"""Number of best ends of a penalty whose starts are tried again with the next."""
PREVIOUS, SMALLER_PENALTY = -1, -2
"""Instead of the number of a start: what the penalty before, or a smaller one, led to."""
SMALLER = (0.5, 0.25)
PATIENCE = 3
"""A path whose criterion is over its lowest value for so many penalties need not go on."""

Mapper = Callable[
    [Callable[[Array], TensorFit | None], Sequence[Array]], Iterable[TensorFit | None]
]


@contextmanager
def threads(n_jobs: int | None) -> Iterator[Mapper]:
    """Yield `map`, or that of a pool of threads, to fit several starts."""
    workers = workers_of(n_jobs)
    if workers <= 1:
        yield map
        return
    with ThreadPoolExecutor(workers) as pool:
        yield pool.map


class Found(NamedTuple):
    """Fits from several starts, and the best one's density."""

    penalty: float  # Of all of them
    fits: tuple[TensorFit, ...]  # One for each start
    origins: tuple[int, ...]  # Which start each came from, or PREVIOUS or SMALLER_PENALTY
    # The best: of those without an empty cluster and with some entry selected, the one of highest objective
    kept: int
    density: Density  # That of the best

    @property
    def fit(self) -> TensorFit:
        """Return the best."""
        return self.fits[self.kept]


def best_of(
    samples: CenteredSamples,
    starts: Sequence[Array],
    options: EMOptions,
    method: str,
    mapper: Mapper,
) -> Found:
    """Fit from every start. starts (n, K)."""

    def attempt(start: Array) -> TensorFit | None:
        try:
            return METHODS[method](samples, start, options)
        except np.linalg.LinAlgError:
            return None

    tried = list(mapper(attempt, starts))
    origins = tuple(at for at, fit in enumerate(tried) if fit is not None)
    fits = tuple(fit for fit in tried if fit is not None)
    if not fits:
        msg = (
            "within clusters the samples of X vary too little, or in too few directions, to estimate covariances from; "
            "give more samples, ask for fewer clusters, or give shrinkage above 0 (0.1, for example)"
        )
        raise ValueError(msg)
    keys = [(fit.stopped_by not in DEGENERATE, fit.objective) for fit in fits]
    kept = max(range(len(fits)), key=keys.__getitem__)
    density = density_of(samples, fits[kept], options, method)
    return Found(options.penalty, fits, origins, kept, density)


def from_smaller(
    samples: CenteredSamples,
    starts: Sequence[Array],
    options: EMOptions,
    method: str,
    mapper: Mapper,
) -> Found:
    """Fit from every start; if no entry is selected, from fits of smaller penalties. starts (n, K)."""
    found = best_of(samples, starts, options, method, mapper)
    if found.fit.stopped_by != "penalty":
        return found
    for share in SMALLER:
        less = replace(options, penalty=share * options.penalty)
        before = best_of(samples, starts, less, method, mapper).fit
        if before.stopped_by not in DEGENERATE:
            again = best_of(samples, [before.posteriors], options, method, mapper)
            if again.fit.stopped_by not in DEGENERATE:
                return again._replace(origins=(SMALLER_PENALTY,))
    return found


def largest_penalty(samples: CenteredSamples, starts: Sequence[Array], options: EMOptions) -> float:
    """Return the penalty at which no entry is selected, in the first iteration from any start. starts (n, K)."""
    compared = options.contrasts
    lengths = []
    for start in starts:
        counted = samples.counted(start)
        means = (counted.T @ samples.flat) / counted.sum(axis=0)[:, np.newaxis]
        lengths.append(np.linalg.norm(compared.differences @ means, axis=0).max())
    return float(max(lengths) / compared.factor)


def path_of(
    samples: CenteredSamples,
    starts: Sequence[Array],
    options: EMOptions,
    penalties: Sequence[float],
    *,
    mapper: Mapper,
    patience: int | None = None,
    bar: float = np.inf,
) -> Iterator[Found]:
    """Fit along a path of penalties, from the starts and from the previous fits. starts (n, K)."""
    followed = list(range(len(starts)))
    before: list[Array] = []
    lowest, since = np.inf, 0
    for penalty in penalties:
        guesses = [*(starts[at] for at in followed), *before]
        found = best_of(samples, guesses, replace(options, penalty=penalty), "deem", mapper)
        known = [*followed, PREVIOUS]
        found = found._replace(origins=tuple(known[at] for at in found.origins))
        yield found
        followed = _followed(found)
        fit = found.fit
        if fit.stopped_by in DEGENERATE:
            continue
        before = [fit.posteriors]
        value = bic(found, samples.total)
        lowest, since = (value, 0) if value < lowest else (lowest, since + 1)
        if patience is not None and lowest < bar and since >= patience:
            return


def _followed(found: Found) -> list[int]:
    """Return the starts that smaller penalties are tried from: the best, and those in which nothing is selected yet."""
    alive = [at for at, fit in enumerate(found.fits) if fit.stopped_by not in DEGENERATE]
    worst = sorted(alive, key=lambda at: -found.fits[at].objective)[FOLLOWED:]
    return [start for at, start in enumerate(found.origins) if start >= 0 and at not in worst]


def chosen(founds: Sequence[Found], n_samples: float, bar: float) -> Found:
    """Choose among penalties."""
    sound = [found for found in founds if found.fit.stopped_by not in DEGENERATE] or founds
    best = min(sound, key=lambda found: bic(found, n_samples))
    return best if bic(best, n_samples) < bar else sound[-1]


def bic(found: Found, n_samples: float) -> float:
    """Return the Bayesian information criterion of the best of several starts."""
    fit = found.fit
    return -2 * found.density.log_likelihood + np.log(n_samples) * n_parameters(
        len(fit.rule.weights), fit.rule.discriminants, [len(part) for part in fit.covariances]
    )


def n_parameters(n_components: int, discriminants: Array, sizes: Sequence[int]) -> int:
    """Count the free parameters of a mixture. discriminants (K, p)."""
    selected = int(discriminants.any(axis=0).sum())
    covariances = sum(size * (size + 1) // 2 - 1 for size in sizes) + 1
    return (n_components - 1) * (1 + selected) + discriminants.shape[1] + covariances
