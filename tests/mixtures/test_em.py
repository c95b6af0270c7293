"""The loop stops for the reason it gives."""

import numpy as np
import pytest

from lvmkit.mixtures.em import run_em


def halving(x):
    return x / 2, -float(np.abs(x).sum())


@pytest.mark.parametrize(
    ("options", "stopped_by", "steps"),
    [
        ({"tol": 0.2}, "tol", 4),
        ({"tol": 0.0, "weights_tol": 0.3}, "weights", 2),
        ({"tol": 0.0}, "max_iter", 9),
    ],
)
def test_reason_and_number_of_steps(options, stopped_by, steps):
    result = run_em(np.ones(1), halving, max_iter=9, weights_of=lambda x: x, **options)
    assert result.stopped_by == stopped_by
    assert len(result.log_likelihoods) == steps
    np.testing.assert_allclose(result.params, 0.5**steps)


def test_running_out_of_steps_is_never_called_convergence():
    assert run_em(1.0, lambda x: (x, -1.0), tol=-1.0, max_iter=3).stopped_by == "max_iter"


def test_numbers_converge_like_arrays():
    assert run_em(1.0, lambda x: (x / 2, -x), tol=0.1, max_iter=50).stopped_by == "tol"
