import numpy as np
import pytest

from lvmkit.tensors import group_lasso as module
from lvmkit.tensors.group_lasso import group_lasso, on_entries

# Numbers at each entry, sizes, condition of each covariance, penalty as a share of the largest.
PROBLEMS = [
    (1, (6,), 10, 0.3),
    (1, (3, 4), 10, 0.5),
    (1, (2, 3, 4), 100, 0.05),
    (1, (5, 4), 1e4, 0.2),
    (2, (8,), 1e4, 0.1),
    (2, (3, 4), 10, 0.3),
    (2, (2, 1, 3, 2), 30, 0.01),
    (2, (4, 5), 1e3, 0.6),
    (5, (6,), 100, 0.2),
    (5, (3, 2, 2), 10, 0.7),
    (5, (4, 4), 1e3, 0.03),
    (5, (1, 1), 1, 0.5),
    (1, (1,), 1, 0.5),
]


@pytest.fixture(params=PROBLEMS, ids=str)
def problem(request, covariance):
    rank, sizes, condition, share = request.param
    D = np.random.default_rng(sum(sizes)).standard_normal((rank, *sizes))
    parts = [covariance(p, p + mode, condition) for mode, p in enumerate(sizes)]
    return D, parts, share * np.linalg.norm(D, axis=0).max()


def excess(D, parts, penalty, C, kronecker):
    """How far C is from the conditions of an optimum, as a share of the penalty."""
    C, D = C.reshape(len(C), -1), D.reshape(len(D), -1)
    rest = D - C @ kronecker(parts)
    lengths = np.linalg.norm(C, axis=0)
    on = lengths > 0
    at = np.abs(rest[:, on] - penalty * C[:, on] / lengths[on]).max(initial=0)
    off = (np.linalg.norm(rest[:, ~on], axis=0) - penalty).max(initial=0)
    return max(at, off) / penalty


def test_the_optimum_is_that_of_a_conic_solver(problem, conic, objective):
    D, parts, penalty = problem
    best, coef = conic(D, parts, penalty)
    found = group_lasso(D, parts, penalty)
    assert found.objective == pytest.approx(objective(found.coef, D, parts, penalty), rel=1e-9)
    assert abs(found.objective - best) <= 1e-6 * abs(best)
    assert found.gap <= 1e-7
    tight = group_lasso(D, parts, penalty, tol=1e-11)
    assert (objective(tight.coef, D, parts, penalty) - best) <= 1e-9 * abs(best)
    np.testing.assert_allclose(tight.coef, coef, atol=2e-3 * np.abs(coef).max())


def test_conditions_of_an_optimum(problem, kronecker):
    D, parts, penalty = problem
    found = group_lasso(D, parts, penalty, tol=1e-12)
    assert excess(D, parts, penalty, found.coef, kronecker) <= 1e-5


def test_the_gap_bounds_how_far_the_objective_is(problem, objective):
    D, parts, penalty = problem
    best = group_lasso(D, parts, penalty, tol=1e-13).objective
    rng = np.random.default_rng(0)
    starts = [None, *rng.standard_normal((3, *D.shape)), D / 2]
    for start in starts:
        for steps in (0, 1, 2):
            found = group_lasso(D, parts, penalty, start=start, tol=0, max_iter=steps)
            value = objective(found.coef, D, parts, penalty)
            assert found.objective == pytest.approx(value, rel=1e-8, abs=1e-8)
            assert found.gap >= 0
            if value < 0:
                assert value - best <= found.gap * abs(value) * (1 + 1e-9) + 1e-9 * abs(best)


def test_any_start_and_any_number_of_entering_entries_end_at_the_same(problem):
    D, parts, penalty = problem
    found = group_lasso(D, parts, penalty, tol=1e-11)
    rng = np.random.default_rng(1)
    starts = [found.coef, -found.coef, np.zeros(D.shape), 10 * rng.standard_normal(D.shape)]
    for start in starts:
        kept = start.copy()
        again = group_lasso(D, parts, penalty, start=start, tol=1e-11)
        assert (start == kept).all()
        scale = np.abs(found.coef).max()
        np.testing.assert_allclose(again.coef, found.coef, atol=2e-4 * scale)
    few = group_lasso(D, parts, penalty, tol=1e-11, most_entering=1, max_iter=500)
    np.testing.assert_allclose(few.coef, found.coef, atol=2e-4 * np.abs(found.coef).max())
    assert group_lasso(D, parts, penalty, start=found.coef, tol=1e-7).n_iter <= 1


def test_a_penalty_of_the_largest_or_more_leaves_nothing(problem):
    D, parts, _ = problem
    largest = np.linalg.norm(D, axis=0).max()
    for penalty in (largest * (1 + 1e-9), 1e9 * largest):
        found = group_lasso(D, parts, penalty)
        assert not found.coef.any()
        assert (found.objective, found.gap, found.n_iter) == (0, 0, 0)
    some = group_lasso(D, parts, largest * 0.999)
    assert np.flatnonzero(some.coef.any(axis=0)).tolist() == [np.linalg.norm(D, axis=0).argmax()]


def test_without_penalty_covariances_are_divided_out(problem, kronecker):
    D, parts, _ = problem
    expected = np.linalg.solve(kronecker(parts), D.reshape(len(D), -1).T).T.reshape(D.shape)
    found = group_lasso(D, parts, 0.0, tol=1e-10)
    best = -np.vdot(expected, D) / 2
    assert (found.objective - best) <= 1e-6 * abs(best)
    assert found.gap <= 1e-6
    everything = np.ones(D.shape[1:], bool)
    np.testing.assert_allclose(on_entries(D, parts, everything), expected, rtol=1e-6)


