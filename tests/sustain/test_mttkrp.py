"""Products by blocks and threads equal matricized tensors times Khatri-Rao products, to the last bit."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from lvmkit.sustain import mttkrp
from lvmkit.sustain.mttkrp import mttkrp_columns, mttkrp_rows, over_blocks, row_sums
from lvmkit.sustain.unfolding import Unfolded

SHAPES = [(40, 4), (4, 40), (40, 3, 4), (3, 40, 4), (3, 4, 40), (2, 3, 20, 2), (2, 3, 2, 4, 9)]


@pytest.fixture(params=[None, 7], ids=["one block", "blocks"])
def blocks(request, monkeypatch):
    """Rows as one block, or cut into short ones."""
    if request.param:
        monkeypatch.setattr(mttkrp, "BLOCK_ROWS", request.param)
        monkeypatch.setitem(over_blocks.__kwdefaults__, "size", request.param)


def case(shape, n_components=3, mean=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(mean, shape)
    return X, [rng.integers(0, 6, (n_components, s)).astype(np.float32) for s in shape]


def explicit_mttkrp(X, factors, mode, explicit):
    columns = [factor.T.astype(float) for factor in factors]
    return (explicit["unfolding"](X, mode).astype(float) @ explicit["kronecker"](columns, mode)).T


@pytest.mark.parametrize("workers", [0, 1, 4])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n_components", [1, 9])
def test_every_mode_gets_its_product(shape, n_components, workers, blocks, explicit):
    X, factors = case(shape, n_components)
    data = Unfolded.of(X)
    with ThreadPoolExecutor(workers or 1) as pool:
        pool = pool if workers else None
        rows = mttkrp_rows(data, factors, pool=pool)
        np.testing.assert_array_equal(rows, explicit_mttkrp(X, factors, data.mode, explicit))
        sums = row_sums(data, factors[data.mode], pool=pool)
        for mode in data.others:
            found = mttkrp_columns(data, sums, factors, mode)
            np.testing.assert_array_equal(found, explicit_mttkrp(X, factors, mode, explicit))


@pytest.mark.parametrize("shape", [(500, 6), (300, 3, 4)])
def test_threads_change_no_bit_of_real_products(shape, blocks):
    rng = np.random.default_rng(0)
    data = Unfolded.of(rng.poisson(0.5, shape))
    factors = [rng.random((3, size), dtype=np.float32) for size in shape]
    alone = mttkrp_rows(data, factors, exact=False), row_sums(data, factors[0], exact=False)
    for workers in (2, 4):
        with ThreadPoolExecutor(workers) as pool:
            shared = (
                mttkrp_rows(data, factors, exact=False, pool=pool),
                row_sums(data, factors[0], exact=False, pool=pool),
            )
        np.testing.assert_array_equal(alone[0], shared[0])
        np.testing.assert_array_equal(alone[1], shared[1])


@pytest.mark.parametrize(
    ("kind", "large"),
    [
        ("many", 1),  # sums beyond 2**24 of small products
        ("large", 2**22 + 1),  # products beyond
        ("huge", 2**25 + 1),  # counts beyond
    ],
)
@pytest.mark.parametrize("shape", [(60, 8), (60, 4, 3)])
def test_sums_beyond_single_precision_stay_exact(kind, large, shape, blocks, explicit):
    X, factors = case(shape)
    X = (X + 1) * large
    if kind == "many":
        factors = [factor * 1_001 + 1 for factor in factors]
    data = Unfolded.of(X)
    np.testing.assert_array_equal(
        mttkrp_rows(data, factors), explicit_mttkrp(X, factors, data.mode, explicit)
    )
    sums = row_sums(data, factors[data.mode])
    for mode in data.others:
        np.testing.assert_array_equal(
            mttkrp_columns(data, sums, factors, mode), explicit_mttkrp(X, factors, mode, explicit)
        )


@pytest.mark.parametrize(
    ("row", "scores", "expected"),
    [
        ([2**23, 2**23, 1], [1, 1, 1], 2**24 + 1),  # a sum of counts that are each exact
        ([2**22 + 1, 0, 0], [5, 0, 0], 5 * (2**22 + 1)),  # a product of exact counts and scores
        ([3, 0, 0], [5_592_407, 0, 0], 3 * 5_592_407),  # of a score alone
        (
            [2**23 - 1, 2**23 - 1, 1],
            [1, 1, 1],
            2**24 - 1,
        ),  # the largest that single precision holds
    ],
)
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (4, 3, 1)])
def test_the_first_sums_that_single_precision_would_miss(row, scores, expected, shape):
    X = np.zeros((4, 3), dtype=int)
    if shape == (3, 4):
        X[:3, 0] = row  # a column is summed: row_sums
        sums = row_sums(Unfolded.of(X), np.array([[*scores, 0]], dtype=np.float32))
        assert int(sums[0, 0]) == expected
        return
    X[0] = row
    factors = [np.ones((1, size), dtype=np.float32) for size in shape]
    factors[1][0] = scores
    found = mttkrp_rows(Unfolded.of(X.reshape(shape)), factors)
    assert int(found[0, 0]) == expected
    assert (found.dtype == np.float32) == (expected < 2**24)
    assert mttkrp_rows(Unfolded.of(X.reshape(shape)), factors, exact=False).dtype == np.float32


@pytest.mark.parametrize("n_rows", [1, 6, 7, 8, 50, 701])
@pytest.mark.parametrize("workers", [0, 2])
def test_blocks_cover_all_rows_in_order(n_rows, workers):
    with ThreadPoolExecutor(workers or 1) as pool:
        ends = list(
            over_blocks(lambda a, b: (a, b), n_rows, pool=pool if workers else None, size=7)
        )
    assert [row for start, stop in ends for row in range(start, stop)] == list(range(n_rows))
    assert all(stop - start <= 7 for start, stop in ends)


def test_sums_of_long_columns_take_larger_blocks(monkeypatch):
    """A block's result is as long as the columns: thin rows must not be cut into blocks of fewer entries."""
    seen = []

    def told(function, n_rows, **options):
        seen.append(options["size"])
        return over_blocks(function, n_rows, **options)

    monkeypatch.setattr(mttkrp, "over_blocks", told)
    monkeypatch.setattr(mttkrp, "BLOCK_ROWS", 5)
    thin = sparse.random_array((100, 50), density=0.02, rng=np.random.default_rng(0))
    thin.data[:] = 1
    row_sums(Unfolded.of(thin), np.ones((2, 100), dtype=np.float32))
    assert seen == [50]  # as many rows as hold 50 entries
