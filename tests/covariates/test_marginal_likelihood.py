import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import dblquad
from scipy.special import log_softmax

from lvmkit.covariates.logistic import Design, one_hot
from lvmkit.covariates.marginal_likelihood import VARIANCES, prior_variance, refit, ridge_fit

LABELS = np.array([0, 1, 0, 1, 2, -1, 0, 2])


def log_joint(X, y, labels, variance, weights):
    """Log p(y, B) of section 3, number by number; intercepts in the last row."""
    m = len(weights) - 1
    projected = X @ (labels[:, None] == np.arange(m))
    scores = projected @ weights[:-1] + weights[-1]
    fit = log_softmax(scores, axis=1)[np.arange(len(y)), y].sum()
    prior = -0.5 * (weights[:-1] ** 2 / variance + np.log(2 * np.pi * variance))
    return fit + prior.sum()


def numeric_hessian(function, at, step=1e-3):
    size = at.size
    moves = step * np.eye(size).reshape(size, *at.shape)
    found = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            found[i, j] = (
                function(at + moves[i] + moves[j])
                - function(at + moves[i] - moves[j])
                - function(at - moves[i] + moves[j])
                + function(at - moves[i] - moves[j])
            ) / (4 * step**2)
    return found


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("variance", [0.01, 1.0, 100.0])
def test_evidence_is_laplaces_approximation(make_case, full, variance):
    case = make_case()
    found = refit(case.X, case.targets, LABELS, variance, full=full)
    weights = found.weights
    assert weights.shape == (4, 3)

    def of_weights(inner):
        return log_joint(case.X, case.y, LABELS, variance, np.vstack([inner, weights[-1]]))

    hessian = -numeric_hessian(of_weights, weights[:-1])
    if not full:
        hessian = np.diag(np.diag(hessian))
    top = log_joint(case.X, case.y, LABELS, variance, weights)
    expected = top + weights[:-1].size / 2 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(hessian)[1]
    assert found.log_evidence == pytest.approx(expected, abs=1e-4)


def test_weights_are_the_most_probable_ones(make_case):
    case = make_case()
    found = refit(case.X, case.targets, LABELS, 2.0)
    top = log_joint(case.X, case.y, LABELS, 2.0, found.weights)
    for place in np.ndindex(found.weights.shape):
        moved = np.zeros_like(found.weights)
        moved[place] = 1e-3
        for sign in (1, -1):
            beside = log_joint(case.X, case.y, LABELS, 2.0, found.weights + sign * moved)
            assert beside <= top + 1e-8


