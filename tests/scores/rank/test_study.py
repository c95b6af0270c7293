"""Choosing the number of phenotypes: planted numbers are found, and the rule is the one stated."""

import itertools
import threading
import warnings
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

from lvmkit import SUSTain
from lvmkit.core.validation import DataWarning
from lvmkit.scores import fit
from lvmkit.scores.rank.dissimilarity import dissimilarity
from lvmkit.scores.rank.study import RankRuns, RankStudy, iter_rank_study, rank_study


def planted(seed, n=1500, d=80, R=5):
    """Return counts of patients with two of R phenotypes, each of 12 codes."""
    rng = np.random.default_rng(seed)
    V, U = np.zeros((d, R)), np.zeros((n, R))
    for r in range(R):
        V[rng.choice(d, 12, replace=False), r] = rng.integers(1, 6, 12)
    for row in U:
        row[rng.choice(R, 2, replace=False)] = rng.integers(1, 4, 2)
    X = rng.poisson(0.35 * U @ V.T + 0.02)
    X[0] += 1  # no code without a patient
    X[:, 0] += 1
    return X


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 4, 7])
def test_the_planted_number_is_recommended(seed):
    study = rank_study(SUSTain(), planted(seed), range(3, 9), n_starts=6)
    assert study.best == 5
    assert study.table.loc[study.table["recommended"], "n_components"].tolist() == [5]
    assert study.complete


@pytest.fixture(scope="module")
def small():
    return planted(0, n=200, d=30, R=3)


@pytest.fixture(scope="module")
def study(small):
    return rank_study(SUSTain(max_iter=20), small, [3, 2, 3], n_starts=4, random_state=1)


def test_numbers_are_those_of_the_fits_made_one_by_one(small, study):
    seeds = np.random.RandomState(1).randint(2**31 - 1, size=4)
    assert study.planned == (2, 3)
    for run in study.runs:
        models = [
            SUSTain(run.n_components, init="round", max_iter=20, random_state=int(seed)).fit(small)
            for seed in seeds
        ]
        pairs = [
            dissimilarity(a.factors_[1], b.factors_[1])
            for a, b in itertools.combinations(models, 2)
        ]
        assert run.dissimilarity == pytest.approx(np.mean(pairs), abs=1e-12)
        assert run.fits.tolist() == [model.fit_ for model in models]
        best = models[int(np.argmax(run.fits))]
        kept = study.models[run.n_components]
        assert kept.random_state == best.random_state
        assert all(np.array_equal(a, b) for a, b in zip(kept.factors_, best.factors_, strict=True))
        row = study.table.set_index("n_components").loc[run.n_components]
        assert row["fit"] == pytest.approx(fit(small, best.factors_, best.weights_))
        assert row["nonzeros of rows"] == (best.factors_[0] != 0).sum()
        assert row["nonzeros of features"] == (best.factors_[1] != 0).sum()
        assert row["nonzeros"] == row["nonzeros of rows"] + row["nonzeros of features"]
        assert row["mean_fit"] == pytest.approx(np.mean([model.fit_ for model in models]))


def test_starts_are_different_and_the_study_is_repeatable(small, study):
    assert len(np.unique(study.runs[1].fits)) > 1
    again = rank_study(SUSTain(max_iter=20), small, [2, 3], n_starts=4, random_state=1)
    assert again.table.equals(study.table)
    more = rank_study(SUSTain(max_iter=20), small, [3], n_starts=5, random_state=1)
    assert more.runs[0].fits[:4].tolist() == study.runs[1].fits.tolist()


def test_the_estimator_is_left_as_it_was_and_its_start_is_kept_if_wanted(small):
    estimator = SUSTain(7, init="sampling")
    found = rank_study(estimator, small, [2], n_starts=2, init=None)
    assert estimator.get_params() == SUSTain(7, init="sampling").get_params()
    assert not hasattr(estimator, "factors_")
    assert found.models[2].init == "sampling"


def test_other_modes_of_a_tensor_are_compared():
    rng = np.random.default_rng(0)
    X = sparse.coo_array(rng.poisson(0.4, (60, 9, 7)))
    found = rank_study(SUSTain(), X, [2], n_starts=3, mode=2)
    models = list(found.models.values())
    assert [len(factor) for factor in models[0].factors_] == [60, 9, 7]
    assert found.table["nonzeros of mode 2"].iloc[0] <= 14
    with pytest.raises(ValueError, match="mode counts the modes of X from 0 to 2; found 3"):
        rank_study(SUSTain(), X, [2], n_starts=3, mode=3)


def test_a_number_that_fails_is_remarked_and_the_others_are_not_lost(small):
    X = small[:, :4]
    found = rank_study(SUSTain(), X, [2, 50], n_starts=2)
    assert found.best == 2
    assert list(found.models) == [2]
    assert "n_components=50 is more than 4" in found.table["remark"].iloc[1]
    assert "Failed: 50." in found.reason
    with pytest.raises(
        ValueError, match=r"no number of components could be fitted. 50: n_components=50"
    ):
        rank_study(SUSTain(), X, [50], n_starts=2)
    with pytest.raises(ValueError, match=r"could be fitted.*[Nn]egative"):
        rank_study(SUSTain(), -X, [2], n_starts=2)