def test_rotating_the_differences_rotates_the_solution(problem):
    D, parts, penalty = problem
    Q, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((len(D), len(D))))
    found = group_lasso(D, parts, penalty, tol=1e-11).coef
    turned = group_lasso(np.tensordot(Q, D, 1), parts, penalty, tol=1e-11).coef
    np.testing.assert_allclose(turned, np.tensordot(Q, found, 1), atol=1e-4 * np.abs(found).max())


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(scale):
    D = np.random.default_rng(3).standard_normal((2, 4, 3))
    parts = [np.eye(4) + 0.5, np.eye(3) + 0.2]
    found = group_lasso(D, parts, 0.5)
    means = group_lasso(D * scale, parts, 0.5 * scale)
    np.testing.assert_allclose(means.coef, found.coef * scale, rtol=1e-9)
    variances = group_lasso(D, [part * scale for part in parts], 0.5)
    np.testing.assert_allclose(variances.coef, found.coef / scale**2, rtol=1e-9)


@pytest.fixture
def indirect(monkeypatch):
    """Solve as for many entries: by conjugate gradients and products in the modes."""
    monkeypatch.setattr(module, "DIRECT", 3)


def test_many_entries_are_solved_without_a_factorization(problem, conic, objective, indirect):
    D, parts, penalty = problem
    best, _ = conic(D, parts, penalty)
    found = group_lasso(D, parts, penalty)
    assert objective(found.coef, D, parts, penalty) - best <= 1e-6 * abs(best)
    assert found.gap <= 1e-7


@pytest.mark.parametrize("rank", [1, 3])
def test_between_a_factorization_and_none(monkeypatch, rank, conic, covariance):
    """Entries few enough to factor their covariances, but not those of all numbers at them."""
    monkeypatch.setattr(module, "DIRECT", 20)
    D = np.random.default_rng(4).standard_normal((rank, 4, 4))
    parts = [covariance(4, 0, 100), covariance(4, 1, 100)]
    best, _ = conic(D, parts, 0.1)
    found = group_lasso(D, parts, 0.1)
    assert abs(found.objective - best) <= 1e-6 * abs(best)


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_the_solution_on_some_entries_is_that_of_a_dense_solver(rank, covariance, kronecker):
    sizes = (3, 4, 2)
    rng = np.random.default_rng(5)
    D = rng.standard_normal((rank, *sizes))
    parts = [covariance(p, p, 100) for p in sizes]
    for share in (0.0, 0.1, 0.5, 1.0):
        selected = rng.random(sizes) < share
        found = on_entries(D, parts, selected)
        kept = np.flatnonzero(selected)
        expected = np.zeros((rank, 24))
        inside = kronecker(parts)[np.ix_(kept, kept)]
        expected[:, kept] = np.linalg.solve(inside, D.reshape(rank, 24)[:, kept].T).T
        np.testing.assert_allclose(found, expected.reshape(rank, *sizes), atol=1e-8)


def test_the_solution_on_many_entries(indirect, covariance, kronecker):
    test_the_solution_on_some_entries_is_that_of_a_dense_solver(2, covariance, kronecker)


def test_the_example_that_can_be_solved_by_hand():
    """With the identity, each c_J is d_J shortened by the penalty."""
    D = np.array([[3.0, 0.0, 0.3], [4.0, 0.6, 0.4]])
    found = group_lasso(D, [np.eye(3)], 1.0)
    np.testing.assert_allclose(found.coef, [[2.4, 0, 0], [3.2, 0, 0]], rtol=1e-6)
    assert found.objective == pytest.approx(-8)


# Many entries change their sign on the way. Numbers at each, sizes, condition, penalty's share, seed.
NEARLY_SINGULAR = [
    (1, (5, 4, 4), 616, 0.02, 42),
    (1, (2, 4, 4), 8200, 0.01, 97),
    (2, (2, 4, 4), 8200, 0.01, 0),
]


@pytest.mark.parametrize("case", NEARLY_SINGULAR, ids=str)
def test_nearly_singular_covariances(case, covariance):
    rank, sizes, condition, share, seed = case
    for draw in range(10):
        parts = [covariance(p, seed + 10 * draw + mode, condition) for mode, p in enumerate(sizes)]
        D = np.random.default_rng(seed + draw).standard_normal((rank, *sizes))
        found = group_lasso(D, parts, share * np.linalg.norm(D, axis=0).max())
        assert found.gap <= 1e-6


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_few_newton_steps(rank, covariance):
    """They converge quadratically; with a wrong second derivative it takes dozens."""
    for seed in range(5):
        D = np.random.default_rng(seed).standard_normal((rank, 5, 4))
        parts = [covariance(5, seed), covariance(4, seed + 1)]
        found = group_lasso(D, parts, 0.3 * np.linalg.norm(D, axis=0).max(), tol=1e-10)
        assert found.gap <= 1e-10
        assert found.n_iter <= 12


def test_with_unit_covariance_entries_are_shortened_by_the_penalty():
    found = group_lasso(np.array([[3.0, -1.0, 0.5]]), [np.eye(3)], 0.75)
    np.testing.assert_allclose(found.coef, [[2.25, -0.25, 0]], atol=1e-9)
    assert found.coef[0, 2] == 0
