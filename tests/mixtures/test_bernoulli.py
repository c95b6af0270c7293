"""The mixture against brute force, planted clusters, and what users must be told."""

import itertools
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from anndata import AnnData
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from lvmkit import BernoulliMixture
from lvmkit.core.validation import DataWarning


def planted(n=3000, d=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    centers = np.full((k, d), 0.05)
    for j in range(k):
        centers[j, rng.choice(d, 8, replace=False)] = rng.uniform(0.3, 0.8, 8)
    labels = rng.choice(k, size=n, p=np.arange(1, k + 1) / (k * (k + 1) / 2))
    return (rng.random((n, d)) < centers[labels]).astype(np.float32), labels, centers


X, LABELS, CENTERS = planted()
ROWS = sparse.csr_array(X)


@pytest.mark.parametrize("init", ["corrected", "asvtd", "random"])
def test_planted_clusters_are_found(init):
    model = BernoulliMixture(3, init=init, n_init=5).fit(ROWS)
    assert adjusted_rand_score(model.labels_, LABELS) > 0.85
    order = [int(((model.centers_ - c) ** 2).sum(axis=1).argmin()) for c in CENTERS]
    np.testing.assert_allclose(model.centers_[order], CENTERS, atol=0.08)
    assert (np.diff(model.weights_) <= 0).all()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # tol=0 is the point
@pytest.mark.filterwarnings(
    "ignore::lvmkit.core.validation.DataWarning"
)  # and four clusters where three are
@pytest.mark.parametrize("init", ["corrected", "asvtd", "random"])
def test_every_em_step_raises_the_objective(init):
    model = BernoulliMixture(4, init=init, tol=0, max_iter=60).fit(ROWS[:800])
    assert np.diff(model.objective_trace_).min() >= -1e-6  # single precision


def test_likelihood_and_posterior_equal_the_sum_over_states():
    rng = np.random.default_rng(1)
    weights, centers = rng.dirichlet(np.ones(3)), rng.random((3, 4))
    model = BernoulliMixture.from_parameters(weights, centers)
    rows = np.array(list(itertools.product([0, 1], repeat=4)), dtype=float)
    joint = np.stack(
        [
            w * np.prod(np.where(rows == 1, c, 1 - c), axis=1)
            for w, c in zip(weights, centers, strict=True)
        ],
        axis=1,
    )
    assert joint.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(model.score_samples(rows), np.log(joint.sum(axis=1)), rtol=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(rows), joint / joint.sum(axis=1, keepdims=True), rtol=1e-6
    )
    np.testing.assert_array_equal(model.predict(rows), joint.argmax(axis=1))
    assert model.bic(rows) == pytest.approx(-2 * np.log(joint.sum(axis=1)).sum() + 14 * np.log(16))


@pytest.mark.parametrize("form", ["mask per row", "nan", "names", "indexes"])
def test_partial_posterior_sums_out_what_is_missing(form):
    rng = np.random.default_rng(2)
    weights, centers = rng.dirichlet(np.ones(3)), rng.random((3, 4))
    model = BernoulliMixture.from_parameters(weights, centers, feature_names=list("abcd"))
    rows = (rng.random((20, 4)) < 0.5).astype(float)
    mask = (
        rng.random((20, 4)) < 0.6
        if form in ("mask per row", "nan")
        else np.tile([True, False, True, False], (20, 1))
    )
    joint = np.stack(
        [
            w * np.prod(np.where(mask, np.where(rows == 1, c, 1 - c), 1.0), axis=1)
            for w, c in zip(weights, centers, strict=True)
        ],
        axis=1,
    )
    observed = {"mask per row": mask, "nan": "given", "names": ["a", "c"], "indexes": [0, 2]}[form]
    given = np.where(mask, rows, np.nan) if form == "nan" else rows
    found = model.predict_proba(given, observed=observed)
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-6)


def test_the_old_name_of_rows_with_gaps_works_and_warns():
    model = BernoulliMixture.from_parameters([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]])
    rows = np.array([[1.0, np.nan], [np.nan, np.nan]])
    with pytest.warns(FutureWarning, match=r"BernoulliMixture.partial is now predict_proba"):
        old = model.partial(rows)
    np.testing.assert_array_equal(old, model.predict_proba(rows, observed="given"))
    with pytest.warns(FutureWarning, match="partial"):
        old = model.partial(np.eye(2), [0])
    np.testing.assert_array_equal(old, model.predict_proba(np.eye(2), observed=[0]))


