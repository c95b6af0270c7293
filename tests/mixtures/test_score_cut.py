"""A cut by a score: shares and frequencies are those of plain counting, and rows are placed by their score."""

from __future__ import annotations

import numpy as np
import pytest

from lvmkit.datasets import load_discharges
from lvmkit.mixtures.score_cut import ScoreCut

HIGH = np.arange(300) % 3 == 0


@pytest.fixture(name="cohort", scope="module")
def discharges():
    return load_discharges()[:300]


def test_clusters_are_those_above_and_all_others(cohort):
    cut = ScoreCut(cohort, HIGH, ("High", "Others"))
    X = cohort.X.toarray() > 0
    np.testing.assert_array_equal(cut.labels_, np.where(HIGH, 0, 1))
    np.testing.assert_allclose(cut.weights_, [1 / 3, 2 / 3])
    np.testing.assert_allclose(cut.centers_, [X[HIGH].mean(axis=0), X[~HIGH].mean(axis=0)])


def test_rows_are_placed_by_their_score_not_by_their_codes(cohort):
    cut = ScoreCut(cohort, HIGH, ("High", "Others"))
    rows = np.array([4, 3, 0])
    np.testing.assert_array_equal(cut.placed(cohort.X[rows], rows), [[0, 1], [1, 0], [1, 0]])
    with pytest.raises(ValueError, match=r"score others by model\.transform"):
        cut.predict(cohort.X[rows])
