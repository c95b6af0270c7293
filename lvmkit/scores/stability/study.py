"""Which clusters are stable: how each cluster of a reference reappears in repeated fits."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lvmkit.core.arguments import checked
from lvmkit.core.typing import Array, Labels, RandomState
from lvmkit.core.validation import listed
from lvmkit.scores.counts import Names, cluster_names, cluster_numbers, joined
from lvmkit.scores.stability.agreement import reappearance, stratified, togetherness
from lvmkit.scores.stability.refits import numbered
from lvmkit.scores.stability.resampling import Draw
from lvmkit.scores.stability.score import agreement
from lvmkit.scores.stability.verdict import verdict


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
    study: StabilityStudy, draw: Draw, first: list[Labels], fits: list[Labels]
) -> StabilityStudy:
    """Return the study with one repeat more."""
    k = len(study.clusters)
    seen = [reappearance(study.reference, found, k) for found in fits]
    pairs = [togetherness(found, study.sample) for found in fits]
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
