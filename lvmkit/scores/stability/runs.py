"""Look for the clusters of a reference in repeated fits: after every repeat, or all of them."""

import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy.typing as npt

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed
from lvmkit.core.progress import Interruptible, told
from lvmkit.core.typing import Progress, RandomState
from lvmkit.core.validation import DataWarning, require_number
from lvmkit.scores.counts import Names
from lvmkit.scores.stability.refits import found_by, in_order, n_workers, rows_of
from lvmkit.scores.stability.resampling import Protocol, Refit, draws, whole
from lvmkit.scores.stability.score import fits_told
from lvmkit.scores.stability.study import StabilityStudy, after, begun, resumed

SAMPLE = 300
"""Rows of the consensus matrix."""


@checked()
def iter_stability(
    estimator: Any,
    X: Any,
    *,
    reference: npt.ArrayLike | None = None,
    names: Names = None,
    protocol: Protocol = "overlapping",
    shared: float = 0.8,
    n_repeats: int = 5,
    sample: int = SAMPLE,
    random_state: RandomState = 0,
    resume: StabilityStudy | None = None,
    progress: Progress | bool | None = None,
) -> Iterator[StabilityStudy]:
    """Look for the clusters of a reference in repeated fits, and yield what is known after every repeat.

    Stop taking, or raise from `progress`, and the last study stays valid: it says how many repeats
    of how many it rests on, and `resume` goes on from it.

    Parameters
    ----------
    estimator : clusterer
        Anything with `fit` and `labels_` or `predict`; it is cloned, never changed.
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        The rows.
    reference : array (n,) of int, optional
        The clustering that is judged, for example `labels_` of a fitted model; negative numbers are
        noise. By default the estimator is fitted to all rows.
    names : mapping of int to str, or sequence of str, optional
        What the user calls the clusters.
    protocol : {"overlapping", "bootstrap", "halves"}, default="overlapping"
        What is compared in a repeat, as for `stability`.
    shared : float, default=0.8
        Share of the rows in both parts, as for `stability`.
    n_repeats : int, default=5
        How often to draw.
    sample : int, default=300
        Rows of the consensus matrix at most, drawn from every cluster.
    random_state : int, RandomState, Generator or None, default=0
        Seed of rows and fits; None draws a fresh one. The rows and seeds are those of `stability`.
    resume : StabilityStudy, optional
        What was yielded before with the same options; its repeats are not done again, and its
        reference is kept.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done; raising from it
        cancels the work.

    Yields
    ------
    StabilityStudy
        After each repeat.

    Raises
    ------
    ValueError
        As `stability`; if the reference has no cluster or not one label per row, or `resume` is of
        other rows.

    Notes
    -----
    Jaccard indices are those of Hennig 2007, section 3.1: each cluster of the reference, restricted to the
    rows of a refit, with the refit's cluster that is most like it. The consensus matrix (Monti et al.
    2003) is of a sample of rows, so that memory does not grow with n². Noise belongs to no cluster: it
    is not looked for, and two rows that are both noise are not together.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> for study in iter_stability(KMeans(2, n_init=1), X, n_repeats=3):
    ...     print(study.n_repeats, study.cluster_stability)
    1 [1. 1.]
    2 [1. 1.]
    3 [1. 1.]
    """
    matrix, random_state = rows_of(X), known_seed(random_state)
    n_rows = matrix.shape[0]
    require_number(sample, "sample", least=2, whole=True)
    made = draws(
        estimator,
        n_rows,
        protocol=protocol,
        shared=shared,
        n_repeats=n_repeats,
        random_state=random_state,
    )
    done = 0 if resume is None else resume.n_repeats
    find = partial(found_by, estimator, matrix, everyone=protocol == "halves")
    fits_all = resume is None and reference is None
    # the fit on all rows is the reference, or what bootstrap fits are compared with
    base = [whole(estimator, n_rows, random_state)] if fits_all or protocol == "bootstrap" else []
    parts: list[Refit] = [*base, *(part for draw in made[done:] for part in draw.fits)]
    with told(progress) as tell:
        study = None if resume is None else resumed(resume, n_rows, n_repeats)
        if study is None and reference is not None:
            study = begun(reference, n_rows, names, n_repeats, sample, random_state)
        if done >= n_repeats:
            return
        fits = in_order(
            [partial(find, part) for part in parts],
            fits_told(tell, len(parts)),
            workers=n_workers(matrix),
        )
        first = [next(fits) for _ in base]
        if study is None:
            study = begun(first[0], n_rows, names, n_repeats, sample, random_state)
        for draw in made[done:]:
            study = after(study, draw, first, [next(fits) for _ in draw.fits])
            yield study
        tell("Stability: done", 1.0)