def test_canceling_leaves_what_is_known(small):
    def stop(text, done):
        if text.startswith("3 components"):
            raise InterruptedError

    with pytest.warns(DataWarning, match="ended after 1 of 2 numbers"):
        found = rank_study(SUSTain(), small, [2, 3], n_starts=2, progress=stop)
    assert not found.complete
    assert found.best == 2
    assert "Rests on 1 of the 2 numbers asked for." in found.reason
    with pytest.raises(InterruptedError):
        rank_study(SUSTain(), small, [3], n_starts=2, progress=stop)


def test_progress_goes_from_0_to_1(small):
    told = []
    for _ in iter_rank_study(
        SUSTain(), small, [2, 3], n_starts=2, progress=lambda text, done: told.append((text, done))
    ):
        pass
    assert told[0] == ("2 components: start 1 of 2", 0.0)
    assert told[-1][1] == 1.0
    assert any(0 < done < 0.25 for _, done in told)  # also within a fit
    assert [done for _, done in told] == sorted(done for _, done in told)


class Fixed(BaseEstimator):
    """A factorization that needs no time, and says on which thread it was made."""

    threads: ClassVar[set[int]] = set()

    def __init__(self, n_components=2, *, init="round", random_state=0, n_jobs=None):
        self.n_components = n_components
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X):
        self.threads.add(threading.get_ident())
        rng = np.random.default_rng(self.random_state)
        self.factors_ = [
            np.ones((3, self.n_components)),
            rng.integers(0, 6, (8, self.n_components)),
        ]
        self.fit_ = float(self.random_state % 97)
        return self


def test_many_rows_are_fitted_side_by_side_with_the_same_result(monkeypatch):
    many = np.broadcast_to(np.ones(8), (6_000, 8))
    monkeypatch.setattr("lvmkit.scores.rank.study.n_threads", lambda: 2)
    Fixed.threads.clear()
    pooled = rank_study(Fixed(), many, [2, 3], n_starts=6)
    assert threading.get_ident() not in Fixed.threads
    assert pooled.models[2].n_jobs == 1
    alone = rank_study(Fixed(), many[:100], [2, 3], n_starts=6)
    assert alone.table.equals(pooled.table)
    assert alone.table["nonzeros of 0"].tolist() == [6, 9]  # modes without names are numbered


class Alike(Fixed):
    """A factorization whose starts all fit equally well."""

    def fit(self, X):
        super().fit(X).fit_ = 0.5
        return self


def test_of_equal_fits_the_first_is_kept():
    found = rank_study(Alike(), np.ones((50, 8)), [2], n_starts=3)
    first = np.random.RandomState(0).randint(2**31 - 1)
    assert found.models[2].random_state == first


class Warned(Fixed):
    """A factorization that finds something odd in the data, whatever the start."""

    def fit(self, X):
        warnings.warn("row 7 is all 0", DataWarning, stacklevel=1)
        warnings.warn(f"start {self.random_state}", UserWarning, stacklevel=1)
        return super().fit(X)


@pytest.mark.parametrize("n_rows", [100, 6_000])
def test_what_is_odd_in_the_data_is_said_once_and_all_else_every_time(monkeypatch, n_rows):
    monkeypatch.setattr("lvmkit.scores.rank.study.n_threads", lambda: 2)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        rank_study(Warned(), np.broadcast_to(np.ones(8), (n_rows, 8)), [2, 3], n_starts=4)
        kinds = [warning.category for warning in said]
        assert (kinds.count(DataWarning), kinds.count(UserWarning)) == (1, 8)
        Warned().fit(None)  # afterwards, and in a second study, all is said again
        rank_study(Warned(), np.ones((50, 8)), [2], n_starts=2)
    kinds = [warning.category for warning in said]
    assert (kinds.count(DataWarning), kinds.count(UserWarning)) == (3, 11)


def test_empty_slices_are_said_once(small):
    X = small.copy()
    X[3] = 0
    with pytest.warns(DataWarning) as said:
        rank_study(SUSTain(max_iter=3), X, [2, 3], n_starts=3)
    assert ["1 of 200 slices of mode 0" in str(warning.message) for warning in said] == [True]


