"""The table of assignments says of each patient the cluster, the second most probable one, and both probabilities."""

from __future__ import annotations

import numpy as np

from lvmkit.mixtures.assignment import Assignment


def test_each_patient_has_two_clusters_and_their_probabilities():
    posterior = np.array([[0.7, 0.1, 0.2], [0.05, 0.6, 0.35], [0.3, 0.3, 0.4]])
    assigned = Assignment(np.array([4, 0, 9]), posterior, np.array([7, 2, 5]), X=None)
    table = assigned.table(["Heart", "", "Lungs"])
    assert table.to_dict("list") == {
        "cluster": [7, 2, 5],
        "name": ["Heart", "", "Lungs"],
        "posterior": [0.7, 0.6, 0.4],
        "second": [5, 5, 7],
        "second_posterior": [0.2, 0.35, 0.3],
    }


def test_a_single_cluster_is_its_own_second():
    assigned = Assignment(np.arange(2), np.ones((2, 1)), np.array([3]), X=None)
    assert assigned.table(["All"])["second"].tolist() == [3, 3]
