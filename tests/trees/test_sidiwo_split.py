"""D-SIDIWO with equalized features, against explicit moments of the scaled rows."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.trees.eigenpairs import leading_two
from lvmkit.trees.sidiwo_split import data_split, feature_scale
from lvmkit.trees.splits import Sums

FORMS = [np.asarray, sparse.csr_array]


def counts(n, d, seed=0):
    """Counts whose features differ in size by an order of magnitude."""
    generator = np.random.default_rng(seed)
    loud = generator.permutation(d) < d // 2
    return generator.poisson(generator.gamma(1, 1, (n, 1)) * np.where(loud, 3, 0.4), (n, d)) * 1.0


def sums_of(X, *, counted):
    return Sums(X.sum(axis=0), X.T @ X if counted else None)


@pytest.mark.parametrize("equalize", [0.0, 0.3, 0.5])
@pytest.mark.parametrize("counted", [True, False])
def test_the_split_of_scaled_rows_is_the_best_of_a_grid(equalize, counted):
    X = counts(600, 30)
    scale = (X**2).mean(axis=0) ** -equalize
    Y = X * scale
    # A discriminator of rows is one of the scaled rows, divided by the scale.
    D = data_split(X, sums_of(X, counted=counted), equalize=equalize).discriminators / scale
    values, vectors = np.linalg.eigh(Y.T @ Y / len(Y))
    leading = vectors[:, -2:]
    assert np.allclose(leading @ (leading.T @ D.T), D.T, atol=1e-6)
    whitener = leading / np.sqrt(values[-2:])
    slices = np.einsum("nr,na,nb->rab", Y, Y @ whitener, Y @ whitener, optimize=True) / len(Y)

    def cost(first, second):
        return np.linalg.norm(np.einsum("rab,a,b->r", slices, first, second))

    angles = np.linspace(-np.pi / 4, np.pi / 4, 4_001)
    best = min(cost([np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]) for t in angles)
    found = cost(*np.linalg.lstsq(whitener, D.T)[0].T)
    assert found <= best * (1 + 1e-9)
    assert found == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("n", "d", "counted"),
    # Products of few rows, of few features, with the rows, and counted ones: small and large.
    [(40, 90, False), (90, 40, False), (140, 160, False), (200, 60, True), (200, 160, True)],
)
def test_leading_directions_are_those_of_the_svd_of_scaled_rows(form, n, d, counted):
    X = counts(n, d)
    scale = 1 / (0.2 + np.random.default_rng(1).random(d))
    values, vectors = leading_two(form(X), sums_of(X, counted=counted), scale)
    _, roots, right = np.linalg.svd(X * scale)
    assert np.allclose(values, roots[:2] ** 2 / n)
    assert np.allclose(np.abs((right[:2] * vectors.T).sum(axis=1)), 1, atol=1e-7)
    assert np.allclose(vectors.T @ vectors, np.eye(2), atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("n", "d"), [(60, 200), (150, 1_600)])
def test_few_rows_and_wide_tables_are_whitened_too(form, n, d):
    X = counts(n, d)
    D = data_split(form(X), sums_of(X, counted=False), equalize=0.3).discriminators
    assert np.allclose(D @ (X.T @ X / n) @ D.T, np.eye(2), atol=1e-6)


def test_the_scale_is_a_power_of_the_mean_square_with_a_floor():
    X = np.array([[2.0, 0.0, 1.0, 1e-6], [0.0, 0.0, 1.0, 0.0]])
    squares = np.array([2.0, 0.0, 1.0, 2e-4])  # the last one is lifted to 1/10,000 of the largest
    for form in FORMS:
        scale = feature_scale(form(X), sums_of(X, counted=False), 0.3)
        assert np.allclose(scale[[0, 2, 3]], squares[[0, 2, 3]] ** -0.3)
        assert scale[1] == 0


@pytest.mark.parametrize("seed", range(6))
def test_every_discriminator_points_to_the_rows_of_its_side(seed):
    X = counts(80, 20, seed)
    split = data_split(X, sums_of(X, counted=True), equalize=0.3)
    scores = X @ split.discriminators.T
    assert scores[split.side == 0, 0].sum() > 0
    assert scores[split.side == 1, 1].sum() > 0
