import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from lvmkit.covariates import graph as graph_module
from lvmkit.covariates import newton
from lvmkit.covariates.graph import Graph
from lvmkit.covariates.logistic import Design
from lvmkit.covariates.marginal_likelihood import ridge_fit
from lvmkit.covariates.solver import Solver

# Kind of similarity, covariates, samples, strength of selection, nu.
PROBLEMS = [
    ("dense", 6, 40, 0.0, 0.3),
    ("dense", 8, 60, 0.0, 5.0),
    ("sparse", 10, 60, 0.0, 2.0),
    ("islands", 10, 60, 0.0, 8.0),
    ("dense", 8, 60, 3.0, 0.5),
    ("islands", 10, 60, 6.0, 3.0),
    ("sparse", 12, 9, 0.0, 1.0),
    ("sparse", 12, 9, 1.0, 0.2),
]


@pytest.fixture(params=PROBLEMS, ids=str)
def problem(make_case, request):
    kind, d, n, selection, nu = request.param
    return make_case(kind, d=d, n=n, selection=selection), nu


def distances(coef):
    return np.linalg.norm(coef.T[:, None] - coef.T[None], axis=2)


def together(labels):
    return labels[:, None] == labels[None]


def test_the_optimum_is_that_of_a_conic_solver(problem, conic):
    case, nu = problem
    best, coef, intercept = conic(case, nu)
    found = case.solver(tol=1e-7).solve(nu)
    assert found.converged
    assert found.objective == pytest.approx(best, rel=1e-6)
    scale = np.abs(coef).max()
    np.testing.assert_allclose(found.coef, coef, atol=3e-3 * scale)
    np.testing.assert_allclose(found.intercept, intercept, atol=3e-3)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_forty_covariates(make_case, conic, kind):
    case = make_case(kind, d=40, n=80, seed=1)
    best, _, _ = conic(case, 1.0)
    found = case.solver().solve(1.0)
    assert 1 < found.n_clusters < 40
    assert -1e-8 <= (found.objective - best) / found.objective <= found.gap <= 1e-5


def test_the_objective_is_that_of_the_weights(problem):
    case, nu = problem
    found = case.solver().solve(nu)
    assert found.objective == pytest.approx(
        case.objective(nu, found.coef, found.intercept), rel=1e-12
    )
    assert found.intercept.sum() == pytest.approx(0, abs=1e-12)
    assert found.nu == nu


@pytest.mark.parametrize(
    "options", [{"max_iter": 1}, {"max_iter": 5}, {"tol": 1e-1}, {"tol": 1e-3}], ids=str
)
def test_the_gap_is_never_less_than_what_is_lacking(problem, conic, options):
    case, nu = problem
    best, _, _ = conic(case, nu)
    found = case.solver(**options).solve(nu)
    assert found.gap >= (found.objective - best) / found.objective - 1e-9
    assert found.converged == (found.gap <= options.get("tol", 1e-5))


def test_a_bound_of_the_dual_problem_by_hand(problem):
    """Forces of a conic solver against the residuals at our weights: their bound is no worse than our gap."""
    case, nu = problem
    found = case.solver().solve(nu)
    scores = case.X @ found.coef.T + found.intercept
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    pulls = case.X.T @ (probabilities - case.targets) + 2 * case.ridge * found.coef.T
    assert np.abs((probabilities - case.targets).sum(axis=0)).max() < 1e-6
    d, c = pulls.shape
    tails, heads = np.nonzero(np.triu(case.S, 1))
    forces, ties = cp.Variable((len(tails), c)), cp.Variable((d, c))
    edges = np.eye(d)[tails] - np.eye(d)[heads]
    left = cp.Variable((d, c))
    weights = found.coef.T
    # The dual bound of forces f and ties t: what is left pulls by at most |left|² / (4 ridge) below, and each norm is
    # replaced by its force times the difference.
    lost = nu * case.S[tails, heads] @ np.linalg.norm(edges @ weights, axis=1)
    lost += case.selection * np.linalg.norm(weights, axis=1).sum()
    lost -= cp.sum(cp.multiply(forces, edges @ weights)) + cp.sum(cp.multiply(ties, weights))
    bounds = [
        left == pulls + edges.T @ forces + ties,
        cp.norm(forces, axis=1) <= nu * case.S[tails, heads],
        cp.norm(ties, axis=1) <= case.selection,
    ]
    slack = cp.Problem(cp.Minimize(lost + cp.sum_squares(left) / (4 * case.ridge)), bounds)
    least = slack.solve(solver=cp.CLARABEL) / found.objective
    # Ours is a bound of the same kind, so that it cannot be less than the best one.
    assert -1e-7 <= least <= found.gap + 1e-7
    assert found.gap <= 1e-5


