import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from lvmkit.tensors import em as module
from lvmkit.tensors.contrasts import contrasts
from lvmkit.tensors.em import (
    CenteredSamples,
    EMOptions,
    doubly_enhanced,
    expectation_maximization,
)
from lvmkit.tensors.group_lasso import group_lasso
from lvmkit.tensors.initialization import one_hot

TIGHT = {"tol": 1e-10, "max_iter": 2000}


def clusters(sizes, n_components, n, seed=0, apart=1.0):
    """Samples with covariances in every mode, and their clusters."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_components
    X = rng.standard_normal((n, *sizes))
    for mode, size in enumerate(sizes, 1):
        root = np.eye(size) + 0.5 * rng.standard_normal((size, size)) / np.sqrt(size)
        X = np.moveaxis(np.tensordot(root, X, (1, mode)), 0, mode)
    return X + apart * rng.standard_normal((n_components, *sizes))[labels], labels


def fitted(X, labels, method=expectation_maximization, **options):
    K = labels.max() + 1
    reference = options.pop("reference", None)
    options = EMOptions(contrasts(K, reference), **{**TIGHT, **options})
    return method(CenteredSamples(X), one_hot(labels, K), options)


def densities(X, fit, kronecker):
    """Log of weight times density of each cluster, by the covariance of all entries."""
    S, rows = kronecker(fit.covariances), (X - X.mean(axis=0)).reshape(len(X), -1)
    logs = [multivariate_normal(mean, S).logpdf(rows) for mean in fit.rule.means]
    return np.log(fit.rule.weights) + np.column_stack(logs)


CASES = [((4,), 2, 60), ((3, 4), 2, 40), ((3, 1, 4), 3, 40), ((2, 3, 2, 2), 2, 30), ((5, 4), 3, 20)]


@pytest.fixture(params=CASES, ids=str)
def case(request):
    sizes, n_components, n = request.param
    return clusters(sizes, n_components, n, apart=0.7)


def test_em_of_vectors_is_that_of_scikit_learn():
    X, labels = clusters((4,), 3, 150, seed=1)
    fit = fitted(X, labels)
    first = [np.mean(X[labels == k], axis=0) for k in range(3)]
    within = sum((X[labels == k] - first[k]).T @ (X[labels == k] - first[k]) for k in range(3))
    truth = GaussianMixture(
        3,
        covariance_type="tied",
        means_init=first,
        weights_init=[1 / 3] * 3,
        precisions_init=np.linalg.inv(within / 150),
        tol=1e-14,
        max_iter=5000,
        reg_covar=0,
    ).fit(X)
    assert fit.stopped_by == "tol"
    assert fit.objective * len(X) == pytest.approx(truth.score_samples(X).sum(), abs=1e-6)
    np.testing.assert_allclose(fit.posteriors, truth.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(fit.rule.means + X.mean(axis=0), truth.means_, atol=1e-5)
    np.testing.assert_allclose(fit.covariances[0], truth.covariances_, atol=1e-5)
    np.testing.assert_allclose(fit.rule.weights, truth.weights_, atol=1e-6)


def test_posteriors_and_likelihood_of_em_are_those_of_the_densities(case, kronecker):
    X, labels = case
    fit = fitted(X, labels)
    logs = densities(X, fit, kronecker)
    np.testing.assert_allclose(fit.posteriors, softmax(logs, axis=1), atol=1e-7)
    assert fit.objective == pytest.approx(logsumexp(logs, axis=1).mean(), rel=1e-8)
    assert fit.gap == 0


def test_the_likelihood_of_em_never_falls(case):
    X, labels = case
    likelihoods = [fitted(X, labels, max_iter=n).objective * len(X) for n in range(1, 25)]
    assert np.diff(likelihoods).min() >= -1e-7
    assert np.ptp(likelihoods) > 0


def em_step(X, fit):
    """Update weights, means, and each covariance given the others, by sums over samples."""
    X = X - X.mean(axis=0)
    responsibilities = fit.posteriors
    counts = responsibilities.sum(axis=0)
    means = np.einsum("nk,n...->k...", responsibilities, X) / counts.reshape(
        -1, *[1] * (X.ndim - 1)
    )
    left = np.concatenate(
        [
            np.sqrt(responsibilities[:, k]).reshape(-1, *[1] * (X.ndim - 1)) * (X - means[k])
            for k in range(len(counts))
        ]
    )
    parts = []
    for mode, part in enumerate(fit.covariances):
        W = left
        for other, matrix in enumerate(fit.covariances):
            if other != mode:
                root = np.linalg.inv(np.linalg.cholesky(matrix))
                W = np.moveaxis(np.tensordot(root, W, (1, other + 1)), 0, other + 1)
        rows = np.moveaxis(W, mode + 1, 0).reshape(len(part), -1)
        parts.append(rows @ rows.T / (len(X) * rows.shape[1] / len(left)))
    return counts / len(X), means.reshape(len(counts), -1), parts


def test_em_ends_where_another_step_changes_nothing(case):
    X, labels = case
    fit = fitted(X, labels)
    assert fit.stopped_by == "tol"
    weights, means, parts = em_step(X, fit)
    np.testing.assert_allclose(weights, fit.rule.weights, atol=1e-6)
    np.testing.assert_allclose(means, fit.rule.means, atol=1e-5)
    for found, part in zip(fit.covariances, parts, strict=True):
        np.testing.assert_allclose(found, part, atol=1e-5 * np.abs(part).max())


@pytest.mark.parametrize("apart", [0.0, 100.0])
def test_covariances_settle_even_if_posteriors_have(apart, kronecker):
    """One cluster, or clusters so far apart that no sample is in doubt: the flip-flop algorithm."""
    n_components = 2 if apart else 1
    rng = np.random.default_rng(0)
    X = np.einsum(
        "nij,ai,bj->nab",
        rng.standard_normal((8 * n_components, 6, 5)),
        np.diag(np.linspace(0.1, 3, 6)) @ (np.eye(6) * 0.3 + 1),
        np.tril(np.ones((5, 5))),
    )
    labels = np.arange(len(X)) % n_components
    X[labels == 1] += apart
    fit = fitted(X, labels)
    *_, parts = em_step(X, fit)
    np.testing.assert_allclose(kronecker(parts), kronecker(fit.covariances), rtol=1e-3, atol=1e-6)
    slack = fitted(X, labels, tol=1e-3)
    assert slack.objective * len(X) == pytest.approx(fit.objective * len(X), abs=0.5)


def test_em_with_shrinkage_ends_where_another_step_changes_nothing(kronecker):
    X, labels = clusters((5, 2), 2, 30, apart=3.0)
    fit = fitted(X, labels, shrinkage=0.2)
    assert fit.stopped_by == "tol"
    _, _, parts = em_step(X, fit)
    drawn = [0.8 * part / np.trace(part) * len(part) + 0.2 * np.eye(len(part)) for part in parts]
    for found, part in zip(fit.covariances, drawn, strict=True):
        np.testing.assert_allclose(
            found / np.trace(found) * len(found), part, atol=2e-3 * np.abs(part).max()
        )


def conditions(fit, penalty, kronecker, reference):
    """How far discriminants are from the group lasso's optimum at these means, as a share of the penalty."""
    S, (means, B) = kronecker(fit.covariances), (fit.rule.means, fit.rule.discriminants)
    others = [k for k in range(len(B)) if k != reference]
    C, D = (B - B[reference])[others], (means - means[reference])[others]
    rest, lengths = D - C @ S, np.linalg.norm(C, axis=0)
    on = lengths > 0
    at = np.abs(rest[:, on] - penalty * C[:, on] / lengths[on]).max(initial=0)
    off = (np.linalg.norm(rest[:, ~on], axis=0) - penalty).max(initial=0)
    assert on.any()
    assert not on.all()
    return max(at, off) / penalty


