"""Cluster assignments, counts and associations of one cohort, computed once and cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lvmkit.cohorts.subset import Subset
from lvmkit.cohorts.view import CohortView
from lvmkit.core.typing import Array
from lvmkit.mixtures.assignment import Assignment, assign
from lvmkit.mixtures.cluster import Cluster, Mixture
from lvmkit.mixtures.clustering import Clustering
from lvmkit.scores import CodeCounts, association_of_counts, count_codes
from lvmkit.scores.relevance import known_relevance

HINT_BALANCE = 0.3  # closer to lift, so that clusters that share a frequent code differ
HINT_LETTERS = 40  # of the code that stands for a cluster without a name
MATCH = 0.5  # clusters that share more than half of their patients keep name and note


@dataclass(frozen=True, eq=False)
class ClusterView:
    """A clustering and a subset of the cohort: the unit of undo and redo."""

    clustering: Clustering  # Components, groups, names and notes
    subset: Subset  # Whose patients are shown
    how: str = ""  # How the fit of the mixture ended, in words


class Analysis:
    """Assignments, counts and scores of one cohort, the last few cached."""

    def __init__(self, patients: CohortView) -> None:
        self.patients = patients
        self._posteriors: list[tuple[Mixture, str, Array]] = []
        self._assignments: list[tuple[Clustering, str, Assignment]] = []
        self._fits: list[tuple[Mixture, str, float]] = []
        self._counts: list[tuple[Assignment, CodeCounts]] = []
        self._shown: list[tuple[CodeCounts, int, list[str], CodeCounts, list[pd.DataFrame]]] = []

    def matrix(self, view: ClusterView) -> Any:
        """Return the patients of a view by the codes of its mixture, (n, d)."""
        return self.patients.matrix(view.subset, view.clustering.mixture.codes)

    def assignment(self, view: ClusterView) -> Assignment:
        """Assign the patients of a view to its clusters."""
        key = view.subset.code
        for clustering, subset, known in self._assignments:
            if clustering is view.clustering and subset == key:
                return known
        rows = self.patients.rows(view.subset)
        found = assign(view.clustering, self.matrix(view), rows, self._responsibilities(view))
        self._assignments = [(view.clustering, key, found), *self._assignments[:2]]
        return found

    def counts(self, view: ClusterView, threshold: int = 0) -> CodeCounts:
        """Count patients by cluster and code."""
        return self._entry(view, threshold)[0]

    def association(self, view: ClusterView, threshold: int = 0) -> pd.DataFrame:
        """Compare each code in each cluster with the rest of the patients."""
        counts, made = self._entry(view, threshold)
        if not made:
            made.append(association_of_counts(counts))
        return made[0]

    def log_likelihood(self, view: ClusterView) -> float:
        """Return the mean log-likelihood of a patient under the mixture."""
        mixture, key = view.clustering.mixture, view.subset.code
        for known, subset, value in self._fits:
            if known is mixture and subset == key:
                return value
        weights = self.patients.weights(view.subset)
        value = float(mixture.scorer.score(self.matrix(view), sample_weight=weights))
        self._fits = [(mixture, key, value), *self._fits[:5]]
        return value

    def _entry(self, view: ClusterView, threshold: int) -> tuple[CodeCounts, list[pd.DataFrame]]:
        """Return the named counts of a view, and the cache of their association."""
        raw, given = self._raw_counts(view), [c.name for c in view.clustering.clusters]
        for base, limit, names, known, made in self._shown:
            if base is raw and limit == threshold and names == given:
                return known, made
        found = raw.suppress(threshold) if threshold else raw
        hints = [
            f"({short(hint)})" if hint else ""
            for hint in marks(found, max_items=1, balance=HINT_BALANCE)
        ]
        found = found.rename([n or hint for n, hint in zip(given, hints, strict=True)])
        self._shown = [(raw, threshold, given, found, []), *self._shown[:5]]
        return self._shown[0][3:]

    def _raw_counts(self, view: ClusterView) -> CodeCounts:
        """Count the patients of a view, once per assignment."""
        assignment, codes = self.assignment(view), view.clustering.mixture.codes
        for known, counts in self._counts:
            if known.X is assignment.X and np.array_equal(known.labels, assignment.labels):
                return counts
        titles = [self.patients.titles.get(code, "") for code in codes]
        counts = count_codes(
            assignment.X,
            assignment.labels,
            clusters=view.clustering.ids,
            feature_names=codes,
            titles=titles,
            sample_weight=self.patients.weights(view.subset),
        )
        self._counts = [(assignment, counts), *self._counts[:2]]
        return counts

    def _responsibilities(self, view: ClusterView) -> Array:
        """Posterior probability of each component, kept per mixture and subset."""
        mixture, key = view.clustering.mixture, view.subset.code
        for known, subset, values in self._posteriors:
            if known is mixture and subset == key:
                return values
        values = mixture.responsibilities(self.matrix(view), self.patients.rows(view.subset))
        self._posteriors = [(mixture, key, values), *self._posteriors[:2]]
        return values


def marks(counts: CodeCounts, max_items: int = 2, balance: float = 0.6) -> list[str]:
    """Name the codes that mark each cluster."""
    texts = []
    scores = score_codes(counts, balance)
    for row in range(len(scores)):
        best = [j for j in np.argsort(-scores[row])[:max_items] if scores[row, j] > -np.inf]
        texts.append(" · ".join(counts.titles[j] or counts.codes[j] for j in best))
    return texts


def score_codes(counts: CodeCounts, balance: float) -> Array:
    """Score codes by relevance, from counted patients, (k, d)."""
    return known_relevance(counts.shares, counts.overall, balance=balance)


def carry_names(
    old: Clustering, before: Assignment, new: Clustering, after: Assignment
) -> tuple[Clustering, list[str]]:
    """Give new clusters the names and notes of old ones that they resemble."""
    carried = []
    _, first, second = np.intersect1d(before.rows, after.rows, return_indices=True)
    was, now = before.labels[first], after.labels[second]
    for cluster in old.clusters:
        best = _best_match(was == cluster.id, now, new) if cluster.name or cluster.note else None
        if best is not None and not best.name:
            new = new.renamed(best.id, name=cluster.name, note=cluster.note)
            carried.append(cluster.label)
    return new, carried


def short(title: str) -> str:
    """Shorten a title at a word boundary."""
    if len(title) <= HINT_LETTERS:
        return title
    return title[:HINT_LETTERS].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def _best_match(inside: Any, now: Any, new: Clustering) -> Cluster | None:
    """Find the new cluster that shares more than half of its patients with an old one."""
    for cluster in new.clusters:
        same = now == cluster.id
        union = int((inside | same).sum())
        if union and (inside & same).sum() / union > MATCH:
            return cluster
    return None
