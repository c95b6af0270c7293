import warnings
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.covariates import selection as module
from lvmkit.covariates.marginal_likelihood import refit
from lvmkit.models import select_covariates


@pytest.fixture(scope="module")
def data():
    """Three covariates tell about three classes, six do not."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 9))
    X[:, [1, 4, 6]] += 1.5 * np.eye(3)[y]
    return X, y


def chosen_by_clarabel(X, y, strength, ridge=0.1):
    (n, d), targets = X.shape, np.eye(3)[y]
    weights, intercept = cp.Variable((d, 3)), cp.Variable((1, 3))
    scores = X @ weights + np.ones((n, 1)) @ intercept
    loss = cp.sum(cp.log_sum_exp(scores, axis=1)) - cp.sum(cp.multiply(targets, scores))
    loss += ridge * cp.sum_squares(weights) + strength * cp.sum(cp.norm(weights, axis=1))
    problem = cp.Problem(cp.Minimize(loss), [cp.sum(intercept) == 0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # of the last digits
        problem.solve(solver=cp.CLARABEL)
    return np.linalg.norm(weights.value, axis=1) > 1e-4


def test_the_group_lasso_is_that_of_a_conic_solver(data):
    strengths = [0.5, 2.0, 5.0, 8.0, 15.0]
    selection = select_covariates(*data, strengths)
    for strength, mask in zip(strengths, selection.masks, strict=True):
        np.testing.assert_array_equal(mask, chosen_by_clarabel(*data, strength))


def test_what_tells_about_the_classes_is_selected(data):
    selection = select_covariates(*data)
    assert {1, 4, 6} <= set(selection.selected)
    assert len(selection.selected) <= 5
    np.testing.assert_allclose(selection.strengths, np.sort(90 * 2.0 ** -np.arange(30)))
    assert not selection.masks[-1].any()
    assert selection.masks[0].all()


def test_the_best_has_the_highest_marginal_likelihood_and_fewest_covariates(data):
    selection = select_covariates(*data)
    evidence = selection.log_marginal_likelihoods
    top = evidence == evidence.max()
    assert top[selection.best]
    assert selection.masks[selection.best].sum() == selection.masks[top].sum(axis=1).min()
    # Equal masks are equally plausible.
    for k in range(1, 30):
        if (selection.masks[k] == selection.masks[k - 1]).all():
            assert evidence[k] == pytest.approx(evidence[k - 1], abs=1e-6)


def test_of_equally_plausible_selections_the_smallest_is_best(data, monkeypatch):
    alike = lambda *given: replace(refit(*given), log_evidence=-1.0)  # noqa: E731
    monkeypatch.setattr(module, "refit", alike)
    selection = select_covariates(*data, [0.5, 15.0, 1e4])
    assert selection.masks.sum(axis=1).tolist() == [9, 3, 0]
    assert selection.best == 2


def test_strengths_are_sorted_names_and_sparse_samples_are_read(data):
    X, y = data
    expected = select_covariates(X, y, [1.0, 9.0, 3.0])
    assert expected.strengths.tolist() == [1.0, 3.0, 9.0]
    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(9)])
    for other in (frame, sparse.csr_array(X)):
        found = select_covariates(other, np.array(list("abc"))[y], [1.0, 9.0, 3.0])
        np.testing.assert_array_equal(found.masks, expected.masks)


def test_constant_covariates_are_never_selected(data):
    X, y = data
    X = X.copy()
    X[:, 0] = 3.0
    assert not select_covariates(X, y, [0.01, 1.0, 5.0]).masks[:, 0].any()
    assert not select_covariates(np.ones((90, 2)), y).masks.any()


@pytest.mark.parametrize("strengths", [[], [0.0], [-1.0], [np.nan], [np.inf], [[1.0]]], ids=str)
def test_strengths_that_are_none_are_refused(data, strengths):
    with pytest.raises(ValueError, match="strengths must be numbers above 0"):
        select_covariates(*data, strengths)


def test_other_options_are_checked(data):
    with pytest.raises(ValueError, match="prior_variance must be"):
        select_covariates(*data, [1.0], prior_variance=0)
    with pytest.raises(ValueError, match="ridge must be"):
        select_covariates(*data, [1.0], ridge=0)
