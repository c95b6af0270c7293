import numpy as np
import pytest
from scipy import sparse

from lvmkit.datasets import make_exact_counts, make_poisson_counts, simulate_counts


@pytest.mark.parametrize("n_features", [5, (4, 3), (3, 2, 4)])
def test_exact_counts_are_the_product_of_their_factors(n_features):
    data = make_exact_counts(7, n_features, 3, random_state=0)
    axes = "ijkl"[: len(data.factors)]
    formula = "r," + ",".join(f"{axis}r" for axis in axes) + "->" + axes
    product = np.einsum(formula, data.weights, *data.factors)
    assert (data.X.toarray() == product).all()
    assert all(factor.any(axis=0).all() for factor in data.factors)
    assert {factor.dtype.kind for factor in data.factors} == {"i"}
    assert (data.weights == np.floor(data.weights)).all()


def test_scores_and_weights_use_their_whole_range():
    data = make_exact_counts(2_000, 300, 60, density=0.2, max_score=3, max_weight=9, random_state=0)
    for factor in data.factors:
        assert set(np.unique(factor)) == {0, 1, 2, 3}
        np.testing.assert_allclose((factor > 0).mean(), 0.2, atol=0.02)
    assert set(data.weights) == set(range(1, 10))
    full = make_exact_counts(5, 4, 2, density=1, random_state=0)
    assert all((factor > 0).all() for factor in full.factors)


def test_a_tensor_is_never_dense():
    data = make_exact_counts(30_000, (20_000, 10_000), 2, density=1e-3, random_state=0)
    assert data.X.shape == (30_000, 20_000, 10_000)
    assert data.X.nnz <= sum(
        np.prod([float((factor[:, r] > 0).sum()) for factor in data.factors]) for r in range(2)
    )


@pytest.mark.parametrize("make", [make_exact_counts, make_poisson_counts])
@pytest.mark.parametrize("n_features", [60, (20, 15)])
def test_the_same_seed_gives_the_same_canonical_counts(make, n_features):
    one, same, other = (make(50, n_features, 4, random_state=seed) for seed in (3, 3, 4))
    assert (one.X != same.X).nnz == 0
    assert (one.X != other.X).nnz > 0
    assert one.X.has_canonical_format
    assert one.X.data.min() >= 1
    if one.X.ndim == 2:
        assert (type(one.X), one.X.dtype, one.X.indices.dtype) == (
            sparse.csr_array,
            np.float32,
            np.int32,
        )
    else:
        assert (type(one.X), one.X.dtype) == (sparse.coo_array, np.int32)


def test_phenotypes_are_as_described():
    matrix = make_poisson_counts(500, 583, 10, random_state=0)
    people, codes = matrix.factors
    assert ((codes > 0).sum(axis=0) == 60).all()
    assert set(np.unique(codes)) == set(range(6))
    assert (people > 0).sum(axis=1).max() == 2
    assert set(np.unique(people)) == set(range(4))
    tensor = make_poisson_counts(500, (583, 239), 10, random_state=0)
    assert [(factor > 0).sum(axis=0).tolist() for factor in tensor.factors[1:]] == [
        [14] * 10,
        [8] * 10,
    ]
    small = make_poisson_counts(20, (5, 4), 2, random_state=0)
    assert all((factor > 0).all() for factor in small.factors[1:])


@pytest.mark.slow
def test_counts_are_poisson_around_the_factors():
    data = make_poisson_counts(40_000, 80, 3, random_state=0)
    people, codes = data.factors
    background = 0.25 / (np.arange(80) + 3) ** 0.6
    mean = 0.35 * people @ codes.T + background
    X = data.X.toarray()
    # sums over patients are Poisson too: their deviations, standardized, have mean square 1
    for values, expected in ((X.sum(axis=0), mean.sum(axis=0)), (X.sum(axis=1), mean.sum(axis=1))):
        deviations = (values - expected) / np.sqrt(expected)
        assert abs((deviations**2).mean() - 1) < 5 * np.sqrt(3 / len(deviations))
    np.testing.assert_allclose(((X - mean) ** 2).sum(), mean.sum(), rtol=0.02)


@pytest.mark.slow
def test_counts_of_a_tensor_are_poisson_around_the_factors():
    data = make_poisson_counts(3_000, (20, 12), 3, random_state=0)
    mean = 0.12 * np.einsum("ir,jr,kr", *data.factors)
    X = data.X.toarray()
    np.testing.assert_allclose(
        X.sum(axis=(1, 2)).mean(), mean.sum(axis=(1, 2)).mean() + 12, rtol=0.01
    )
    noise = 12 / 240
    np.testing.assert_allclose(((X - mean - noise) ** 2).mean(), mean.mean() + noise, rtol=0.02)


def test_sizes_are_as_described_whatever_the_blocks(monkeypatch):
    matrix = make_poisson_counts(3_000, 583, random_state=0)
    assert abs(matrix.X.nnz / 3_000 - 74) < 2
    tensor = make_poisson_counts(1_000, (583, 239), random_state=1)
    assert abs(tensor.X.nnz / 1_000 - 136) < 4
    monkeypatch.setattr(simulate_counts, "BLOCK_ROWS", 100)
    blocks = make_poisson_counts(1_050, (583, 239), random_state=1)
    assert blocks.X.shape == (1_050, 583, 239)
    assert len(np.unique(blocks.X.coords[0])) == 1_050


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must be at least 1"),
        ({"n_features": (3, 0)}, ValueError, r"n_features\[1\]=0"),
        ({"n_features": ()}, ValueError, "n_features is empty"),
        ({"density": 0}, ValueError, "density must be a number, greater than 0"),
        ({"density": 2}, ValueError, "density=2; expected a share"),
        ({"max_score": 0}, ValueError, "max_score must be"),
        ({"max_weight": 1.5}, TypeError, "max_weight must be a whole number"),
    ],
)
def test_bad_options_of_exact_counts(options, error, message):
    with pytest.raises(error, match=message):
        make_exact_counts(**options)


@pytest.mark.parametrize("options", [{"n_features": (3, 3, 3)}, {"n_components": 1}])
def test_bad_options_of_poisson_counts(options):
    with pytest.raises(ValueError, match="expected one or two sizes and at least 2 components"):
        make_poisson_counts(10, **options)
