"""What SUSTain finds, how well, and that it finds the same again."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse

from lvmkit import SUSTain
from lvmkit.cohorts.tensors import CountTensor
from lvmkit.datasets import fetch_desynpuf, fetch_oslo_bike
from lvmkit.sustain.coordinate_descent import fit_to
from lvmkit.sustain.initialization import balance_and_round, round_factors, scale_and_round
from lvmkit.sustain.nonnegative import nonnegative
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

INITS = ("best", "balanced", "round", "scale_and_round", "random", "sampling")
SHAPES = [(60, 9), (9, 60), (30, 6, 5), (6, 30, 5), (8, 4, 3, 5)]


def product(factors, weights):
    letters = "abcde"[: len(factors)]
    terms = ",".join(letter + "r" for letter in letters)
    return np.einsum(f"{terms},r->{letters}", *factors, weights)


def planted(shape, n_components=3, *, seed=0, share=0.5, most=5):
    """The authors' synthetic counts: the exact product of whole factors and weights, here with zeros."""
    rng = np.random.default_rng(seed)
    factors = [
        rng.integers(1, most, (size, n_components), endpoint=True)
        * (rng.random((size, n_components)) < share)
        for size in shape
    ]
    for factor in factors:
        factor[rng.integers(len(factor), size=n_components), range(n_components)] = 1
    weights = rng.integers(1, 4, n_components)
    return product(factors, weights), factors, weights


def noisy(shape, seed=0):
    """Counts of at least 1: no slice is empty, which would be told."""
    return 1 + np.random.default_rng(seed).poisson(0.3 * planted(shape, seed=seed, most=2)[0] + 0.2)


def assert_same(one, other):
    for a, b in zip(one.factors_, other.factors_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.weights_, other.weights_)
    np.testing.assert_array_equal(one.objective_trace_, other.objective_trace_)
    assert (one.init_, one.stopped_by_) == (other.init_, other.stopped_by_)


@pytest.mark.parametrize(
    ("shape", "init"),
    [*((shape, "best") for shape in SHAPES), *(((9, 20), i) for i in INITS), ((6, 9, 5), "random")],
)
def test_results_are_whole_bounded_and_told_truly(shape, init):
    X = noisy(shape)
    model = SUSTain(3, init=init, max_score=[2, *(3 for _ in shape[1:])]).fit(X)
    for factor, size, most in zip(model.factors_, shape, (2, 3, 3, 3), strict=False):
        assert factor.shape == (size, 3)
        assert factor.dtype.kind == "i"
        assert factor.min() >= 0
        assert factor.max() <= most
        assert factor.any(axis=0).all()
    assert model.weights_.dtype.kind == "i"
    assert model.weights_.min() >= 1
    missed = np.linalg.norm(X - product(model.factors_, model.weights_))
    assert model.fit_ == pytest.approx(1 - missed / np.linalg.norm(X), abs=1e-9)
    assert model.fit_ == model.objective_trace_[-1]
    assert model.n_iter_ == len(model.objective_trace_) <= 200
    assert model.init_ == init if init != "best" else model.init_ in INITS[1:]
    assert model.n_features_in_ == shape[1]


