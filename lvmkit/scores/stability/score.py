"""Stability of a clustering: agreement of fits to resampled rows."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed
from lvmkit.core.progress import progress_callback
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.scores.matching import adjusted_rand
from lvmkit.scores.stability.refits import (
    PlannedFit,
    Protocol,
    Repeat,
    Report,
    draw_repeats,
    found_by,
    in_order,
    n_workers,
    refit,
    rows_of,
    take_rows,
    whole,
)


@checked()
def stability(
    estimator: Any,
    X: Any,
    *,
    protocol: Protocol = "overlapping",
    shared: float = 0.8,
    n_repeats: int = 5,
    random_state: RandomState = 0,
    progress: Progress | bool | None = None,
) -> Array:
    """Fit repeatedly on parts of the data and compare the clusters of the rows in both.

    Parameters
    ----------
    estimator : clusterer
        Anything with `fit` and `labels_` or `predict`; it is cloned, never changed. Where it has a
        `random_state` (also inside a pipeline), every fit gets its own seed, so that a lucky one
        does not look like stability.
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        The rows.
    protocol : {"overlapping", "bootstrap", "halves"}, default="overlapping"
        What is compared in a repeat, see Notes.
    shared : float, default=0.8
        Share of the rows in both parts; each part has half of the others besides. Of "overlapping" only.
    n_repeats : int, default=5
        How often to draw.
    random_state : int, RandomState, Generator or None, default=0
        Seed of rows and fits; None draws a fresh one.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it
        cancels the work. To keep what was computed until then use `iter_stability` or `stability_study`.

    Returns
    -------
    array (n_repeats,)
        Adjusted Rand index of each repeat. Rows that an estimator leaves out as noise (label −1)
        count as one cluster more.

    Raises
    ------
    ValueError
        If `protocol` is unknown or needs `predict` where there is none, `shared` leaves no rows to
        differ in, `n_repeats` is below 1, or a fit fails.

    Notes
    -----
    - *overlapping*: two fits on parts that share 80 % of the rows and have 10 % each of their own,
      compared on the shared rows. Ruffini thesis, section 6.4.1 ("MIMIC Dataset"), with these sizes and
      five repeats; Ruffini 2017, section 5.2 (stability analysis), report an index above 0.9.
    - *bootstrap*: a fit on all rows and one on as many rows drawn with replacement, compared on the
      rows that were drawn, each once (Hennig 2007, section 3.1).
    - *halves*: fits on two disjoint halves; each predicts all rows.

    Rows and seeds are drawn before the first fit, and fits on more than 5,000 rows run on a pool of
    threads: the result does not depend on how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> stability(KMeans(2, n_init=1), X, n_repeats=2)
    array([1., 1.])
    """
    matrix, random_state = rows_of(X), known_seed(random_state)
    made = draw_repeats(
        estimator,
        matrix.shape[0],
        protocol=protocol,
        shared=shared,
        n_repeats=n_repeats,
        random_state=random_state,
    )
    first = [whole(estimator, matrix.shape[0], random_state)] if protocol == "bootstrap" else []
    parts = [*first, *(part for draw in made for part in draw.fits)]
    find = partial(found_by, estimator, matrix, everyone=protocol == "halves")
    with progress_callback(progress) as tell:
        fits = in_order(
            [partial(find, part) for part in parts],
            fits_told(tell, len(parts)),
            workers=n_workers(matrix),
        )
        reference = [next(fits) for _ in first]
        found = [
            agreement([*reference, *(next(fits) for _ in draw.fits)], draw.compared)
            for draw in made
        ]
        tell("Stability: done", 1.0)
    return np.array(found)


def agreement(labels: list[Labels], rows: Labels) -> float:
    """Return the adjusted Rand index of two clusterings on some rows; noise is a cluster more."""
    one, other = (np.where(part[rows] < 0, part.max() + 1, part[rows]) for part in labels)
    return adjusted_rand(one, other)


def overlapping_fits(
    estimator: Any,
    X: Any,
    *,
    shared: float,
    n_repeats: int,
    random_state: RandomState,
    progress: Progress | None,
) -> Iterator[list[Any]]:
    """Yield two models fitted to overlapping parts; the options are those of `stability`."""
    matrix = rows_of(X)
    made: list[Repeat] = draw_repeats(
        estimator,
        matrix.shape[0],
        protocol="overlapping",
        shared=shared,
        n_repeats=n_repeats,
        random_state=random_state,
    )

    def fitted(part: PlannedFit, report: Report) -> Any:
        return refit(estimator, take_rows(matrix, part.rows), part.seeds, report)

    parts = [part for draw in made for part in draw.fits]
    with progress_callback(progress) as tell:
        fits = in_order(
            [partial(fitted, part) for part in parts],
            fits_told(tell, len(parts)),
            workers=n_workers(matrix),
        )
        for draw in made:
            yield [next(fits) for _ in draw.fits]
        tell("Stability: done", 1.0)


def fits_told(tell: Progress, n_fits: int) -> Any:
    """Return the progress callback that counts the fits."""

    def told_so(number: int, done: float) -> None:
        tell(f"Stability: fit {number + 1} of {n_fits}", (number + done) / n_fits)

    return told_so
