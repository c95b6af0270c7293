"""Patients at each score are counted, and small counts hidden with what they follow from."""

import numpy as np
from scipy.optimize import linprog

from lvmkit.sustain.score_counts import DisclosedCounts, ScoreCounts

T = 11  # smaller counts are hidden


def known(text):
    """What a reader knows of a count that is shown, small, or hidden besides."""
    if isinstance(text, int):
        return text, text
    return (1, T - 1) if text.startswith("<") else (0, None)


def test_no_small_count_follows_from_all_that_is_shown_of_a_card():
    random = np.random.default_rng(3)
    found = 0
    for _ in range(150):
        n = int(random.choice([15, 40, 300, 2000]))
        share = random.dirichlet(random.choice([0.1, 0.5, 2], 6))
        scores = random.choice(6, size=(n, 1), p=share)
        figures = DisclosedCounts(ScoreCounts.of(scores, range(6)), T)
        whole = np.bincount(scores[:, 0], minlength=6)
        shown, having = figures.counts(0), figures.n_with_score(0)
        assert all(x == y or isinstance(y, str) for x, y in zip(whole, shown, strict=True))
        assert isinstance(having, str) == isinstance(shown[0], str)
        sums = {"A_eq": [np.ones(6)], "b_eq": [n], "bounds": [known(text) for text in shown]}
        for aim in np.eye(6)[(whole > 0) & (whole < T)]:
            found += 1
            low, high = (linprog(sign * aim, **sums) for sign in (1, -1))
            assert -high.fun - low.fun >= min(T - 2, n - 2), (whole, shown, having)
    assert found > 100


def groups_of(levels, told):
    """Which scores reach each level."""
    return [[x >= level if level > 0 else x <= level for x in levels] for level in told]


def test_no_small_count_follows_from_the_groups_that_may_be_told_besides():
    random = np.random.default_rng(6)
    found = 0
    for _ in range(150):
        n = int(random.choice([40, 300, 2000]))
        levels = range(-2, 5)
        share = random.dirichlet(random.choice([0.1, 0.5, 2], 7))
        scores = random.choice(levels, size=(n, 1), p=share)
        figures = DisclosedCounts(ScoreCounts.of(scores, levels), T)
        whole = np.bincount(scores[:, 0] + 2, minlength=7)
        sums = np.array([[True] * 7, *groups_of(levels, figures.cutoffs(0))], dtype=float)
        bounds = [known(text) for text in figures.counts(0)]
        for aim in np.eye(7)[(whole > 0) & (whole < T)]:
            found += len(sums) > 1
            given = {"A_eq": sums, "b_eq": sums @ whole, "bounds": bounds}
            low, high = (linprog(sign * aim, **given) for sign in (1, -1))
            assert -high.fun - low.fun >= T - 2, (whole, figures.counts(0), figures.cutoffs(0))
    assert found > 50


def test_the_list_of_levels_leaves_out_what_a_second_group_would_tell():
    counts = np.array([[300, 8, 70, 22, 0, 0]])
    figures = DisclosedCounts(
        ScoreCounts(400, range(6), counts, np.zeros((1, 1), dtype=np.int64)), T
    )
    assert figures.counts(0) == [300, "<11", 70, "hidden", 0, 0]
    assert figures.cutoffs(0) == [1, 4, 5]  # 92 of 2 or more would leave 8 of 1


def test_two_phenotypes_together_tell_of_no_few_people():
    random = np.random.default_rng(4)
    for _ in range(60):
        n = int(random.choice([30, 200, 900]))
        scores = (random.random((n, 5)) < random.choice([0.02, 0.3, 0.97], 5)).astype(int)
        figures = DisclosedCounts(ScoreCounts.of(scores, range(2)), T)
        for r in range(5):
            for s in range(5):
                both = figures.both[r][s]
                if both is None:
                    continue
                a, b = scores[:, r] > 0, scores[:, s] > 0
                four = [(a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()]
                assert both == four[0]
                assert all(x == 0 or x >= T for x in four)


def test_of_a_handful_of_people_nothing_is_told():
    scores = np.array([[0], [1], [1], [2]])
    figures = DisclosedCounts(ScoreCounts.of(scores, range(3)), T)
    assert figures.total == "<11"
    assert all(isinstance(text, str) for text in figures.counts(0))
    assert isinstance(figures.n_with_score(0), str)
    assert np.isnan(figures.prevalence[0])


def test_many_patients_are_counted_in_one_pass():
    random = np.random.default_rng(0)
    scores = random.integers(-1, 4, (5_000, 40)).astype(np.int8)
    counted = ScoreCounts.of(scores, range(-1, 4))
    assert counted.counts.sum() == scores.size
    assert DisclosedCounts(counted, 0).n_with_score(7) == (scores[:, 7] != 0).sum()