@pytest.mark.parametrize(("n_components", "reference"), [(2, None), (2, 0), (2, 1), (3, 0), (3, 2)])
def test_deem_ends_where_another_step_changes_nothing(n_components, reference, kronecker):
    """The rule, the M step and the group lasso of Mutoh 2023, each written out."""
    X, labels = clusters((4, 3), n_components, 60, seed=2, apart=0.8)
    penalty = 0.3 * n_components
    fit = fitted(X, labels, doubly_enhanced, penalty=penalty, reference=reference)
    assert fit.stopped_by == "tol"
    assert 0 <= fit.gap <= 1e-7
    assert conditions(fit, penalty, kronecker, reference or 0) <= 1e-5
    at = reference or 0
    rows = (X - X.mean(axis=0)).reshape(60, -1)
    means, B = fit.rule.means, fit.rule.discriminants - fit.rule.discriminants[at]
    logits = np.log(fit.rule.weights) + np.array(
        [[(x - (means[k] + means[at]) / 2) @ B[k] for k in range(n_components)] for x in rows]
    )
    np.testing.assert_allclose(fit.posteriors, softmax(logits, axis=1), atol=1e-7)
    counts = fit.posteriors.sum(axis=0)
    np.testing.assert_allclose(fit.rule.weights, counts / 60, atol=1e-7)
    np.testing.assert_allclose(means, fit.posteriors.T @ rows / counts[:, None], atol=1e-6)
    left = rows[:, None] - means
    total = np.einsum("nk,nkab,nkcd->acbd", fit.posteriors, *[left.reshape(60, -1, 4, 3)] * 2)
    raw = [np.einsum("acbb->ac", total) / (60 * 3), np.einsum("aabd->bd", total) / (60 * 4)]
    for found, part in zip(fit.covariances, raw, strict=True):
        np.testing.assert_allclose(found / np.trace(found), part / np.trace(part), atol=1e-6)
    whole = np.prod([np.trace(found) for found in fit.covariances]) / 12
    residuals = np.einsum("nk,nkp->", fit.posteriors, left**2)
    assert whole == pytest.approx(residuals / (60 * 12), rel=1e-5)


