"""Counts of nested groups are hidden, or estimated where they would follow."""

import numpy as np
import pytest
from scipy.optimize import linprog

from lvmkit.disclosure.trees import shown_counts

T = 11  # smaller counts are hidden


def random_tree(random, n_leaves, d):
    """Counts of a random binary tree, sums upward; splits from the root down."""
    splits, leaves, count = [], [0], 1
    while len(leaves) < n_leaves:
        whole = leaves.pop(random.integers(len(leaves)))
        splits.append((whole, count, count + 1))
        leaves += [count, count + 1]
        count += 2
    sizes = np.zeros(count, dtype=int)
    counts = np.zeros((count, d), dtype=int)
    for leaf in leaves:
        sizes[leaf] = random.integers(1, random.choice([12, 60, 200]))
        shares = random.choice([0, 0.01, 0.1, 0.5, 0.97, 1], d)
        counts[leaf] = random.binomial(sizes[leaf], shares)
    for whole, left, right in reversed(splits):
        sizes[whole] = sizes[left] + sizes[right]
        counts[whole] = counts[left] + counts[right]
    return counts, sizes, np.array(splits)


def known(value, hidden):
    """What a reader knows of a number that is shown, small, or hidden besides."""
    if not hidden:
        return value, value
    return (1, T - 1) if 1 <= value < T else (0, None)


def widths(counts, sizes, splits):
    """How far each small number of one code, or size, can vary under all that is shown."""
    n = len(sizes)
    _, gone = shown_counts(sizes[:, None], splits)
    _, cells = shown_counts(counts[:, None], splits, sizes=sizes)
    sums = np.zeros((2 * len(splits), 2 * n))
    for k, split in enumerate(splits):
        sums[2 * k, split] = sums[2 * k + 1, split + n] = 1, -1, -1
    within = np.hstack([-np.eye(n), np.eye(n)])  # a count is no larger than its node
    bounds = [known(*pair) for pair in zip(sizes, gone[:, 0], strict=True)]
    # of a few people it is hidden too whether none of them has the code
    bounds += [
        (0, None) if h and 0 < size < T else known(x, h)
        for size, x, h in zip(sizes, counts, cells[:, 0], strict=True)
    ]
    of_size, of_count = np.eye(2 * n)[:n], np.eye(2 * n)[n:]
    rest = sizes - counts
    enough = cells[:, 0] & (sizes >= T)
    aims = [
        *of_size[gone[:, 0] & (sizes > 0) & (sizes < T)],
        *of_count[enough & (counts > 0) & (counts < T)],
        *(of_size - of_count)[enough & (rest > 0) & (rest < T)],
    ]
    for aim in aims:
        given = {"A_ub": within, "b_ub": np.zeros(n), "A_eq": sums, "b_eq": np.zeros(len(sums))}
        low, high = (linprog(sign * aim, **given, bounds=bounds) for sign in (1, -1))
        yield np.inf if high.status == 3 else -high.fun - low.fun


@pytest.mark.slow
def test_no_small_number_follows_from_all_that_is_shown():
    random = np.random.default_rng(0)
    found = 0
    for _ in range(40):
        counts, sizes, splits = random_tree(random, int(random.integers(2, 6)), 4)
        for column in counts.T:
            for width in widths(column, sizes, splits):
                found += 1
                assert width >= 1, (column, sizes, splits)
    assert found > 300


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ([89, 89, 0], [90, 89, 1]),  # everybody beside a single person has it
        ([51, 41, 10], [128, 41, 87]),  # all of the sibling have it, which cannot have more
    ],
)
def test_a_part_that_cannot_vary_does_not_tell_the_other(counts, sizes):
    splits = np.array([[0, 1, 2]])
    assert all(width >= 1 for width in widths(np.array(counts), np.array(sizes), splits))
    _, hidden = shown_counts(np.array(counts)[:, None], splits, sizes=np.array(sizes))
    assert hidden[1:].all()


def test_parts_that_vary_against_each_other_leave_the_whole_to_be_seen():
    splits = np.array([[0, 1, 2], [2, 3, 4], [4, 5, 6]])
    counts, sizes = (
        np.array([4632, 4607, 25, 6, 19, 14, 5]),
        np.array([9000, 8400, 600, 183, 417, 212, 205]),
    )
    assert all(width >= T - 2 for width in widths(counts, sizes, splits))
    _, hidden = shown_counts(counts[:, None], splits, sizes=sizes)
    assert hidden[:, 0].tolist() == [False, False, False, True, True, True, True]


def test_what_is_hidden_on_behalf_of_its_parts_does_not_make_up_for_another():
    splits = np.array([[0, 1, 2], [1, 3, 4], [4, 5, 6]])
    counts, sizes = (
        np.array([67, 57, 10, 47, 10, 3, 7]),
        np.array([284, 171, 113, 47, 124, 114, 10]),
    )
    assert all(width >= 1 for width in widths(counts, sizes, splits))


def test_no_hidden_count_follows_from_the_others():
    random = np.random.default_rng(1)
    for _ in range(60):
        counts, sizes, splits = random_tree(random, int(random.integers(2, 12)), 8)
        shown, hidden = shown_counts(counts, splits, sizes=sizes)
        assert hidden[(counts > 0) & (counts < T)].all()
        rest = sizes[:, None] - counts
        assert hidden[(rest > 0) & (rest < T) & (counts > 0)].all()
        for column in range(counts.shape[1]):
            gone = np.flatnonzero(hidden[:, column])
            system = np.zeros((len(splits), len(counts)))
            for row, (whole, left, right) in enumerate(splits):
                system[row, [whole, left, right]] = 1, -1, -1
            unknown = system[:, gone]
            rank = np.linalg.matrix_rank(unknown) if len(gone) else 0
            for place in range(len(gone)):
                # a number is determined if fixing it costs a degree of freedom less than it should
                fixed = np.vstack([unknown, np.eye(len(gone))[place]])
                assert np.linalg.matrix_rank(fixed) == rank + 1
        exact = ~hidden
        np.testing.assert_array_equal(shown[exact], counts[exact])


def test_estimates_are_near_and_made_of_what_is_shown():
    random = np.random.default_rng(2)
    found = 0
    for _ in range(60):
        counts, sizes, splits = random_tree(random, 8, 6)
        shown, hidden = shown_counts(counts, splits, sizes=sizes)
        guessed = hidden & ~np.isnan(shown)
        found += guessed.sum()
        assert (np.abs(shown - counts)[guessed] <= np.maximum(T, 0.05 * shown[guessed])).all()
        assert np.isnan(shown[(counts > 0) & (counts < T)]).all()
    assert found > 20


def test_that_nobody_of_a_branch_has_a_code_is_no_secret_of_its_parts():
    counts = np.array([[50], [50], [0], [0], [0]])
    sizes = np.array([300, 200, 100, 93, 7])
    _, hidden = shown_counts(counts, np.array([[0, 1, 2], [2, 3, 4]]), sizes=sizes)
    assert not hidden.any()


def test_a_count_that_would_follow_from_the_others_is_an_estimate():
    shown, hidden = shown_counts(np.array([[90], [4], [86]]), np.array([[0, 1, 2]]))
    assert shown.ravel().tolist()[::2] == [90.0, 84.5]
    assert np.isnan(shown[1, 0])
    assert hidden.ravel().tolist() == [False, True, True]
