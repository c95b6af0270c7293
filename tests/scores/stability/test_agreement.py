import numpy as np
import pytest

from lvmkit.scores.stability.agreement import stratified


@pytest.mark.parametrize(
    ("sizes", "size", "expected"),
    [
        ([302, 308, 390], 100, [30, 31, 39]),  # in proportion: 30.2, 30.8, 39
        ([301, 306, 309, 84], 100, [30, 31, 31, 8]),  # 30.1, 30.6, 30.9, 8.4
        ([309, 306, 301, 84], 100, [31, 31, 30, 8]),
    ],
)
def test_rows_that_are_left_go_to_the_clusters_that_lack_most(
    sizes: list[int], size: int, expected: list[int]
) -> None:
    reference = np.repeat(np.arange(len(sizes)), sizes)
    rows = stratified(reference, len(sizes), size, 0)
    assert np.bincount(reference[rows]).tolist() == expected


def test_the_seed_decides_which_rows_of_a_cluster() -> None:
    reference = np.repeat([0, 1], 200)
    runs = [stratified(reference, 2, 40, seed).tolist() for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
