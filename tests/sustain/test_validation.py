"""What users pass: named, checked, aligned by labels; refusals say where the trouble is and what to do."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.cohorts.tensors import CountTensor
from lvmkit.core.validation import DataWarning
from lvmkit.sustain.validation import (
    Named,
    align_labels,
    require_counts,
    split_names,
    unfold,
    warn_of_empty,
)

MODES = ["patient", "diagnosis", "drug"]


def labelled(X, diagnoses, drugs):
    labels = [[f"p{i}" for i in range(len(X))], diagnoses, drugs]
    return CountTensor(sparse.coo_array(X), MODES, labels)


def test_matrices_are_left_to_scikit_learn():
    X = np.ones((3, 2))
    for matrix in (X, X.tolist(), sparse.csr_array(X), pd.DataFrame(X), np.ones(3), [1, 2]):
        assert split_names(matrix) is None
    odd = pd.DataFrame(X.astype(int), columns=["counts", "modes"])  # codes may be called anything
    assert split_names(odd) is None


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sparse.coo_array])
def test_tensors_without_names_get_numbered_modes(form):
    X = np.arange(12).reshape(2, 3, 2)
    found = split_names(form(X))
    assert found.modes == ["mode 0", "mode 1", "mode 2"]
    assert found.labels == [None, None, None]
    dense = found.counts.toarray() if sparse.issparse(found.counts) else found.counts
    np.testing.assert_array_equal(dense, X)


def test_names_come_along_but_not_those_of_patients():
    X = np.arange(1, 13).reshape(2, 3, 2)
    found = split_names(labelled(X, ["428", "250", "401"], ["A", "B"]))
    assert found.modes == MODES
    assert found.labels[0] is None
    assert [list(labels) for labels in found.labels[1:]] == [["428", "250", "401"], ["A", "B"]]
    np.testing.assert_array_equal(found.counts.toarray(), X)


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def placed(X, own, labels, shape):
    return dense(align_labels(Named(X, MODES, [None, *own]), MODES, [None, *labels], shape))


@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
def test_entries_go_where_the_model_has_their_labels(form):
    X = np.arange(1, 13).reshape(2, 3, 2)
    own = [np.array(["a", "b", "c"], object), np.array(["x", "y"], object)]
    known = [np.array(["c", "d", "a", "b"], object), np.array(["y", "x"], object)]
    found = placed(form(X), own, known, (9, 4, 2))
    expected = np.zeros((2, 4, 2), dtype=int)
    for i, code in enumerate(own[0]):
        for j, drug in enumerate(own[1]):
            expected[:, list(known[0]).index(code), list(known[1]).index(drug)] = X[:, i, j]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(placed(form(X), own, own, (9, 3, 2)), X)


def test_unknown_labels_are_left_out_and_told():
    X = np.arange(1, 13).reshape(2, 3, 2)
    own = [np.array(["a", "new", "c"], object), np.array(["x", "y"], object)]
    known = [np.array(["c", "a"], object), np.array(["x", "y"], object)]
    with pytest.warns(
        DataWarning, match=r"1 of 3 labels of mode 1 \(diagnosis\) are unknown .*'new'"
    ):
        found = placed(X, own, known, (5, 2, 2))
    np.testing.assert_array_equal(found, X[:, [2, 0]])
    with pytest.raises(
        ValueError, match=r"none of the 3 labels of mode 1 \(diagnosis\).*same codes"
    ):
        placed(X, own, [np.array(["u", "v"], object), own[1]], (5, 2, 2))


def test_other_orders_and_sizes_are_refused():
    X = np.ones((2, 3, 2), dtype=int)
    plain = [None, None]
    np.testing.assert_array_equal(placed(X, plain, plain, (9, 3, 2)), X)
    with pytest.raises(ValueError, match=r"mode 1 \(diagnosis\) of X has size 3; .* fitted with 4"):
        placed(X, plain, plain, (9, 4, 2))
    with pytest.raises(ValueError, match=r"X has 3 modes; .* fitted with 2 \(patient, diagnosis\)"):
        align_labels(Named(X, MODES, [None] * 3), MODES[:2], [None] * 2, (9, 4))
    own = [np.array(["a", "b", "c"], object), None]  # labels on one side only: sizes decide
    np.testing.assert_array_equal(placed(X, own, plain, (9, 3, 2)), X)
    with pytest.raises(ValueError, match=r"mode 1 \(diagnosis\) of X has size 3"):
        placed(X, own, plain, (9, 4, 2))


FORMS = [np.asarray, sparse.csr_array, sparse.csc_array, sparse.coo_array]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (0.5, r"Fractions .*X\[1, 2\] = 0.5.*Pass counts, or round_counts=True"),
        (np.nan, r"NaN or infinite entries: X\[1, 2\] = nan.*Fill or remove"),
        (-np.inf, r"NaN or infinite entries: X\[1, 2\] = -inf"),
        (-2.0, r"[Nn]egative .*X\[1, 2\] = -2.0.*min_score"),
    ],
)
def test_wrong_entries_are_named(form, value, told):
    X = np.ones((3, 4))
    X[1, 2] = value
    with pytest.raises(ValueError, match=told) as error:
        require_counts(form(X), signed=False)
    assert "more" not in str(error.value)
    if value == -2:
        require_counts(form(X), signed=True)
    else:
        with pytest.raises(ValueError, match=told):
            require_counts(form(X), signed=True)


@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
def test_of_many_wrong_entries_three_are_named(form):
    X = np.zeros((2, 3, 4))
    X[1] = 0.25
    with pytest.raises(
        ValueError, match=r"X\[1, 0, 0\] = 0.25, .*X\[1, 0, 2\] = 0.25 and 9 more\. Pass"
    ):
        require_counts(form(X), signed=False)


@pytest.mark.parametrize(
    ("value", "told"), [(0.5, "Fractions"), (-1, "[Nn]egative"), (np.inf, "infinite")]
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_last_of_a_million_entries_is_seen(form, value, told):
    X = np.ones((1_050, 1_000), dtype=np.float32)
    X[-1, -1] = value
    with pytest.raises(ValueError, match=rf"{told}.*X\[1049, 999\]"):
        require_counts(form(X), signed=False)


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint16, np.int64, np.float32])
def test_counts_of_every_kind_pass(kind):
    require_counts(np.ones((2, 2), dtype=kind), signed=False)
    require_counts(sparse.csr_array(np.ones((2, 2), dtype=kind)), signed=False)


@pytest.mark.parametrize("kind", ["U1", complex, "datetime64[s]"])
def test_what_is_no_number_is_refused(kind):
    with pytest.raises(ValueError, match=r"must hold counts \(numbers\); its dtype is"):
        require_counts(np.zeros((2, 2), dtype=kind), signed=False)


def test_repeated_coordinates_are_told_and_nothing_at_all_is_refused():
    X = sparse.coo_array(([1, 2, 3], ([0, 0, 1], [1, 1, 0], [0, 0, 0])), shape=(2, 2, 3))
    with pytest.warns(DataWarning, match=r"coordinates of 1 entries .*more than once; .* added up"):
        data = unfold(X)
    assert data.rows.data.tolist() == [3, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unfold(X.sum(axis=2))
    with pytest.raises(ValueError, match="all its 2 x 3 x 4 entries are 0"):
        unfold(np.zeros((2, 3, 4)))
    assert unfold(np.zeros((2, 3)), empty=True).rows.nnz == 0


@pytest.mark.parametrize("shape", [(5, 3, 2), (3, 5, 2), (2, 3, 5)])
def test_empty_slices_of_every_mode_are_told(shape):
    X = np.ones(shape, dtype=int)
    warn_of_empty(unfold(X), MODES, [None] * 3)  # says nothing
    for mode, size in enumerate(shape):
        emptied = X.copy()
        emptied[(slice(None),) * mode + (size - 1,)] = 0
        told = rf"1 of {size} slices of mode {mode} \({MODES[mode]}\) are all 0 and score 0: {size - 1}$"
        with pytest.warns(DataWarning, match=told) as caught:
            warn_of_empty(unfold(emptied), MODES, [None] * 3)
        assert len(caught) == 1
        labels = [
            np.array([f"{name}{i}" for i in range(n)]) for name, n in zip(MODES, shape, strict=True)
        ]
        with pytest.warns(DataWarning, match=f"'{MODES[mode]}{size - 1}'"):
            warn_of_empty(unfold(emptied), MODES, labels)


def test_codes_of_the_last_rows_are_not_empty():
    X = sparse.csr_array(([1] * 70_001, ([*range(70_001)], [0] * 35_000 + [1] * 35_001)))
    warn_of_empty(unfold(X), MODES, [None] * 2)  # says nothing


def test_empty_codes_of_a_matrix_are_told_too():
    X = np.array([[1, 0, 2], [3, 0, 1]])
    with pytest.warns(DataWarning, match=r"1 of 3 slices of mode 1 \(features\).*: 1"):
        warn_of_empty(unfold(X), ["rows", "features"], [None, None])
