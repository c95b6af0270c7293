"""What a stability dashboard judges: rows, clusters with their names, rivals, and the sample."""

from types import SimpleNamespace

import anndata
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans

import lvmkit
from lvmkit.cohorts.corpus import Corpus
from lvmkit.trees import layout
from lvmkit_widgets.stability.data import Subject, names_of

ROWS = np.repeat(np.eye(4), 10, axis=0)


def test_proposed_numbers_are_around_the_models_own():
    for k in (2, 5, 12, 30):
        given = Subject(lvmkit.BernoulliMixture(n_components=k), ROWS, {}).values()
        assert k in given
        assert min(given) == 2
        assert len(given) <= 10
        assert max(given) > k


def test_rivals_are_asked_for_as_many_clusters():
    rivals = Subject(lvmkit.BernoulliMixture(n_components=3), ROWS, None).methods
    assert rivals["k-means"](3).n_clusters == 3
    assert rivals["bisecting k-means"](3).n_clusters == 3
    assert rivals["spectral tree"](3).max_leaf_nodes == 3
    rivals = Subject(lvmkit.SpectralTree(max_depth=3), ROWS, None).methods
    assert rivals["k-means"](3).n_clusters == 8
    assert rivals["bisecting k-means"](3).n_clusters == 8
    assert "spectral tree" not in rivals


def test_the_sample_is_drawn_from_all_rows():
    sample = Subject(KMeans(2), np.zeros((8_000, 1)), {}).sample
    assert len(set(sample.tolist())) == 4_000
    assert (np.diff(sample) > 0).all()
    assert (sample < 4_000).mean() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(
    ("obs", "var", "row_name"),
    [
        ({}, {}, "patients"),
        ({}, {"system": "icd9"}, "patients"),
        ({}, {"system": "word"}, "documents"),
        ({"text": "Good day."}, {}, "documents"),
    ],
)
def test_rows_are_called_as_in_the_other_dashboards(obs, var, row_name):
    cohort = anndata.AnnData(
        ROWS.astype(np.float32),
        obs=pd.DataFrame(obs, index=[f"r{i}" for i in range(40)]),
        var=pd.DataFrame(var, index=list("abcd")),
    )
    assert Subject(KMeans(2), cohort, {}).row_name == Corpus(cohort).row_name == row_name


def test_rows_without_a_cohort_are_rows():
    assert Subject(KMeans(2), pd.DataFrame(ROWS), {}).row_name == "rows"


def test_of_its_own_number_the_given_estimator_is_taken():
    given = KMeans(3, n_init=1).fit(ROWS)
    subject = Subject(given, ROWS, {"other": KMeans(3, n_init=1)})
    assert subject.fitted("KMeans", 3) is given
    for method, value in (("KMeans", 2), ("other", 3)):
        made = subject.fitted(method, value)
        assert made is not given
        assert made.cluster_centers_.shape == (value, 4)
    fixed = DBSCAN(eps=0.5).fit(ROWS)
    assert Subject(fixed, ROWS, {}).fitted("DBSCAN", 4) is fixed
    blank = KMeans(3, n_init=1)
    assert Subject(blank, ROWS, {}).fitted("KMeans", 3) is not blank
    assert not hasattr(blank, "labels_")


def test_names_of_all_kinds_are_read():
    clusters = [
        {"id": 5, "components": [0, 2], "name": "Heart"},
        {"id": 1, "components": [1], "name": ""},
    ]
    assert names_of(SimpleNamespace(annotations_={"clusters": clusters})) == {
        0: "Heart (1 of 2)",
        2: "Heart (2 of 2)",
    }
    assert names_of(SimpleNamespace()) == {}


def test_leaves_are_called_as_in_the_tree_navigator():
    tree = lvmkit.SpectralTree(max_depth=2).fit(ROWS)
    leaf = tree.tree_.leaves[2]
    tree.annotations_ = {"node_names": {"1": "not a leaf", str(leaf): "Childbirth"}}
    named = names_of(tree)
    assert sorted(named) == list(range(tree.n_leaves_))
    assert named[2] == f"{tree.tree_.label(leaf)} · Childbirth"
    assert named[0] == tree.tree_.label(tree.tree_.leaves[0])


def test_leaves_far_down_are_called_by_their_number(monkeypatch):
    monkeypatch.setattr(layout, "DEEP", 1)
    tree = lvmkit.SpectralTree(max_depth=2).fit(ROWS)
    found = tree.tree_
    place, leaf = next((i, j) for i, j in enumerate(found.leaves) if found.nodes[j].depth == 2)
    tree.annotations_ = {"node_names": {str(leaf): "Childbirth"}}
    assert names_of(tree)[place] == f"node {leaf} · Childbirth"
