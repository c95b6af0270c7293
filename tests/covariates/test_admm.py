import numpy as np
import pytest
from scipy.optimize import minimize

from lvmkit.covariates.admm import ADMM, AdmmState
from lvmkit.covariates.graph import Graph


def admm_of(case, nu, **options):
    return ADMM(case.X, case.targets, case.graph, ridge=case.ridge, nu=nu, **options)


@pytest.mark.parametrize("kind", ["dense", "sparse", "islands"])
@pytest.mark.parametrize("nu", [0.5, 5.0])
def test_it_ends_where_the_solver_does(make_case, conic, kind, nu):
    case = make_case(kind)
    admm = admm_of(case, nu)
    state, iterations, converged = admm.run(tol=1e-6, max_iter=3000)
    assert converged
    assert 1 < iterations < 3000
    assert admm.objective(state) == pytest.approx(conic(case, nu)[0], rel=1e-5)
    assert admm.objective(state) == pytest.approx(case.solver().solve(nu).objective, rel=2e-5)
    np.testing.assert_allclose(state.theta[:-1].T, case.solver().solve(nu).coef, atol=2e-3)


def test_its_clusters_are_those_of_the_solver(make_case):
    case = make_case("dense")
    admm = admm_of(case, 5.0)
    state, _, _ = admm.run(tol=1e-7, max_iter=5000)
    ours = case.solver().solve(5.0).labels
    labels = admm.labels(state)
    assert 1 < ours.max() + 1 < 8
    np.testing.assert_array_equal(labels[:, None] == labels, ours[:, None] == ours)


def test_the_objective_is_equation_one(make_case):
    case = make_case("sparse")
    admm = admm_of(case, 2.0)
    theta = np.random.default_rng(0).normal(size=(9, 3))
    state = admm.start()
    state = AdmmState(theta, state.copies, state.duals, 1.0)
    assert admm.objective(state) == pytest.approx(case.objective(2.0, theta[:-1].T, theta[-1]))


def test_the_update_of_the_copies_minimizes_equation_two():
    graph = Graph(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.3, 4.0, 0.0]), 3)
    rng = np.random.default_rng(0)
    admm = ADMM(rng.normal(size=(6, 3)), np.eye(2)[[0, 1] * 3], graph, ridge=0.1, nu=1.5)
    state = AdmmState(rng.normal(size=(4, 2)), np.zeros((2, 3, 2)), rng.normal(size=(2, 3, 2)), 2.0)
    found = admm.update_copies(state, state.theta)
    assert np.isfinite(found).all()
    for edge, (tail, head, weight) in enumerate(
        zip(graph.tails, graph.heads, graph.weights, strict=True)
    ):
        toward = np.stack(
            [state.theta[tail] - state.duals[0, edge], state.theta[head] - state.duals[1, edge]]
        )

        def cost(flat, weight=weight, toward=toward):
            copies = flat.reshape(2, 2)
            apart = 1.5 * weight * np.linalg.norm(copies[0] - copies[1])
            return apart + state.rho / 2 * ((copies - toward) ** 2).sum()

        options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 5000, "maxfev": 5000}
        best = minimize(cost, found[:, edge].ravel() + 0.01, method="Nelder-Mead", options=options)
        assert cost(found[:, edge].ravel()) <= best.fun + 1e-9
    # A strong edge makes both copies exactly equal; one of no similarity leaves them where they are.
    np.testing.assert_array_equal(found[0, 1], found[1, 1])
    np.testing.assert_allclose(
        found[:, 2], [state.theta[1] - state.duals[0, 2], state.theta[2] - state.duals[1, 2]]
    )


def test_no_similarity_between_equal_weights_is_no_division_by_zero(make_case):
    case = make_case("dense", d=3)
    graph = Graph(np.array([0, 1]), np.array([1, 2]), np.array([0.0, 1.0]), 3)
    admm = ADMM(case.X, case.targets, graph, ridge=0.1, nu=1.0)
    with np.errstate(invalid="raise", divide="raise"):
        copies = admm.update_copies(admm.start(), admm.start().theta)
    np.testing.assert_array_equal(copies, 0)


def test_the_update_of_the_weights_has_no_slope_left(make_case):
    case = make_case("sparse")
    admm = admm_of(case, 2.0)
    rng = np.random.default_rng(1)
    shape = (2, len(case.graph.weights), 3)
    state = AdmmState(np.zeros((9, 3)), rng.normal(size=shape), rng.normal(size=shape), 0.7)
    graph = case.graph

    def cost(theta):
        near = case.objective(0.0, theta[:-1].T, theta[-1])
        for side, ends in enumerate((graph.tails, graph.heads)):
            near += 0.35 * ((state.copies[side] - theta[ends] + state.duals[side]) ** 2).sum()
        return near

    theta = admm.update_weights(state)
    for place in np.ndindex(theta.shape):
        moved = np.zeros_like(theta)
        moved[place] = 1e-4
        slope = (cost(theta + moved) - cost(theta - moved)) / 2e-4
        assert slope == pytest.approx(0, abs=1e-3)


def test_a_step_counts_its_residuals(make_case):
    case = make_case("sparse")
    admm = admm_of(case, 2.0, adaptive=False)
    first, _, _ = admm.step(admm.start())
    second, primal, dual = admm.step(first)
    ends = np.stack([second.theta[case.graph.tails], second.theta[case.graph.heads]])
    assert primal == pytest.approx(np.linalg.norm(second.copies - ends))
    assert dual == pytest.approx(np.linalg.norm(second.copies - first.copies))
    np.testing.assert_allclose(second.duals, first.duals + second.copies - ends)


def test_an_adaptive_rho_keeps_the_duals_themselves(make_case):
    """The scaled duals u are divided by what rho is multiplied with."""
    case = make_case("dense")
    fixed, free = (admm_of(case, 50.0, adaptive=each) for each in (False, True))
    state = free.start(rho=1e-3)
    ours, _, _ = free.step(state)
    expected, _, _ = fixed.step(state)
    assert expected.rho == 1e-3
    assert ours.rho in (5e-4, 2e-3)
    np.testing.assert_allclose(ours.rho * ours.duals, expected.rho * expected.duals)
    done, iterations, converged = free.run(state=state, tol=1e-5, max_iter=2000)
    assert converged
    _again, more, converged = free.run(state=done, tol=1e-5, max_iter=2000)
    assert converged
    assert more < iterations
