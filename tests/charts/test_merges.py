"""Weights of single covariates are those of the first solution in which each has one."""

from types import SimpleNamespace

import numpy as np

from lvmkit.charts._merges import weights_alone


class Path(list):
    classes = ("a", "b")


def test_each_covariate_has_the_weight_of_its_first_solution():
    path = Path(
        [
            SimpleNamespace(labels=[0, -1, 1, -1], cluster_coef=np.array([[1.0, 2.0], [3.0, 4.0]])),
            SimpleNamespace(labels=[0, 0, 0, -1], cluster_coef=np.array([[9.0], [8.0]])),
        ]
    )
    expected = [[1.0, 9.0, 2.0, 0.0], [3.0, 8.0, 4.0, 0.0]]
    np.testing.assert_array_equal(weights_alone(path), expected)