def test_sparse_dense_and_labelled_rows_give_the_same():
    names = [f"c{i}" for i in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    cohort = AnnData(ROWS, var=pd.DataFrame(index=names))
    models = [
        BernoulliMixture(3).fit(form) for form in (ROWS, X, table, cohort, ROWS.astype(np.int64))
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.centers_, models[0].centers_, atol=1e-5)
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
    assert list(models[2].feature_names_in_) == list(models[3].feature_names_in_) == names


def test_the_same_data_give_the_same_result_to_the_last_bit():
    first, second = (BernoulliMixture(3).fit(ROWS) for _ in range(2))
    np.testing.assert_array_equal(first.centers_, second.centers_)
    assert first.data_fingerprint_ == second.data_fingerprint_


def test_the_number_of_threads_changes_nothing(monkeypatch):
    many, labels, _ = planted(n=20_000)
    monkeypatch.setenv("LVMKIT_THREADS", "1")
    alone = BernoulliMixture(3).fit(sparse.csr_array(many))
    monkeypatch.setenv("LVMKIT_THREADS", "3")
    together = BernoulliMixture(3).fit(sparse.csr_array(many))
    np.testing.assert_array_equal(alone.centers_, together.centers_)
    assert adjusted_rand_score(alone.labels_, labels) > 0.85


@pytest.mark.parametrize("init", ["corrected", "asvtd"])
def test_order_of_rows_and_features_does_not_matter(init):
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    plain = BernoulliMixture(3, init=init).fit(ROWS)
    shuffled = BernoulliMixture(3, init=init).fit(sparse.csr_array(X[rows][:, columns]))
    np.testing.assert_allclose(shuffled.centers_, plain.centers_[:, columns], atol=1e-4)
    np.testing.assert_array_equal(shuffled.labels_, plain.labels_[rows])


def test_both_stopping_rules_are_reported():
    assert BernoulliMixture(3).fit(ROWS).stopped_by_ == "tol"
    early = BernoulliMixture(3, init="asvtd", weights_tol=0.01).fit(ROWS)
    assert early.stopped_by_ == "weights"
    with pytest.warns(ConvergenceWarning, match="max_iter=2 steps"):
        out = BernoulliMixture(3, init="asvtd", max_iter=2).fit(ROWS)
    assert (out.stopped_by_, out.n_iter_) == ("max_iter", 2)


def test_codes_that_all_or_no_patients_have_neither_break_nor_dominate():
    constant = np.hstack([X, np.ones((len(X), 1)), np.zeros((len(X), 1))])
    model = BernoulliMixture(3).fit(constant)
    assert adjusted_rand_score(model.labels_, BernoulliMixture(3).fit(X).labels_) > 0.99
    assert np.isfinite(model.score(constant))
    assert model.centers_[:, -2].min() > 0.99
    assert model.centers_[:, -1].max() < 0.01
    assert np.isfinite(model.score(1 - constant))


@pytest.mark.parametrize("k", [1, 6])
def test_smallest_and_largest_number_of_components(k):
    few = X[:400, :6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = BernoulliMixture(k).fit(few)
    assert model.centers_.shape == (k, 6)
    assert np.isfinite(model.score(few))


def test_features_come_in_any_order_and_unknown_ones_are_reported():
    names = [f"c{i}" for i in range(X.shape[1])]
    model = BernoulliMixture(3).fit(pd.DataFrame(X, columns=names))
    shuffled = pd.DataFrame(X, columns=names).sample(frac=1, axis=1, random_state=0)
    np.testing.assert_array_equal(model.predict(shuffled), model.labels_)
    with pytest.warns(
        DataWarning, match="1 of 41 features are unknown to the model and were ignored: 'new'"
    ):
        np.testing.assert_array_equal(model.predict(shuffled.assign(new=1.0)), model.labels_)
    cohort = AnnData(ROWS[:5], var=pd.DataFrame(index=names))[:, ["c3", "c1"]]
    with pytest.warns(
        DataWarning, match="38 of the model's 40 features are not in X and count as absent"
    ):
        few = model.predict(cohort)
    absent = np.zeros((5, 40))
    absent[:, [1, 3]] = X[:5, [1, 3]]
    np.testing.assert_array_equal(few, model.predict(pd.DataFrame(absent, columns=names)))
    with pytest.raises(ValueError, match="none of the 1 features of X"):
        model.predict(pd.DataFrame({"zzz": [1.0]}))


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            lambda A: A + 1,
            {},
            r"needs 0/1 data; found 2.0 \(first in row \d+, column \d+\). Pass binarize=0",
        ),
        (lambda A: A - 1, {}, "found -1.0"),
        (lambda A: np.where(A == 1, np.nan, A), {}, "NaN"),
        (lambda A: A * 0, {}, "no row of X has any feature"),
        (lambda A: A, {"init": None}, "init=None is unknown"),
        (lambda A: A, {"tol": np.nan}, "tol must be a number, at least 0; found nan"),
        (lambda A: A[:2], {"n_components": 3}, "n_components=3 needs at least as many rows"),
        (lambda A: A, {"init": "best"}, "init='best' is unknown"),
        (
            lambda A: A,
            {"init": (np.ones(2), np.ones((2, 40)) / 2)},
            "expected \\(3,\\) and \\(3, 40\\)",
        ),
        (lambda A: A, {"init": (np.ones(3), np.full((3, 40), 1.5))}, "centers must lie in"),
        (lambda A: A, {"tol": -1.0}, "tol"),
        (lambda A: A, {"prior": 0.0}, "prior"),
    ],
)
def test_bad_input_is_named(change, options, message):
    with pytest.raises(ValueError, match=message):
        BernoulliMixture(**{"n_components": 3} | options).fit(change(X.astype(float)))


