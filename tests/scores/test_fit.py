"""The fit of a factorization, against the norm of the dense difference."""

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

import lvmkit
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.scores import fit


def case(shape, n_components=3, seed=0):
    rng = np.random.default_rng(seed)
    factors = [rng.integers(0, 4, (size, n_components)) for size in shape]
    return rng.poisson(1.0, shape), factors, rng.integers(1, 3, n_components)


def dense(factors, weights):
    letters = "abcd"[: len(factors)]
    terms = ",".join(letter + "r" for letter in letters)
    return np.einsum(f"{terms},r->{letters}", *factors, weights)


def truth(X, factors, weights):
    return 1 - np.linalg.norm(X - dense(factors, weights)) / np.linalg.norm(X)


@pytest.mark.parametrize("shape", [(20, 7), (7, 20), (9, 4, 3), (4, 9, 3), (3, 4, 9), (5, 3, 4, 2)])
def test_it_is_that_of_the_dense_difference_in_every_form(shape):
    X, factors, weights = case(shape)
    wanted = pytest.approx(truth(X, factors, weights), abs=1e-12)
    names = [[f"{mode}{i}" for i in range(size)] for mode, size in zip("pdms", shape, strict=False)]
    forms = [X, X.tolist(), X.astype(float), sparse.coo_array(X)]
    forms.append(CountTensor(X, tuple("pdms"[: len(shape)]), names))
    if len(shape) == 2:
        frame = pd.DataFrame(X, columns=[*"XABCDEFGHIJKLMNOPQRS"[: shape[1]]])  # one called X
        forms += [sparse.csr_matrix(X), sparse.csc_array(X), AnnData(X.astype(float)), frame]
    for form in forms:
        assert fit(form, factors, weights) == wanted
    assert fit(X, [f.tolist() for f in factors], weights.tolist()) == wanted


def test_one_for_an_exact_model_zero_for_none_and_less_for_a_harmful_one():
    _, factors, weights = case((9, 4, 3))
    X = dense(factors, weights)
    assert fit(X, factors, weights) == 1
    assert fit(X, [0 * factor for factor in factors], weights) == 0
    assert fit(X, factors, 3 * weights) == pytest.approx(-1)


@pytest.mark.parametrize("shape", [(60, 9), (9, 60), (12, 6, 5)])
@pytest.mark.parametrize("gap", [1e-2, 1e-3])
def test_real_factors_near_an_exact_model_are_told_apart(shape, gap):
    _, factors, weights = case(shape)
    X = dense(factors, weights)
    real = [factors[0] * 0.37, *factors[1:-1], factors[-1] / 0.37]
    found = fit(X, real, weights * (1 + gap))
    assert found == pytest.approx(1 - gap, abs=1e-4)


def test_it_is_what_the_model_says_and_holds_for_presence():
    X = case((30, 6))[0] + 1
    model = lvmkit.SUSTain(2).fit(X)
    assert fit(X, model.factors_, model.weights_) == model.fit_
    present = X > 1
    assert fit(present, model.factors_, model.weights_) == fit(
        present.astype(int), model.factors_, model.weights_
    )


@pytest.mark.parametrize(
    ("shapes", "n_weights"),
    [
        ([(20, 3), (7, 3)], 2),
        ([(7, 3), (20, 3)], 3),
        ([(20, 3)], 3),
        ([(20, 3), (7, 3), (2, 3)], 3),
        ([(20, 3), (7, 2)], 3),
    ],
)
def test_shapes_that_disagree_are_refused(shapes, n_weights):
    with pytest.raises(
        ValueError, match=r"factors have shapes .*X of shape \(20, 7\) they need \[\(20, "
    ):
        fit(case((20, 7))[0], [np.ones(shape) for shape in shapes], np.ones(n_weights))


def test_nothing_has_no_fit():
    with pytest.raises(ValueError, match="all its 3 x 2 entries are 0"):
        fit(np.zeros((3, 2)), [np.ones((3, 1)), np.ones((2, 1))], [1])


def test_entries_that_are_missing_are_refused():
    X = np.array([[1.0, np.nan], [0, 2]])
    with pytest.raises(ValueError, match=r"X holds NaN .*in row 0, column 1"):
        fit(X, [np.ones((2, 1)), np.ones((2, 1))], [1])
