from functools import reduce
from string import ascii_lowercase, ascii_uppercase

import numpy as np
import pytest

from lvmkit.tensors.modes import BLOCK, Product, multiply, scatter, unfold

# Orders 1 to 5, modes of size 1, and sizes whose products lie just below, at and above BLOCK.
SIZES = [
    (5,),
    (1,),
    (BLOCK + 1,),
    (3, 4),
    (1, 4, 1),
    (8, BLOCK // 8),
    (BLOCK // 8 + 1, 8),
    (BLOCK, 2),
    (2, BLOCK),
    (BLOCK + 1, 1, 2),
    (4, 3, 5),
    (9, 8, 9),
    (2, 3, 4, 3),
    (2, 1, 3, 2, 2),
    (4, 4, 4, 4, 4),
]


@pytest.fixture(params=SIZES, ids=str)
def sizes(request):
    return request.param


def einsum(X, matrices):
    """[[X; A_1, ..., A_M]] by its definition, for a stack of tensors."""
    old, new = ascii_lowercase[: len(matrices)], ascii_uppercase[: len(matrices)]
    terms = ",".join(n + o for n, o in zip(new, old, strict=True))
    return np.einsum(f"...{old},{terms}->...{new}", X, *matrices, optimize=True)


def test_products_are_those_of_the_definition(sizes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3, *sizes))
    square = [rng.standard_normal((p, p)) for p in sizes]
    np.testing.assert_allclose(multiply(X, square), einsum(X, square), atol=1e-10)
    np.testing.assert_allclose(multiply(X[0], square), einsum(X[0], square), atol=1e-10)


def test_products_with_matrices_that_are_not_square(sizes):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2, 2, *sizes))
    for change in (1, 3, -1):
        wide = [rng.standard_normal((max(p + change, 1), p)) for p in sizes]
        product = Product(wide)
        np.testing.assert_allclose(product(X), einsum(X, wide), atol=1e-10)
        np.testing.assert_allclose(product(X), einsum(X, wide), atol=1e-10)


def test_products_are_those_of_the_kronecker_product():
    rng = np.random.default_rng(2)
    for sizes in ((6,), (3, 4), (2, 1, 5), (2, 3, 2, 2), (2, 2, 1, 3, 2)):
        X = rng.standard_normal((4, *sizes))
        matrices = [rng.standard_normal((p, p)) for p in sizes]
        expected = X.reshape(4, -1) @ reduce(np.kron, matrices).T
        np.testing.assert_allclose(multiply(X, matrices).reshape(4, -1), expected, atol=1e-12)


def test_products_read_any_layout_of_memory():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3, 4, 5, 6))
    matrices = [rng.standard_normal((p, p)) for p in (4, 5, 6)]
    expected = einsum(X, matrices)
    np.testing.assert_allclose(multiply(np.asfortranarray(X), matrices), expected, atol=1e-12)
    back = [np.asfortranarray(m[::-1])[::-1] for m in matrices]
    np.testing.assert_allclose(multiply(X[::-1], back), expected[::-1], atol=1e-12)


def test_a_product_changes_nothing_that_it_is_given():
    X, A = np.ones((2, 3, 3)), np.full((3, 3), 2.0)
    product = Product([A, A])
    kept = product(X)
    X += 1
    assert (product(X) == 2 * kept).all()
    assert (A == 2).all()
    assert (X == 2).all()


def test_no_samples():
    assert multiply(np.zeros((0, 3, 70)), [np.eye(3), np.eye(70)]).shape == (0, 3, 70)


def test_scatter_adds_up_the_unfoldings(sizes):
    X = np.random.default_rng(4).standard_normal((3, *sizes))
    found = scatter(X, len(sizes))
    assert len(found) == len(sizes)
    for mode, matrix in enumerate(found):
        expected = sum(unfold(x, mode) @ unfold(x, mode).T for x in X)
        np.testing.assert_allclose(matrix, expected, atol=1e-10)
        assert np.trace(matrix) == pytest.approx((X**2).sum())


def test_scatter_of_a_stack_of_stacks_and_of_any_layout():
    X = np.random.default_rng(5).standard_normal((2, 3, 4, 5))
    for given in (X, np.asfortranarray(X)):
        rows, columns = scatter(given, 2)
        np.testing.assert_allclose(rows, np.einsum("abij,abkj->ik", X, X))
        np.testing.assert_allclose(columns, np.einsum("abij,abik->jk", X, X))


def test_unfolding_as_kolda_and_bader_but_for_the_order_of_columns():
    X = np.empty((3, 4, 2))
    X[:, :, 0] = np.arange(1, 13).reshape(4, 3).T
    X[:, :, 1] = np.arange(13, 25).reshape(4, 3).T
    first = {tuple(column) for column in unfold(X, 0).T}
    assert first == {(i, i + 1, i + 2) for i in range(1, 25, 3)}
    second = {tuple(column) for column in unfold(X, 1).T}
    assert second == {tuple(range(i, i + 12, 3)) for i in (1, 2, 3, 13, 14, 15)}
    third = {tuple(column) for column in unfold(X, 2).T}
    assert third == {(i, i + 12) for i in range(1, 13)}


def test_unfolding_puts_a_mode_first_and_lets_the_last_index_run_fastest():
    found = unfold(np.arange(8).reshape(2, 2, 2), 1)
    np.testing.assert_array_equal(found, [[0, 1, 4, 5], [2, 3, 6, 7]])


def test_a_product_with_rows_in_both_modes_is_a_bilinear_form():
    found = multiply(np.eye(2), [np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])])
    np.testing.assert_array_equal(found, [[11]])


def test_scatter_of_one_matrix_is_its_product_with_itself():
    found = scatter(np.array([[[1.0, 2.0], [0.0, 3.0]]]), 2)[0]
    np.testing.assert_array_equal(found, [[5, 6], [6, 9]])
