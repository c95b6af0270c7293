"""Repeated fits: rows and seeds, as a fake estimator records them, and what they leave behind."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info, threadpool_limits

from lvmkit.scores import compare_stability, iter_stability, stability, stability_study

N = 100
ROWS = np.arange(float(N))[:, None]
PROTOCOLS = ("overlapping", "bootstrap", "halves")


class Fitted(NamedTuple):
    rows: list[int]
    seed: int | None


class Recorder(BaseEstimator):
    """Keeps the rows and the seed of every fit; cuts the line elsewhere if it saw all rows of it."""

    fits: list[Fitted] = []  # noqa: RUF012 - of the class, since every fit is made by a copy

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: None = None) -> "Recorder":
        self.fits.append(Fitted(X[:, 0].astype(int).tolist(), self.random_state))
        self.cut_ = X[0, 0]
        everything = len(np.unique(X)) == N
        self.labels_ = (X[:, 0] >= (70 if everything else 30)).astype(int)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:  # by the row that it was given first
        return (X[:, 0] >= self.cut_).astype(int)


def over(estimator: Any, X: np.ndarray, **options: Any) -> Any:
    return compare_stability(lambda _: estimator, X, [2], **options)


CALLS = (stability, stability_study, over)


def recorded(call: Callable[..., Any], estimator: Any = None, **options: Any) -> list[Fitted]:
    Recorder.fits.clear()
    if call is stability_study and options.get("protocol") != "bootstrap":
        options["reference"] = np.arange(N) // 50  # without one it begins with a fit on all rows
    call(Recorder() if estimator is None else estimator, ROWS, **options)
    return list(Recorder.fits)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("call", CALLS)
def test_every_fit_has_its_own_seed(call: Callable[..., Any], protocol: str) -> None:
    fits = recorded(call, protocol=protocol, n_repeats=4)
    assert len(fits) == (5 if protocol == "bootstrap" else 8)
    assert len({fit.seed for fit in fits} - {None}) == len(fits)
    # a seed that the user chose would make every fit the same lucky one
    assert recorded(call, Recorder(random_state=5), protocol=protocol, n_repeats=4) == fits


def test_every_step_of_a_pipeline_has_its_own_seed() -> None:
    steps = make_pipeline(Recorder(random_state=1), Recorder(random_state=1))
    fits = recorded(stability, steps, n_repeats=2)
    assert len(fits) == 8
    assert len({fit.seed for fit in fits} - {None}) == 8


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_of_several_methods_gets_the_rows_and_seeds_that_it_gets_alone(protocol: str) -> None:
    two_seeds = make_pipeline(Recorder(), Recorder())
    methods = {"one": lambda _: Recorder(), "two": lambda _: two_seeds}
    Recorder.fits.clear()
    compare_stability(methods, ROWS, [2, 3], protocol=protocol, n_repeats=1)  # type: ignore[arg-type]
    together = list(Recorder.fits)
    alone = [recorded(stability, one, protocol=protocol, n_repeats=1) for one in (None, two_seeds)]
    assert together == [*alone[0] * 2, *alone[1] * 2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("call", CALLS)
def test_random_state_decides_rows_and_seeds(call: Callable[..., Any], protocol: str) -> None:
    runs = [recorded(call, protocol=protocol, n_repeats=2, random_state=s) for s in (3, 3, 4)]
    assert runs[0] == runs[1]
    assert not {fit.seed for fit in runs[0]} & {fit.seed for fit in runs[2]}
    begin = 1 if protocol == "bootstrap" else 0  # of all rows
    for one, other in zip(runs[0][begin:], runs[2][begin:], strict=True):
        assert one.rows != other.rows
    assert runs[0] == recorded(stability, protocol=protocol, n_repeats=2, random_state=3)


def test_the_reference_that_a_study_fits_has_a_seed_of_random_state() -> None:
    seeds = []
    for random_state in (3, 4):
        Recorder.fits.clear()
        stability_study(Recorder(), ROWS, n_repeats=1, random_state=random_state)
        first, *others = Recorder.fits
        assert first.rows == list(range(N))
        assert first.seed not in {None, *(fit.seed for fit in others)}
        seeds.append(first.seed)
    assert seeds[0] != seeds[1]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("shared", "both", "own"), [(0.5, 50, 25), (0.2, 20, 40), (0.8, 80, 10)])
def test_parts_share_as_many_rows_as_asked_for(
    call: Callable[..., Any], shared: float, both: int, own: int
) -> None:
    one, other = (set(fit.rows) for fit in recorded(call, shared=shared, n_repeats=1))
    assert (len(one & other), len(one - other), len(other - one)) == (both, own, own)


@pytest.mark.parametrize("call", CALLS)
def test_bootstrap_compares_a_row_once_however_often_it_was_drawn(call: Callable[..., Any]) -> None:
    Recorder.fits.clear()
    result = call(Recorder(), ROWS, protocol="bootstrap", n_repeats=3)
    drawn = [np.array(sorted(set(fit.rows))) for fit in Recorder.fits[1:]]
    expected = [adjusted_rand_score(rows >= 70, rows >= 30) for rows in drawn]
    np.testing.assert_allclose(getattr(result, "ari", result), expected)


@pytest.mark.parametrize("call", CALLS)
def test_halves_are_compared_on_the_rows_of_both(call: Callable[..., Any]) -> None:
    Recorder.fits.clear()
    options = {"reference": np.arange(N) // 50} if call is stability_study else {}
    result = call(Recorder(), ROWS, protocol="halves", n_repeats=3, **options)
    said = [ROWS[:, 0] >= fit.rows[0] for fit in Recorder.fits]
    expected = [adjusted_rand_score(*pair) for pair in zip(said[::2], said[1::2], strict=True)]
    np.testing.assert_allclose(getattr(result, "ari", result), expected)


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_a_study_that_is_not_read_to_its_end_leaves_the_libraries_their_threads():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        steps = iter_stability(KMeans(2, n_init=1), np.eye(40, 6), n_repeats=2)
        next(steps)
        assert blas_threads() == before
        steps.close()
