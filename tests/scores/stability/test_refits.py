"""Repeated fits: what they leave behind."""

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from lvmkit.scores import iter_stability


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_a_study_that_is_not_read_to_its_end_leaves_the_libraries_their_threads():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        steps = iter_stability(KMeans(2, n_init=1), np.eye(40, 6), n_repeats=2)
        next(steps)
        assert blas_threads() == before
        steps.close()
