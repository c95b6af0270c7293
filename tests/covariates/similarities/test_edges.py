import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lvmkit.covariates.similarities import check_similarity


@pytest.fixture(name="S")
def _similar():
    rng = np.random.default_rng(0)
    half = np.triu(rng.random((6, 6)) * (rng.random((6, 6)) < 0.5), 1)
    return half + half.T


def forms(S):
    coo = sparse.coo_array(S)
    doubled = sparse.coo_array(
        (np.tile(coo.data / 2, 2), tuple(np.tile(at, 2) for at in coo.coords)), shape=S.shape
    )
    stored_zero = sparse.csr_array(np.where(S == 0, 7.0, S))
    stored_zero.data[stored_zero.data == 7] = 0
    return {
        "list": S.tolist(),
        "frame": pd.DataFrame(S),
        "object": S.astype(object),
        "csr": sparse.csr_array(S),
        "csc": sparse.csc_matrix(S),
        "duplicates": doubled,
        "stored zeros": stored_zero,
        "diagonal": S + np.diag(np.arange(6) - 3.0),
        "diagonal of infinities": S + np.diag([np.inf, np.nan, 0, 0, 0, 1]),
        "sparse diagonal": sparse.csr_array(S + np.diag([-1.0, np.nan, 0, 0, 0, 1])),
    }


@pytest.mark.parametrize("form", forms(np.zeros((6, 6))))
def test_every_pair_stands_once_in_order_whatever_the_form(S, form):
    expected = [(i, j, S[i, j]) for i in range(6) for j in range(i + 1, 6) if S[i, j] > 0]
    edges = check_similarity(forms(S)[form], 6)
    assert list(zip(*map(np.ndarray.tolist, edges), strict=True)) == expected
    assert edges.similarity.dtype == np.float64


@pytest.mark.parametrize("shape", [dict, sparse.csr_array])
def test_what_is_passed_is_not_changed(S, shape):
    given = S.copy() if shape is dict else sparse.csr_array(S)
    check_similarity(given, 6)
    np.testing.assert_array_equal(given if shape is dict else given.toarray(), S)


@pytest.mark.parametrize("empty", [np.zeros((3, 3)), np.eye(3), sparse.csr_array((3, 3))])
def test_nothing_in_common_is_allowed(empty):
    assert [len(part) for part in check_similarity(empty, 3)] == [0, 0, 0]


def test_one_covariate_has_no_pairs():
    assert [len(part) for part in check_similarity([[1.0]], 1)] == [0, 0, 0]


def test_differences_of_rounding_are_allowed(S):
    S[S > 0] += np.random.default_rng(1).normal(size=(S > 0).sum()) * 1e-14
    assert len(check_similarity(S, 6).first) == (S > 0).sum() // 2


def changed(S, value, *, both):
    S[1, 4] = value
    if both:
        S[4, 1] = value
    return S


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("value", "both", "message"),
    [
        (0.777, False, r"not symmetric at \(1, 4\): 0.777 and .*\(S \+ S.T\) / 2"),
        (-0.3, True, r"negative for 1 pairs, first at \(1, 4\): -0.3. Set what is negative to 0"),
        (np.nan, True, r"not finite at \(1, 4\)"),
        (np.nan, False, r"not finite at \(1, 4\)"),
        (np.inf, True, r"not finite at \(1, 4\)"),
    ],
)
def test_what_is_no_similarity_is_refused_and_shown(S, form, value, both, message):
    with pytest.raises(ValueError, match=message):
        check_similarity(form(changed(S, value, both=both)), 6)


def test_half_a_matrix_is_refused_with_what_to_do(S):
    S[0, 1] = 0.5
    with pytest.raises(ValueError, match=r"S \+ S.T if S holds each pair once"):
        check_similarity(sparse.csr_array(np.triu(S)), 6)
    with pytest.raises(ValueError, match="not symmetric"):
        check_similarity(sparse.csr_array(np.tril(np.maximum(S, S.T))), 6)


@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.zeros((3, 4)), r"shape \(3, 4\); expected \(6, 6\)"),
        (np.zeros(6), r"shape \(6,\)"),
        (sparse.csr_array((5, 5)), r"shape \(5, 5\)"),
        ([["a"] * 6] * 6, "must hold numbers; found text"),
        (np.full((6, 6), None), "not finite"),
        (np.full((6, 6), "x", dtype=object), "found the text 'x' in row 0, column 0"),
        (np.zeros((6, 6), dtype=complex), "complex128"),
    ],
)
def test_other_things_are_refused(S, message):
    with pytest.raises(ValueError, match=message):
        check_similarity(S, 6)