@pytest.mark.parametrize("shape", [(80, 12), (8, 40, 6), (20, 6, 4, 5)])
def test_what_was_planted_is_found_or_met_closely(shape):
    fits = []
    for seed in range(3):
        X, factors, weights = planted(shape, seed=seed, share=0.35, most=2)
        kept = [factor.any(axis=1) for factor in factors]
        X = X[np.ix_(*kept)]
        model = SUSTain(3, max_score=2, random_state=seed, n_init=3).fit(X)
        fits.append(model.fit_)
        truth = [factor[rows] for factor, rows in zip(factors, kept, strict=True)]
        if model.fit_ == 1:
            np.testing.assert_array_equal(product(model.factors_, model.weights_), X)
        at_truth = SUSTain(3, max_score=2, init=[*truth, weights]).fit(X)
        assert at_truth.fit_ == 1
        for found, wanted in zip(at_truth.factors_, truth, strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert np.median(fits) > 0.9
    assert max(fits) == 1


def roundings(X, n_components, seed=0):
    """Fits of the real solution that a fit starts from, rounded in every way, and of the real solution itself."""
    data, draw = Unfolded.of(X), np.random.default_rng(seed).spawn(1)[0]
    real = nonnegative(data, n_components, rng=draw, tol=1e-5)
    starts = [
        start(real.factors, [Box(0, 5)] * X.ndim)
        for start in (round_factors, scale_and_round, balance_and_round)
    ]
    return [fit_to(data, *start) for start in starts], real.fit


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
def test_the_default_is_never_below_a_rounding_of_the_same_real_solution(shape):
    for seed in range(2):
        X = noisy(shape, seed=seed)
        assert SUSTain(3, random_state=seed).fit(X).fit_ >= max(roundings(X, 3, seed)[0]) - 1e-12


@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
def test_nor_where_a_component_too_many_dies():
    """Counts of rank 2 and three components: two meet all, and the third is better left at nothing."""
    X = np.zeros((12, 3), dtype=int)
    X[3, 1] = X[4, 2] = 1
    for seed in range(5):
        fits, _ = roundings(X, 3, seed)
        assert SUSTain(3, random_state=seed).fit(X).fit_ >= max(fits)


@pytest.mark.slow
@pytest.mark.parametrize("fetched", [fetch_desynpuf, fetch_oslo_bike])
def test_on_real_counts_it_is_clearly_above_the_roundings(fetched, real_data):
    cohort = fetched()
    fits, ceiling = roundings(cohort.X if isinstance(cohort, AnnData) else cohort.counts, 5)
    assert max(fits[:2]) + 0.01 < SUSTain(5).fit(cohort).fit_ < ceiling


def test_negative_scores_when_asked_for():
    rng = np.random.default_rng(0)
    U, V = rng.integers(-2, 3, (40, 2)), rng.integers(-2, 3, (9, 2))
    X = U @ V.T
    X = X[X.any(axis=1)]
    with pytest.raises(ValueError, match=r"[Nn]egative .*min_score"):
        SUSTain(2).fit(X)
    model = SUSTain(2, min_score=-2, max_score=2, n_init=5).fit(X)
    assert model.fit_ > 0.9
    assert model.factors_[0].min() < 0
    assert model.weights_.min() >= 1
    half = SUSTain(2, min_score=[-2, 0], max_score=2).fit(X)
    assert half.factors_[1].min() >= 0
    assert half.factors_[0].min() < 0


@pytest.mark.parametrize(
    ("shape", "density"), [((20_000, 900, 800), 5e-8), ((50_000, 30, 20, 700), 2e-8)]
)
@pytest.mark.filterwarnings("ignore::lvmkit.core.validation.DataWarning")
def test_no_dense_form_is_ever_made(shape, density):
    rng = np.random.default_rng(0)
    n = round(np.prod(shape) * density)
    coords = np.unique(np.stack([rng.integers(0, size, n) for size in shape]), axis=1)
    X = sparse.coo_array((rng.integers(1, 4, coords.shape[1]), tuple(coords)), shape=shape)
    tracemalloc.start()
    model = SUSTain(3, init="sampling", max_iter=2, n_jobs=1).fit(X)
    model.transform(X)
    model.score(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # the dense form would take 14 GB or more


@pytest.mark.parametrize("shape", [(60, 9), (30, 6, 5)])
@pytest.mark.parametrize("init", ["best", "random"])
def test_threads_and_time_change_nothing(shape, init):
    X = noisy(shape)
    model = SUSTain(3, init=init, n_init=2, n_jobs=1).fit(X)
    for n_jobs in (4, None, -1):
        assert_same(SUSTain(3, init=init, n_init=2, n_jobs=n_jobs).fit(X), model)


@pytest.mark.parametrize("init", ["random", "sampling"])
def test_the_seed_decides(init):
    X = noisy((60, 9))
    model = SUSTain(3, init=init, random_state=2).fit(X)
    for state in (2, np.random.default_rng(2)):
        assert_same(SUSTain(3, init=init, random_state=state).fit(X), model)
    other = SUSTain(3, init=init, random_state=1).fit(X)
    assert other.objective_trace_.tolist() != model.objective_trace_.tolist()
    assert SUSTain(3, init=init, random_state=2, n_init=8).fit(X).fit_ > model.fit_


@pytest.mark.parametrize("state", [None, 3, np.random.default_rng(3), np.random.RandomState(3)])
def test_every_kind_of_random_state_is_taken(state):
    assert SUSTain(2, random_state=state).fit(noisy((30, 6))).fit_ > 0


@pytest.mark.parametrize("shape", [(60, 9), (30, 6, 5)])
def test_all_forms_of_the_same_counts_give_the_same(shape):
    X = noisy(shape) - 1
    X[0] += 1
    X[:, 0] += 1
    X[..., 0] += 1
    settings = {"n_components": 3, "init": "sampling", "max_iter": 5}
    model = SUSTain(**settings).fit(X)
    forms = [X.astype(np.uint8), X.astype(float), X.tolist(), sparse.coo_array(X)]
    if len(shape) == 2:
        cohort = AnnData(sparse.csr_matrix(X.astype(float)))
        forms += [sparse.csr_matrix(X), sparse.csc_array(X), pd.DataFrame(X), cohort]
    names = [[f"{mode}{i}" for i in range(size)] for mode, size in zip("pdm", shape, strict=False)]
    forms.append(CountTensor(sparse.coo_array(X), tuple("pdm"[: len(shape)]), names))
    for form in forms:
        found = SUSTain(**settings).fit(form)
        assert_same(found, model)
        np.testing.assert_array_equal(found.transform(form), model.transform(X))


def test_presence_counts_as_one():
    X = noisy((40, 6)) > 1
    X[0] = X[:, 0] = True
    assert_same(SUSTain(2).fit(X), SUSTain(2).fit(X.astype(int)))
    assert_same(SUSTain(2).fit(sparse.csr_array(X)), SUSTain(2).fit(X.astype(int)))


def test_given_factors_are_refined_from_where_they_are(literal_fit):
    X = noisy((20, 6))
    rng = np.random.default_rng(0)
    U, V, weights = rng.integers(0, 6, (20, 2)), rng.integers(0, 6, (6, 2)), np.array([2, 1])
    for init, lambdas in (([U, V], [1, 1]), ([U, V, weights], weights)):
        model = SUSTain(2, init=init, tol=1e-3, random_state=4).fit(X)
        wanted = literal_fit(X, [U, V], lambdas, tol=1e-3)
        assert model.init_ == "given"
        np.testing.assert_array_equal(model.factors_[0], wanted[0])
        np.testing.assert_array_equal(model.factors_[1], wanted[1])
        np.testing.assert_array_equal(model.weights_, wanted[2])


@pytest.fixture
def literal_fit():
    """Algorithm 1 for a matrix on whole numbers alone, which no column of these data lets die."""

    def rounded_quotient(top, bottom):
        return (2 * top + bottom) // (2 * bottom)

    def fitted(X, factors, weights, tol):
        parts, lambdas, before = [f.copy() for f in factors], list(map(int, weights)), None
        while True:
            for mode in (0, 1):
                F, G, counts = parts[mode], parts[1 - mode], X if mode == 0 else X.T
                for k in range(len(lambdas)):
                    rest = counts - sum(
                        lambdas[r] * np.outer(F[:, r], G[:, r])
                        for r in range(len(lambdas))
                        if r != k
                    )
                    square = int(G[:, k] @ G[:, k])
                    wanted = rest @ G[:, k]
                    lambdas[k] = max(
                        1, rounded_quotient(int(F[:, k] @ wanted), square * int(F[:, k] @ F[:, k]))
                    )
                    F[:, k] = np.clip(rounded_quotient(wanted, square * lambdas[k]), 0, 5)
                    assert F[:, k].any()
            missed = ((X - (parts[0] * lambdas) @ parts[1].T) ** 2).sum()
            fit = 1 - np.sqrt(missed / (X**2).sum())
            if before is not None and abs(fit - before) < tol:
                return *parts, lambdas
            before = fit

    return fitted


def test_iterations_end_by_tol_or_by_their_number():
    X = noisy((60, 9))
    full = SUSTain(3, init="random", tol=0, max_iter=12).fit(X)
    assert (full.n_iter_, full.stopped_by_) == (12, "max_iter")
    for tol in (1e-1, 1e-3):
        model = SUSTain(3, init="random", tol=tol).fit(X)
        assert model.stopped_by_ == "tol"
        changes = np.abs(np.diff(full.objective_trace_))
        assert model.n_iter_ == np.flatnonzero(changes < tol)[0] + 2
    twice = SUSTain(3, init="random", tol=0, max_iter=2, n_passes=3).fit(X)
    assert twice.objective_trace_[0] > full.objective_trace_[0]


FACTORS = [np.zeros((0, 1), int), [[1], [0], [2]], [[1], [3], [0]]]


@pytest.mark.parametrize("listed", [list, tuple, lambda values: (value for value in values)])
def test_parameters_may_be_any_iterable(listed):
    names, labels = ["who", "what", "with"], [None, [*"abc"], pd.Index([*"xyz"])]
    plain = SUSTain.from_parameters([2], FACTORS, mode_names=names, mode_labels=labels)
    for given_names in (listed(names), pd.Index(names), np.array(names)):
        found = SUSTain.from_parameters(
            [2], listed(FACTORS), mode_names=given_names, mode_labels=listed(labels)
        )
        assert all((a == b).all() for a, b in zip(found.factors_, plain.factors_, strict=True))
        assert found.mode_names_ == names
        assert [list(part) for part in found.mode_labels_[1:]] == [[*"abc"], [*"xyz"]]
    square = SUSTain.from_parameters([2], np.ones((3, 4, 1), dtype=int))
    assert [factor.shape for factor in square.factors_] == [(4, 1)] * 3


@pytest.mark.parametrize("wrong", ["abc", {"a": 1}, {1, 2}, 3, np.array(3), b"abc"])
def test_parameters_that_are_no_list_are_named(wrong):
    with pytest.raises(TypeError, match=r"^factors must be a list of arrays, one for each mode"):
        SUSTain.from_parameters([2], wrong)
    with pytest.raises(TypeError, match=r"^mode_names must be a list of names, one for each mode"):
        SUSTain.from_parameters([2], FACTORS, mode_names=wrong)
    with pytest.raises(TypeError, match=r"^mode_labels must be a list of names or None"):
        SUSTain.from_parameters([2], FACTORS, mode_labels=wrong)


def test_names_of_modes_are_texts():
    with pytest.raises(TypeError, match=r"each of mode_names must be a text .*; found nan"):
        SUSTain.from_parameters([2], FACTORS, mode_names=np.array(["a", np.nan, "b"], dtype=object))
    with pytest.raises(TypeError, match=r"each of mode_names must be a text .*; found nan"):
        SUSTain.from_parameters([2], FACTORS, mode_names=np.full(3, np.nan))


@pytest.mark.parametrize("shape", [(6, 4), (6, 4, 3)])
def test_objects_that_are_counts_are_counts(shape):
    X = np.random.default_rng(0).integers(1, 4, shape)
    plain, found = (
        SUSTain(2, random_state=0, n_jobs=1).fit(values) for values in (X, X.astype(object))
    )
    assert all((a == b).all() for a, b in zip(plain.factors_, found.factors_, strict=True))
    wrong = X.astype(object)
    wrong[(1, 2, 0)[: len(shape)]] = None
    with pytest.raises(ValueError, match="NaN"):
        SUSTain(2).fit(wrong)