def test_evidence_is_near_the_integral():
    """One cluster of two classes: two weights, integrated with the intercepts held, as in Andrade 2021."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 0.4 * y[:, None]
    labels, variance = np.zeros(3, int), 0.5
    found = refit(X, one_hot(y, 2), labels, variance, full=True)

    def density(second, first):
        weights = np.array([[first, second], found.weights[-1]])
        return np.exp(log_joint(X, y, labels, variance, weights) - found.log_evidence)

    ratio, _ = dblquad(density, -5, 5, -5, 5, epsabs=1e-6)
    assert np.log(ratio) == pytest.approx(0, abs=0.02)
    # A Hessian's diagonal has at least its determinant (Hadamard), so that its evidence is at most as high.
    assert refit(X, one_hot(y, 2), labels, variance).log_evidence <= found.log_evidence


def test_without_clusters_the_classes_shares_remain(make_case):
    case = make_case()
    none = np.full(8, -1)
    for full in (False, True):
        found = refit(case.X, case.targets, none, 1.0, full=full)
        shares = case.targets.mean(axis=0)
        assert found.log_evidence == pytest.approx(len(case.y) * (shares @ np.log(shares)))
        assert found.accuracy == pytest.approx(shares.max())


def test_accuracy_is_that_of_the_weights(make_case):
    case = make_case()
    found = refit(case.X, case.targets, LABELS, 1.0)
    scores = case.X @ np.eye(4)[LABELS][:, :3] @ found.weights[:-1] + found.weights[-1]
    right = (scores.argmax(axis=1) == case.y).mean()
    assert found.accuracy == pytest.approx(right)
    assert found.right(case.X, case.y, LABELS) == pytest.approx(right)
    assert found.right(case.X, np.full(60, -1), LABELS) == 0


@pytest.mark.parametrize("full", [False, True])
def test_sparse_samples_and_other_starts_give_the_same(make_case, full):
    case = make_case()
    expected = refit(case.X, case.targets, LABELS, 1.0, full=full)
    start = np.random.default_rng(0).normal(size=(4, 3))
    found = refit(sparse.csr_array(case.X), case.targets, LABELS, 1.0, full=full)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-10)
    found = refit(case.X, case.targets, LABELS, 1.0, full=full, start=start)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-3)


def test_a_cluster_of_noise_is_less_plausible(make_case):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200) + y, rng.normal(size=200)])
    with_noise, without = (
        refit(X, one_hot(y, 2), np.array(labels), 1.0).log_evidence for labels in ([0, 1], [0, -1])
    )
    assert without > with_noise


def test_a_ridge_fit_has_no_slope_left(make_case):
    case = make_case()
    point = ridge_fit(Design(case.X, case.targets), 0.3)
    assert np.abs(point.gradient()).max() < 1e-3
    assert point.objective == pytest.approx(
        case.changed(ridge=0.3).objective(0.0, point.theta[:-1].T, point.theta[-1])
    )


def folds_of(n, k=5):
    every = np.arange(n)
    return [(every[every % k != f], every[every % k == f]) for f in range(k)]


def test_priors_are_wider_where_weights_are_larger():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    noise = rng.normal(size=(150, 5))
    found = []
    for strength in (0.0, 1.0):
        X = noise + strength * y[:, None]
        # Smaller units of X need larger weights.
        found.append([prior_variance(X * unit, y, 2, folds_of(150)) for unit in (1e-1, 1.0, 1e1)])
    assert all(variance in VARIANCES for each in found for variance in each)
    small, middle, large = found[1]
    assert small >= middle >= large
    assert small > large


@pytest.mark.parametrize(("seed", "strength"), [(13, 0.3), (17, 0.3), (3, 0.3), (0, 3.0)])
def test_the_prior_is_found_by_held_out_samples(seed, strength):
    """By hand: folds, losses and hits of the model with a weight for each covariate."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) + strength * np.eye(3, 4)[y]
    folds = folds_of(60, 3)
    hits, losses, chance = np.zeros(len(VARIANCES)), np.zeros(len(VARIANCES)), 0.0
    for train, test in folds:
        counts = np.bincount(y[train], minlength=3)
        chance -= np.log((counts + 1) / (counts.sum() + 3))[y[test]].sum()
        for k, variance in enumerate(VARIANCES):
            fit = ridge_fit(Design(X[train], one_hot(y[train], 3)), 1 / (2 * variance))
            scores = log_softmax(X[test] @ fit.theta[:-1] + fit.theta[-1], axis=1)
            hits[k] += (scores.argmax(axis=1) == y[test]).sum()
            losses[k] -= scores[np.arange(len(test)), y[test]].sum()
    explained = chance - losses
    # Where nothing is explained at all, every variance may be chosen.
    fine = explained >= 0.15 * explained.max() if explained.max() > 0 else np.ones(len(hits), bool)
    most = hits.max() / 60
    near = [hits[k] / 60 >= most - (most * (1 - most) / 60) ** 0.5 for k in range(len(hits))]
    both = [k for k in range(len(hits)) if fine[k] and near[k]]
    expected = VARIANCES[both[0] if both else next(k for k in range(len(hits)) if fine[k])]
    assert prior_variance(X, y, 3, folds) == expected


def test_a_fold_may_lack_a_class():
    rng = np.random.default_rng(0)
    y = np.r_[2, np.arange(19) % 2]
    X = rng.normal(size=(20, 3))
    assert prior_variance(X, y, 3, folds_of(20)) in VARIANCES
