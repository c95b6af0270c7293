"""The search keeps the best end of all starts, whatever the number of threads."""

import numpy as np
import pytest

from lvmkit.sustain import multi_start
from lvmkit.sustain.multi_start import BEST, FROM_REAL, FitRules, best_start
from lvmkit.sustain.unfolding import Unfolded
from lvmkit.sustain.updates import Box

KINDS = ("balanced", "round", "scale_and_round", "random", "sampling")


def planted(shape, n_components=3, seed=0):
    rng = np.random.default_rng(seed)
    factors = [rng.integers(0, 3, (size, n_components)) for size in shape]
    letters = "abc"[: len(shape)]
    rates = np.einsum(",".join(letter + "r" for letter in letters) + "->" + letters, *factors)
    return Unfolded.of(rng.poisson(0.3 * rates + 0.05))


def found(data, starts, *, n_components=3, **options):
    rules = FitRules([Box(0, 5)] * len(data.shape))
    return best_start(data, n_components, rules=rules, starts=starts, **options)


def assert_same(one, other):
    assert one[1] == other[1]
    assert one[0].trace == other[0].trace
    np.testing.assert_array_equal(one[0].weights, other[0].weights)
    for a, b in zip(one[0].factors, other[0].factors, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("shape", [(60, 9), (9, 60), (30, 6, 5)])
def test_the_best_of_all_starts_is_kept_and_named(shape, monkeypatch):
    ends = []
    plain = multi_start.refine

    def kept(*args, **options):
        ends.append(plain(*args, **options))
        return ends[-1]

    monkeypatch.setattr(multi_start, "refine", kept)
    data = planted(shape)
    best, kind = found(data, KINDS, n_init=3)
    assert len(ends) == 15
    first = int(np.argmax([end.fit for end in ends]))
    assert best is ends[first]
    assert kind == KINDS[first % 5]


def test_of_equal_ends_the_first_is_kept():
    data = Unfolded.of(np.kron(np.eye(2, dtype=int), np.full((4, 3), 2)))
    for kinds in (("balanced", "round", "scale_and_round"), ("round", "balanced")):
        assert [found(data, (kind,), n_components=2)[0].fit for kind in kinds] == [1] * len(kinds)
        assert found(data, kinds, n_components=2, n_init=2)[1] == kinds[0]


@pytest.mark.parametrize("shape", [(60, 9), (30, 6, 5)])
@pytest.mark.parametrize("large", [1, 10**9])
def test_threads_and_how_they_share_change_nothing(shape, large, monkeypatch):
    data = planted(shape)
    alone = found(data, KINDS, n_init=2)
    monkeypatch.setattr(multi_start, "LARGE", large)
    for workers in (1, 2, 4):
        assert_same(found(data, KINDS, n_init=2, workers=workers), alone)
    assert_same(found(data, ("round",), workers=2), found(data, ("round",)))


def test_each_start_draws_on_its_own_however_threads_take_turns(monkeypatch):
    ends, plain = [], multi_start.refine

    def kept(*args, **options):
        ends.append(plain(*args, **options).trace)
        return plain(*args, **options)

    monkeypatch.setattr(multi_start, "refine", kept)
    data = planted((60, 9))
    found(data, ("random", "sampling"), n_init=4)
    found(data, ("random", "sampling"), n_init=4, workers=4)
    assert sorted(ends[:8]) == sorted(ends[8:])
    assert len(set(map(tuple, ends[:8]))) == 8
    ends.clear()
    found(data, ("random",))
    found(data, ("random", "sampling"))
    assert ends[0] == ends[1]  # company of other kinds changes nothing


def test_more_starts_are_never_worse_and_repeat_the_first():
    data = planted((60, 9))
    for kind in KINDS:
        fits = [found(data, (kind,), n_init=n, n_components=4)[0].fit for n in (1, 3)]
        assert np.diff(fits).min() >= 0
        assert kind != "random" or fits[-1] > fits[0]


def test_the_seed_decides():
    data = planted((60, 9))
    for kind in KINDS:
        assert_same(found(data, (kind,), seed=3), found(data, (kind,), seed=3))
    assert found(data, ("random",), seed=0)[0].trace != found(data, ("random",), seed=1)[0].trace
    one, other = (found(data, ("random",), seed=np.random.default_rng(5)) for _ in range(2))
    assert_same(one, other)
    assert_same(one, found(data, ("random",), seed=5))


def test_all_kinds_start_from_one_real_solution_per_draw(monkeypatch):
    drawn, plain = [], multi_start.nonnegative

    def counted(*args, **options):
        real = plain(*args, **options)
        drawn.append(real.factors)
        return real

    monkeypatch.setattr(multi_start, "nonnegative", counted)
    data = planted((60, 9))
    found(data, BEST, n_init=2)
    assert len(drawn) == 2
    found(data, ("random", "sampling"), n_init=2)
    assert len(drawn) == 2
    found(data, ("round",))
    np.testing.assert_array_equal(drawn[0][0], drawn[2][0])
    assert not np.array_equal(drawn[0][0], drawn[1][0])


def test_the_real_solution_is_sought_more_finely_than_the_integer_one(monkeypatch):
    asked, plain = [], multi_start.nonnegative

    def told(*args, **options):
        asked.append(options["tol"])
        return plain(*args, **options)

    monkeypatch.setattr(multi_start, "nonnegative", told)
    found(planted((60, 9)), ("round",))
    assert asked == [pytest.approx(1e-5)]


def test_a_given_start_is_the_only_one():
    data = planted((60, 9))
    rng = np.random.default_rng(0)
    start = [rng.integers(0, 6, (3, size)) for size in data.shape], np.array([1, 2, 1])
    best, kind = found(data, start, n_init=4, workers=2)
    assert kind == "given"
    rules = FitRules([Box(0, 5)] * 2)
    alone = rules.refined(data, start, np.random.default_rng(0))
    assert alone.trace == best.trace


def test_rules_reach_the_iterations():
    data = planted((60, 9))
    start = [np.ones((2, 60)), np.ones((2, 9))], np.ones(2, dtype=int)
    rules = FitRules([Box(0, 2), Box(0, 1)], tol=0.0, max_iter=3, n_passes=2)
    end = rules.refined(data, start, np.random.default_rng(0))
    assert (len(end.trace), end.stopped_by) == (3, "max_iter")
    assert [factor.max() for factor in end.factors] == [2, 1]
    once = FitRules(rules.boxes, tol=0.0, max_iter=3).refined(data, start, np.random.default_rng(0))
    assert once.trace[0] < end.trace[0]


def test_starts_of_the_document_and_ours_are_those_tried():
    assert set(BEST) == {"balanced", "round", "scale_and_round", "sampling"}
    assert set(FROM_REAL) == {"balanced", "round", "scale_and_round"}
