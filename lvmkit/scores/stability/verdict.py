"""A stability study in words: clusters that reappear, swap members or dissolve."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from lvmkit.core.typing import Array, Labels

REAPPEARS = 0.75
"""Mean Jaccard index from which a cluster counts as found again (Hennig 2007, section 3.3)."""
DISSOLVES = 0.5
"""Mean Jaccard index below which a cluster counts as dissolved (Hennig 2007, section 3.3)."""
EVERY_TIME = 0.995
"""Mean Jaccard index that is 1 in print."""
UNSURE = 0.1
"""Twice the standard error of a mean over repeats from which on it is told."""
SWAPS = 0.1
"""Part of the members of two clusters that change sides, from which on it is told."""
_PAIRS = 3  # named at most


class StudyLike(Protocol):
    """A `StabilityStudy`, or what a page shows of one."""

    @property
    def ari(self) -> Array:
        """Index of each repeat."""

    @property
    def planned(self) -> int:
        """Repeats that were asked for."""

    @property
    def clusters(self) -> Labels:
        """Numbers."""

    @property
    def cluster_labels(self) -> list[str]:
        """Number and name."""

    @property
    def cluster_stability(self) -> Array:
        """Mean Jaccard index."""

    @property
    def exchanged(self) -> Array:
        """Part of the members of two clusters that change sides."""


def verdict(study: StudyLike, *, unnamed: Labels | None = None) -> str:
    """Say which clusters reappear, which swap members, and how far two fits agree."""
    kept = ~np.isin(study.clusters, [] if unnamed is None else unnamed)
    stability = np.where(kept, study.cluster_stability, np.nan)
    told = [_reappear(stability, study.cluster_labels), *_swaps(study, kept)]
    told += _dissolved(study, stability)
    hidden = int((~kept).sum())
    if hidden:
        told.append(f"{_clusters(hidden)} with too few members {_is(hidden)} left out here.")
    return " ".join([*told, _agreement(study)])


def _reappear(stability: Array, labels: list[str]) -> str:
    """Say how many clusters reappear."""
    known = np.isfinite(stability)
    n, good = int(known.sum()), int((stability[known] >= REAPPEARS).sum())
    if not n:
        return "No cluster can be judged yet."
    worst = int(np.nanargmin(stability))
    if n == 1:
        does = "reappears" if good else "does not reappear"
        return f"The only cluster {does}, with a mean Jaccard index of {stability[worst]:.2f}."
    if stability[worst] >= EVERY_TIME:
        return f"All {n} clusters reappear in every run."
    how_many = f"All {n}" if good == n else f"{good or 'None'} of the {n}"
    verb = "reappears" if good == 1 else "reappear"
    least = (
        f"cluster {labels[worst]} is the least stable (mean Jaccard index {stability[worst]:.2f})"
    )
    return f"{how_many} clusters {verb}; {least}."


def _swaps(study: StudyLike, kept: npt.NDArray[np.bool_]) -> list[str]:
    """Name the pairs that swap most members."""
    parts = np.triu(study.exchanged, 1) * kept[:, None] * kept[None, :]
    pairs = np.argwhere(parts >= SWAPS)
    ranked = sorted((-float(parts[i, j]), int(i), int(j)) for i, j in pairs)
    labels = study.cluster_labels
    told = [
        f"Clusters {labels[i]} and {labels[j]} swap members between runs: {-part:.0%} of their members "
        "change sides."
        for part, i, j in ranked[:_PAIRS]
    ]
    more = len(ranked) - len(told)
    if more:
        least = f"{SWAPS:.0%}"
        told.append(f"{more} more {'pair swaps' if more == 1 else 'pairs swap'} {least} or more.")
    return told


def _dissolved(study: StudyLike, stability: Array) -> list[str]:
    """Name clusters whose best matches in other fits share less than half with them, on average."""
    lost = [study.cluster_labels[i] for i in np.flatnonzero(stability < DISSOLVES)]
    if not lost:
        return []
    named = ", ".join(lost[:5]) + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")
    one = len(lost) == 1
    return [
        f"Cluster {named} dissolves: what is most like it in other fits shares less than half of it."
        if one
        else f"Clusters {named} dissolve: what is most like them in other fits shares less than half of them."
    ]


def _agreement(study: StudyLike) -> str:
    """Say how far two fits agree, and on how many repeats this rests."""
    ari, done = study.ari, len(study.ari)
    low, high = f"{ari.min():.2f}", f"{ari.max():.2f}"
    spread = f", {low} to {high}" if low != high else ""
    repeats = f"{done} of {study.planned} repeats" if done < study.planned else _repeats(done)
    told = f"Adjusted Rand index of two fits: {ari.mean():.2f}{spread} ({repeats})."
    return f"{told}{_caution(ari)}"


def _caution(ari: Array) -> str:
    """Say that repeats differ too much for their mean to be compared, or nothing. ari (repeats,)."""
    known = ari[np.isfinite(ari)]
    if len(known) < 2 or (error := 2 * known.std(ddof=1) / np.sqrt(len(known))) < UNSURE:
        return ""
    return (
        f" The repeats differ: their mean is known to ± {error:.2f} only. Rows are few for so many clusters, or chance "
        "decides between several clusterings; more repeats, or fewer clusters, come before any comparison."
    )


def _repeats(n: int) -> str:
    """Return so many repeats."""
    return "1 repeat" if n == 1 else f"{n} repeats"


def _clusters(n: int) -> str:
    """Return so many clusters, at the beginning of a sentence."""
    return "One cluster" if n == 1 else f"{n} clusters"


def _is(n: int) -> str:
    """Return the verb for so many."""
    return "is" if n == 1 else "are"
