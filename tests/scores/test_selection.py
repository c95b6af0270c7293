from typing import Any, Self

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.decomposition import LatentDirichletAllocation

from lvmkit import BernoulliMixture, LatentDirichlet
from lvmkit.datasets import make_bernoulli_mixture
from lvmkit.scores import coherence, description_length, select_n_components, stability

X = make_bernoulli_mixture(2000, 60, 3, codes_per_row=8, random_state=2).X
SCORES = ["coherence", "perplexity", "stability", "description_length"]


class Planted(BaseEstimator):
    """Topics that are found for up to three components, and without labels."""

    fits: list[Any] = []  # noqa: RUF012

    def __init__(self, n_components: int = 2, random_state: int = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, rows: Any) -> Self:
        self.fits.append(rows)
        if self.n_components > 3:
            msg = "the data support 3 topics"
            raise ValueError(msg)
        base = np.kron(np.eye(3), np.full(4, 0.25))[: self.n_components]
        self.centers_ = np.random.default_rng(self.random_state).permutation(base)
        return self

    def transform(self, rows: Any) -> np.ndarray:
        found = rows @ self.centers_.T + 0.01
        return found / found.sum(axis=1, keepdims=True)


def documents(n: int = 90) -> Any:
    """Each of one of the planted topics."""
    random = np.random.default_rng(0)
    topics = np.kron(np.eye(3), np.full(4, 0.25))
    return sparse.csr_array(np.array([random.multinomial(20, topics[i % 3]) for i in range(n)]))


@pytest.fixture(scope="module")
def found() -> pd.DataFrame:
    return select_n_components(BernoulliMixture(), X, [3, 2, 4, 3], n_repeats=1)


def test_there_is_a_row_per_candidate_and_a_column_per_score(found: pd.DataFrame) -> None:
    assert found["n_components"].tolist() == [2, 3, 4]
    assert list(found.columns) == ["n_components", *SCORES, "remark", "recommended"]
    assert found[SCORES].notna().all(axis=None)


def test_the_planted_number_is_recommended_and_the_words_say_so(found: pd.DataFrame) -> None:
    assert found.loc[found["recommended"], "n_components"].tolist() == [3]
    assert found.attrs["best"]["description_length"] == 3
    assert found.attrs["best"]["perplexity"] == 3
    assert found.attrs["why"].startswith("3: best by ")


def test_the_scores_are_those_of_the_functions() -> None:
    names = ["coherence", "stability", "description_length"]
    found = select_n_components(BernoulliMixture(), X, [2], scores=names, n_repeats=1).iloc[0]
    model = BernoulliMixture(n_components=2).fit(X)
    assert found["coherence"] == pytest.approx(coherence(model.centers_, X).mean())
    assert found["stability"] == stability(BernoulliMixture(2), X, n_repeats=1)[0]
    assert found["description_length"] == pytest.approx(description_length(model, X))


def test_perplexity_is_of_rows_held_out() -> None:
    found = select_n_components(BernoulliMixture(), X, [2], scores=["perplexity"], held_out=0.25)
    order = np.random.RandomState(0).permutation(2000)
    model = BernoulliMixture(n_components=2).fit(X[np.sort(order[500:])])
    held = X[np.sort(order[:500])]
    expected = np.exp(-model.score_samples(held).sum() / held.sum())
    assert found["perplexity"][0] == pytest.approx(float(expected), rel=1e-6)


def test_runs_are_the_same_and_the_estimator_is_left_alone() -> None:
    model = BernoulliMixture(n_components=7)
    runs = [select_n_components(model, X[:500], [1, 2], n_repeats=1) for _ in range(2)]
    pd.testing.assert_frame_equal(*runs)
    assert model.n_components == 7
    assert not hasattr(model, "centers_")


def test_a_candidate_that_fails_is_said_and_the_others_are_scored() -> None:
    found = select_n_components(Planted(), documents(), [2, 3, 5], n_repeats=2)
    assert found["recommended"].tolist() == [False, True, False]
    assert found[SCORES].iloc[2].isna().all()
    assert found["remark"].tolist() == ["", "", "the data support 3 topics"]
    assert found["stability"][1] == pytest.approx(1)


def test_topics_are_paired_at_best_whatever_their_order() -> None:
    found = select_n_components(Planted(), documents(), [1, 3], scores=["stability"], n_repeats=3)
    assert found["stability"].tolist() == pytest.approx([1, 1])


def test_what_is_held_out_is_not_fitted() -> None:
    Planted.fits.clear()
    select_n_components(Planted(), documents(), [2], scores=["perplexity"], held_out=0.2)
    select_n_components(Planted(), documents(), [2], scores=["coherence"])
    assert [rows.shape[0] for rows in Planted.fits] == [72, 90]


