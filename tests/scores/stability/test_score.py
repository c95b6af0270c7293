import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvmkit.scores import adjusted_rand, stability
from lvmkit.scores.stability import refits
from lvmkit.scores.stability.score import agreement

BLOBS = np.repeat(np.eye(3) * 8, 40, axis=0) + np.random.default_rng(0).random((120, 3))
NOISE = np.random.default_rng(1).random((120, 3))


class FirstRows(BaseEstimator):
    """Keeps the rows it was fitted on."""

    seen: list[np.ndarray] = []  # noqa: RUF012

    def fit(self, X: np.ndarray) -> "FirstRows":
        self.seen.append(X[:, 0])
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def test_separate_clusters_are_stable_and_noise_is_not() -> None:
    assert stability(KMeans(3, n_init=5), BLOBS).tolist() == [1.0] * 5
    assert stability(KMeans(5, n_init=1), NOISE).mean() < 0.9


def test_the_same_seed_gives_the_same_numbers() -> None:
    runs = [stability(KMeans(4, n_init=1), NOISE, random_state=seed) for seed in (3, 3, 4)]
    assert runs[0].tolist() == runs[1].tolist()
    assert runs[0].tolist() != runs[2].tolist()


def test_parts_share_80_percent_and_have_10_of_their_own() -> None:
    FirstRows.seen.clear()
    stability(FirstRows(), np.arange(100.0)[:, None], n_repeats=2)
    for one, other in zip(FirstRows.seen[::2], FirstRows.seen[1::2], strict=True):
        assert (len(one), len(other)) == (90, 90)
        np.testing.assert_array_equal(one[:80], other[:80])
        assert not set(one[80:]) & set(other[80:])
        assert not set(one[:80]) & (set(one[80:]) | set(other[80:]))
    assert FirstRows.seen[0].tolist() != FirstRows.seen[2].tolist()


def test_clusterers_with_predict_only_and_pipelines_work() -> None:
    found = stability(make_pipeline(StandardScaler(), GaussianMixture(3)), BLOBS, n_repeats=2)
    assert found.min() > 0.9


def test_sparse_rows_work_and_the_estimator_is_left_alone() -> None:
    model = KMeans(3, n_init=1, random_state=5)
    stability(model, sparse.coo_array(BLOBS), n_repeats=1)
    assert not hasattr(model, "labels_")
    assert model.random_state == 5


def test_progress_is_told_and_can_cancel() -> None:
    told: list[float] = []
    stability(KMeans(2, n_init=1), BLOBS, n_repeats=2, progress=lambda _, done: told.append(done))
    assert told == [0, 0.25, 0.5, 0.75, 1]

    def cancel(text: str, done: float) -> None:
        raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt, match="fit 1 of 10"):
        stability(KMeans(2), BLOBS, progress=cancel)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shared": 1.0}, r"found 1.0 for 120 rows"),
        ({"shared": 0.99}, r"found 0.99 for 120 rows"),
        ({"n_repeats": 0}, r"n_repeats must be 1 or more; found 0"),
    ],
)
def test_a_split_that_cannot_be_made_is_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stability(KMeans(2), BLOBS, **options)  # type: ignore[arg-type]


class Marked(BaseEstimator):
    """Gives the rows of the one part of the data other labels than it predicts; keeps what it saw."""

    seen: list[np.ndarray] = []  # noqa: RUF012

    def __init__(self, random_state: int | None = None) -> None:
        self.random_state = random_state

    def fit(self, X: np.ndarray) -> "Marked":
        self.seen.append(X[:, 0])
        self.labels_ = (X[:, 0] >= 30).astype(int)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (X[:, 0] >= 50).astype(int)


def test_bootstrap_compares_rows_that_were_drawn_with_the_fit_on_all() -> None:
    Marked.seen.clear()
    found = stability(Marked(), np.arange(100.0)[:, None], protocol="bootstrap", n_repeats=3)
    assert found.tolist() == [1.0] * 3
    whole, *drawn = Marked.seen
    assert whole.tolist() == list(range(100))
    assert [len(rows) for rows in drawn] == [100] * 3
    assert all(50 < len(set(rows)) < 80 for rows in drawn)  # 63.2 of 100 are expected


def test_halves_are_disjoint_and_each_predicts_all_rows() -> None:
    Marked.seen.clear()
    found = stability(Marked(), np.arange(101.0)[:, None], protocol="halves", n_repeats=2)
    assert found.tolist() == [1.0] * 2
    one, other = Marked.seen[:2]
    assert sorted([*one, *other]) == list(range(101))


def test_halves_need_predict() -> None:
    with pytest.raises(ValueError, match=r"protocol='halves' needs predict, which DBSCAN"):
        stability(DBSCAN(eps=5), BLOBS, protocol="halves")


def test_noise_is_a_cluster_more() -> None:
    far = np.vstack([BLOBS, 100 * np.eye(3)])
    assert stability(DBSCAN(eps=2, min_samples=3), far, n_repeats=3).tolist() == [1.0] * 3
    noisy, other = np.array([0, 0, 1, 1, -1, -1]), np.array([0, 0, 1, 1, 1, 1])
    assert agreement([noisy, other], np.arange(6)) == adjusted_rand([0, 0, 1, 1, 2, 2], other)


@pytest.mark.parametrize("protocol", ["overlapping", "bootstrap", "halves"])
def test_the_number_of_threads_does_not_matter(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refits, "SMALL", 0)
    rows = np.random.default_rng(2).random((600, 4))
    runs = []
    for workers in ("1", "2", "5"):
        monkeypatch.setenv("LVMKIT_THREADS", workers)
        model = KMeans(5, n_init=1, max_iter=3)
        runs.append(stability(model, rows, protocol=protocol, n_repeats=3).tolist())  # type: ignore[arg-type]
    assert runs[0] == runs[1] == runs[2]
    assert len(set(runs[0])) == 3


def test_work_on_threads_can_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refits, "SMALL", 0)
    monkeypatch.setenv("LVMKIT_THREADS", "3")
    rows = np.random.default_rng(2).random((600, 4))

    def cancel(text: str, done: float) -> None:
        if done > 0.3:
            raise InterruptedError(text)

    with pytest.raises(InterruptedError, match="fit 5 of 10"):
        stability(KMeans(5, n_init=1), rows, progress=cancel)


def test_a_fit_that_fails_is_named() -> None:
    with pytest.raises(ValueError, match=r"KMeans cannot be fitted to 108 of the rows: n_samples"):
        stability(KMeans(200), BLOBS)


def test_an_unknown_protocol_and_an_estimator_without_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match=r"protocol is one of .*; found 'thirds'"):
        stability(KMeans(2), BLOBS, protocol="thirds")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="StandardScaler has neither labels_ nor predict"):
        stability(StandardScaler(), BLOBS)
