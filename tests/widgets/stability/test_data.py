"""What a stability dashboard judges: rows, clusters with their names, rivals, and the sample."""

import anndata
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import DBSCAN, KMeans

import lvmkit
from lvmkit.cohorts.corpus import Corpus
from lvmkit_widgets.stability.data import Subject

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