def test_a_labelled_tensor_is_compared_by_the_name_of_a_mode(small):
    from lvmkit.cohorts import CountTensor

    labels = [[f"p{i}" for i in range(200)], [f"c{i}" for i in range(30)]]
    tensor = CountTensor(small, ("patient", "code"), labels)
    found = rank_study(SUSTain(max_iter=3), tensor, [2], n_starts=2, mode="patient")
    assert (found.mode, found.size, found.modes) == (0, 200, ("patient", "code"))
    matrix = rank_study(SUSTain(max_iter=3), small, [2], n_starts=2, mode=0)
    assert found.runs[0].dissimilarity == matrix.runs[0].dissimilarity
    cohort = rank_study(SUSTain(max_iter=3), tensor.cohort(), [2], n_starts=2, mode="rows")
    assert cohort.runs[0].dissimilarity == matrix.runs[0].dissimilarity
    with pytest.raises(ValueError, match="mode='drug'; the modes of X are 'patient', 'code'"):
        rank_study(SUSTain(), tensor, [2], n_starts=2, mode="drug")


def made(*runs):
    """Return a study of numbers with these mean dissimilarities, fits and errors."""
    found = []
    for number, mean, fitted, spread in runs:
        unlike = np.full((4, 4), mean)
        unlike[0] += spread
        unlike[:, 0] += spread
        np.fill_diagonal(unlike, 0)
        unlike *= mean * 12 / max(unlike.sum(), 1e-30)
        found.append(
            RankRuns(number, unlike, np.full(4, fitted), np.ones((4, 2), int), model=object())
        )
    numbers = tuple(run[0] for run in runs)
    return RankStudy(tuple(found), ("patient", "code"), 1, 4, numbers)


def test_the_smallest_is_recommended_and_of_those_alike_the_best_fit():
    clear = made((2, 0.10, 0.2, 0), (3, 0.02, 0.3, 0), (4, 0.06, 0.4, 0))
    assert clear.best == 3
    assert clear.reason == "3: Υ = 0.02 over 4 starts, the smallest of all."
    alike = made((2, 0.02, 0.2, 0), (3, 0.028, 0.3, 0), (4, 0.06, 0.4, 0))
    assert alike.best == 3
    assert alike.reason.startswith(
        "3: Υ = 0.028 over 4 starts, as good as the smallest (0.02 at 2), and of"
    )
    assert alike.reason.endswith("those the best fit (0.300).")
    noisy = made((2, 0.05, 0.2, 0.2), (3, 0.08, 0.3, 0))
    assert noisy.runs[0].standard_error > 0.03
    assert noisy.best == 3


def test_the_reason_says_when_none_is_stable_and_when_more_should_be_tried():
    unstable = made((2, 0.35, 0.2, 0), (3, 0.31, 0.3, 0), (4, 0.5, 0.4, 0))
    assert unstable.best == 3
    assert (
        "None is stable: from 2 to 4 other starts find other components (Υ above 0.2)"
        in unstable.reason
    )
    largest = made((2, 0.1, 0.2, 0), (3, 0.0, 0.3, 0))
    assert largest.reason.endswith("It is the largest that was tried; more may do as well.")
    assert "largest" not in made((3, 0.0, 0.3, 0)).reason


def test_the_reason_says_when_a_mode_is_too_short_to_tell():
    few = made((3, 0.3, 0.2, 0), (8, 0.02, 0.3, 0))
    assert "whatever the data" not in few.reason
    assert "Mode 1 has 8 entries: as many components" in replace(few, size=8).reason
    assert "whatever the data" not in replace(few, size=9).reason
    assert repr(few) == "RankStudy of 3, 8 components, 4 starts each; best: 8"


def test_without_anything_to_compare_nothing_is_recommended():
    nothing = RankRuns(2, np.zeros((0, 0)), np.zeros(0), np.zeros((0, 2), int), None, "why")
    found = RankStudy((nothing,), ("patient", "code"), 1, 4, (2,))
    assert found.best is None
    assert found.models == {}
    assert found.reason == "No number of components could be compared."
    assert not found.table["recommended"].any()
    assert found.table["remark"].tolist() == ["why"]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_starts": 1}, ValueError, "n_starts must be a whole number, at least 2"),
        ({"n_components": []}, ValueError, "n_components is empty"),
        ({"n_components": 3}, TypeError, "n_components must be a sequence.*; found 3"),
        ({"n_components": [0]}, ValueError, "each of n_components must be"),
        ({"mode": 2}, ValueError, "mode counts the modes of X from 0 to 1; found 2"),
        ({"estimator": BaseEstimator()}, ValueError, "BaseEstimator has no option 'init', 'n_comp"),
    ],
)
def test_wrong_options_are_refused(small, options, error, message):
    given = {"estimator": SUSTain(), "X": small, "n_components": [2], **options}
    with pytest.raises(error, match=message):
        rank_study(**given)


def test_what_is_no_factorization_and_too_short_modes_are_refused(small):
    class Empty(Fixed):
        def fit(self, X):
            return self

    with pytest.raises(TypeError, match="Empty has no factors_ and no fit_ after fit"):
        rank_study(Empty(), small, [2], n_starts=2)
    with pytest.raises(ValueError, match="mode 1 of X has 2 entries"):
        rank_study(SUSTain(), small[:, :2], [2], n_starts=2)
