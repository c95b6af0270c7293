import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, BisectingKMeans, KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

from lvmkit.core.validation import DataWarning
from lvmkit.scores import compare_stability, stability
from lvmkit.scores.stability import refits
from lvmkit.scores.stability.compare import parameter_of, recommendation, with_value

BLOBS = np.repeat(np.eye(4) * 8, 40, axis=0) + np.random.default_rng(0).random((160, 4))
METHODS = {"k-means": KMeans(n_init=5), "bisecting": lambda k: BisectingKMeans(k, n_init=3)}


class Shaken(BaseEstimator):
    """Finds planted clusters, with more rows astray the more clusters there are."""

    def __init__(
        self, n_components: int | None = None, n_clusters: int | None = 2, random_state: int = 0
    ):
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X: np.ndarray) -> "Shaken":
        k, random = self.n_clusters or 0, np.random.default_rng(self.random_state)
        astray = random.random(len(X)) < k / 20
        self.labels_ = np.where(astray, random.integers(k, size=len(X)), X[:, 0].astype(int) % k)
        return self


def scored(means: dict[int, list[float]], n_clusters: int | None = None) -> pd.DataFrame:
    rows = [(v, n_clusters or v, ari) for v, found in means.items() for ari in found]
    return pd.DataFrame(rows, columns=["value", "n_clusters", "ari"])


def test_numbers_are_those_of_single_calls_and_planted_clusters_are_recommended() -> None:
    found = compare_stability(METHODS, BLOBS, [6, 2, 4], n_repeats=3)
    assert list(found.columns) == ["method", "value", "n_clusters", "repeat", "ari", "recommended"]
    assert found["value"].tolist() == [2, 2, 2, 4, 4, 4, 6, 6, 6] * 2
    assert found["method"].tolist() == ["k-means"] * 9 + ["bisecting"] * 9
    assert found["repeat"].tolist() == [0, 1, 2] * 6
    part = found[(found["method"] == "k-means") & (found["value"] == 6)]
    assert part["ari"].tolist() == stability(KMeans(6, n_init=5), BLOBS, n_repeats=3).tolist()
    assert (part["n_clusters"] == 6).all()
    assert found.attrs["recommended"]["k-means"] == 4
    assert "k-means: 4: the largest with a mean index of 0.9 or more (1.00" in found.attrs["why"]
    assert found[found["recommended"]].groupby("method")["value"].unique()["k-means"] == [4]


@pytest.mark.parametrize(
    ("means", "value", "words"),
    [
        ({2: [1, 1], 5: [0.95, 0.91], 6: [0.5, 0.7]}, 5, "0.9 or more (0.93 ± 0.02); 6 has 0.60"),
        ({2: [1, 1], 5: [0.95, 0.91]}, 5, "and the largest tried."),
        ({2: [0.8, 0.8], 3: [0.7, 0.9], 4: [0.79, 0.82], 5: [0.2, 0.3]}, 4, "no value reaches 0.9"),
        (
            {2: [0.5, 0.7], 3: [0.58, 0.58], 4: [0.2, 0.1]},
            3,
            "within one standard error of the best, 2",
        ),
        ({2: [0.5], 3: [0.58], 4: [0.2]}, 3, "3 is the best (0.58)"),
    ],
)
def test_the_recommendation_follows_its_rule(
    means: dict[int, list[float]], value: int, words: str
) -> None:
    found = recommendation(scored(means))
    assert found.value == value
    assert words in found.why
    assert found.why.startswith(f"{value}: ")


def test_one_cluster_is_never_recommended() -> None:
    found = recommendation(scored({1: [1, 1]}, n_clusters=1))
    assert found.value is None
    assert "two clusters or more" in found.why


def test_a_value_that_fails_is_remarked_and_all_failing_is_an_error() -> None:
    found = compare_stability(KMeans(n_init=1), BLOBS, [2, 200], n_repeats=2)
    assert found["ari"].isna().tolist() == [False, False, True, True]
    assert "KMeans cannot be fitted to 144" in found.attrs["remarks"]["KMeans", 200]
    with pytest.raises(ValueError, match=r"no method could be judged\. KMeans, 200: KMeans cannot"):
        compare_stability(KMeans(), BLOBS, [200])


