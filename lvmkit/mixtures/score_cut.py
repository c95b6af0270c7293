"""Patients whose score reaches a level, and all others, as clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from lvmkit.core.typing import Labels
from lvmkit.mixtures.partition import Partition


class ScoreCut(Partition):
    """Two clusters: patients whose score reaches a level, and all others."""

    # A score is that of a row of the cohort: it cannot be read off the row alone, because an explorer sees only which
    # codes a row has, not how often.

    def __init__(self, cohort: Any, high: Any, names: tuple[str, str]) -> None:
        labels: Labels = np.where(np.asarray(high), 0, 1).astype(np.intp)
        present, sizes = sparse.csr_array(cohort.X) > 0, np.bincount(labels, minlength=2)
        centers = np.vstack([present[labels == k].sum(axis=0) for k in range(2)]) / sizes[:, None]
        codes = [str(code) for code in cohort.var_names]
        super().__init__(centers, sizes / len(labels), codes, names=names)
        self.labels_ = labels

    def placed(self, X: Any, rows: Labels) -> Any:
        """Return 1 for the cluster of each row of the cohort, 0 for the other, (m, 2)."""
        del X
        return np.eye(2)[self.labels_[rows]]

    def _cluster_of(self, rows: Any) -> Labels:
        """Refuse rows of which nothing is known but their codes."""
        del rows
        message = (
            "Scores are known of the rows of this cohort only; score others by model.transform."
        )
        raise ValueError(message)
