"""Trees in scikit-learn's pipelines."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lvmkit import SpectralTree
from lvmkit.datasets import load_discharges, make_bernoulli_mixture

DATA = make_bernoulli_mixture(1_500, 40, 4, random_state=0)


def test_the_path_leads_from_the_root_to_the_leaf():
    tree = SpectralTree(max_depth=3)
    paths = tree.fit_transform(DATA.X)
    assert paths.shape == (1_500, len(tree.nodes_))
    assert (paths[:, 0] == 1).all()
    for row in range(0, 1_500, 97):
        passed = np.flatnonzero(paths[row]).tolist()
        assert passed[-1] == tree.tree_.leaves[tree.labels_[row]]
        assert [tree.nodes_[i].parent for i in passed] == [None, *passed[:-1]]


def test_paths_are_features_for_a_classifier():
    pipeline = make_pipeline(SpectralTree(max_depth=3), LogisticRegression())
    assert pipeline.fit(DATA.X, DATA.labels).score(DATA.X, DATA.labels) > 0.7


def test_in_a_column_transformer_under_names():
    table = pd.DataFrame(DATA.X.toarray()).rename(columns="c{}".format)
    table["age"] = np.random.default_rng(0).normal(50, 10, size=len(table))
    columns = [name for name in table if name != "age"]
    both = ColumnTransformer(
        [("tree", SpectralTree(max_depth=1), columns), ("age", StandardScaler(), ["age"])]
    ).set_output(transform="pandas")
    found = both.fit_transform(table)
    names = [f"tree__spectraltree{i}" for i in range(3)]
    assert found.columns.tolist() == [*names, "age__age"]


def test_a_pipeline_may_begin_with_a_cohort():
    cohort = load_discharges()[:1_000]
    male = (cohort.obs["sex"] == "male").to_numpy()
    found = make_pipeline(SpectralTree(max_depth=2), LogisticRegression()).fit(cohort, male)
    assert found.predict_proba(cohort).shape == (1_000, 2)
