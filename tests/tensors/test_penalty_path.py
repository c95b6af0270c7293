from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.cluster import KMeans

from lvmkit.datasets import make_tensor_mixture
from lvmkit.scores import error_rate
from lvmkit.tensors import penalty_path as module
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.em import CenteredSamples, EMOptions, doubly_enhanced
from lvmkit.tensors.initialization import one_hot
from lvmkit.tensors.penalty_path import (
    best_of,
    bic,
    chosen,
    from_smaller,
    largest_penalty,
    n_parameters,
    path_of,
    threads,
)


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4, 3))
    X[::2, 0, :2] += 2.5
    return CenteredSamples(X)


@pytest.fixture
def guesses():
    rng = np.random.default_rng(1)
    return [one_hot(rng.permutation(np.arange(50) % 2), 2) for _ in range(4)] + [
        one_hot(np.arange(50) % 2, 2)
    ]


OPTIONS = EMOptions(contrasts(2), penalty=0.3)


@pytest.mark.parametrize("method", ["deem", "em"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_best_start_is_the_one_of_highest_objective(samples, guesses, method, n_jobs):
    with threads(n_jobs) as mapper:
        found = best_of(samples, guesses, OPTIONS, method, mapper)
    assert len(found.fits) == 5
    sound = [fit.objective for fit in found.fits if fit.stopped_by not in module.DEGENERATE]
    assert found.fit.objective == max(sound)
    for start, fit in zip(guesses, found.fits, strict=True):  # in the order of the starts
        alone = module.METHODS[method](samples, start, OPTIONS)
        assert alone.objective == fit.objective


def test_a_degenerate_fit_is_not_kept(samples, guesses):
    def fake(stopped_by, objective):
        fit = doubly_enhanced(samples, guesses[-1], OPTIONS)
        return fit._replace(stopped_by=stopped_by, objective=objective)

    fits = [fake("empty", 9.0), fake("penalty", 8.0), fake("tol", -50.0), fake("max_iter", -40.0)]
    found = best_of(samples, guesses[:4], OPTIONS, "deem", lambda _run, _starts: fits)
    assert found.kept == 3
    found = best_of(samples, guesses[:2], OPTIONS, "deem", lambda _run, _starts: fits[:2])
    assert found.kept == 0


@pytest.mark.parametrize("reference", [None, 0])
def test_the_largest_penalty_is_where_the_first_entry_is_selected(samples, guesses, reference):
    options = replace(OPTIONS, contrasts=contrasts(2, reference), max_iter=1)
    for start in guesses:
        largest = largest_penalty(samples, [start], options)
        means = [samples.values[start[:, k] == 1].mean(axis=0) for k in (0, 1)]
        assert largest == pytest.approx(np.abs(means[1] - means[0]).max())
        above = doubly_enhanced(samples, start, replace(options, penalty=largest * 1.0001))
        below = doubly_enhanced(samples, start, replace(options, penalty=largest * 0.9999))
        assert not above.rule.discriminants.any()
        assert below.rule.discriminants.any()
    every = largest_penalty(samples, guesses, options)
    assert every == max(largest_penalty(samples, [start], options) for start in guesses)


def test_along_a_path_the_fit_before_is_a_start(samples, guesses):
    penalties = [1.5, 0.8, 0.4]
    founds = list(path_of(samples, guesses[:2], OPTIONS, penalties, mapper=map))
    assert [found.penalty for found in founds] == penalties
    assert len(founds[0].fits) == 2
    for before, found in pairwise(founds):
        if before.fit.stopped_by in module.DEGENERATE:
            continue
        assert len(found.fits) == 3
        again = doubly_enhanced(
            samples, before.fit.posteriors, replace(OPTIONS, penalty=found.penalty)
        )
        assert again.objective == found.fits[2].objective


def test_patience_ends_a_path_once_its_criterion_rises(samples, guesses):
    penalties = list(np.geomspace(2, 0.05, 12))
    whole = list(path_of(samples, guesses[-2:], OPTIONS, penalties, mapper=map))
    short = list(path_of(samples, guesses[-2:], OPTIONS, penalties, mapper=map, patience=2))
    assert len(short) < len(whole) == 12
    values = [bic(f, 50) if f.fit.stopped_by not in module.DEGENERATE else np.inf for f in short]
    assert len(values) - 1 - int(np.argmin(values)) >= 2
    for one, other in zip(short, whole, strict=False):
        assert one.fit.objective == other.fit.objective
    never = path_of(samples, guesses[-2:], OPTIONS, penalties, mapper=map, patience=2, bar=-np.inf)
    assert len(list(never)) == 12


def test_the_lowest_criterion_is_chosen_if_it_is_below_that_of_one_cluster(samples, guesses):
    founds = list(path_of(samples, guesses, OPTIONS, [1.0, 0.5, 0.2], mapper=map))
    values = [bic(found, 50) for found in founds]
    assert chosen(founds, 50, np.inf) is founds[int(np.argmin(values))]
    assert chosen(founds, 50, -np.inf) is founds[-1]
    lost = [
        found._replace(fits=(found.fit._replace(stopped_by="empty"),), kept=0) for found in founds
    ]
    assert chosen([*lost, founds[1]], 50, np.inf) is founds[1]
    assert chosen(lost, 50, np.inf) is lost[int(np.argmin(values))]


def test_free_parameters_by_counting():
    """Three clusters of 4 x 3: 2 weights, 12 of the overall mean, 2 x 2 discriminants, covariances of 10 + 6 - 1."""
    B = np.zeros((3, 12))
    B[1, 4] = B[2, 7] = 1
    assert n_parameters(3, B, [4, 3]) == 2 + 12 + 4 + 15
    assert n_parameters(1, np.zeros((1, 12)), [4, 3]) == 12 + 15
    everything = np.ones((2, 5))
    assert n_parameters(2, everything, [5]) == 1 + 10 + 15  # a mixture of vectors: 1 + 2·5 + 15


def test_the_criterion_by_hand(samples, guesses):
    found = best_of(samples, guesses[-1:], OPTIONS, "deem", map)
    free = 1 + int(found.fit.rule.discriminants.any(axis=0).sum()) + 12 + 15
    assert bic(found, 50) == pytest.approx(-2 * found.density.log_likelihood + np.log(50) * free)


def test_only_the_best_starts_are_followed(samples, guesses):
    penalties = list(np.geomspace(1, 0.05, 8))
    many = [
        *guesses,
        *(one_hot(np.random.default_rng(n).integers(2, size=50), 2) for n in range(5)),
    ]
    founds = list(path_of(samples, many, OPTIONS, penalties, mapper=map))
    for one, after in pairwise(founds):
        order = sorted(range(len(one.fits)), key=lambda at: -one.fits[at].objective)
        alive = [at for at in order if one.fits[at].stopped_by not in module.DEGENERATE]
        dropped = {one.origins[at] for at in alive[module.FOLLOWED :]} - {module.PREVIOUS}
        assert not dropped & set(after.origins)
        degenerate = {one.origins[at] for at in order if at not in alive} - {module.PREVIOUS}
        assert degenerate <= set(after.origins)
    assert len(founds[-1].fits) < len(founds[0].fits)


def test_a_penalty_that_starts_cannot_bear_is_reached_from_a_smaller_one():
    X, y = make_tensor_mixture("M9", 200)
    samples = CenteredSamples(X)
    start = one_hot(KMeans(2, n_init=1, random_state=0).fit_predict(samples.flat), 2)
    options = replace(OPTIONS, penalty=0.5)
    assert best_of(samples, [start], options, "deem", map).fit.stopped_by == "penalty"
    found = from_smaller(samples, [start], options, "deem", map)
    assert found.fit.stopped_by == "tol"
    assert found.origins == (module.SMALLER_PENALTY,)
    assert found.penalty == 0.5
    assert error_rate(y, found.fit.posteriors.argmax(axis=1)) < 0.1