def test_more_components_than_features_or_directions_are_reported():
    with (
        pytest.warns(DataWarning, match="only 2 significant directions, n_components=3"),
        pytest.warns(DataWarning, match="may be more clusters than the 3000 rows show"),
    ):
        assert BernoulliMixture(3, init="corrected").fit(X[:, :2]).centers_.shape == (3, 2)
    three_kinds = np.repeat(np.eye(3), 50, axis=0)
    with (
        pytest.warns(DataWarning, match="only 3 significant directions, n_components=4"),
        pytest.warns(DataWarning, match="may be more clusters than the 150 rows show"),
    ):
        BernoulliMixture(4, init="asvtd").fit(np.hstack([three_kinds, three_kinds]))


def test_binarize_counts_what_exceeds_it():
    counts = ROWS * 3
    np.testing.assert_array_equal(
        BernoulliMixture(3, binarize=0).fit(counts).labels_, BernoulliMixture(3).fit(ROWS).labels_
    )
    with pytest.raises(ValueError, match="binarize must be a number, finite; found -inf"):
        BernoulliMixture(3, binarize=-np.inf).fit(counts)


def test_a_decomposition_is_a_name():
    with pytest.raises(ValueError, match=r"decomposition=\[\] is not known; choose one of"):
        BernoulliMixture(3, decomposition=[]).fit(ROWS)


@pytest.mark.parametrize("observed", [2, 1.5, object(), {}, "a", np.ones((4, 3))])
def test_what_says_nothing_of_what_was_observed_is_refused(observed):
    model = BernoulliMixture.from_parameters([1.0], [[0.5] * 3], feature_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="observed must be a mask of True and False, or a list"):
        model.predict_proba(np.zeros((4, 3)), observed=observed)
    with pytest.raises(ValueError, match="a mask is of True and False, not 0 and 1; found 1, 0, 1"):
        model.predict_proba(np.zeros((4, 3)), observed=[1, 0, 1])
    with pytest.raises(ValueError, match=r"^observed must name each feature once; found 'a', 'a'$"):
        model.predict_proba(np.zeros((4, 3)), observed=["a", "a"])
    with pytest.raises(ValueError, match=r"found an array of shape \(4, 3\) .*of float64\)$"):
        model.predict_proba(np.zeros((4, 3)), observed=np.ones((4, 3)))
    np.testing.assert_array_equal(
        model.predict_proba(np.zeros((4, 3)), observed={"a"}), np.ones((4, 1))
    )


def test_samples_follow_the_parameters():
    model = BernoulliMixture.from_parameters([0.7, 0.3], [[0.9, 0.1, 0.5], [0.2, 0.6, 0.5]])
    rows, labels = model.sample(20_000, random_state=1)
    np.testing.assert_allclose(np.bincount(labels) / 20_000, [0.7, 0.3], atol=0.02)
    np.testing.assert_allclose(rows.toarray()[labels == 0].mean(axis=0), [0.9, 0.1, 0.5], atol=0.02)
    again, _ = model.sample(20_000, random_state=1)
    assert (rows != again).nnz == 0


