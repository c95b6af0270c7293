"""SUSTain in use: new samples, names and their order, models from their parts, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse
from sklearn.base import clone

from lvmkit import SUSTain
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.core.validation import DataWarning

SHAPES = [(40, 9), (9, 40), (20, 6, 5), (6, 20, 5), (8, 4, 3, 5)]


def product(factors, weights):
    letters = "abcde"[: len(factors)]
    terms = ",".join(letter + "r" for letter in letters)
    return np.einsum(f"{terms},r->{letters}", *factors, weights)


def noisy(shape):
    """Counts of at least 1: no slice is empty, which would be told."""
    return 1 + np.random.default_rng(0).poisson(1.0, shape)


def assert_same(one, other):
    for a, b in zip(one.factors_, other.factors_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.objective_trace_, other.objective_trace_)


@pytest.mark.parametrize("shape", SHAPES)
def test_new_samples_score_alone_as_in_company(shape):
    X = noisy(shape)
    model = SUSTain(3).fit(X)
    scores = model.transform(X)
    assert scores.dtype.kind == "i"
    np.testing.assert_array_equal(SUSTain(3).fit_transform(X), scores)
    np.testing.assert_array_equal(model.transform(X[::-1])[::-1], scores)
    np.testing.assert_array_equal(np.vstack([model.transform(x[None]) for x in X]), scores)
    X = X.copy()
    X[2] = 0
    assert not model.transform(X)[2].any()
    assert not model.transform(0 * X).any()
    assert model.score(X) == pytest.approx(
        1
        - np.linalg.norm(X - product([model.transform(X), *model.factors_[1:]], model.weights_))
        / np.linalg.norm(X)
    )


def test_the_score_of_nothing_is_refused_in_plain_words():
    model = SUSTain(2).fit(noisy((20, 5)))
    with pytest.raises(ValueError, match="all its 3 x 5 entries are 0"):
        model.score(np.zeros((3, 5)))


def test_codes_of_new_patients_are_put_in_order():
    X = noisy((40, 6))
    names = [f"c{i}" for i in range(6)]
    frame = pd.DataFrame(X, columns=names)
    model = SUSTain(2).fit(frame)
    scores = model.transform(frame)
    assert model.mode_names_ == ["rows", "features"]
    assert model.mode_labels_[0] is None
    assert list(model.mode_labels_[1]) == list(model.feature_names_in_) == names
    assert model.n_features_in_ == 6
    turned = names[::-1]
    np.testing.assert_array_equal(model.transform(frame[turned]), scores)
    cohort = AnnData(X.astype(float), var=pd.DataFrame(index=names))[:, turned].copy()
    np.testing.assert_array_equal(model.transform(cohort), scores)
    tensor = CountTensor(X[:, ::-1], ("patient", "code"), [range(40), turned])
    np.testing.assert_array_equal(model.transform(tensor), scores)
    with pytest.warns(DataWarning, match="count as absent: 'c0'"):
        model.transform(frame[names[1:]])
    again = SUSTain(2).fit(cohort)
    np.testing.assert_array_equal(again.transform(frame), again.transform(cohort))
    named = SUSTain(2).fit(tensor)
    np.testing.assert_array_equal(named.transform(cohort), named.transform(tensor))


def test_labelled_tensors_keep_their_names_and_are_put_in_order():
    X = noisy((20, 5, 4))
    codes, drugs = list("abcde"), list("wxyz")
    model = SUSTain(2).fit(
        CountTensor(X, ("patient", "diagnosis", "drug"), [range(20), codes, drugs])
    )
    assert model.mode_names_ == ["patient", "diagnosis", "drug"]
    assert model.mode_labels_[0] is None
    assert [list(labels) for labels in model.mode_labels_[1:]] == [codes, drugs]
    assert not hasattr(model, "feature_names_in_")
    turned = CountTensor(
        X[:, ::-1, ::-1], ("patient", "diagnosis", "drug"), [range(20), codes[::-1], drugs[::-1]]
    )
    np.testing.assert_array_equal(model.transform(turned), model.transform(X))
    assert model.score(turned) == model.score(X)
    model.fit(X)  # names of the last fit do not linger
    assert model.mode_labels_ == [None] * 3
    assert model.mode_names_ == ["mode 0", "mode 1", "mode 2"]
    assert hasattr(model.fit(pd.DataFrame(X[:, :, 0], columns=codes)), "feature_names_in_")
    assert not hasattr(model.fit(X), "feature_names_in_")


@pytest.mark.parametrize("most", [[1, 5], [5, 1]])
def test_new_samples_have_the_scores_of_the_first_mode(most):
    X = 3 * noisy((20, 6))
    scores = SUSTain(2, max_score=most).fit(X).transform(X)
    assert (scores.max() == 1) == (most[0] == 1)


def test_matrices_and_tensors_are_not_taken_for_each_other():
    X = noisy((20, 5, 4))
    tensor, matrix = SUSTain(2).fit(X), SUSTain(2).fit(X[:, :, 0])
    with pytest.raises(ValueError, match="fitted with 2"):
        matrix.transform(X)
    for judge in (tensor.transform, tensor.score):
        with pytest.raises(ValueError, match="fitted with 3"):
            judge(X[:, :, 0])
    with pytest.raises(ValueError, match=r"mode 2 .* has size 3; .* fitted with 4"):
        tensor.transform(X[:, :, :3])


def test_outputs_have_names_and_parameters_are_copied():
    X = noisy((20, 5))
    model = SUSTain(2, max_score=3, init="round").set_output(transform="pandas").fit(X)
    scores = model.transform(X)
    assert list(scores.columns) == list(model.get_feature_names_out()) == ["sustain0", "sustain1"]
    assert model.score(X) > 0
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "weights_")
    assert_same(copy.fit(X), model)
    given = SUSTain(
        2, init=[np.ones((20, 2)), np.ones((5, 2))], random_state=np.random.default_rng(0)
    )
    assert clone(given).fit(X).init_ == "given"


def test_a_model_is_made_of_given_scores():
    V, W = np.array([[1, 0], [0, 2], [3, 0]]), np.array([[1, 0], [0, 1]])
    model = SUSTain.from_parameters(
        [2, 1],
        [np.zeros((0, 2)), V, W],
        mode_names=["patient", "code", "drug"],
        mode_labels=[None, list("abc"), list("xy")],
    )
    truth = np.array([[0, 1], [2, 2], [3, 0]])
    X = product([truth, V, W], [2, 1])
    np.testing.assert_array_equal(model.transform(X), truth)
    assert model.score(X) == 1
    assert (model.n_components, model.max_score, model.min_score) == (2, 3, 0)
    turned = CountTensor(
        X[:, ::-1], ("patient", "code", "drug"), [range(3), list("cba"), list("xy")]
    )
    np.testing.assert_array_equal(model.transform(turned), truth)
    signed = SUSTain.from_parameters([1], [np.zeros((0, 1)), [[1], [-2]]])
    assert (signed.min_score, signed.max_score) == (-2, 1)
    fitted = SUSTain(2).fit(noisy((20, 5)))
    again = SUSTain.from_parameters(fitted.weights_, fitted.factors_).set_params(max_score=5)
    np.testing.assert_array_equal(again.transform(noisy((9, 5))), fitted.transform(noisy((9, 5))))


@pytest.mark.parametrize(
    ("weights", "factors", "told"),
    [
        (
            [1, 1],
            [np.ones((3, 2)), np.ones((3, 1))],
            r"factors\[1\] has shape \(3, 1\); with 2 weights",
        ),
        ([1], [np.ones((3, 1)), np.ones(3)], r"factors\[1\] has shape \(3,\)"),
        (
            [0],
            [np.ones((3, 1)), np.ones((3, 1))],
            "weights must hold whole numbers from 1; found 0",
        ),
        ([1.5], [np.ones((3, 1)), np.ones((3, 1))], "weights must hold whole numbers"),
        (
            [1],
            [np.ones((3, 1)), np.full((3, 1), 0.5)],
            r"factors\[1\] must hold whole numbers; found 0.5",
        ),
    ],
)
def test_parts_that_disagree_are_refused(weights, factors, told):
    with pytest.raises(ValueError, match=told):
        SUSTain.from_parameters(weights, factors)


X = np.arange(1, 31).reshape(6, 5)
BAD_DATA = {
    "mode of size 1": (X[:, :1], "mode 1 .* has size 1"),
    "one sample": (X[:1], "mode 0 .* has size 1"),
    "tensor with a mode of size 1": (np.ones((4, 3, 1)), r"mode 2 \(mode 2\) has size 1"),
    "nothing": (0 * X, "all its 6 x 5 entries are 0"),
    "nothing in a tensor": (
        sparse.coo_array((4, 3, 2), dtype=int),
        "all its 4 x 3 x 2 entries are 0",
    ),
    "fractions": (X / 4, r"Fractions .*X\[0, 0\] = 0.25.*round_counts=True"),
    "negative": (3 - X, r"[Nn]egative .*X\[0, 3\] = -1.*min_score"),
    "missing in a tensor": (np.full((2, 2, 2), np.nan), r"NaN .*X\[0, 0, 0\]"),
    "missing": (np.full((3, 3), np.nan), "NaN"),
    "text": (np.full((2, 2, 2), "a"), "must hold numbers; found text"),
    "a row": (X[0], "2D array"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_refused_in_words_that_help(case):
    data, told = BAD_DATA[case]
    with pytest.raises(ValueError, match=told):
        SUSTain(1).fit(data)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"n_components": 0}, "n_components must be a whole number, at least 1; found 0"),
        ({"n_components": 2.5}, "n_components must be a whole number"),
        ({"n_components": 6}, "n_components=6 is more than 5"),
        ({"max_score": 0}, "max_score of mode 0 must be .* at least 1; found 0"),
        ({"max_score": [5, 5, 5]}, "max_score has 3 numbers, and X has 2 modes"),
        ({"min_score": 1}, "min_score of mode 0 must be at most 0"),
        ({"min_score": "low"}, "min_score of mode 0 must be a whole number"),
        ({"init": "nmf"}, "init must be one of best, .*found 'nmf'"),
        ({"init": None}, "init must be one of best, .*found None"),
        ({"init": [np.ones((6, 2))]}, "init has 1 arrays; X has 2 modes"),
        ({"n_init": 0}, "n_init must be a whole number, at least 1; found 0"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"n_passes": 0}, "n_passes must be"),
        ({"tol": -1e-4}, "tol must be a number, at least 0"),
        ({"tol": np.nan}, "tol must be a number"),
        ({"n_jobs": 1.5}, "n_jobs must be a whole number"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_options_out_of_range_are_refused_by_name(options, told):
    with pytest.raises((ValueError, TypeError), match=told):
        SUSTain(**{"n_components": 2} | options).fit(X)


def test_repeated_coordinates_and_empty_slices_are_told():
    rows, columns = np.nonzero(X % 4)
    repeated = sparse.coo_array(
        (np.ones(2 * len(rows), dtype=int), (np.tile(rows, 2), np.tile(columns, 2))), shape=(6, 5)
    )
    with pytest.warns(DataWarning, match=f"coordinates of {len(rows)} entries .* added up"):
        found = SUSTain(2).fit(repeated)
    assert_same(found, SUSTain(2).fit(2 * (X % 4 > 0)))
    empty = pd.DataFrame(X, columns=list("abcde"))
    empty["c"] = 0
    with pytest.warns(
        DataWarning, match=r"1 of 5 slices of mode 1 \(features\) are all 0 and score 0: 'c'"
    ):
        model = SUSTain(2).fit(empty)
    assert not model.factors_[1][2].any()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.coo_array])
@pytest.mark.parametrize("shape", [(12, 6), (12, 3, 2)])
def test_fractions_are_rounded_when_asked(form, shape):
    whole = noisy(shape)
    if len(shape) == 3 and form is sparse.csr_array:
        form = sparse.coo_array
    drift = np.random.default_rng(0).uniform(-0.4, 0.4, shape)
    model = SUSTain(2, round_counts=True).fit(form(whole + drift))
    assert_same(model, SUSTain(2).fit(whole))
    np.testing.assert_array_equal(model.transform(whole + drift), model.transform(whole))
    assert_same(SUSTain(2, round_counts=True).fit(form(whole.astype(np.int8))), model)
