import re
from dataclasses import dataclass, field

import numpy as np
import pytest

from lvmkit.scores.stability.verdict import verdict


@dataclass
class Found:
    """Clusters 0 … k − 1 with planted numbers."""

    cluster_stability: np.ndarray
    swapped: dict[tuple[int, int], float] = field(default_factory=dict)
    ari: np.ndarray = field(default_factory=lambda: np.array([0.8, 0.9]))
    planned: int = 2

    @property
    def clusters(self) -> np.ndarray:
        return np.arange(len(self.cluster_stability))

    @property
    def cluster_labels(self) -> list[str]:
        return [f"c{i}" for i in self.clusters]

    @property
    def exchanged(self) -> np.ndarray:
        shares = np.zeros((len(self.clusters),) * 2)
        for (i, j), share in self.swapped.items():
            shares[i, j] = shares[j, i] = share
        return shares


def said(swapped: dict[tuple[int, int], float]) -> list[tuple[str, str, str]]:
    told = verdict(Found(np.full(6, 0.8), swapped))
    return re.findall(r"Clusters (c\d) and (c\d) swap members between runs: (\d+%)", told)


def test_swaps_of_a_tenth_or_more_are_told() -> None:
    assert said({(0, 1): 0.099, (2, 3): 0.1, (1, 4): 0.25}) == [
        ("c1", "c4", "25%"),
        ("c2", "c3", "10%"),
    ]


def test_the_pairs_that_swap_most_are_told_first() -> None:
    swapped = {(0, 1): 0.12, (0, 2): 0.2, (1, 2): 0.4, (3, 4): 0.15, (4, 5): 0.3}
    assert [share for _, _, share in said(swapped)] == ["40%", "30%", "20%"]


@pytest.mark.parametrize(
    ("n", "words"),
    [(3, None), (4, "1 more pair swaps 10% or more."), (6, "3 more pairs swap 10% or more.")],
)
def test_pairs_that_are_not_named_are_counted(n: int, words: str | None) -> None:
    told = verdict(Found(np.full(7, 0.8), {(i, i + 1): 0.2 for i in range(n)}))
    assert told.count("swap members") == 3
    assert (words in told) if words else ("more pair" not in told)


def test_swaps_with_a_cluster_that_must_not_be_spoken_of_are_not_told() -> None:
    found = Found(np.full(4, 0.8), {(0, 1): 0.4, (2, 3): 0.3})
    assert "c0" not in verdict(found, unnamed=np.array([0]))
    assert "Clusters c2 and c3 swap" in verdict(found, unnamed=np.array([0]))


@pytest.mark.parametrize(
    ("least", "words"),
    [
        (0.996, "All 2 clusters reappear in every run."),
        (
            0.994,
            "All 2 clusters reappear; cluster c1 is the least stable (mean Jaccard index 0.99)",
        ),
        (0.75, "All 2 clusters reappear; cluster c1 is the least stable (mean Jaccard index 0.75)"),
        (0.74, "1 of the 2 clusters reappears; cluster c1 is the least stable"),
    ],
)
def test_every_run_is_said_only_of_an_index_that_is_1_in_print(least: float, words: str) -> None:
    assert words in verdict(Found(np.array([1.0, least])))


def test_clusters_dissolve_below_one_half() -> None:
    assert "dissolve" not in verdict(Found(np.array([1.0, 0.5])))
    assert "Cluster c1 dissolves" in verdict(Found(np.array([1.0, 0.49])))
    told = verdict(Found(np.array([1.0, *[0.1] * 7])))
    assert "Clusters c1, c2, c3, c4, c5 and 2 more dissolve" in told


def test_a_cluster_that_no_fit_saw_is_not_judged() -> None:
    assert verdict(Found(np.array([np.nan, 1.0]))).startswith("The only cluster reappears")
    assert verdict(Found(np.array([np.nan]))).startswith("No cluster can be judged yet.")
