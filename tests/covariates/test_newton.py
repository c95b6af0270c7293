import numpy as np
import pytest
from scipy.optimize import minimize as minimized

from lvmkit.covariates import graph as graph_module
from lvmkit.covariates import newton
from lvmkit.covariates.logistic import Design
from lvmkit.covariates.newton import Problem, minimize, settled


def problem_of(case, nu=1.0):
    n_groups = case.X.shape[1]
    return Problem(Design(case.X, case.targets), np.ones(n_groups), case.graph, case.ridge, nu)


def centered(theta):
    """Theta without what no likelihood sees: a number added to all intercepts."""
    return np.vstack([theta[:-1], theta[-1] - theta[-1].mean()])


@pytest.fixture(params=[0.0, 0.4], ids=["free", "held"])
def problem(make_case, request):
    return problem_of(make_case(selection=request.param, d=5, n=30))


@pytest.fixture
def theta():
    return np.random.default_rng(3).normal(size=(6, 3))


def test_the_objective_is_equation_one(make_case, theta):
    case = make_case(selection=0.4, d=5, n=30)
    point = problem_of(case, 2.0).at(theta, 0.1)
    assert point.objective == pytest.approx(case.objective(2.0, theta[:-1].T, theta[-1]))


def test_groups_count_with_their_sizes(make_case):
    case = make_case(d=5, n=30)
    labels, values = np.array([0, 1, 0, 2, 1]), np.random.default_rng(0).normal(size=(4, 3))
    merged = Problem(
        Design(case.X @ np.eye(3)[labels], case.targets),
        np.array([2.0, 2.0, 1.0]),
        case.graph.merged(labels, 3),
        case.ridge,
        1.5,
    )
    expected = case.objective(1.5, values[:-1][labels].T, values[-1])
    assert merged.at(values, 0.1).objective == pytest.approx(expected)


def test_smoothing_rounds_each_norm(problem, theta):
    point = problem.at(theta, 0.3)
    nodes = problem.nodes(theta)
    graph = problem.graph
    distances = np.linalg.norm(nodes[graph.tails] - nodes[graph.heads], axis=1)
    strengths = graph.strengths(problem.nu)
    rounded = strengths @ (np.sqrt(distances**2 + 0.09) - distances)
    assert point.smoothed == pytest.approx(point.objective + rounded)
    # What is lost by using the forces of the smoothed norms, edge by edge.
    lost = strengths @ (distances - distances**2 / np.sqrt(distances**2 + 0.09))
    assert point.slack == pytest.approx(lost)


def test_the_gradient_is_the_slope_of_the_smoothed_objective(problem, theta):
    found = problem.at(theta, 0.3).gradient()
    for place in np.ndindex(theta.shape):
        moved = np.zeros_like(theta)
        moved[place] = 1e-6
        slope = problem.at(theta + moved, 0.3).smoothed - problem.at(theta - moved, 0.3).smoothed
        assert found[place] == pytest.approx(slope / 2e-6, abs=1e-6)


@pytest.mark.parametrize(("direct", "dense"), [(240, 3000), (0, 3000), (0, 0)])
def test_directions_solve_newtons_equation(problem, theta, monkeypatch, direct, dense):
    """By one factor, by conjugate gradients, and those with a sparse Laplacian."""
    monkeypatch.setattr(newton, "MAX_DIRECT", direct)
    monkeypatch.setattr(newton, "CG_TOLERANCE", 1e-9)
    monkeypatch.setattr(newton, "MAX_PRODUCTS", 500)
    monkeypatch.setattr(graph_module, "DENSE_NODES", dense)
    point = problem.at(theta, 0.3)
    gradient = point.gradient()
    direction = newton._direction(point, gradient, 0.0)
    ahead = problem.at(theta + 1e-5 * direction, 0.3).gradient()
    behind = problem.at(theta - 1e-5 * direction, 0.3).gradient()
    np.testing.assert_allclose((ahead - behind) / 2e-5, -gradient, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("direct", "dense"), [(240, 3000), (0, 3000), (0, 0)])
def test_the_minimum_is_that_of_a_general_minimizer(problem, monkeypatch, direct, dense):
    monkeypatch.setattr(newton, "MAX_DIRECT", direct)
    monkeypatch.setattr(graph_module, "DENSE_NODES", dense)
    start = np.zeros((6, 3))
    point, steps = minimize(problem, start, 0.05, tolerance=1e-10, max_steps=200)

    def objective(flat):
        at = problem.at(flat.reshape(6, 3), 0.05)
        return at.smoothed, at.gradient().ravel()

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
    expected = minimized(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    assert 0 < steps < 200
    assert point.smoothed == pytest.approx(expected.fun, rel=1e-9)
    np.testing.assert_allclose(centered(point.theta), centered(expected.x.reshape(6, 3)), atol=1e-4)


def test_what_the_gradient_can_cost_bounds_what_is_lacking(problem):
    best = minimize(problem, np.zeros((6, 3)), 0.05, tolerance=1e-12, max_steps=200)[0].smoothed
    rng = np.random.default_rng(5)
    for size in (0.01, 0.1, 1.0):
        point = settled(problem.at(size * rng.normal(size=(6, 3)), 0.05))
        assert point.smoothed - best <= point.excess(point.gradient()) + 1e-9


def test_the_bound_is_what_is_lacking_where_the_ridge_alone_curves(make_case):
    """Samples that tell nothing, groups of several sizes, no similarities."""
    case = make_case(d=3, n=30)
    sizes = np.array([1.0, 2.0, 5.0])
    flat = Problem(
        Design(0 * case.X, case.targets), sizes, case.changed(S=np.zeros((3, 3))).graph, 0.3, 1.0
    )
    theta = np.random.default_rng(0).normal(size=(4, 3))
    point = settled(flat.at(theta, 0.1))
    lacking = 0.3 * (sizes[:, None] * theta[:-1] ** 2).sum()
    assert point.excess(point.gradient()) == pytest.approx(lacking)


def test_settled_intercepts_are_optimal(problem, theta):
    point = settled(problem.at(theta, 0.3))
    np.testing.assert_array_equal(point.theta[:-1], theta[:-1])
    assert np.abs(point.gradient()[-1]).max() < 1e-9


def test_steps_are_counted_and_limited(problem):
    start = np.full((6, 3), 0.5)
    one, steps = minimize(problem, start, 0.01, tolerance=1e-12, max_steps=1)
    assert steps == 1
    assert one.smoothed < problem.at(start, 0.01).smoothed
    done, steps = minimize(problem, one.theta, 0.01, tolerance=1e-9, max_steps=100)
    assert minimize(problem, done.theta, 0.01, tolerance=1e-8, max_steps=100)[1] == 0