def test_a_score_that_cannot_be_had_is_missing_alone() -> None:
    class NoTransform(Planted):
        transform = property()  # type: ignore[assignment]

        def score_samples(self, rows: Any) -> np.ndarray:
            return np.full(rows.shape[0], -np.inf)

    found = select_n_components(
        NoTransform(), documents(), [2], scores=["coherence", "description_length"]
    )
    assert np.isfinite(found["coherence"][0])
    assert np.isnan(found["description_length"][0])
    assert found["remark"][0] == "description_length: a row is impossible under the model."


def test_warnings_of_the_fit_become_remarks(found: pd.DataFrame) -> None:
    assert "may be more clusters than the 1800 rows show" in found["remark"][2]


def test_when_all_fail_the_reason_is_raised() -> None:
    with pytest.raises(ValueError, match=r"no candidate could be scored\. 4: the data support 3"):
        select_n_components(Planted(), documents(), [4, 5])


def test_labelled_rows_are_taken() -> None:
    table = pd.DataFrame(X[:300].toarray(), columns=[f"c{i}" for i in range(60)])
    kinds = [table, anndata.AnnData(X[:300], var=pd.DataFrame(index=table.columns))]
    first, second = (
        select_n_components(BernoulliMixture(), kind, [2], n_repeats=1) for kind in kinds
    )
    pd.testing.assert_frame_equal(first[SCORES], second[SCORES], rtol=1e-6)


def test_named_words_are_no_cause_for_a_warning() -> None:
    table = pd.DataFrame(documents().toarray(), columns=[f"w{i}" for i in range(12)])
    topics = LatentDirichlet(n_sweeps=12)  # a warning would be an error
    found = select_n_components(topics, table, [2, 3], n_repeats=1)
    bare = select_n_components(topics, table.to_numpy(), [2, 3], n_repeats=1)
    pd.testing.assert_frame_equal(found, bare)


def test_lists_of_rows_are_rows() -> None:
    rows = documents()
    found = select_n_components(Planted(), rows.toarray().tolist(), [2, 3], n_repeats=1)
    pd.testing.assert_frame_equal(
        found, select_n_components(Planted(), rows, [2, 3], n_repeats=1), rtol=1e-6
    )


def test_progress_rises_to_the_end_and_can_cancel() -> None:
    told: list[tuple[str, float]] = []
    select_n_components(
        Planted(), documents(), [2, 3], n_repeats=1, progress=lambda *step: told.append(step)
    )
    done = [fraction for _, fraction in told]
    assert done == sorted(done)
    assert (done[0], told[-1]) == (0, ("done", 1.0))
    assert any(text == "3 components: stability: Stability: fit 1 of 2" for text, _ in told)

    def cancel(text: str, done: float) -> None:
        raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt):
        select_n_components(Planted(), documents(), [2], progress=cancel)


def test_true_shows_a_bar(capfd: pytest.CaptureFixture[str]) -> None:
    select_n_components(Planted(), documents(), [2], scores=["coherence"], progress=True)
    shown = capfd.readouterr()
    assert "100%" in shown.err + shown.out


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": ["bic"]}, r"scores must be among 'coherence', .*found 'bic'"),
        ({"scores": []}, r"scores must be among"),
        ({"candidates": []}, r"candidates is empty"),
        ({"candidates": [2, 0]}, r"each of candidates must be a whole number, at least 1; found 0"),
        ({"held_out": 1.0}, r"held_out is a share of the rows, below 1; found 1.0"),
        ({"held_out": 0.0}, r"held_out must be a number, greater than 0"),
        ({"estimator": KMeans()}, r"needs n_components; KMeans has none"),
        ({"X": np.ones((1, 3))}, r"2 at least are needed; found 1"),
        ({"n_repeats": 0}, r"n_repeats must be a whole number, at least 1; found 0"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"estimator": Planted(), "X": documents(), "candidates": [2]} | changed
    with pytest.raises(ValueError, match=message):
        select_n_components(
            given.pop("estimator"), given.pop("X"), given.pop("candidates"), **given
        )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"candidates": 5}, r"candidates must be a sequence.*; found 5"),
        ({"candidates": [2.5]}, r"candidates must be .*whole numbers; found \[2.5\]"),
        ({"scores": None}, r"scores must be a sequence of texts; found None"),
        (
            {"scores": "coherence"},
            r"scores must be a sequence of texts; found 'coherence'",
        ),
        ({"X": ["a b", "c d"]}, r"found list of shape \(2,\)\. Texts become .*from_texts"),
        ({"X": [["a", "b"], ["c", "d"]]}, r"X must be rows of numbers \(n, d\)"),
        ({"X": pd.Series([1, 2])}, r"X must be rows of numbers \(n, d\); found Series"),
        ({"n_repeats": "3"}, r"n_repeats must be a whole number"),
        (
            {"estimator": LatentDirichletAllocation()},
            r"LatentDirichletAllocation has no centers_ after fit",
        ),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"estimator": Planted(), "X": documents(), "candidates": [2]} | changed
    with pytest.raises(TypeError, match=message):
        select_n_components(
            given.pop("estimator"), given.pop("X"), given.pop("candidates"), **given
        )
