from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, KMeans

from lvmkit.core.validation import DataWarning
from lvmkit.scores import StabilityStudy, iter_stability, stability, stability_study
from lvmkit.scores.stability import refits
from lvmkit.scores.stability.refits import UNSEEN
from lvmkit.scores.stability.study import coassignment, reappearance, stratified

BLOBS = np.repeat(np.eye(3) * 8, 40, axis=0) + np.random.default_rng(0).random((120, 3))
PLANTED = np.repeat([0, 1, 2], 40)
ROWS = np.arange(100.0)[:, None]
FIVES = (ROWS[:, 0] // 20).astype(int)


class Cut(BaseEstimator):
    """Cuts the line of rows at places."""

    def __init__(self, at: tuple[float, ...] = (20, 40, 60, 80)) -> None:
        self.at = at

    def fit(self, X: np.ndarray) -> "Cut":
        self.labels_ = np.searchsorted(self.at, X[:, 0], side="right")
        return self


class Scripted(BaseEstimator):
    """Finds in each fit what was planned for it; keeps what it was given."""

    plans: list[np.ndarray] = []  # noqa: RUF012 - of the class, since every fit is made by a copy
    seen: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X: np.ndarray) -> "Scripted":
        rows = X[:, 0].astype(int)
        self.labels_ = self.plans[len(self.seen)][rows]
        self.seen.append(rows)
        return self


def brute_jaccard(reference: np.ndarray, found: np.ndarray, cluster: int) -> float:
    seen = {i for i, label in enumerate(found) if label != UNSEEN}
    mine = {i for i in seen if reference[i] == cluster}
    others = [{i for i in seen if found[i] == j} for j in set(found.tolist()) if j >= 0]
    return max(len(mine & other) / len(mine | other) for other in others)


def test_jaccard_and_moves_are_those_of_sets() -> None:
    random = np.random.default_rng(5)
    for _ in range(20):
        reference, found = random.integers(-1, 4, 60), random.integers(-2, 5, 60)
        result = reappearance(reference, found, 4)
        for i in range(4):
            assert result.jaccard[i] == pytest.approx(brute_jaccard(reference, found, i))
            seen = (reference == i) & (found != UNSEEN)
            assert result.seen[i] == seen.sum()
        moved = np.zeros((4, 4), int)
        for j in range(5):
            members = [reference[r] for r in np.flatnonzero(found == j) if reference[r] >= 0]
            owner = max(range(4), key=lambda i: (members.count(i), -i))
            for member in members:
                moved[member, owner] += 1
        np.testing.assert_array_equal(result.moved, moved)


def test_together_are_pairs_of_one_cluster_that_were_both_seen() -> None:
    together, seen = coassignment(np.array([0, 0, 1, -1, -1, UNSEEN]), np.arange(6))
    assert together.tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0],
        *[[0] * 6] * 3,
    ]
    assert seen.tolist() == [[1] * 5 + [0]] * 5 + [[0] * 6]


def test_the_sample_has_rows_of_every_cluster_in_proportion() -> None:
    reference = np.repeat([0, 1, 2, -1], [900, 90, 3, 50])
    rows = stratified(reference, 3, 100, 0)
    assert np.bincount(reference[rows]).tolist() == [88, 9, 3]
    assert set(reference[rows]) == {0, 1, 2}
    assert (np.diff(reference[rows]) >= 0).all()
    assert len(set(rows)) == len(rows)
    assert len(stratified(np.arange(500), 500, 100, 0)) == 100


def test_planted_clusters_reappear() -> None:
    study = stability_study(KMeans(3, n_init=5), BLOBS)
    assert study.ari.tolist() == [1.0] * 5
    np.testing.assert_array_equal(study.cluster_stability, 1)
    np.testing.assert_array_equal(study.moved, np.eye(3))
    np.testing.assert_array_equal(study.exchanged, 0)
    same = study.reference[study.sample][:, None] == study.reference[study.sample]
    np.testing.assert_array_equal(study.consensus, same)
    assert study.sizes.tolist() == [40, 40, 40]
    assert study.found.tolist() == [3] * 5
    assert study.complete
    assert study.verdict() == (
        "All 3 clusters reappear in every run. Adjusted Rand index of two fits: 1.00 (5 repeats)."
    )