@checked()
def stability_study(
    estimator: Any,
    X: Any,
    *,
    reference: npt.ArrayLike | None = None,
    names: Names = None,
    protocol: Protocol = "overlapping",
    shared: float = 0.8,
    n_repeats: int = 5,
    sample: int = SAMPLE,
    random_state: RandomState = 0,
    resume: StabilityStudy | None = None,
    progress: Progress | bool | None = None,
) -> StabilityStudy:
    """Look for the clusters of a reference in repeated fits.

    Parameters
    ----------
    estimator : clusterer
        Anything with `fit` and `labels_` or `predict`; it is cloned, never changed.
    X : array, sparse matrix, DataFrame or AnnData (n, d)
        The rows.
    reference : array (n,) of int, optional
        The clustering that is judged; by default the estimator is fitted to all rows.
    names : mapping of int to str, or sequence of str, optional
        What the user calls the clusters.
    protocol : {"overlapping", "bootstrap", "halves"}, default="overlapping"
        What is compared in a repeat, as for `stability`.
    shared : float, default=0.8
        Share of the rows in both parts, as for `stability`.
    n_repeats : int, default=5
        How often to draw.
    sample : int, default=300
        Rows of the consensus matrix at most.
    random_state : int, RandomState, Generator or None, default=0
        Seed of rows and fits; None draws a fresh one.
    resume : StabilityStudy, optional
        What an earlier call with the same options returned; its repeats are not done again.
    progress : callable or bool, optional
        True shows a bar. A callable is called with a text and the fraction done. Raising from it, or
        interrupting the kernel, ends the work; what is known by then is returned if it is a repeat or
        more, and otherwise what was raised is raised.

    Returns
    -------
    StabilityStudy
        With `n_repeats` below `planned` if the work was ended.

    Raises
    ------
    ValueError
        As `iter_stability`.

    Warns
    -----
    DataWarning
        If the work was ended before the last repeat.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 50, axis=0)
    >>> print(stability_study(KMeans(2, n_init=1), X, names=["left", "right"]).verdict())
    All 2 clusters reappear in every run. Adjusted Rand index of two fits: 1.00 (5 repeats).
    """
    study = resume
    with told(progress) as tell:
        watched = Interruptible(tell)
        try:
            for study in iter_stability(  # noqa: B007 - the last one is what is wanted
                estimator,
                X,
                reference=reference,
                names=names,
                protocol=protocol,
                shared=shared,
                n_repeats=n_repeats,
                sample=sample,
                random_state=random_state,
                resume=resume,
                progress=watched,
            ):
                pass
        except BaseException as error:
            if study is None or not watched.wished(error):
                raise
    if study is None:
        msg = f"n_repeats must be 1 or more; found {n_repeats!r}"
        raise ValueError(msg)
    warn_if_ended(study.n_repeats, n_repeats)
    return study


def warn_if_ended(done: int, planned: int) -> None:
    """Warn that work was ended early and what there is instead."""
    if done < planned:
        msg = f"ended after {done} of {planned} repeats; the result rests on these"
        warnings.warn(msg, DataWarning, stacklevel=4)  # 4: what checks the arguments stands between
