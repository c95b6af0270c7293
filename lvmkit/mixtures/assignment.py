"""Posterior probabilities, labels and sizes of the clusters for the patients shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lvmkit.core.typing import Array
from lvmkit.mixtures.clustering import Clustering


@dataclass(frozen=True, eq=False)
class Assignment:
    """Posterior probabilities of the patients shown."""

    rows: npt.NDArray[np.intp]  # (n,): Row of each patient in the cohort
    posterior: Array  # (n, c): Probability of each cluster; rows sum to 1
    ids: npt.NDArray[np.intp]  # (c,): Id of each cluster
    X: Any  # (n, d): Codes of these patients, 0 or 1

    @cached_property
    def positions(self) -> npt.NDArray[np.intp]:
        """Place of each patient's most probable cluster (n,)."""
        return np.asarray(np.argmax(self.posterior, axis=1))

    @cached_property
    def labels(self) -> npt.NDArray[np.intp]:
        """Id of each patient's most probable cluster (n,)."""
        return self.ids[self.positions]

    @cached_property
    def sizes(self) -> npt.NDArray[np.intp]:
        """Number of patients in each cluster (c,)."""
        return np.bincount(self.positions, minlength=len(self.ids))

    @cached_property
    def certainty(self) -> Array:
        """Posterior probability of each patient's own cluster (n,)."""
        return np.asarray(self.posterior.max(axis=1))

    @cached_property
    def runner_up(self) -> npt.NDArray[np.intp]:
        """Place of each patient's second most probable cluster (n,)."""
        if self.posterior.shape[1] == 1:
            return self.positions
        others = self.posterior.copy()
        others[np.arange(len(others)), self.positions] = -1.0
        return np.asarray(np.argmax(others, axis=1))

    def table(self, names: Sequence[str]) -> pd.DataFrame:
        """Tabulate the cluster of each patient, and the second most probable one; `names` are those of the clusters."""
        second = self.posterior[np.arange(len(self.rows)), self.runner_up]
        return pd.DataFrame(
            {
                "cluster": self.labels,
                "name": np.array(names, dtype=object)[self.positions],
                "posterior": self.certainty.round(6),
                "second": self.ids[self.runner_up],
                "second_posterior": second.round(6),
            }
        )


def assign(
    clustering: Clustering, X: Any, rows: npt.NDArray[np.intp], responsibilities: Array
) -> Assignment:
    """Add up the components of each cluster."""
    posterior = responsibilities @ clustering.membership
    return Assignment(rows, posterior, np.array(clustering.ids, dtype=np.intp), X)


@dataclass(frozen=True)
class Moves:
    """Numbers of patients who changed cluster in a split."""

    came: int  # Patients of other clusters who are now in a part of it
    left: int  # Its patients who are now in another cluster

    @property
    def text(self) -> str:
        """The moves in words."""
        if not self.came and not self.left:
            return "Nobody else changed cluster."
        came = "1 patient" if self.came == 1 else f"{self.came:,} patients"
        return (
            f"{came} of other clusters moved into the parts, and {self.left:,} of its own moved to "
            "other clusters."
        )


def moves(before: Assignment, after: Assignment, cluster: int) -> Moves:
    """Count who moved when a cluster was split."""
    inside = before.labels == cluster
    parts = ~np.isin(after.labels, before.ids)
    return Moves(came=int((~inside & parts).sum()), left=int((inside & ~parts).sum()))