def test_two_merged_clusters_swap_a_known_share() -> None:
    merged = Cut((20, 60, 80))  # clusters 1 and 2 of the reference come as one
    study = stability_study(merged, ROWS, reference=FIVES, protocol="bootstrap", n_repeats=40)
    seen = study.seen_rows
    assert study.exchanged[1, 2] == pytest.approx(min(seen[1:3]) / seen[1:3].sum(), abs=0.05)
    assert 0.35 < study.exchanged[1, 2] < 0.5
    assert study.exchanged[[0, 0, 3], [1, 3, 4]].tolist() == [0, 0, 0]
    np.testing.assert_allclose(study.cluster_stability[[0, 3, 4]], 1)
    np.testing.assert_allclose(study.cluster_stability[1:3], 0.5, atol=0.05)
    assert "Clusters 1 and 2 swap members between runs: 4" in study.verdict()
    named = stability_study(merged, ROWS, reference=FIVES, names={2: "Heart"}, protocol="bootstrap")
    assert "Clusters 1 and 2 · Heart swap members between runs" in named.verdict()
    assert "3 of the 5 clusters reappear" in named.verdict()


def test_a_split_cluster_swaps_nothing_but_is_not_found_again() -> None:
    reference = np.repeat([0, 1], [40, 60])
    study = stability_study(Cut((40, 70)), ROWS, reference=reference, n_repeats=2)
    np.testing.assert_array_equal(study.exchanged, 0)
    assert study.cluster_stability[0] == 1
    assert study.cluster_stability[1] == pytest.approx(0.5, abs=0.06)
    assert study.found.tolist() == [3, 3]


def test_clusters_that_dissolve_are_named_and_small_ones_are_not() -> None:
    reference = np.tile([0, 1, 2, 3], 25)
    study = stability_study(Cut((50,)), ROWS, reference=reference, n_repeats=1)
    assert "None of the 4 clusters reappear" in study.verdict()
    assert "Clusters 0, 1, 2, 3 dissolve" in study.verdict()
    told = study.verdict(unnamed=[0, 3])
    assert "Clusters 1, 2 dissolve" in told
    assert "2 clusters with too few members are left out here." in told
    assert "0" not in told.split("Adjusted")[0].replace("0.", "")


def test_numbers_are_those_of_the_simple_call_and_repeats_go_on() -> None:
    model = KMeans(4, n_init=1, max_iter=2)
    five = list(iter_stability(model, BLOBS, n_repeats=5))
    assert [study.n_repeats for study in five] == [1, 2, 3, 4, 5]
    assert five[-1].ari.tolist() == stability(model, BLOBS).tolist()
    assert [study.complete for study in five] == [False] * 4 + [True]
    assert "(2 of 5 repeats)" in five[1].verdict()
    three = stability_study(model, BLOBS, n_repeats=3)
    resumed = stability_study(model, BLOBS, n_repeats=5, resume=three)
    assert resumed.ari.tolist() == five[-1].ari.tolist()
    np.testing.assert_array_equal(resumed.together, five[-1].together)
    np.testing.assert_array_equal(resumed.jaccard, five[-1].jaccard)
    assert stability_study(model, BLOBS, n_repeats=2, resume=three).n_repeats == 3


def test_consensus_is_counted_over_the_fits_that_saw_both() -> None:
    study = stability_study(KMeans(4, n_init=1, max_iter=2), BLOBS, n_repeats=3)
    assert study.together_seen.max() == 6
    assert (np.diag(study.consensus) == 1).all()
    np.testing.assert_array_equal(study.consensus, study.consensus.T)
    assert len(study.sample) == 120
    assert stability_study(KMeans(3), BLOBS, n_repeats=1, sample=30).consensus.shape == (30, 30)


