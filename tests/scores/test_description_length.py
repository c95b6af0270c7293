from typing import Any

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.mixture import GaussianMixture

from lvmkit import BernoulliMixture, LatentDirichlet, SingleTopic
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_bernoulli_mixture, make_topics
from lvmkit.scores import description_length
from lvmkit.scores.perplexity import completion


class Topics:
    """Topics whose documents all have equal shares."""

    def __init__(self, centers: np.ndarray) -> None:
        self.centers_ = centers

    def transform(self, rows: Any) -> np.ndarray:
        return np.full((rows.shape[0], len(self.centers_)), 1 / len(self.centers_))


class Scored(Topics):
    """The same with a likelihood."""

    def score_samples(self, rows: Any) -> np.ndarray:
        return np.full(rows.shape[0], -2.0)


def test_of_a_mixture_it_is_half_of_bic() -> None:
    data = make_bernoulli_mixture(900, 20, 2, codes_per_row=6, random_state=0)
    model = BernoulliMixture(n_components=2).fit(data.X)
    assert description_length(model, data.X) == pytest.approx(model.bic(data.X) / 2)


@pytest.mark.filterwarnings("ignore:the centers found from the moments")
def test_it_finds_the_number_of_clusters() -> None:
    X = make_bernoulli_mixture(3000, 60, 3, codes_per_row=8, random_state=1).X
    lengths = [description_length(BernoulliMixture(k).fit(X), X) for k in (1, 2, 3, 4, 5)]
    assert np.argmin(lengths) == 2


def test_of_topics_every_token_is_predicted_once() -> None:
    topics = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    X = sparse.csr_array([[3, 1, 2], [0, 4, 5]])
    model = Topics(topics)
    total, n_tokens = completion(topics, X, infer=model.transform)
    assert n_tokens == 15
    assert description_length(model, X) == pytest.approx(3 * np.log(15) - total)


def test_distributions_over_words_have_a_parameter_less() -> None:
    model, X = Scored(np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])), np.ones((7, 3))
    assert description_length(model, X) == pytest.approx(14 + (1 + 4) / 2 * np.log(7))


TABLE = pd.DataFrame(
    make_topics(200, 40, 3, single=True, random_state=0).X.toarray(),
    columns=[f"w{i}" for i in range(40)],
)


@pytest.mark.parametrize("model", [LatentDirichlet(3, n_sweeps=12), SingleTopic(3)])
def test_labelled_rows_may_have_their_words_in_any_order(model: Any) -> None:
    model.fit(TABLE)
    expected = description_length(model, TABLE)
    turned = TABLE[TABLE.columns[::-1]]
    as_cohort = anndata.AnnData(
        sparse.csr_array(turned.to_numpy(np.float32)), var=pd.DataFrame(index=turned.columns)
    )
    assert description_length(model, turned) == pytest.approx(expected, rel=1e-9)
    assert description_length(model, as_cohort) == pytest.approx(expected, rel=1e-9)


def test_words_that_topics_do_not_know_are_said_where_the_score_is_asked_for() -> None:
    model = LatentDirichlet(3, n_sweeps=12).fit(TABLE)
    with pytest.warns(DataWarning) as told:
        found = description_length(model, TABLE.drop(columns="w3").assign(new=1))
    assert [str(one.message).split(":")[0] for one in told] == [
        "1 of 40 features are unknown to the model and were ignored",
        "1 of the model's 40 features are not in X and count as absent",
    ]
    assert {one.filename for one in told} == {__file__}
    with pytest.warns(DataWarning):
        assert found == description_length(model, TABLE.assign(w3=0, new=1))


def test_models_without_centers_are_refused() -> None:
    with pytest.raises(
        ValueError, match="model must be fitted: GaussianMixture has no centers_; call fit first"
    ):
        description_length(GaussianMixture(), np.ones((2, 2)))
    bare: Any = type("Bare", (), {"centers_": np.ones((2, 2))})()
    with pytest.raises(TypeError, match="model must have score_samples or transform; found Bare"):
        description_length(bare, np.ones((2, 2)))
    bare.centers_ = np.array([[np.nan, 1]])
    with pytest.raises(ValueError, match="centers_ must be finite numbers"):
        description_length(bare, np.ones((2, 2)))