def test_progress_is_told_and_can_cancel():
    seen = []

    def told(stage, done):
        seen.append((stage, done))

    BernoulliMixture(3).fit(ROWS, progress=told)
    fractions = [done for _, done in seen]
    assert fractions == sorted(fractions)
    assert {"starts", "EM", "done"} <= {stage for stage, _ in seen}
    seen.clear()
    BernoulliMixture(3, init="corrected").fit(ROWS, progress=told)
    assert {"second moments", "third moments", "decomposition", "EM", "done"} <= {
        stage for stage, _ in seen
    }

    def cancel(stage, done):
        raise InterruptedError(stage)

    with pytest.raises(InterruptedError):
        BernoulliMixture(3).fit(ROWS, progress=cancel)


def test_many_features_go_through_the_operator_with_the_same_result(monkeypatch):
    held = BernoulliMixture(3, init="corrected").fit(ROWS)
    held_raw = BernoulliMixture(3, init="asvtd").fit(ROWS)
    monkeypatch.setattr("lvmkit.mixtures.initialization.DENSE_MOMENTS", 10)
    again = BernoulliMixture(3, init="corrected").fit(ROWS)
    np.testing.assert_array_equal(again.labels_, held.labels_)
    np.testing.assert_array_equal(
        BernoulliMixture(3, init="asvtd").fit(ROWS).labels_, held_raw.labels_
    )


def test_corrected_start_ends_no_lower_than_ten_random_ones():
    rows, _, _ = planted(n=4000, d=60, k=6, seed=5)
    corrected = BernoulliMixture(6).fit(rows).score(rows)
    best = BernoulliMixture(6, init="random", n_init=10).fit(rows).score(rows)
    assert corrected >= best - 1e-3


def test_partial_matches_features_and_masks_by_name():
    names = [f"c{i}" for i in range(X.shape[1])]
    table = pd.DataFrame(X, columns=names)
    model = BernoulliMixture(3).fit(table)
    expected = model.predict_proba(table, observed=names[:20])
    np.testing.assert_allclose(model.predict_proba(table[names[:20]], observed="given"), expected)
    np.testing.assert_allclose(
        model.predict_proba(AnnData(ROWS, var=table.T[[]])[:, names[:20]], observed="given"),
        expected,
    )
    mask = pd.DataFrame(np.random.default_rng(0).random(X.shape) < 0.5, columns=names)
    expected = model.predict_proba(X, observed=mask.to_numpy())
    backwards = table.iloc[:, ::-1]
    np.testing.assert_allclose(model.predict_proba(backwards, observed=mask), expected)
    np.testing.assert_allclose(
        model.predict_proba(backwards, observed=mask.to_numpy()[:, ::-1]), expected
    )


def test_columns_named_by_whole_numbers_are_matched_too():
    table = pd.DataFrame(X, columns=np.arange(100, 140))
    model = BernoulliMixture(3).fit(table)
    np.testing.assert_array_equal(model.predict(table.iloc[:, ::-1]), model.labels_)


def test_names_that_stand_twice_are_refused():
    twice = pd.DataFrame(X, columns=["a", "a", *(f"c{i}" for i in range(38))])
    with pytest.raises(ValueError, match="'a' stand more than once"):
        BernoulliMixture(3).fit(twice)


def test_backed_anndata_is_read(tmp_path):
    AnnData(sparse.csr_matrix(X)).write_h5ad(tmp_path / "a.h5ad")
    backed = anndata.read_h5ad(tmp_path / "a.h5ad", backed="r")
    np.testing.assert_array_equal(
        BernoulliMixture(3).fit(backed).labels_, BernoulliMixture(3).fit(X).labels_
    )
    backed.file.close()


@pytest.mark.parametrize(
    "option", [{"n_components": "3"}, {"tol": "x"}, {"n_init": 1.5}, {"binarize": "x"}]
)
def test_options_of_the_wrong_type_are_named(option):
    with pytest.raises(TypeError, match=next(iter(option))):
        BernoulliMixture(**option).fit(X)


def test_numbers_of_numpy_are_numbers():
    model = BernoulliMixture(np.int64(3), tol=np.float32(1e-5)).fit(X)
    assert model.sample(np.int64(3))[0].shape == (3, 40)