def test_deem_by_the_scale_that_is_printed(kronecker):
    X, labels = clusters((4, 3), 2, 60, seed=2, apart=0.8)
    fit = fitted(X, labels, doubly_enhanced, penalty=0.6, scale="first_entry")
    assert fit.stopped_by == "tol"
    assert fit.covariances[1][0, 0] == pytest.approx(1)
    first = X[:, 0, 0] - X[:, 0, 0].mean()
    left = fit.posteriors * (first[:, None] - fit.rule.means[:, 0]) ** 2
    assert fit.covariances[0][0, 0] == pytest.approx(left.sum() / 60, rel=1e-6)
    assert conditions(fit, 0.6, kronecker, 0) <= 1e-5


def test_without_penalty_deem_selects_all():
    X, labels = clusters((3, 2), 2, 60, seed=3)
    fit = fitted(X, labels, doubly_enhanced, penalty=0.0)
    assert fit.stopped_by == "tol"
    assert fit.rule.discriminants.all()
    vectors, labels = clusters((4,), 2, 100, seed=4)
    deem = fitted(vectors, labels, doubly_enhanced, penalty=0.0)
    em = fitted(vectors, labels)  # for vectors, the same
    np.testing.assert_allclose(deem.posteriors, em.posteriors, atol=1e-5)
    assert deem.objective == pytest.approx(em.objective, abs=1e-6)


@pytest.mark.parametrize("method", [doubly_enhanced, expectation_maximization])
def test_one_cluster(method, kronecker):
    X, labels = clusters((3, 4), 1, 20)
    fit = fitted(X, labels, method)
    assert fit.stopped_by == "tol"
    assert (fit.posteriors == 1).all()
    assert not fit.rule.discriminants.any()
    logs = densities(X, fit, kronecker)
    assert fit.objective == pytest.approx(logs.mean(), rel=1e-8)


def test_too_large_a_penalty_ends_at_once():
    X, labels = clusters((3, 4), 2, 30)
    fit = fitted(X, labels, doubly_enhanced, penalty=1e6)
    assert fit.stopped_by == "penalty"
    assert not fit.rule.discriminants.any()
    np.testing.assert_allclose(fit.posteriors, [[0.5, 0.5]] * 30)


@pytest.mark.parametrize("method", [doubly_enhanced, expectation_maximization])
def test_a_cluster_that_empties_ends_the_fit(method):
    """Two clusters, and a third that starts with parts of samples that add up to one or two."""
    rng = np.random.default_rng(135)
    X = rng.standard_normal((40, 2, 2)) + 4 * (np.arange(40) % 2)[:, None, None]
    start = rng.dirichlet([0.05, 1, 1], 40)
    fit = method(CenteredSamples(X), start, EMOptions(contrasts(3), penalty=0.1, **TIGHT))
    assert fit.stopped_by == "empty"
    assert fit.posteriors.sum(axis=0).min() < 1
    assert np.isfinite(fit.objective)
    np.testing.assert_allclose(fit.posteriors.sum(axis=1), 1)


def test_a_solution_of_the_group_lasso_out_of_reach_is_not_called_converged(monkeypatch):
    """Nearly singular covariances: whatever the gap is, a fit that says it settled has it below a thousandth."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5, 4, 4))
    for mode, size in enumerate((5, 4, 4), 1):
        Q, _ = np.linalg.qr(rng.standard_normal((size, size)))
        X = np.moveaxis(np.tensordot(Q * np.geomspace(1, 0.01, size), X, (1, mode)), 0, mode)
    labels = np.arange(60) % 2
    X[labels == 1] += 0.02 * rng.standard_normal((5, 4, 4))
    fit = fitted(X, labels, doubly_enhanced, penalty=1e-4, max_iter=50)
    assert fit.gap <= 1e-3 or fit.stopped_by != "tol"


def test_the_clearest_entries_come_first(monkeypatch):
    X, labels = clusters((12, 10), 2, 60, seed=7)
    seen = []

    def watched(*args, **options):
        found = group_lasso(*args, **options)
        seen.append((options["most_entering"], np.count_nonzero(found.coef)))
        return found

    monkeypatch.setattr(module, "group_lasso", watched)
    fit = fitted(X, labels, doubly_enhanced, penalty=0.02)
    assert seen[0] == (module.MAX_ENTERING, module.MAX_ENTERING)
    assert seen[-1] == (None, np.count_nonzero(fit.rule.discriminants[0]))
    assert seen[-1][1] > module.MAX_ENTERING
