"""Unfolded counts hold what the tensor held: each entry at its row and combination, once."""

import numpy as np
import pytest
from scipy import sparse

from lvmkit.sustain.unfolding import Unfolded

SHAPES = [(9, 4), (4, 9), (5, 5), (7, 3, 4), (3, 7, 4), (3, 4, 7), (2, 3, 6, 2), (2, 3, 2, 4, 3)]


def counts_of(shape, seed=0, mean=0.4):
    return np.random.default_rng(seed).poisson(mean, shape)


def entries(data):
    """Coordinates and counts, as the rows and places of an unfolding say."""
    found = sparse.coo_array(data.rows)
    places = {n: place[found.coords[1]] for n, place in data.places.items()}
    places[data.mode] = found.coords[0]
    coords = zip(*(places[n].tolist() for n in range(len(data.shape))), strict=True)
    return dict(zip(coords, found.data.tolist(), strict=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [np.asarray, sparse.coo_array])
def test_every_count_keeps_its_place(shape, form):
    X = counts_of(shape)
    data = Unfolded.of(form(X))
    assert data.shape == shape
    assert data.mode == shape.index(max(shape))
    assert data.others == [n for n in range(len(shape)) if n != data.mode]
    assert data.rows.shape[0] == max(shape)
    assert entries(data) == {tuple(map(int, at)): X[tuple(at)] for at in np.argwhere(X)}
    assert data.squared_norm == (X**2).sum()
    assert data.n_merged == 0


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_every_form_of_a_matrix_is_the_same(form, shape):
    X = counts_of(shape)
    data = Unfolded.of(form(X))
    np.testing.assert_array_equal(data.rows.toarray(), X if data.mode == 0 else X.T)
    # All columns are kept, empty ones too: their order is that of the matrix.
    np.testing.assert_array_equal(data.places[1 - data.mode], np.arange(min(shape)))


# The other modes' combinations: a few, more than 2**16, more than 2**63, which no number holds.
@pytest.mark.parametrize("shape", [(50, 9, 8), (400, 300, 300), (4_001, *6 * [4_000])])
def test_combinations_that_do_not_occur_take_no_room(shape):
    rng = np.random.default_rng(0)
    coords = np.unique(
        rng.integers(0, 5, (len(shape), 40)) * (np.array(shape)[:, None] // 5), axis=1
    )
    values = rng.integers(1, 9, coords.shape[1])
    data = Unfolded.of(sparse.coo_array((values, tuple(coords)), shape=shape))
    assert data.rows.shape[1] <= len(values)
    assert entries(data) == dict(
        zip(zip(*coords.tolist(), strict=True), values.tolist(), strict=True)
    )


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (4, 6, 2)])
@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.float64])
def test_counts_of_one_place_are_added_up_in_full(shape, kind):
    at = tuple(np.array([[1, 1, 1, 0]] * len(shape)))
    value = 1 if kind is bool else 100
    X = sparse.coo_array((np.full(4, value, dtype=kind), at), shape=shape)
    data = Unfolded.of(X)
    corner = (0,) * len(shape)
    assert entries(data) == {corner: value, tuple(n + 1 for n in corner): 3 * value}
    assert data.n_merged == 2
    assert X.nnz == 4


def test_what_was_passed_stays_as_it_was():
    parts = np.array([3.0, 1, 0, 2, 5], dtype=np.float32), np.array([2, 0, 1, 1, 1]), [0, 3, 3, 5]
    X = sparse.csr_array(
        tuple(map(np.array, parts)), shape=(3, 3)
    )  # unsorted, with a zero, a place twice
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    data = Unfolded.of(X)
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)
    assert entries(data) == {(0, 0): 1, (0, 2): 3, (2, 1): 7}
    assert data.n_merged == 1


@pytest.mark.parametrize("large", [2**24 + 1, -(2**24) - 1])
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 2)])
def test_whole_numbers_beyond_single_precision_survive(large, shape):
    X = counts_of(shape)
    assert Unfolded.of(X).rows.dtype == np.float32
    X[(1,) * len(shape)] = large
    assert large in entries(Unfolded.of(X)).values()


@pytest.mark.parametrize("shape", SHAPES)
def test_totals_are_the_largest_sums_of_sizes(shape, explicit):
    X = counts_of(shape) - counts_of(shape, 1)
    data = Unfolded.of(X)
    size = np.abs(explicit["unfolding"](X, data.mode))
    assert data.totals == (size.sum(axis=1).max(), size.sum(axis=0).max(), size.max())


@pytest.mark.parametrize("busy", [0, 35_000, 70_000])
def test_totals_of_long_counts_are_those_of_all_rows(busy):
    X = np.zeros((70_001, 3), dtype=int)
    X[::10, 1] = 2
    X[busy] = [5, 7, 4]
    column = int(X[:, 1].sum())
    assert Unfolded.of(X).totals == (16, column, 7)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_slice_holds_all_counts_of_a_patient(shape):
    X = counts_of(shape, mean=0.8)
    data = Unfolded.of(X)
    for patient in range(shape[0]):
        coords, values = data.slice_of(patient)
        found = np.zeros(shape[1:])
        found[tuple(coords)] = values
        np.testing.assert_array_equal(found, X[patient])
        assert len(values) == np.count_nonzero(X[patient])


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_carry_the_products_of_factor_rows(shape):
    rng = np.random.default_rng(0)
    factors = [rng.integers(0, 6, (3, size)).astype(float) for size in shape]
    data = Unfolded.of(counts_of(shape))
    for but in (None, *data.others):
        found = data.khatri_rao(factors, but)
        assert found.shape == (data.rows.shape[1], 3)
        for column, row in enumerate(found):
            used = [factors[n][:, data.places[n][column]] for n in data.others if n != but]
            np.testing.assert_array_equal(row, np.prod([np.ones(3), *used], axis=0))


def test_an_unfolding_by_hand():
    X = sparse.coo_array(([2, 1, 4], ([0, 1, 2], [0, 1, 1], [1, 0, 1])), shape=(3, 2, 2))
    data = Unfolded.of(X)
    assert (data.mode, data.squared_norm) == (0, 21)
    assert data.rows.toarray().tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 4]]
