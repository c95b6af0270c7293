import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvmkit.scores import stability

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