def test_weights_of_a_cluster_are_exactly_equal(problem):
    case, nu = problem
    found = case.solver().solve(nu)
    assert found.coef.shape == (3, case.X.shape[1])
    for k in range(found.n_clusters):
        members = found.coef[:, found.labels == k]
        assert (members == members[:, :1]).all()
    assert (found.coef[:, found.labels == -1] == 0).all()
    assert (np.linalg.norm(found.coef[:, found.labels >= 0], axis=0) > 0).all()
    # Numbered by their first covariates.
    _, first = np.unique(found.labels[found.labels >= 0], return_index=True)
    assert (np.diff(first) > 0).all()
    assert set(found.labels) - {-1} == set(range(found.n_clusters))


def test_clusters_are_those_of_a_conic_solver(problem, conic):
    case, nu = problem
    _, coef, _ = conic(case, nu)
    found = case.solver().solve(nu)
    scale = np.abs(coef).max()
    apart = distances(coef) / scale
    chosen = found.labels >= 0
    both = chosen[:, None] & chosen[None] & (case.S > 0)
    assert apart[together(found.labels)].max() < 1e-4
    assert apart[both & ~together(found.labels)].min(initial=1) > 1e-7
    assert np.linalg.norm(coef[:, ~chosen], axis=0).max(initial=0) < 1e-4 * scale
    assert np.linalg.norm(coef[:, chosen], axis=0).min(initial=1) > 1e-7 * scale


@pytest.mark.parametrize("seed", range(10, 22))
def test_covariates_whose_weights_meet_are_one_cluster(make_case, conic, seed):
    """Also where the force between them is near its bound, so that smoothing keeps them far apart."""
    case = make_case("dense", seed=seed)
    _, coef, _ = conic(case, 5.0)
    apart = distances(coef) / np.abs(coef).max()
    found = case.solver().solve(5.0)
    np.testing.assert_array_equal(together(found.labels), apart < 1e-5)


def test_each_point_of_a_path_is_that_of_a_cold_start(make_case):
    for selection in (0.0, 2.0):
        case = make_case("sparse", d=15, n=50, selection=selection)
        nus = 50 * 2.0 ** -np.arange(12.0, -1, -0.5)
        warm = case.solver()
        path = [warm.solve(nu) for nu in nus]
        assert all(each.converged for each in path)
        for nu, each in zip(nus, path, strict=True):
            cold = case.solver().solve(nu)
            assert each.objective == pytest.approx(cold.objective, rel=1e-4)
            assert each.objective * (1 - each.gap) <= cold.objective * (1 + 1e-12)
        assert path[0].n_clusters > path[-1].n_clusters


def test_any_order_of_nu_leads_to_the_same_solutions(make_case):
    case = make_case("dense", d=10)
    nus = [20.0, 0.01, np.inf, 3.0, 0.0, 3.0, 0.3, 1e6, 1.0]
    solver = case.solver()
    for nu in nus:
        found = solver.solve(nu)
        cold = case.solver().solve(nu)
        assert found.converged
        assert found.nu == nu
        assert list(dict.fromkeys(found.labels)) == list(range(found.n_clusters))
        assert found.objective == pytest.approx(cold.objective, rel=1e-5)


def test_without_nu_each_covariate_is_alone(make_case):
    case = make_case("dense")
    found = case.solver(tol=1e-8).solve(0.0)
    ridge = ridge_fit(Design(case.X, case.targets), case.ridge)
    assert found.labels.tolist() == list(range(8))
    assert found.objective == pytest.approx(ridge.objective, rel=1e-8)
    np.testing.assert_allclose(found.coef, ridge.theta[:-1].T, atol=1e-4)


