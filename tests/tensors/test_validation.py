import numpy as np
import pandas as pd
import pytest

from lvmkit.core.validation import DataWarning, check_matrix
from lvmkit.tensors.validation import first_guess, require_estimable


@pytest.fixture(name="X")
def samples():
    return np.random.default_rng(0).standard_normal((12, 3, 4))


def numbers(X):
    return check_matrix(X, accept_sparse=False, dtype=np.float64, allow_nd=True)


@pytest.mark.parametrize(
    ("wrong", "name"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "inf")]
)
def test_where_numbers_are_missing(X, wrong, name):
    X[3, 1, 2] = wrong
    X[7, 0, 0] = wrong
    with pytest.raises(ValueError, match=rf"{name}.*\[3, 1, 2\].* 2 such"):
        numbers(X)
    with pytest.raises(ValueError, match=rf"{name}.*\[3, 1, 2\]"):
        numbers(X.astype(np.float32))


def test_where_numbers_are_missing_in_what_is_no_array(X):
    X[3, 1, 2] = np.nan
    for given in (X.tolist(), X.astype(object)):
        with pytest.raises(ValueError, match=r"NaN.*\[3, 1, 2\]"):
            numbers(given)
    rows = X.reshape(12, -1)
    with pytest.raises(ValueError, match=r"NaN.*\[3, 6\]|NaN.*c6"):
        numbers(pd.DataFrame(rows, columns=[f"c{i}" for i in range(12)]))


def test_complex_numbers_are_refused(X):
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        numbers(X + 1j)
    with pytest.raises(ValueError, match=r"[Cc]omplex"):
        numbers((X + 1j).tolist())


def test_numbers_of_any_kind_pass(X):
    for given in (X, X.astype(np.float32), (9 * X).astype(int), X > 0, X.tolist()):
        numbers(given)


def test_fewer_samples_than_clusters(X):
    with pytest.raises(ValueError, match=r"n_components=13.*12 samples"):
        require_estimable(X, 13, 0.0)


@pytest.mark.parametrize("shrinkage", [0.0, 0.2])
def test_as_many_clusters_as_samples_leave_no_variance(X, shrinkage):
    with pytest.raises(ValueError, match=r"12 samples in 12 clusters|n_components=12"):
        require_estimable(X, 12, shrinkage)


def test_too_few_samples_for_a_mode():
    X = np.random.default_rng(1).standard_normal((5, 2, 9))
    with pytest.raises(ValueError, match=r"mode 1 .*9.*shrinkage"):
        require_estimable(X, 2, 0.0)
    require_estimable(X, 2, 0.1)
    require_estimable(np.r_[X, X + X[::-1]], 2, 0.0)


def test_constant_entries_are_named(X):
    X[:, 1, 2] = 0.1
    X[:, 2, 3] = -7.0
    with pytest.raises(ValueError, match=r"2 entries .*constant.*\(1, 2\), \(2, 3\)"):
        require_estimable(X, 2, 0.0)
    with pytest.warns(DataWarning, match=r"2 entries .*\(1, 2\)"):
        require_estimable(X, 2, 0.1)
    flat = X.reshape(12, -1)
    with pytest.raises(ValueError, match=r"constant.*\b6\b"):
        require_estimable(flat, 2, 0.0)


def test_all_entries_constant():
    with pytest.raises(ValueError, match=r"constant|different"):
        require_estimable(np.ones((9, 2, 2)), 2, 0.5)


def test_labels_and_posteriors_to_start_from():
    labels = np.array([0, 2, 1, 0])
    found = first_guess(labels, 4, 3)
    assert found.tolist() == np.eye(3)[labels].tolist()
    for given in (
        labels.tolist(),
        labels.astype(float),
        labels.astype(np.uint8),
        pd.Series(labels),
    ):
        assert (first_guess(given, 4, 3) == found).all()
    assert (first_guess(labels > 0, 4, 2)[:, 1] == (labels > 0)).all()
    soft = np.array([[0.5, 0.5], [1, 0], [0.2, 0.8]])
    assert (first_guess(soft, 3, 2) == soft).all()


def test_one_cluster_takes_labels_too():
    assert first_guess(np.zeros(4, int), 4, 1).tolist() == [[1]] * 4
    assert first_guess(np.ones((4, 1)), 4, 1).tolist() == [[1]] * 4


@pytest.mark.parametrize(
    ("init", "match"),
    [
        ([0, 1, 0], r"shape \(3,\).*\(4,\)"),
        ([[0, 1], [1, 0]], r"shape \(2, 2\)"),
        (None, "shape"),
        ([0, 1, 2, 0], r"from 0 to 2.*0 to 1"),
        ([-1, 1, 0, 0], "from -1 to 1"),
        ([0.5, 1, 0, 0], "whole numbers"),
        ([np.nan, 1, 0, 0], "whole numbers"),
        ([np.inf, 1, 0, 0], "whole numbers"),
        (["a", "b", "a", "b"], "whole numbers"),
        ([0, 0, 0, 0], "cluster 1 without samples"),
        ([1, 1, 1, 1], "cluster 0 without samples"),
        ([[1, 0], [1, 0], [1, 0], [0.9, 0.1]], "cluster 1"),
        ([[0.5, 0.6]] * 4, "sum to 1"),
        ([[1.5, -0.5]] * 4, "at least 0"),
        ([[np.nan, 1]] * 4, "posteriors"),
        ([["a", "b"]] * 4, "posteriors|numbers"),
    ],
    ids=str,
)
def test_a_first_guess_that_cannot_be(init, match):
    with pytest.raises(ValueError, match=match):
        first_guess(init, 4, 2)