def test_ending_it_early_keeps_what_was_computed() -> None:
    def cancel(text: str, done: float) -> None:
        if done >= 0.5:
            raise KeyboardInterrupt(text)

    with pytest.warns(DataWarning, match="ended after 2 of 4 repeats"):
        found = compare_stability(KMeans(n_init=1), BLOBS, [2, 3], n_repeats=4, progress=cancel)
    assert found["repeat"].tolist() == [0, 1, 0, 1]
    with pytest.raises(KeyboardInterrupt):
        compare_stability(KMeans(), BLOBS, [2], progress=lambda text, done: cancel(text, 1))


@pytest.mark.parametrize("protocol", ["bootstrap", "halves"])
def test_other_protocols(protocol: str) -> None:
    found = compare_stability(
        KMeans(n_init=5),
        BLOBS,
        [4, 5],
        protocol=protocol,  # type: ignore[arg-type]
        n_repeats=2,
    )
    assert found[found["value"] == 4]["ari"].tolist() == [1.0, 1.0]
    single = stability(KMeans(5, n_init=5), BLOBS, protocol=protocol, n_repeats=2)  # type: ignore[arg-type]
    assert found[found["value"] == 5]["ari"].tolist() == single.tolist()


def test_threads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refits, "SMALL", 0)
    rows = np.random.default_rng(2).random((600, 4))
    runs = []
    for workers in ("1", "3"):
        monkeypatch.setenv("LVMKIT_THREADS", workers)
        runs.append(compare_stability(KMeans(n_init=1, max_iter=3), rows, [2, 5], n_repeats=2))
    pd.testing.assert_frame_equal(*runs)


def test_the_option_that_takes_the_value() -> None:
    pipeline = make_pipeline(PCA(n_components=2), KMeans())
    assert parameter_of(pipeline) == "kmeans__n_clusters"
    assert with_value(pipeline, 7).get_params()["kmeans__n_clusters"] == 7
    assert with_value(DBSCAN(), 0.3, "eps").eps == 0.3
    with pytest.raises(ValueError, match="DBSCAN has no option n_components or"):
        compare_stability(DBSCAN(), BLOBS, [1])


def test_an_option_that_is_none_does_not_take_the_value() -> None:
    assert parameter_of(Shaken()) == "n_clusters"
    assert parameter_of(make_pipeline(PCA(), Shaken())) == "shaken__n_clusters"
    assert parameter_of(Shaken(n_components=3)) == "n_components"
    assert parameter_of(Shaken(n_clusters=None)) == "n_components"  # the first, if all are None
    assert parameter_of(Shaken(), "n_components") == "n_components"
    found = compare_stability(Shaken(), np.arange(60.0)[:, None], [3, 5], n_repeats=1)
    assert found["n_clusters"].tolist() == [3, 5]


def test_the_goal_decides_which_value_is_recommended() -> None:
    rows, values, chosen = np.arange(400.0)[:, None], [2, 3, 5, 8], []
    for goal in (0.2, 0.4, 0.6):
        found = compare_stability(Shaken(), rows, values, n_repeats=3, goal=goal)
        means = {value: found[found["value"] == value]["ari"].mean() for value in values}
        chosen.append(max(value for value in values if means[value] >= goal))
        assert found.attrs["recommended"] == {"Shaken": chosen[-1]}
        assert set(found[found["recommended"]]["value"]) == {chosen[-1]}
        assert f"with a mean index of {goal} or more" in found.attrs["why"]
    assert len(set(chosen)) == 3


@pytest.mark.parametrize(
    ("methods", "values", "message"),
    [
        ({}, [2], "methods is empty"),
        (KMeans(), [], "values is empty"),
        (None, [2], "methods must be a mapping of names to estimators"),
        ({"a": 3}, [2], r"methods\['a'\] is an estimator"),
    ],
)
def test_wrong_arguments_are_refused(methods: object, values: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_stability(methods, BLOBS, values)  # type: ignore[arg-type]


def test_values_and_goal_of_the_wrong_kind_are_refused() -> None:
    with pytest.raises(TypeError, match="values must be a sequence; found 3"):
        compare_stability(KMeans(), BLOBS, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="goal must be at least 0 and finite; found -1"):
        compare_stability(KMeans(), BLOBS, [2], goal=-1)


def test_missing_entries_are_named_by_their_place() -> None:
    rows = np.array(BLOBS, dtype=float)
    rows[5, 1] = np.nan
    with pytest.raises(ValueError, match=r"X holds NaN .* in row 5, column 1"):
        compare_stability(KMeans(), rows, [2], n_repeats=2)