def test_a_repeat_has_the_mean_of_its_fits_and_the_clusters_of_the_first() -> None:
    with_noise = np.where(FIVES == 4, -1, FIVES)
    Scripted.plans, Scripted.seen = [with_noise, FIVES // 3, FIVES % 3, FIVES], []
    study = stability_study(Scripted(), ROWS, reference=FIVES, n_repeats=2)
    alone = np.zeros((4, 5))
    for i, (plan, rows) in enumerate(zip(Scripted.plans, Scripted.seen, strict=True)):
        found = np.full(100, UNSEEN)
        found[rows] = plan[rows]
        alone[i] = [brute_jaccard(FIVES, found, cluster) for cluster in range(5)]
    np.testing.assert_allclose(study.jaccard, [alone[:2].mean(axis=0), alone[2:].mean(axis=0)])
    np.testing.assert_allclose(study.cluster_stability, alone.mean(axis=0))
    assert study.found.tolist() == [4, 3]  # noise is no cluster


def test_a_fit_that_saw_no_member_does_not_count_against_a_cluster() -> None:
    one_alone = (np.arange(100) == 99).astype(int)
    Scripted.plans, Scripted.seen = [one_alone] * 21, []
    study = stability_study(
        Scripted(), ROWS, reference=one_alone, protocol="bootstrap", n_repeats=20
    )
    unseen = [99 not in rows for rows in Scripted.seen[1:]]
    assert 0 < sum(unseen) < 20
    np.testing.assert_array_equal(np.isnan(study.jaccard[:, 1]), unseen)
    assert study.cluster_stability.tolist() == [1.0, 1.0]
    Scripted.seen = []
    pairs = stability_study(Scripted(), ROWS, reference=one_alone, shared=0.1, n_repeats=5)
    assert sum(99 not in rows for rows in Scripted.seen) > 0  # by one fit of a pair, never by both
    np.testing.assert_array_equal(pairs.jaccard, 1)


def test_a_cluster_that_no_fit_saw_has_no_index() -> None:
    one_alone = (np.arange(100) == 99).astype(int)
    Scripted.plans, Scripted.seen = [one_alone] * 21, []
    studies = iter_stability(
        Scripted(), ROWS, reference=one_alone, protocol="bootstrap", n_repeats=20, random_state=1
    )
    for study in studies:
        seen = any(99 in rows for rows in Scripted.seen[1 : study.n_repeats + 1])
        assert np.isnan(study.cluster_stability[1]) == (not seen)


@pytest.mark.parametrize("reference", [None, PLANTED])
def test_the_seed_decides_the_sample_and_names_are_kept(reference: np.ndarray | None) -> None:
    names = ["a", "b", "c"]

    def studied(seed: int) -> StabilityStudy:
        rows = np.arange(120.0)[:, None]
        options = {"reference": reference, "names": names, "sample": 30, "n_repeats": 1}
        return stability_study(Cut((40, 80)), rows, random_state=seed, **options)  # type: ignore[arg-type]

    one, same, other = (studied(seed) for seed in (1, 1, 2))
    assert one.sample.tolist() == same.sample.tolist()
    assert one.sample.tolist() != other.sample.tolist()
    assert one.cluster_labels == ["0 · a", "1 · b", "2 · c"]
    assert one.verdict().startswith("All 3 clusters reappear")


@pytest.mark.parametrize("workers", ["1", "3"])
def test_cancelling_keeps_what_was_computed(workers: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refits, "SMALL", 0)
    monkeypatch.setenv("LVMKIT_THREADS", workers)
    rows = np.random.default_rng(2).random((600, 4))
    model = KMeans(5, n_init=1, max_iter=3)

    def cancel(text: str, done: float) -> None:
        if done > 0.6:
            raise InterruptedError(text)

    with pytest.warns(DataWarning, match="ended after 3 of 5 repeats"):
        kept = stability_study(model, rows, progress=cancel)
    assert kept.n_repeats == 3
    assert kept.planned == 5
    assert "(3 of 5 repeats)" in kept.verdict()
    assert kept.ari.tolist() == stability(model, rows, n_repeats=3).tolist()

    def at_once(text: str, done: float) -> None:
        raise InterruptedError(text)

    with pytest.raises(InterruptedError):
        stability_study(model, rows, progress=at_once)
    yielded: list[StabilityStudy] = []
    with pytest.raises(InterruptedError):
        yielded.extend(iter_stability(model, rows, progress=cancel))
    assert [study.n_repeats for study in yielded] == [1, 2, 3]


def test_what_goes_wrong_in_the_work_is_not_taken_for_a_wish_to_stop() -> None:
    class Failing(Cut):
        def fit(self, X: np.ndarray) -> "Failing":
            if 99 not in X[:, 0]:
                msg = "no"
                raise ArithmeticError(msg)
            super().fit(X)
            return self

    with pytest.raises(ArithmeticError):
        stability_study(Failing(), ROWS, n_repeats=30, progress=lambda _text, _done: None)


def test_noise_belongs_to_no_cluster() -> None:
    far = np.vstack([BLOBS, 100 * np.eye(3)])
    study = stability_study(DBSCAN(eps=2, min_samples=3), far, n_repeats=2)
    assert study.clusters.tolist() == [0, 1, 2]
    assert study.sizes.tolist() == [40, 40, 40]
    np.testing.assert_array_equal(study.cluster_stability, 1)
    with pytest.raises(ValueError, match="all 123 rows are noise"):
        stability_study(DBSCAN(eps=1e-9), far)


def test_cluster_numbers_are_kept() -> None:
    study = stability_study(Cut(), ROWS, reference=FIVES * 3 + 2, names={5: "b"}, n_repeats=1)
    assert study.cluster_labels == ["2", "5 · b", "8", "11", "14"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": [0, 1]}, "reference has 2 labels for 120 rows"),
        ({"reference": np.full(120, -1)}, "the reference has no cluster"),
        ({"names": ["a"], "reference": PLANTED}, "names must name all clusters"),
        ({"n_repeats": 0}, "n_repeats must be 1 or more; found 0"),
        ({"sample": 1}, "sample must be a whole number, at least 2; found 1"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stability_study(KMeans(3), BLOBS, **options)  # type: ignore[arg-type]


def test_another_table_cannot_be_resumed() -> None:
    study = stability_study(KMeans(3, n_init=1), BLOBS, n_repeats=1)
    with pytest.raises(ValueError, match="resume is of 120 rows, X has 60"):
        stability_study(KMeans(3), BLOBS[:60], resume=study)


def test_memory_does_not_grow_with_the_square_of_the_rows() -> None:
    rows = np.random.default_rng(0).random((30_000, 2))
    study = stability_study(KMeans(3, n_init=1, max_iter=2), rows, n_repeats=1)
    assert study.consensus.shape == (300, 300)


def test_progress_only_grows() -> None:
    told: list[float] = []
    for _ in iter_stability(KMeans(3), BLOBS, n_repeats=2, progress=lambda _, f: told.append(f)):
        pass
    assert told[0] == 0
    assert told[-1] == 1
    assert all(a <= b for a, b in pairwise(told))


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


def test_repeats_that_differ_are_told_with_the_error_of_their_mean() -> None:
    study = stability_study(Cut((20, 60, 80)), ROWS, n_repeats=3)
    doubtful = replace(study, ari=np.array([0.67, -0.03, 0.81]))  # 129 patients, two clusters
    error = 2 * np.std([0.67, -0.03, 0.81], ddof=1) / np.sqrt(3)
    assert f"The repeats differ: their mean is known to ± {error:.2f} only" in doubtful.verdict()
    assert "The repeats differ" not in replace(study, ari=np.array([0.8, 0.85, 0.82])).verdict()
    assert "The repeats differ" not in replace(study, ari=np.array([0.2])).verdict()
