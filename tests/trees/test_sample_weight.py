"""Rows of trees that count more than once, and leaves of too few rows."""

import anndata
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import lvmkit
from lvmkit import SpectralTree
from lvmkit.core.validation import DataWarning
from lvmkit.datasets import load_discharges, make_bernoulli_mixture, make_topics

BINARY = make_bernoulli_mixture(600, 40, 4, random_state=0).X
WORDS = make_topics(500, 60, 4, single=True, random_state=0).X
MEASURES = (
    np.random.default_rng(3).normal(size=(500, 12))
    + 3 * np.eye(12)[np.random.default_rng(4).integers(0, 4, 500)]
)
REAL = sparse.csr_array(load_discharges()[:800].X, dtype=np.float32)


@pytest.mark.parametrize(
    ("X", "options"),
    [
        (BINARY, {}),
        (BINARY, {"split": "model"}),
        (BINARY, {"split": "data", "em": True}),
        (BINARY, {"max_leaf_nodes": 5, "max_depth": None}),
        (BINARY.toarray(), {}),
        (WORDS, {"split": "model"}),
        (WORDS, {"split": "model", "em": True}),
        (MEASURES, {"split": "pddp"}),
        (MEASURES, {}),
        (REAL, {}),
        (REAL, {"split": "pddp"}),
        (REAL, {"split": "model", "max_depth": 2}),
    ],
)
@pytest.mark.filterwarnings("ignore:.*leaves hold fewer than")
def test_a_weight_is_the_same_as_repeated_rows(X, options):
    n = X.shape[0]
    weight = np.random.default_rng(1).integers(0, 4, n)
    rows = np.repeat(np.arange(n), weight)
    tree = SpectralTree(**options).fit(X, sample_weight=weight.astype(float))
    repeated = SpectralTree(**options).fit(X[rows])
    np.testing.assert_array_equal(tree.labels_[rows], repeated.labels_)
    np.testing.assert_allclose(tree.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(tree.centers_, repeated.centers_, atol=1e-6)
    assert tree.nodes_[0].size == np.count_nonzero(weight)
    assert tree.nodes_[0].weight == weight.sum()
    np.testing.assert_array_equal(
        tree.labels_, tree.predict(X)
    )  # also those that count for nothing


def test_equal_weights_are_none():
    plain = SpectralTree().fit(BINARY)
    weighted = SpectralTree().fit(BINARY, sample_weight=np.full(600, 2.5))
    np.testing.assert_array_equal(weighted.labels_, plain.labels_)
    np.testing.assert_allclose(weighted.weights_, plain.weights_)


def test_k_means_and_support_take_weights():
    weight = np.where(np.arange(600) % 2, 3.0, 1.0)
    for options in ({"split": "kmeans"}, {"min_support": 0.1}):
        tree = SpectralTree(max_depth=1, **options).fit(BINARY, sample_weight=weight)
        assert tree.nodes_[0].weight == 1_200


def test_the_fewest_rows_of_a_leaf_are_rows():
    weight = np.full(600, 100.0)
    tree = SpectralTree(min_samples_leaf=200).fit(BINARY, sample_weight=weight)
    assert min(tree.nodes_[leaf].size for leaf in tree.tree_.leaves) >= 200


def test_weights_may_be_named_in_a_cohort():
    obs = pd.DataFrame({"weight": np.arange(600) % 3 + 1.0}, index=[f"p{i}" for i in range(600)])
    cohort = anndata.AnnData(BINARY, obs=obs)
    named = SpectralTree().fit(cohort, sample_weight="weight")
    given = SpectralTree().fit(BINARY, sample_weight=obs["weight"])
    np.testing.assert_array_equal(named.labels_, given.labels_)


def test_leaves_of_too_few_rows_are_told_in_numbers():
    few = load_discharges()[:129]
    with pytest.warns(DataWarning, match=r"leaves hold fewer than 10 rows \(.*min_samples_leaf=10"):
        tree = SpectralTree().fit(few)
    small = sorted(s for s in (tree.nodes_[i].size for i in tree.tree_.leaves) if s < 10)
    assert tree.caution_.startswith(f"{len(small)} of {tree.n_leaves_} leaves")
    error = 1.96 * np.sqrt(0.25 / small[0]) * 100
    assert f"a leaf of {small[0]} is known to ± {error:.0f} percentage points" in tree.caution_
    assert SpectralTree(min_samples_leaf=10).fit(few).caution_ == ""


@pytest.mark.parametrize("seed", range(5))
def test_planted_clusters_raise_no_doubt(seed):
    data = make_bernoulli_mixture(2_000, 60, 4, random_state=seed)
    assert SpectralTree(max_depth=2).fit(data.X).caution_ == ""


def test_a_weighted_tree_comes_back_from_its_file(tmp_path):
    weight = np.random.default_rng(1).integers(1, 4, 600)
    tree = SpectralTree().fit(BINARY, sample_weight=weight)
    again = lvmkit.load(lvmkit.save(tree, tmp_path / "tree"))
    np.testing.assert_array_equal(again.weights_, tree.weights_)
    assert [node.weight for node in again.nodes_] == [node.weight for node in tree.nodes_]
    path = tmp_path / "tree"
    with np.load(path) as stored:
        arrays = dict(stored)
    for change in (lambda v: -v, lambda v: v[1:]):
        with path.open("wb") as file:
            np.savez(file, **(arrays | {"tree_weight": change(arrays["tree_weight"])}))
        with pytest.raises(ValueError, match="weight of the tree"):
            lvmkit.load(path)
