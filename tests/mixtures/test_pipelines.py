"""Mixtures in scikit-learn's pipelines, and rows that count more than once."""

import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lvmkit import BernoulliMixture, LatentDirichlet, PoissonMixture, SingleTopic
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import make_bernoulli_mixture, make_poisson_mixture, make_topics

BINARY = make_bernoulli_mixture(1_500, 40, 3, random_state=0)
COUNTS = make_poisson_mixture(1_500, 40, 3, total=30.0, random_state=0)
TEXTS = make_topics(1_500, 60, 3, single=True, random_state=0)
CASES = [
    (BernoulliMixture(3), BINARY),
    (PoissonMixture(3), COUNTS),
    (SingleTopic(3), TEXTS),
    (SingleTopic(3, em=True), TEXTS),
]


def by_name(case):
    """Name of an estimator."""
    return str(case) if hasattr(case, "fit") else ""


@pytest.mark.parametrize(("model", "data"), CASES, ids=by_name)
def test_posteriors_are_features_for_a_classifier(model, data):
    pipeline = make_pipeline(model, LogisticRegression())
    assert pipeline.fit(data.X, data.labels).score(data.X, data.labels) > 0.85


@pytest.mark.parametrize(("model", "data"), CASES, ids=by_name)
def test_transform_gives_posteriors_under_names(model, data):
    prefix = type(model).__name__.lower()
    found = model.fit_transform(data.X)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_array_equal(found, model.predict_proba(data.X))
    names = [f"{prefix}{i}" for i in range(3)]
    assert model.get_feature_names_out().tolist() == names
    rows = pd.DataFrame(data.X.toarray()[:50]).rename(columns="c{}".format)
    table = type(model)(2).set_output(transform="pandas").fit(rows).transform(rows)
    assert table.columns.tolist() == names[:2]
    assert table.index.equals(rows.index)


def test_in_a_column_transformer_beside_other_columns():
    table = pd.DataFrame(BINARY.X.toarray()).rename(columns="c{}".format)
    table["age"] = np.random.default_rng(0).normal(50, 10, size=len(table))
    columns = [name for name in table if name != "age"]
    both = ColumnTransformer(
        [("clusters", BernoulliMixture(3), columns), ("age", StandardScaler(), ["age"])]
    )
    found = both.fit_transform(table)
    assert found.shape == (len(table), 4)
    assert both.get_feature_names_out()[0] == "clusters__bernoullimixture0"


@pytest.mark.parametrize(
    ("model", "data"),
    [
        *CASES,
        (PoissonMixture(3, em=False), COUNTS),
        (PoissonMixture(3, decomposition="svtd"), COUNTS),
        (SingleTopic(3, moments="equal_rows"), TEXTS),
        (LatentDirichlet(3), TEXTS),
    ],
    ids=by_name,
)
def test_a_weight_is_the_same_as_repeated_rows(model, data):
    X = sparse.csr_array(data.X)
    weight = np.random.default_rng(0).integers(0, 4, size=X.shape[0])
    repeated = X[np.repeat(np.arange(X.shape[0]), weight)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model.fit(X, sample_weight=weight)
        centers = model.centers_
        scores = (
            [model.score(X, sample_weight=weight), model.score(repeated)]
            if hasattr(model, "score")
            else [0, 0]
        )
        model.fit(repeated)
    np.testing.assert_array_equal(centers, model.centers_)
    assert scores[0] == pytest.approx(scores[1])


@pytest.mark.parametrize(
    ("model", "data"),
    [(BernoulliMixture(3), BINARY), (PoissonMixture(3), COUNTS), (LatentDirichlet(3), TEXTS)],
    ids=by_name,
)
def test_streams_count_rows_by_weights(model, data):
    X = sparse.csr_array(data.X)
    weight = np.random.default_rng(0).integers(1, 4, size=X.shape[0])
    streams = []
    for often in (weight, None):
        stream = type(model)(3)
        for start in (0, 1_000):
            part = slice(start, start + 1_000)
            rows = X[part]
            if often is None:
                rows = rows[np.repeat(np.arange(rows.shape[0]), weight[part])]
                stream.partial_fit(rows)
            else:
                stream.partial_fit(rows, sample_weight=often[part])
        streams.append(stream)
    np.testing.assert_allclose(streams[0].centers_, streams[1].centers_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"sample_weight has the shape \(3,\); X has 1,500 rows"),
        (-np.ones(1_500), "at least 0; found -1 for row 0, and 1,500 such in all"),
        (np.full(1_500, np.nan), "must be finite"),
        (np.zeros(1_500), "every sample_weight is zero"),
        ("weight", "names a column of obs"),
    ],
)
def test_weights_that_cannot_be_are_refused(weight, message):
    for model, data in ((BernoulliMixture(3), BINARY), (PoissonMixture(3), COUNTS)):
        with pytest.raises(ValueError, match=message):
            model.fit(data.X, sample_weight=weight)


def test_weights_may_be_named_in_a_cohort():
    weight = np.random.default_rng(0).integers(1, 4, size=1_500)
    cohort = anndata.AnnData(
        BINARY.X, obs=pd.DataFrame({"weight": weight}, index=[f"p{i}" for i in range(1_500)])
    )
    named = BernoulliMixture(3).fit(cohort, sample_weight="weight")
    np.testing.assert_array_equal(
        named.centers_, BernoulliMixture(3).fit(BINARY.X, sample_weight=weight).centers_
    )
    with pytest.raises(ValueError, match=r"names a column of obs.*its obs has .weight.\."):
        BernoulliMixture(3).fit(cohort, sample_weight="wt")


def test_doubled_rows_give_the_same_rates():
    """What the prior adds to the rates of clusters does not depend on how many rows there are, but for its share."""
    model = PoissonMixture(3)
    sums = np.asarray(COUNTS.X.sum(axis=0), dtype=float)
    np.testing.assert_array_equal(
        model._prior(sums, 1_500).mean, model._prior(2 * sums, 3_000).mean
    )


def test_rows_with_gaps_are_pointed_to_where_gaps_may_be():
    X = BINARY.X.toarray()
    X[5, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN.* row 5, column 3.*observed='given'\) afterwards"):
        BernoulliMixture(3).fit(X)
    model = BernoulliMixture(3).fit(np.delete(X, 5, axis=0))
    assert model.predict_proba(X[5:6], observed="given").sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("model", "data"), [*CASES, (LatentDirichlet(3, n_sweeps=20), TEXTS)], ids=by_name
)
def test_a_pipeline_may_begin_with_a_cohort(model, data):
    cohort = anndata.AnnData(data.X, obs=pd.DataFrame(index=[f"p{i}" for i in range(1_500)]))
    pipeline = make_pipeline(model, LogisticRegression()).fit(cohort, data.labels)
    unwrap = FunctionTransformer(lambda rows: rows.X)
    again = make_pipeline(unwrap, model, LogisticRegression()).fit(cohort, data.labels)
    np.testing.assert_array_equal(pipeline.predict(cohort), again.predict(cohort))
