"""Another order of entries, modes or clusters, another sign, unit or zero: only the answer's names change."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lvmkit import TensorNormalMixture
from lvmkit.datasets import make_tensor_mixture
from lvmkit.datasets.simulate_tensors import TensorSetting, autoregressive, compound_symmetric

SIZES = (4, 3, 2)


def clusters(n_components, n=70):
    """Clusters whose discriminants are 0 at all but three entries."""
    parts = [autoregressive(4, 0.5), compound_symmetric(3, 0.3), np.diag([0.5, 2.0])]
    B = np.zeros((n_components, *SIZES))
    B[1, 1, 1, 0], B[1, 3, 0, 1] = 2.0, -1.5
    B[2:, 2, 2, 1] = 2.0
    weights = np.arange(3, n_components + 3) / np.arange(3, n_components + 3).sum()
    means = np.einsum("kabc,ax,by,cz->kxyz", B, *parts)
    return make_tensor_mixture(TensorSetting(weights, means, parts), n)


OPTIONS = [
    ("deem", 0.3, "given", 2),
    ("deem", 0.2, "given", 3),
    ("deem", 0.3, "best", 2),
    ("deem", "bic", "best", 2),
    ("deem", "bic", "given", 3),
    ("em", 0.0, "given", 3),
    ("em", 0.0, "best", 2),
]


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def case(request):
    method, penalty, init, n_components = request.param
    X, labels = clusters(n_components)
    init = labels if init == "given" else init
    options = {"method": method, "penalty": penalty, "init": init}
    return X, n_components, options, fitted(X, n_components, options)


def fitted(X, n_components, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return TensorNormalMixture(n_components, random_state=0, **options).fit(X)


def check(model, expected, **changed):
    """Compare what was fitted with what is expected of a model, but for what has changed."""
    names = ["weights_", "posteriors_", "means_", "discriminants_", "penalty_", "log_likelihood_"]
    for name in names:
        truth = changed.get(name, getattr(expected, name))
        found = getattr(model, name)
        scale = np.abs(truth).max() if np.size(truth) else 1
        np.testing.assert_allclose(found, truth, atol=1e-5 * scale, rtol=1e-5, err_msg=name)
    truth = changed.get("covariances_", expected.covariances_)
    for found, part in zip(model.covariances_, truth, strict=True):
        np.testing.assert_allclose(found, part, atol=1e-5 * np.abs(part).max(), err_msg="cov")
    assert (model.selected_ == changed.get("selected_", expected.selected_)).all()
    assert (model.labels_ == changed.get("labels_", expected.labels_)).mean() == 1


def test_it_tells_something(case):
    """Otherwise the tests below would be empty."""
    *_, options, model = case
    assert model.stopped_by_ == "tol"
    assert len(set(model.labels_)) == len(model.weights_)
    if options["method"] == "deem":
        assert 0 < model.selected_.sum() < model.selected_.size


@pytest.mark.parametrize("seed", ["reversed", 0])
def test_another_order_of_entries(case, seed):
    X, n_components, options, model = case
    rng = np.random.default_rng(0)
    orders = [np.arange(p)[::-1] if seed == "reversed" else rng.permutation(p) for p in SIZES]
    at = np.ix_(*orders)
    other = fitted(np.ascontiguousarray(X[:, *at]), n_components, options)
    check(
        other,
        model,
        means_=model.means_[:, *at],
        discriminants_=model.discriminants_[:, *at],
        selected_=model.selected_[at],
        covariances_=[
            part[np.ix_(o, o)] for part, o in zip(model.covariances_, orders, strict=True)
        ],
    )


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0)], ids=str)
def test_another_order_of_modes(case, order):
    X, n_components, options, model = case
    axes = (0, *(mode + 1 for mode in order))
    other = fitted(np.transpose(X, axes), n_components, options)
    check(
        other,
        model,
        means_=model.means_.transpose(axes),
        discriminants_=model.discriminants_.transpose(axes),
        selected_=model.selected_.transpose(order),
        covariances_=[model.covariances_[mode] for mode in order],
    )


def test_another_numbering_of_the_first_guess(case):
    X, n_components, options, model = case
    if isinstance(options["init"], str):
        pytest.skip("only labels are numbered by who gives them")
    turned = [*range(1, n_components), 0]
    for order in (turned, turned[::-1]):
        place = np.argsort(order)  # cluster order[k] of the model is cluster k now
        other = fitted(X, n_components, options | {"init": place[options["init"]]})
        B = np.concatenate([np.zeros((1, *SIZES)), model.discriminants_])[order]
        check(
            other,
            model,
            weights_=model.weights_[order],
            posteriors_=model.posteriors_[:, order],
            means_=model.means_[order],
            discriminants_=B[1:] - B[0],
            labels_=place[model.labels_],
        )


def test_another_sign_and_zero(case):
    X, n_components, options, model = case
    check(
        fitted(-X, n_components, options),
        model,
        means_=-model.means_,
        discriminants_=-model.discriminants_,
    )
    shift = 50 * np.random.default_rng(0).standard_normal(SIZES)
    check(fitted(X + shift, n_components, options), model, means_=model.means_ + shift)


@pytest.mark.parametrize("unit", [1e-8, 1e8])
def test_another_unit(case, unit):
    X, n_components, options, model = case
    if options["penalty"] != "bic":
        options = options | {"penalty": options["penalty"] * unit}
    other = fitted(X * unit, n_components, options)
    check(
        other,
        model,
        means_=model.means_ * unit,
        discriminants_=model.discriminants_ / unit,
        covariances_=[part * unit ** (2 / 3) for part in model.covariances_],
        penalty_=model.penalty_ * unit,
        log_likelihood_=model.log_likelihood_ - X.size * np.log(unit),
    )


def test_samples_in_another_order():
    X, labels = clusters(3)
    order = np.random.default_rng(0).permutation(len(X))
    for options in ({"method": "em"}, {"penalty": 0.3}, {"penalty": "bic"}):
        model = fitted(X, 3, options | {"init": labels})
        other = fitted(X[order], 3, options | {"init": labels[order]})
        check(other, model, posteriors_=model.posteriors_[order], labels_=model.labels_[order])


def test_every_sample_twice():
    """The same penalty means the same for twice the samples."""
    X, labels = clusters(2)
    options = {"penalty": 0.3, "init": labels}
    model = fitted(X, 2, options)
    other = fitted(np.r_[X, X], 2, options | {"init": np.r_[labels, labels]})
    check(
        other,
        model,
        posteriors_=np.r_[model.posteriors_, model.posteriors_],
        labels_=np.r_[model.labels_, model.labels_],
        log_likelihood_=2 * model.log_likelihood_,
    )


def test_the_scale_that_is_printed_depends_on_the_order_of_entries():
    """Which is why it is an option only: the variance of the first entry stands for all."""
    X, labels = clusters(2)
    X[:, 0, 0, 0] *= 0.3
    options = {"penalty": 0.3, "init": labels, "scale": "first_entry"}
    model = fitted(X, 2, options)
    back = fitted(np.ascontiguousarray(X[:, ::-1, ::-1, ::-1]), 2, options)
    whole = [np.prod([np.trace(part) for part in m.covariances_]) for m in (model, back)]
    assert abs(np.log(whole[1] / whole[0])) > 0.1
    assert np.abs(back.discriminants_[:, ::-1, ::-1, ::-1] - model.discriminants_).max() > 0.01
