"""Blocks cover all rows once, in order, whatever the number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from lvmkit.core.parallel import map_blocks, n_threads, row_blocks, single_threaded_blas, sum_blocks


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("n", [0, 1, 7, 50])
def test_blocks_put_together_are_the_rows(as_rows, threads, n, monkeypatch):
    monkeypatch.setenv("LVMKIT_THREADS", threads)
    X = np.arange(n * 3, dtype=float).reshape(n, 3)
    blocks = list(map_blocks(lambda block: block, as_rows(X), 4))
    whole = sparse.vstack(blocks).toarray() if as_rows is sparse.csr_array else np.vstack(blocks)
    np.testing.assert_array_equal(whole, X)
    (total,) = sum_blocks(lambda block: (np.asarray(block.sum(axis=0)).ravel(),), as_rows(X), 4)
    np.testing.assert_allclose(total, X.sum(axis=0))


def test_sparse_blocks_share_memory():
    X = sparse.csr_array(np.eye(6))
    assert all(np.shares_memory(block.data, X.data) for block in row_blocks(X, 2))


def test_threads_can_be_set(monkeypatch):
    monkeypatch.setenv("LVMKIT_THREADS", "5")
    assert n_threads() == 5


def test_overlapping_fits_give_the_threads_back():
    before = [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]
    first, second = single_threaded_blas(), single_threaded_blas()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert all(i["num_threads"] == 1 for i in threadpool_info() if i["user_api"] == "blas")
    second.__exit__(None, None, None)
    assert [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"] == before


def test_blas_is_held_by_whichever_thread_asks():
    def numbers():
        return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}

    def held():
        with single_threaded_blas():
            return numbers()

    with single_threaded_blas():
        pass  # this thread was first
    before = numbers()
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(held).result() == {1}
    assert numbers() == before