def test_infinity_fuses_what_is_connected(make_case):
    case = make_case("islands", d=10)
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 3])
    found = case.solver().solve(np.inf)
    assert found.labels.tolist() == labels.tolist()
    assert found.nu == np.inf
    # The regression on sums, where a weight counts once for each covariate.
    scaled = case.X @ np.eye(4)[labels] / np.sqrt(np.bincount(labels))
    expected = ridge_fit(Design(scaled, case.targets), case.ridge)
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)
    huge = case.solver().solve(1e6)
    assert huge.labels.tolist() == labels.tolist()
    assert huge.objective == pytest.approx(found.objective, rel=1e-8)


def test_what_has_met_all_stays_for_larger_nus(make_case):
    solver = make_case("dense").solver()
    first = solver.solve(1e3)
    second = solver.solve(1e4)
    assert first.n_clusters == second.n_clusters == 1
    assert (second.nu, second.n_iter, second.objective) == (1e4, 0, first.objective)


def test_selection_alone_is_the_group_lasso(make_case, conic):
    case = make_case("dense", d=10, n=60, selection=8.0)
    _, coef, _ = conic(case, 0.0)
    found = case.solver().solve(0.0)
    zero = np.linalg.norm(coef, axis=0) < 1e-5 * np.abs(coef).max()
    assert 0 < zero.sum() < 10
    np.testing.assert_array_equal(found.labels == -1, zero)


def test_a_strong_selection_leaves_the_intercepts(make_case):
    case = make_case("dense", selection=1e4)
    found = case.solver().solve(1.0)
    assert (found.labels == -1).all()
    assert found.n_clusters == 0
    assert (found.coef == 0).all()
    shares = case.targets.mean(axis=0)
    np.testing.assert_allclose(found.intercept, np.log(shares) - np.log(shares).mean(), atol=1e-9)


def test_the_same_bits_twice(problem):
    case, nu = problem
    one, two = (case.solver().solve(nu) for _ in range(2))
    assert one.objective == two.objective
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.labels, two.labels)


def test_sparse_samples_give_the_same(problem):
    case, nu = problem
    dense = case.solver().solve(nu)
    other = case.changed(X=sparse.csr_array(case.X)).solver().solve(nu)
    np.testing.assert_array_equal(other.labels, dense.labels)
    np.testing.assert_allclose(other.coef, dense.coef, atol=1e-6)


@pytest.mark.parametrize("nodes", [0, 3000])
def test_conjugate_gradients_and_sparse_laplacians_give_the_same(
    make_case, conic, monkeypatch, nodes
):
    monkeypatch.setattr(newton, "MAX_DIRECT", 0)
    monkeypatch.setattr(graph_module, "DENSE_NODES", nodes)
    for selection in (0.0, 2.0):
        case = make_case("sparse", d=10, selection=selection)
        best, _, _ = conic(case, 2.0)
        found = case.solver().solve(2.0)
        assert found.converged
        assert -1e-8 <= found.objective / best - 1 <= 1e-5


def test_the_order_of_samples_covariates_and_classes_is_that_of_the_answer(problem):
    case, nu = problem
    rng = np.random.default_rng(7)
    expected = case.solver(tol=1e-8).solve(nu)
    rows, columns = rng.permutation(len(case.y)), rng.permutation(case.X.shape[1])
    classes = np.array([2, 0, 1])
    moved = case.changed(
        X=case.X[rows][:, columns], y=classes[case.y[rows]], S=case.S[np.ix_(columns, columns)]
    )
    found = moved.solver(tol=1e-8).solve(nu)
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)
    np.testing.assert_allclose(
        found.coef[classes][:, np.argsort(columns)], expected.coef, atol=1e-3
    )
    np.testing.assert_array_equal(together(found.labels), together(expected.labels[columns]))


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_units_of_the_covariates_are_those_of_the_weights(problem, scale):
    case, nu = problem
    expected = case.solver(tol=1e-7).solve(nu)
    other = case.changed(
        X=scale * case.X, ridge=scale**2 * case.ridge, selection=scale * case.selection
    )
    found = other.solver(tol=1e-7).solve(scale * nu)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    np.testing.assert_array_equal(found.labels, expected.labels)


