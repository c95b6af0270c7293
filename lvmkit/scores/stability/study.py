"""Stability of single clusters: how those of a reference reappear in repeated fits."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from lvmkit.core.arguments import checked
from lvmkit.core.linalg import known_seed, random_state_of
from lvmkit.core.progress import Interruptible, progress_callback
from lvmkit.core.typing import Array, Labels, Progress, RandomState
from lvmkit.core.validation import DataWarning, listed, require_number
from lvmkit.scores.counts import Names, cluster_names, cluster_numbers, joined
from lvmkit.scores.stability.refits import (
    UNSEEN,
    PlannedFit,
    Protocol,
    Repeat,
    draw_repeats,
    found_by,
    in_order,
    n_workers,
    numbered,
    rows_of,
    whole,
)
from lvmkit.scores.stability.score import agreement, fits_told
from lvmkit.scores.stability.verdict import verdict


class Reappearance(NamedTuple):
    """How the clusters of a reference appear in another clustering of some of its rows."""

    # (k,): Of each cluster with the one most like it; NaN where none of its rows was seen
    jaccard: Array
    # (k, k): Members of i in clusters that belong to j: most of their members are j's
    moved: Labels
    seen: Labels  # (k,): Members of each cluster that the other clustering was asked about


def reappearance(reference: Labels, found: Labels, k: int) -> Reappearance:
    """Compare a clustering with a reference whose clusters are numbered 0 … k − 1, −1 for noise."""
    known = found != UNSEEN
    left, right = reference[known], found[known]
    others, right = np.unique(right, return_inverse=True)
    table = np.bincount((left + 1) * len(others) + right, minlength=(k + 1) * len(others))
    table = table.reshape(k + 1, len(others))
    seen = table[1:].sum(axis=1)
    overlap, members = table[1:, others >= 0], table[:, others >= 0].sum(axis=0)
    either = seen[:, None] + members[None, :] - overlap
    jaccard = (overlap / np.maximum(either, 1)).max(axis=1, initial=0.0)
    moved = np.zeros((k, k), dtype=np.int64)
    if overlap.size:
        np.add.at(moved.T, overlap.argmax(axis=0), overlap.T)
    return Reappearance(np.where(seen > 0, jaccard, np.nan), moved, seen)


def coassignment(found: Labels, sample: Labels) -> tuple[Labels, Labels]:
    """Return which pairs of sampled rows are in one cluster, and which were both seen (s, s)."""
    labels = found[sample]
    there = labels != UNSEEN
    seen = there[:, None] & there[None, :]
    together = (labels[:, None] == labels[None, :]) & (labels >= 0)[:, None]
    return together.astype(np.int32), seen.astype(np.int32)


def stratified(reference: Labels, k: int, size: int, random_state: RandomState) -> Labels:
    """Draw rows from every cluster, about in proportion, a few of small ones; sorted by cluster."""
    random = random_state_of(random_state)
    order = random.permutation(len(reference))
    order = order[reference[order] >= 0]
    sizes = np.bincount(reference[order], minlength=k)
    quota = _quota(sizes, min(size, len(order)))
    order = order[np.argsort(reference[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    return order[rank < np.repeat(quota, sizes)]


def _quota(sizes: Labels, size: int) -> Labels:
    """Share out a sample: in proportion to the sizes, but a few rows of each cluster if there is room."""
    few = np.minimum(sizes, min(5, size // max(len(sizes), 1)))
    exact = size * sizes / max(int(sizes.sum()), 1)
    quota = np.maximum(exact.astype(np.int64), few)
    missing = size - int(quota.sum())
    if missing > 0:
        quota[np.argsort(quota - exact, kind="stable")[:missing]] += 1
    while quota.sum() > size:
        quota[np.argmax(quota)] -= 1
    return quota


@dataclass(frozen=True, eq=False)
class StabilityStudy:
    """How the clusters of a reference reappear in repeated fits; of as many repeats as are done.

    Parameters
    ----------
    ari : array (repeats,)
        Adjusted Rand index of each repeat, as `stability` returns it.
    jaccard : array (repeats, k)
        Of each cluster of the reference with the one most like it, mean over the fits of the repeat;
        NaN where no fit saw a member.
    found : array (repeats,) of int
        Clusters in the first fit of each repeat.
    clusters : array (k,) of int
        Numbers of the reference's clusters, ascending.
    names : tuple of str (k)
        What the user calls them; "" where not named.
    sizes : array (k,) of int
        Rows of each cluster of the reference.
    reference : array (n,) of int
        Cluster of each row, from 0 to k − 1 in the order of `clusters`; −1 for noise.
    moved_rows : array (k, k) of int
        Members of i in a refit's cluster that belongs to j, summed over all fits. A cluster of a
        refit belongs to the cluster of the reference that most of its members are of.
    seen_rows : array (k,) of int
        Members of each cluster that fits were asked about, summed over all fits.
    sample : array (s,) of int
        Rows of the consensus matrix, sorted by cluster.
    together, together_seen : array (s, s) of int
        Fits that put both rows into one cluster, and fits that saw both.
    planned : int
        Repeats that were asked for.
    """

    ari: Array
    jaccard: Array
    found: Labels
    clusters: Labels
    names: tuple[str, ...]
    sizes: Labels
    reference: Labels
    moved_rows: Labels
    seen_rows: Labels
    sample: Labels
    together: Labels
    together_seen: Labels
    planned: int

    @property
    def n_repeats(self) -> int:
        """Repeats that are done."""
        return len(self.ari)

    @property
    def complete(self) -> bool:
        """Whether all repeats that were asked for are done."""
        return self.n_repeats >= self.planned

    @property
    def cluster_labels(self) -> list[str]:
        """Number and name of each cluster, as shown to readers."""
        return joined(self.clusters, self.names)

    @property
    def cluster_stability(self) -> Array:
        """Mean Jaccard index of each cluster (k,), in [0, 1]; NaN where no fit saw a member."""
        known = np.isfinite(self.jaccard)
        sums = np.where(known, self.jaccard, 0).sum(axis=0)
        with np.errstate(invalid="ignore"):
            return sums / known.sum(axis=0)

    @property
    def moved(self) -> Array:
        """Share of the members of i found in clusters that belong to j (k, k); rows sum to at most 1."""
        return self.moved_rows / np.maximum(self.seen_rows, 1)[:, None]

    @property
    def exchanged(self) -> Array:
        """Share of the members of i and j together that change sides (k, k), symmetric, 0 for i = j."""
        sides = self.moved_rows + self.moved_rows.T
        both = self.seen_rows[:, None] + self.seen_rows[None, :]
        shares = sides / np.maximum(both, 1)
        np.fill_diagonal(shares, 0.0)
        return shares

    @property
    def consensus(self) -> Array:
        """Share of the fits that put both rows of the sample into one cluster (s, s); NaN if none saw both."""
        with np.errstate(invalid="ignore"):
            return self.together / np.where(self.together_seen, self.together_seen, np.nan)

    @checked()
    def verdict(self, *, unnamed: npt.ArrayLike | None = None) -> str:
        """Say in words which clusters reappear and which swap members.

        Parameters
        ----------
        unnamed : array of int, optional
            Numbers of clusters that must not be spoken of, because too few rows are in them.

        Returns
        -------
        str
            A few sentences. A cluster reappears from a mean Jaccard index of 0.75 on and dissolves
            below 0.5 (Hennig 2007, section 3.3); swaps of a tenth of the members or more are told.
        """
        hidden = None if unnamed is None else cluster_numbers(unnamed, "unnamed")
        return verdict(self, unnamed=hidden)


def begun(
    reference: npt.ArrayLike,
    n_rows: int,
    names: Names,
    n_repeats: int,
    sample: int,
    random_state: RandomState,
) -> StabilityStudy:
    """Return a study of no repeats yet."""
    labels = numbered(reference)
    if len(labels) != n_rows:
        msg = f"reference has {len(labels):,} labels for {n_rows:,} rows; pass one for each"
        raise ValueError(msg)
    clusters = np.unique(labels[labels >= 0])
    if not len(clusters):
        msg = (
            f"the reference has no cluster: all {n_rows:,} rows are noise (negative labels). Change the "
            "options of the estimator, for DBSCAN a larger eps."
        )
        raise ValueError(msg)
    k = len(clusters)
    places = np.where(labels >= 0, np.searchsorted(clusters, labels), -1)
    rows = stratified(places, k, sample, random_state)
    pairs = np.zeros((len(rows), len(rows)), dtype=np.int32)
    return StabilityStudy(
        ari=np.zeros(0),
        jaccard=np.zeros((0, k)),
        found=np.zeros(0, dtype=np.int64),
        clusters=clusters,
        names=cluster_names(clusters, names),
        sizes=np.bincount(places[places >= 0], minlength=k),
        reference=places,
        moved_rows=np.zeros((k, k), dtype=np.int64),
        seen_rows=np.zeros(k, dtype=np.int64),
        sample=rows,
        together=pairs,
        together_seen=pairs,
        planned=n_repeats,
    )


def resumed(study: StabilityStudy, n_rows: int, n_repeats: int) -> StabilityStudy:
    """Return an earlier study with its new goal."""
    if len(study.reference) != n_rows:
        msg = (
            f"resume is of {len(study.reference):,} rows, X has {n_rows:,}; pass the same rows, or "
            f"leave resume out (its clusters: {listed(study.clusters)})"
        )
        raise ValueError(msg)
    return replace(study, planned=n_repeats)


def after(
    study: StabilityStudy, draw: Repeat, first: list[Labels], fits: list[Labels]
) -> StabilityStudy:
    """Return the study with one repeat more."""
    k = len(study.clusters)
    seen = [reappearance(study.reference, found, k) for found in fits]
    pairs = [coassignment(found, study.sample) for found in fits]
    base = first if len(fits) == 1 else []
    found = fits[0]
    indices = np.array([each.jaccard for each in seen])
    known = np.isfinite(indices)
    with np.errstate(invalid="ignore"):
        jaccard = np.where(known, indices, 0).sum(axis=0) / known.sum(axis=0)
    return replace(
        study,
        ari=np.append(study.ari, agreement([*base, *fits], draw.compared)),
        jaccard=np.vstack([study.jaccard, jaccard]),
        found=np.append(study.found, len(np.unique(found[found >= 0]))),
        moved_rows=study.moved_rows + sum(each.moved for each in seen),
        seen_rows=study.seen_rows + sum(each.seen for each in seen),
        together=study.together + sum(each for each, _ in pairs),
        together_seen=study.together_seen + sum(each for _, each in pairs),
    )


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
    rows of a refit, with the refit's cluster that is most like it. The consensus matrix (Monti
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
    made = draw_repeats(
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
    parts: list[PlannedFit] = [*base, *(part for draw in made[done:] for part in draw.fits)]
    with progress_callback(progress) as tell:
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


# The options stand twice, as a public signature takes no **kwargs.
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
    with progress_callback(progress) as tell:
        watched = Interruptible(tell)
        studies = iter_stability(
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
        )
        kept = resume is not None
        for study in watched.until_stopped(studies, has_result=kept):  # noqa: B007 - the last is wanted
            pass
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