def test_duplicated_covariates_fuse_when_they_are_similar(make_case):
    case = make_case("dense", d=6)
    X = np.hstack([case.X, case.X[:, [0, 3]]])
    S = np.zeros((8, 8))
    S[0, 6] = S[6, 0] = S[3, 7] = S[7, 3] = 1e-3
    found = case.changed(X=X, S=S).solver().solve(1e-3)
    # Equal covariates have equal weights with any nu, as long as the ridge is there.
    assert found.labels.tolist() == [0, 1, 2, 3, 4, 5, 0, 3]


@pytest.mark.parametrize("nu", [1e-6, 0.01, 1.0, 100.0])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer], ids=["wine", "cancer"])
def test_covariates_in_their_own_units(load, nu):
    """Raw units from 1e-3 to 1e3, so that classes are separated and samples are sure of them."""
    X, y = load(return_X_y=True)
    targets = np.eye(y.max() + 1)[y]
    tails, heads = np.triu_indices(X.shape[1], 1)
    graph = Graph(tails, heads, np.ones(len(tails)), X.shape[1])
    found = Solver(X, targets, graph, ridge=0.1).solve(nu)
    assert found.converged


@pytest.mark.parametrize("ridge", [1e-6, 1e3])
@pytest.mark.parametrize("nu", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("selection", [0.0, 1.0])
def test_extreme_strengths_converge(make_case, ridge, nu, selection):
    case = make_case("dense", selection=selection).changed(ridge=ridge)
    found = case.solver().solve(nu)
    assert found.converged


@pytest.mark.parametrize("nu", [1e-4, 0.1, 10.0, 1e5])
@pytest.mark.parametrize("selection", [0.0, 0.5, 20.0])
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_class_with_one_sample_and_separated_ones(make_case, nu, selection, scale):
    case = make_case("dense", n=20, selection=selection)
    y = np.where(np.arange(20) == 0, 0, 1)
    rare = case.changed(X=scale * case.X, y=y).solver().solve(nu)
    X = case.X.copy()
    X[:, 0] += 10 * case.y
    sure = case.changed(X=scale * X).solver().solve(nu)
    assert rare.converged
    assert sure.converged


def test_similarities_of_many_magnitudes(make_case, conic):
    case = make_case("dense", d=7)
    S = case.S**20  # down to 1e-60
    for nu in (0.5, 50.0):
        wide = case.changed(S=S)
        best, _, _ = conic(wide, nu)
        found = wide.solver().solve(nu)
        assert found.converged
        assert -1e-8 <= found.objective / best - 1 <= 1e-5


def test_steps_are_limited(make_case):
    found = make_case("dense").solver(max_iter=1).solve(1.0)
    assert found.n_iter <= 1
    assert not found.converged


def test_one_covariate(make_case, conic):
    for selection, chosen in ((0.0, True), (1e3, False)):
        case = make_case("dense", d=1, selection=selection)
        found = case.solver().solve(1.0)
        assert found.converged
        assert (found.labels[0] == 0) == chosen
        assert found.objective == pytest.approx(conic(case, 1.0)[0], rel=1e-5)


def test_two_classes_have_opposite_weights(make_case, conic):
    case = make_case("dense", c=2)
    found = case.solver().solve(2.0)
    np.testing.assert_allclose(found.coef[0], -found.coef[1], atol=1e-8)
    assert found.objective == pytest.approx(conic(case, 2.0)[0], rel=1e-5)


def test_constant_covariates_have_the_weights_of_similar_ones_or_none(make_case):
    case = make_case("dense", d=6)
    X = case.X.copy()
    X[:, 2] = 1.0
    S = case.S.copy()
    S[2] = S[:, 2] = 0
    alone = case.changed(X=X, S=S).solver().solve(1.0)
    np.testing.assert_allclose(alone.coef[:, 2], 0, atol=1e-6)
    tied = case.changed(X=X, S=S, selection=0.1).solver().solve(1.0)
    assert tied.labels[2] == -1
    fused = case.changed(X=X).solver().solve(1e4)
    assert fused.labels.tolist() == [0] * 6
